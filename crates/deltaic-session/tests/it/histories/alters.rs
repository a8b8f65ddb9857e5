//! Steps that change the table, make another one, or look after its files.

use std::cmp::Ordering;

use deltaic_session::Value;

use super::acts::{Act, Effect, Expect, Table};
use super::choices::{Step, TableChoice};
use super::conditions::{Choice, Condition};
use super::kinds::{KINDS, Kind, widened};
use super::state::{Column, Role, State};
use super::tables::{self, Ids, NAMES};

/// Properties that a history switches on and off on its way.
const SETTINGS: [&str; 24] = [
    "'delta.enableDeletionVectors' = 'true'",
    "'delta.enableDeletionVectors' = 'false'",
    "'delta.enableChangeDataFeed' = 'true'",
    "'delta.enableChangeDataFeed' = 'false'",
    "'delta.columnMapping.mode' = 'name'",
    "'delta.columnMapping.mode' = 'none'",
    "'delta.checkpointInterval' = '1'",
    "'delta.checkpointInterval' = '3'",
    "'delta.appendOnly' = 'true'",
    "'delta.appendOnly' = 'false'",
    "'delta.enableRowTracking' = 'true'",
    "'delta.enableRowTracking' = 'false'",
    "'delta.enableTypeWidening' = 'true'",
    "'delta.enableInCommitTimestamps' = 'true'",
    "'delta.enableInCommitTimestamps' = 'false'",
    "'delta.checkpointPolicy' = 'v2'",
    "'delta.checkpointPolicy' = 'classic'",
    "'delta.isolationLevel' = 'Serializable'",
    "'delta.dataSkippingNumIndexedCols' = '1'",
    "'delta.dataSkippingNumIndexedCols' = '-1'",
    "'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false'",
    "'delta.compatibility.symlinkFormatManifest.enabled' = 'true'",
    "'delta.feature.domainMetadata' = 'supported'",
    "'some.property' = 'some value'",
];

const PROPERTIES: [&str; 6] = [
    "delta.enableDeletionVectors",
    "delta.enableChangeDataFeed",
    "delta.appendOnly",
    "delta.checkpointInterval",
    "delta.dataSkippingNumIndexedCols",
    "delta.enableRowTracking",
];

const FEATURES: [&str; 10] = [
    "deletionVectors",
    "columnMapping",
    "typeWidening",
    "rowTracking",
    "checkConstraints",
    "inCommitTimestamp",
    "v2Checkpoint",
    "changeDataFeed",
    "vacuumProtocolCheck",
    "clustering",
];

/// What the step does to the table; nothing where the table has no use for it. New tables get this name.
pub fn act(step: &Step, table: &Table, ids: &mut Ids, fresh: &str) -> Option<Act> {
    let state = table.now();
    let name = &table.name;
    let either = |sql: String| Some(Act::next(sql, Expect::Either, state.clone()));
    match step {
        Step::Restore(at) => Some(restore(table, usize::from(*at) % table.states.len())),
        Step::AddColumn(new, kind, place) => add_column(table, *new, *kind, *place, ids),
        Step::DropColumn(pick) => Some(drop_column(table, *pick)),
        Step::Rename(pick, new) => rename(table, *pick, *new),
        Step::Widen(pick, to) => widen(table, *pick, *to),
        Step::NotNull(pick, set) => not_null(table, *pick, *set),
        Step::AddCheck(condition) => add_check(table, condition),
        Step::DropCheck(pick) => {
            let (check, _) = state
                .checks
                .get(usize::from(*pick) % state.checks.len().max(1))?;
            let mut next = state.clone();
            next.checks.retain(|(other, _)| other != check);
            Some(Act::next(
                format!("ALTER TABLE {name} DROP CONSTRAINT {check}"),
                Expect::Success,
                next,
            ))
        }
        Step::Set(pick) => either(format!(
            "ALTER TABLE {name} SET TBLPROPERTIES ({})",
            one_of(&SETTINGS, *pick)
        )),
        Step::Unset(pick) => either(format!(
            "ALTER TABLE {name} UNSET TBLPROPERTIES ('{}')",
            one_of(&PROPERTIES, *pick)
        )),
        Step::DropFeature(pick) => either(format!(
            "ALTER TABLE {name} DROP FEATURE {}",
            one_of(&FEATURES, *pick)
        )),
        Step::Replace(choice) => Some(replace(table, choice, ids)),
        Step::ReplaceAs(condition, options) => Some(replace_as(table, condition, *options, ids)),
        Step::Clone(at) => {
            let at = at.map(|at| usize::from(at) % table.states.len());
            let at = at.filter(|at| *at >= table.whole_from);
            let travel = at.map_or(String::new(), |at| format!(" VERSION AS OF {at}"));
            let cloned = at.map_or(state, |at| &table.states[at]).clone();
            let effect = Effect::Clone(fresh.to_owned(), Box::new(cloned));
            let sql = format!("CREATE TABLE {fresh} SHALLOW CLONE {name}{travel}");
            Some(Act::new(sql, Expect::Success, effect))
        }
        Step::Vacuum(form) => Some(vacuum(name, *form)),
        Step::Generate => {
            let sql = format!("GENERATE symlink_format_manifest FOR TABLE {name}");
            Some(Act::new(sql, Expect::Either, Effect::Nothing))
        }
        Step::Repair(dry) => {
            let sql = format!(
                "FSCK REPAIR TABLE {name}{}",
                if *dry { " DRY RUN" } else { "" }
            );
            Some(Act::new(sql, Expect::Success, Effect::Nothing))
        }
        Step::Cluster(pick) => {
            let able: Vec<&Column> = state
                .columns
                .iter()
                .filter(|c| c.kind.clusters() && c.given())
                .collect();
            let column = pick.and_then(|pick| able.get(usize::from(pick) % able.len().max(1)));
            let mut next = state.clone();
            next.clusters = column.map(|column| column.id).into_iter().collect();
            let by = column.map_or("NONE".to_owned(), |column| format!("({})", column.quoted()));
            Some(Act::next(
                format!("ALTER TABLE {name} CLUSTER BY {by}"),
                Expect::Either,
                next,
            ))
        }
        Step::Reopen => Some(Act::new(
            "-- a new session".to_owned(),
            Expect::Success,
            Effect::Reopen,
        )),
        _ => None,
    }
}

fn one_of<'a>(all: &[&'a str], pick: u16) -> &'a str {
    all[usize::from(pick) % all.len()]
}

fn restore(table: &Table, at: usize) -> Act {
    let state = table.now();
    let next = table.states[at].clone();
    let grows = state.is("delta.appendOnly") || next.is("delta.appendOnly");
    let sure = at >= table.whole_from && next.mapped() == state.mapped() && !grows;
    let expect = if sure {
        Expect::Success
    } else {
        Expect::Either
    };
    Act::next(
        format!("RESTORE TABLE {} TO VERSION AS OF {at}", table.name),
        expect,
        next,
    )
}

/// A name that no column has.
fn free_name(state: &State, pick: u16) -> Option<&'static str> {
    let able: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| state.columns.iter().all(|column| column.name != *name))
        .filter(|name| state.mapped() || !name.contains(' '))
        .collect();
    able.get(usize::from(pick) % able.len().max(1)).copied()
}

fn add_column(table: &Table, new: u16, kind: u16, place: u16, ids: &mut Ids) -> Option<Act> {
    let state = table.now();
    let name = free_name(state, new)?;
    let kind = KINDS[usize::from(kind) % KINDS.len()];
    let column = Column {
        id: ids.next(),
        name: name.to_owned(),
        kind,
        not_null: false,
        role: Role::Plain,
    };
    let count = state.columns.len();
    let (at, text) = match usize::from(place) % (2 * count + 1) {
        0 => (0, " FIRST".to_owned()),
        after if after <= count => (
            after,
            format!(" AFTER {}", state.columns[after - 1].quoted()),
        ),
        _ => (count, String::new()),
    };
    let sql = format!(
        "ALTER TABLE {} ADD COLUMNS ({} {}{text})",
        table.name,
        column.quoted(),
        kind.sql()
    );
    let mut next = state.clone();
    next.columns.insert(at, column);
    next.rows
        .iter_mut()
        .for_each(|row| row.insert(at, Value::Null));
    Some(Act::next(sql, allowed(state, kind), next))
}

/// Some types are features, which a table does not get on its way.
fn allowed(state: &State, kind: Kind) -> Expect {
    if kind == Kind::Local && !state.has_feature("timestampNtz") {
        Expect::Either
    } else {
        Expect::Success
    }
}

fn drop_column(table: &Table, pick: u16) -> Act {
    let state = table.now();
    let at = usize::from(pick) % state.columns.len();
    let column = &state.columns[at];
    let mut next = state.clone();
    next.columns.remove(at);
    next.rows.iter_mut().for_each(|row| drop(row.remove(at)));
    let laid_out = state.partitions.contains(&column.id) || state.clusters.contains(&column.id);
    let last = next
        .columns
        .iter()
        .all(|column| state.partitions.contains(&column.id));
    let able = state.mapped() && !laid_out && !state.depended_on(column.id);
    let expect = match able {
        true if last => Expect::Either,
        true => Expect::Success,
        false => Expect::Refusal(Vec::new()),
    };
    Act::next(
        format!("ALTER TABLE {} DROP COLUMN {}", table.name, column.quoted()),
        expect,
        next,
    )
}

fn rename(table: &Table, pick: u16, new: u16) -> Option<Act> {
    let state = table.now();
    let at = usize::from(pick) % state.columns.len();
    let name = free_name(state, new)?;
    let column = &state.columns[at];
    let able = state.mapped() && !state.depended_on(column.id);
    let expect = if able {
        Expect::Success
    } else {
        Expect::Refusal(Vec::new())
    };
    let sql = format!(
        "ALTER TABLE {} RENAME COLUMN {} TO `{name}`",
        table.name,
        column.quoted()
    );
    let mut next = state.clone();
    next.columns[at].name = name.to_owned();
    Some(Act::next(sql, expect, next))
}

fn widen(table: &Table, pick: u16, to: u16) -> Option<Act> {
    let state = table.now();
    let able: Vec<&Column> = state
        .columns
        .iter()
        .filter(|column| column.given() && column.kind.wider(to).is_some())
        .collect();
    let column = *able.get(usize::from(pick) % able.len().max(1))?;
    let kind = column.kind.wider(to).unwrap();
    let at = state.place(column.id);
    let sql = format!(
        "ALTER TABLE {} ALTER COLUMN {} TYPE {}",
        table.name,
        column.quoted(),
        kind.sql()
    );
    let mut next = state.clone();
    next.columns[at].kind = kind;
    if let Role::Default(value) = &column.role {
        next.columns[at].role = Role::Default(widened(value, kind));
    }
    next.rows
        .iter_mut()
        .for_each(|row| row[at] = widened(&row[at], kind));
    let plain = column.role == Role::Plain
        && !state.depended_on(column.id)
        && !state.partitions.contains(&column.id);
    let expect = match state.is("delta.enableTypeWidening") {
        false => Expect::Refusal(Vec::new()),
        true if plain => allowed(state, kind),
        true => Expect::Either,
    };
    Some(Act::next(sql, expect, next))
}

fn not_null(table: &Table, pick: u16, set: bool) -> Option<Act> {
    let state = table.now();
    let able: Vec<&Column> = state
        .columns
        .iter()
        .filter(|column| column.not_null != set)
        .collect();
    let column = *able.get(usize::from(pick) % able.len().max(1))?;
    let mut next = state.clone();
    let at = state.place(column.id);
    next.columns[at].not_null = set;
    let sql = |verb: &str| {
        format!(
            "ALTER TABLE {} ALTER COLUMN {} {verb} NOT NULL",
            table.name,
            column.quoted()
        )
    };
    Some(match set {
        true => Act::next(sql("SET"), Expect::Refusal(Vec::new()), next),
        false => Act::next(sql("DROP"), Expect::Success, next),
    })
}

/// A constraint, made weaker where the rows do not have it.
fn add_check(table: &Table, choice: &Choice) -> Option<Act> {
    let state = table.now();
    let able: Vec<&Column> = state
        .columns
        .iter()
        .filter(|c| c.given() && !c.kind.nested())
        .collect();
    if able.is_empty() || state.checks.len() > 1 {
        return None;
    }
    let holds = |condition: &Condition| {
        state
            .rows
            .iter()
            .all(|row| condition.holds(state, row) == Some(true))
    };
    let mut condition = choice.over(&able);
    if !holds(&condition) {
        condition = Condition::Or(
            Box::new(condition),
            Box::new(Condition::Null(able[0].id, true)),
        );
    }
    let expect = match holds(&condition) {
        true => Expect::Success,
        false => Expect::Refusal(vec!["DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"]),
    };
    let check = format!("check_{}", table.states.len());
    let sql = format!(
        "ALTER TABLE {} ADD CONSTRAINT {check} CHECK ({})",
        table.name,
        condition.sql(state)
    );
    let mut next = state.clone();
    next.checks.push((check, condition));
    Some(Act::next(sql, expect, next))
}

fn replace(table: &Table, choice: &TableChoice, ids: &mut Ids) -> Act {
    let (next, definition) = tables::build(choice, table.now().zone, ids);
    let sql = format!("CREATE OR REPLACE TABLE {} {definition}", table.name);
    let expect = replaceable(table.now(), &sql, &next);
    Act::next(sql, expect, next)
}

/// Whether a table may be replaced by another one.
fn replaceable(state: &State, sql: &str, next: &State) -> Expect {
    if !next.partitions.is_empty() && state.has_feature("clustering") {
        return match state.clusters.is_empty() {
            true => Expect::Either,
            false => Expect::Refusal(vec![
                "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
            ]),
        };
    }
    match state.is("delta.appendOnly") || sql.contains("delta.appendOnly") {
        true => Expect::Either,
        false => Expect::Success,
    }
}

/// The table anew, out of some of its own rows.
fn replace_as(table: &Table, choice: &Choice, options: u16, ids: &mut Ids) -> Act {
    let state = table.now();
    let columns: Vec<&Column> = state.columns.iter().collect();
    let condition = choice.over(&columns);
    let mut next = State::of(state.zone);
    next.rows = state
        .rows
        .iter()
        .filter(|row| condition.holds(state, row) == Some(true))
        .cloned()
        .collect();
    for column in &state.columns {
        let name = column.name.clone();
        next.columns.push(Column {
            id: ids.next(),
            name,
            kind: column.kind,
            not_null: false,
            role: Role::Plain,
        });
    }
    let fresh = TableChoice {
        columns: Vec::new(),
        partitions: Vec::new(),
        cluster: None,
        mapping: options / 3,
        interval: options,
        options,
    };
    let mut by = String::new();
    let able: Vec<&Column> = next
        .columns
        .iter()
        .skip(1)
        .filter(|column| column.kind.partitions())
        .collect();
    if options.is_multiple_of(3) && !able.is_empty() {
        let column = able[usize::from(options / 3) % able.len()].clone();
        by = format!(" PARTITIONED BY ({})", column.quoted());
        next.partitions.push(column.id);
    }
    let mut rows = std::mem::take(&mut next.rows);
    rows.iter_mut().for_each(|row| next.settle(row));
    next.rows = rows;
    let sql = format!(
        "CREATE OR REPLACE TABLE {name} USING delta{by} TBLPROPERTIES ({}) AS SELECT * FROM {name} WHERE {}",
        tables::properties(&fresh, &next).join(", "),
        condition.sql(state),
        name = table.name
    );
    let spaces = next.columns.iter().any(|column| column.name.contains(' '));
    let expect = if spaces {
        Expect::Either
    } else {
        replaceable(state, &sql, &next)
    };
    Act::next(sql, expect, next)
}

fn vacuum(name: &str, form: u16) -> Act {
    let unchecked = "SET spark.databricks.delta.retentionDurationCheck.enabled = false".to_owned();
    let (sql, expect) = match form % 4 {
        0 => (format!("VACUUM {name}"), Expect::Success),
        1 => (format!("VACUUM {name} RETAIN 0 HOURS"), Expect::Success),
        2 => (
            format!("VACUUM {name} RETAIN 0 HOURS DRY RUN"),
            Expect::Success,
        ),
        _ => (format!("VACUUM {name} LITE RETAIN 0 HOURS"), Expect::Either),
    };
    let effect = if form % 2 == 1 {
        Effect::Vacuum
    } else {
        Effect::Nothing
    };
    Act {
        settings: vec![unchecked],
        ..Act::new(sql, expect, effect)
    }
}

/// The smaller or the greater of two values of a column that can be compared.
pub fn further(a: Value, b: &Value, want: Ordering) -> Value {
    match super::kinds::compare(b, &a) {
        Some(order) if order == want => b.clone(),
        Some(_) => a,
        None if a == Value::Null => b.clone(),
        None => a,
    }
}

/// Whether a column has a least and a greatest value.
pub fn bounded(column: &Column) -> bool {
    column.kind.ordered() && column.kind != Kind::Flag
}
