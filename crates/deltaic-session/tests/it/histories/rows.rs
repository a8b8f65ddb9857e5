//! Steps that change rows.

use deltaic_session::Value;

use super::acts::{Act, Expect, Table, refusal};
use super::choices::{RowChoice, Step};
use super::conditions::{Choice, Condition};
use super::kinds::{Kind, compare};
use super::state::{Column, Role, Row, State};
use super::updates;

/// Rows beyond which a table is not copied into itself.
const MANY: usize = 60;

const STATIC: &str = "SET spark.sql.sources.partitionOverwriteMode = static";
const DYNAMIC: &str = "SET spark.sql.sources.partitionOverwriteMode = dynamic";

/// What the step does to the table; nothing where the table has no use for it.
pub fn act(step: &Step, table: &Table) -> Option<Act> {
    let state = table.now();
    match step {
        Step::Insert(form, rows) => Some(insert(table, *form, rows)),
        Step::Copy(condition, at) => copy(table, condition, *at),
        Step::Overwrite(form, rows) => {
            let new = New::of(&state.given(), rows);
            let sql = format!(
                "INSERT OVERWRITE {}{} {}",
                table.name,
                new.list(state, *form),
                new.values()
            );
            let mut act = replacing(sql, state, |_| true, new.full(state));
            act.settings.push(STATIC.to_owned());
            Some(act)
        }
        Step::Dynamic(rows) => {
            let new = New::of(&state.given(), rows);
            let sql = format!(
                "INSERT OVERWRITE {}{} {}",
                table.name,
                new.list(state, 0),
                new.values()
            );
            let full = new.full(state);
            let key = |row: &Row| -> Vec<String> {
                state
                    .partitions
                    .iter()
                    .map(|id| format!("{:?}", row[state.place(*id)]))
                    .collect()
            };
            let keys: Vec<Vec<String>> = full.iter().map(key).collect();
            let mut act = replacing(sql, state, |row| keys.contains(&key(row)), full);
            act.settings.push(DYNAMIC.to_owned());
            Some(act)
        }
        Step::Partition(pick, rows) => partition(table, *pick, rows),
        Step::ReplaceWhere(condition, rows, fit) => replace_where(table, condition, rows, *fit),
        Step::ReplaceUsing(using, rows) => replace_using(table, using, rows),
        Step::Delete(condition) => {
            let columns: Vec<&Column> = state.columns.iter().collect();
            let condition = condition.over(&columns);
            let sql = format!("DELETE FROM {} WHERE {}", table.name, condition.sql(state));
            Some(removing(sql, state, |row| {
                condition.holds(state, row) == Some(true)
            }))
        }
        Step::Update(condition, sets) => updates::update(table, condition.as_ref(), sets),
        Step::Truncate => Some(removing(
            format!("TRUNCATE TABLE {}", table.name),
            state,
            |_| true,
        )),
        _ => None,
    }
}

/// New rows: columns that are given, and their values.
struct New<'a> {
    columns: Vec<&'a Column>,
    rows: Vec<Vec<Value>>,
}

impl<'a> New<'a> {
    fn of(columns: &[&'a Column], rows: &[RowChoice]) -> Self {
        let value = |column: &Column, choice: u16| {
            let value = column.kind.value(choice);
            let kept = column.not_null && value == Value::Null && !choice.is_multiple_of(4);
            if kept {
                column.kind.some(choice)
            } else {
                value
            }
        };
        let rows = rows
            .iter()
            .map(|row| {
                columns
                    .iter()
                    .enumerate()
                    .map(|(at, column)| value(column, row[at % row.len()]))
                    .collect()
            })
            .collect();
        New {
            columns: columns.to_vec(),
            rows,
        }
    }

    /// Values of generated columns too, right ones, and no empty texts in partition columns.
    fn explicit(state: &'a State, rows: &[RowChoice]) -> Self {
        let given = New::of(&state.given(), rows);
        let columns = state.columns.iter().collect();
        New {
            columns,
            rows: given.full(state),
        }
    }

    /// The rows as the table keeps them.
    fn full(&self, state: &State) -> Vec<Row> {
        let ids: Vec<u32> = self.columns.iter().map(|column| column.id).collect();
        self.rows
            .iter()
            .map(|row| {
                state.row(
                    &ids.iter()
                        .copied()
                        .zip(row.iter().cloned())
                        .collect::<Vec<_>>(),
                )
            })
            .collect()
    }

    /// The column list, where there must be one or the form has one.
    fn list(&self, state: &State, form: u16) -> String {
        let all = self
            .columns
            .iter()
            .map(|column| column.id)
            .eq(state.columns.iter().map(|column| column.id));
        if all && form.is_multiple_of(2) {
            return String::new();
        }
        format!(" ({})", self.names())
    }

    fn names(&self) -> String {
        self.columns
            .iter()
            .map(|column| column.quoted())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn values(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let cells = self
                    .columns
                    .iter()
                    .zip(row)
                    .map(|(column, value)| column.kind.literal(value));
                format!("({})", cells.collect::<Vec<_>>().join(", "))
            })
            .collect();
        format!("VALUES {}", rows.join(", "))
    }

    /// A query that names its columns.
    fn query(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let cells = self.columns.iter().zip(row).map(|(column, value)| {
                    format!("{} AS {}", typed(column.kind, value), column.quoted())
                });
                format!("SELECT {}", cells.collect::<Vec<_>>().join(", "))
            })
            .collect();
        rows.join(" UNION ALL ")
    }
}

fn typed(kind: Kind, value: &Value) -> String {
    format!("CAST({} AS {})", kind.literal(value), kind.sql())
}

fn adding(sql: String, state: &State, rows: Vec<Row>) -> Act {
    let expect = refusal(state, &rows).unwrap_or(Expect::Success);
    let mut next = state.clone();
    next.rows.extend(rows);
    Act::next(sql, expect, next)
}

fn removing(sql: String, state: &State, gone: impl Fn(&Row) -> bool) -> Act {
    let mut next = state.clone();
    next.rows.retain(|row| !gone(row));
    let expect = match state.is("delta.appendOnly") {
        true => Expect::Refusal(vec!["DELTA_CANNOT_MODIFY_APPEND_ONLY"]),
        false => Expect::Success,
    };
    Act::next(sql, expect, next)
}

fn replacing(sql: String, state: &State, gone: impl Fn(&Row) -> bool, rows: Vec<Row>) -> Act {
    let removed = removing(sql, state, gone);
    let super::acts::Effect::Next(mut next) = removed.effect else {
        unreachable!()
    };
    let removes = next.rows.len() < state.rows.len();
    let refused = refusal(state, &rows);
    next.rows.extend(rows);
    let expect = match (state.is("delta.appendOnly"), refused) {
        (false, refused) => refused.unwrap_or(Expect::Success),
        (true, Some(Expect::Refusal(mut classes))) => {
            classes.push("DELTA_CANNOT_MODIFY_APPEND_ONLY");
            Expect::Refusal(classes)
        }
        (true, _) if removes => removed.expect,
        (true, _) => Expect::Either,
    };
    Act::next(removed.sql, expect, *next)
}

fn insert(table: &Table, form: u16, rows: &[RowChoice]) -> Act {
    let state = table.now();
    let name = &table.name;
    let mut columns = state.given();
    if form % 5 == 1 {
        // Fewer columns, the last ones first.
        columns = columns
            .into_iter()
            .rev()
            .take(usize::from(form / 5) % 3 + 1)
            .collect();
    }
    let mut new = New::of(&columns, rows);
    let sql = match form % 5 {
        2 => format!("INSERT INTO {name} BY NAME {}", new.query()),
        3 => format!(
            "INSERT INTO {name} ({}) SELECT * FROM {} AS v({})",
            new.names(),
            new.values(),
            new.names()
        ),
        4 => with_defaults(name, &mut new),
        _ => format!(
            "INSERT INTO {name}{} {}",
            new.list(state, form / 5),
            new.values()
        ),
    };
    adding(sql, state, new.full(state))
}

/// VALUES in which DEFAULT stands for NULL or for the column's default.
fn with_defaults(name: &str, new: &mut New<'_>) -> String {
    let mut texts = Vec::new();
    for (number, row) in new.rows.iter_mut().enumerate() {
        let mut cells = Vec::new();
        for (at, (column, value)) in new.columns.iter().zip(row).enumerate() {
            if (at + number) % 3 == 0 {
                *value = match &column.role {
                    Role::Default(value) => value.clone(),
                    _ => Value::Null,
                };
                cells.push("DEFAULT".to_owned());
            } else {
                cells.push(column.kind.literal(value));
            }
        }
        texts.push(format!("({})", cells.join(", ")));
    }
    format!(
        "INSERT INTO {name} ({}) VALUES {}",
        new.names(),
        texts.join(", ")
    )
}

/// Rows of the table, of now or of another version, once more.
fn copy(table: &Table, condition: &Choice, at: Option<u16>) -> Option<Act> {
    let state = table.now();
    let version = at.map(|at| usize::from(at) % table.states.len());
    let version =
        version.filter(|v| *v >= table.whole_from && table.states[*v].same_columns(state));
    let from = version.map_or(state, |version| &table.states[version]);
    if state.rows.len() + from.rows.len() > MANY {
        return None;
    }
    let columns: Vec<&Column> = state.columns.iter().collect();
    let condition = condition.over(&columns);
    let travel = version.map_or(String::new(), |version| format!(" VERSION AS OF {version}"));
    let given = state.given();
    let chosen = from
        .rows
        .iter()
        .filter(|row| condition.holds(from, row) == Some(true));
    let rows = chosen
        .map(|row| {
            given
                .iter()
                .map(|column| row[from.place(column.id)].clone())
                .collect()
        })
        .collect();
    let new = New {
        columns: given,
        rows,
    };
    let sql = format!(
        "INSERT INTO {name} ({names}) SELECT {names} FROM {name}{travel} WHERE {}",
        condition.sql(state),
        name = table.name,
        names = new.names()
    );
    Some(adding(sql, state, new.full(state)))
}

/// INSERT into one partition that the statement names.
fn partition(table: &Table, pick: u16, rows: &[RowChoice]) -> Option<Act> {
    let state = table.now();
    let able: Vec<&Column> = state
        .partitions
        .iter()
        .map(|id| state.column(*id))
        .filter(|column| column.given() && column.kind != Kind::Double)
        .collect();
    let column = *able.get(usize::from(pick) % able.len().max(1))?;
    let mut value = column.kind.value(pick / 3);
    if value == Value::text("") {
        value = Value::text("a");
    }
    let literal = match &value {
        Value::Decimal(..) => column
            .kind
            .literal(&value)
            .split('\'')
            .nth(1)
            .unwrap()
            .to_owned(),
        _ => column.kind.literal(&value),
    };
    let others: Vec<&Column> = state
        .given()
        .into_iter()
        .filter(|other| other.id != column.id)
        .collect();
    if others.is_empty() {
        return None;
    }
    let mut new = New::of(&others, rows);
    let list = if others.len() + 1 == state.columns.len() {
        String::new()
    } else {
        format!(" ({})", new.names())
    };
    let (verb, all) = if pick.is_multiple_of(3) {
        ("INTO", false)
    } else {
        ("OVERWRITE", true)
    };
    let sql = format!(
        "INSERT {verb} {} PARTITION ({} = {literal}){list} {}",
        table.name,
        column.quoted(),
        new.values()
    );
    new.columns.push(column);
    new.rows.iter_mut().for_each(|row| row.push(value.clone()));
    if !all {
        return Some(adding(sql, state, new.full(state)));
    }
    let chosen = Condition::Compare(column.id, 6, value);
    let mut act = replacing(
        sql,
        state,
        |row| chosen.holds(state, row) == Some(true),
        new.full(state),
    );
    act.settings.push(STATIC.to_owned());
    Some(act)
}

fn has_identity(state: &State) -> bool {
    state
        .columns
        .iter()
        .any(|column| matches!(column.role, Role::Identity(..)))
}

fn replace_where(table: &Table, condition: &Choice, rows: &[RowChoice], fit: bool) -> Option<Act> {
    let state = table.now();
    if has_identity(state) {
        return None;
    }
    let columns: Vec<&Column> = state.columns.iter().collect();
    let condition = condition.over(&columns);
    let mut new = New::explicit(state, rows);
    let fits = |row: &Row| condition.holds(state, row) == Some(true);
    if fit {
        new.rows.retain(fits);
    }
    if new.rows.is_empty() {
        return None;
    }
    let sql = format!(
        "INSERT INTO {} REPLACE WHERE {} {}",
        table.name,
        condition.sql(state),
        new.values()
    );
    let full = new.full(state);
    let stray = !full.iter().all(fits);
    let mut act = replacing(sql, state, fits, full);
    if stray {
        act.expect = Expect::Refusal(Vec::new());
    }
    Some(act)
}

fn replace_using(table: &Table, using: &[u16], rows: &[RowChoice]) -> Option<Act> {
    let state = table.now();
    let able: Vec<&Column> = state
        .columns
        .iter()
        .filter(|column| column.kind.ordered())
        .collect();
    if has_identity(state) || able.is_empty() {
        return None;
    }
    let mut chosen: Vec<&Column> = Vec::new();
    for pick in using {
        let column = able[usize::from(*pick) % able.len()];
        if chosen.iter().all(|other| other.id != column.id) {
            chosen.push(column);
        }
    }
    let new = New::explicit(state, rows);
    let names: Vec<String> = chosen.iter().map(|column| column.quoted()).collect();
    let sql = format!(
        "INSERT INTO {} REPLACE USING ({}) {}",
        table.name,
        names.join(", "),
        new.query()
    );
    let full = new.full(state);
    let places: Vec<usize> = chosen.iter().map(|column| state.place(column.id)).collect();
    let same = |a: &Row, b: &Row| {
        places
            .iter()
            .all(|at| compare(&a[*at], &b[*at]) == Some(std::cmp::Ordering::Equal))
    };
    Some(replacing(
        sql,
        state,
        |row| full.iter().any(|new| same(row, new)),
        full.clone(),
    ))
}
