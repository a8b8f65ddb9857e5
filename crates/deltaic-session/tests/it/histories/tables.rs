//! CREATE TABLE out of numbers.

use chrono_tz::Tz;

use super::choices::{ColumnChoice, TableChoice};
use super::kinds::{KINDS, Kind};
use super::state::{Column, Role, State, generated_kind, generated_sql};

/// Names for columns: cases, letters beyond ASCII, and one that only mapped columns may have.
pub const NAMES: [&str; 9] = ["a", "b", "Qty", "d", "e", "f", "über", "h", "x y"];

/// A property for each bit of a table's options.
const OPTIONS: [&str; 10] = [
    "'delta.enableDeletionVectors' = 'true'",
    "'delta.enableChangeDataFeed' = 'true'",
    "'delta.enableRowTracking' = 'true'",
    "'delta.enableInCommitTimestamps' = 'true'",
    "'delta.checkpointPolicy' = 'v2'",
    "'delta.enableTypeWidening' = 'true'",
    "'delta.isolationLevel' = 'Serializable'",
    "'delta.dataSkippingNumIndexedCols' = '2'",
    "'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false'",
    "'delta.feature.vacuumProtocolCheck' = 'supported'",
];

/// Ids of columns, in turn.
#[derive(Debug, Default)]
pub struct Ids(u32);

impl Ids {
    pub fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

/// An empty table, and what follows its name in the statement that makes it.
pub fn build(choice: &TableChoice, zone: Tz, ids: &mut Ids) -> (State, String) {
    let mut state = State::of(zone);
    for (at, column) in choice.columns.iter().enumerate() {
        let column = column_of(column, NAMES[at], &state, ids);
        state.columns.push(column);
    }
    lay_out(choice, &mut state);
    let definitions: Vec<String> = state
        .columns
        .iter()
        .map(|column| definition(column, &state))
        .collect();
    let mut sql = format!("({}) USING delta", definitions.join(", "));
    let names = |of: &[u32]| {
        of.iter()
            .map(|id| state.column(*id).quoted())
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !state.partitions.is_empty() {
        sql += &format!(" PARTITIONED BY ({})", names(&state.partitions));
    }
    if !state.clusters.is_empty() {
        sql += &format!(" CLUSTER BY ({})", names(&state.clusters));
    }
    sql += &format!(" TBLPROPERTIES ({})", properties(choice, &state).join(", "));
    (state, sql)
}

/// The properties that a choice of options stands for.
pub fn properties(choice: &TableChoice, state: &State) -> Vec<String> {
    let mut all = vec![format!(
        "'delta.checkpointInterval' = '{}'",
        choice.interval % 4 + 2
    )];
    let modes = ["none", "name", "id"];
    all.push(format!(
        "'delta.columnMapping.mode' = '{}'",
        modes[usize::from(choice.mapping % 3)]
    ));
    for (bit, property) in OPTIONS.iter().enumerate() {
        // Columns to cluster by must be among those that have statistics.
        let fits = state.clusters.is_empty() || !property.contains("NumIndexedCols");
        if fits && (choice.options >> bit) & 1 == 1 {
            all.push((*property).to_owned());
        }
    }
    // One table of sixteen only grows.
    if (choice.options >> 10) & 15 == 15 {
        all.push("'delta.appendOnly' = 'true'".to_owned());
    }
    if state
        .columns
        .iter()
        .any(|column| matches!(column.role, Role::Default(_)))
    {
        all.push("'delta.feature.allowColumnDefaults' = 'supported'".to_owned());
    }
    all
}

fn column_of(choice: &ColumnChoice, name: &str, state: &State, ids: &mut Ids) -> Column {
    let mut kind = KINDS[usize::from(choice.kind) % KINDS.len()];
    let mut role = Role::Plain;
    let first = state.columns.is_empty();
    match choice.role % 8 {
        0 if !kind.nested() => role = Role::Default(kind.some(choice.value)),
        1 if kind == Kind::Long
            && !first
            && !state
                .columns
                .iter()
                .any(|c| matches!(c.role, Role::Identity(..))) =>
        {
            role = Role::Identity(
                i64::from(choice.value % 50),
                i64::from(choice.value % 3) + 1,
            );
        }
        2 | 3 => {
            let bases: Vec<&Column> = state
                .columns
                .iter()
                .filter(|column| column.given() && generated_kind(column.kind).is_some())
                .collect();
            if !bases.is_empty() {
                let base = bases[usize::from(choice.value) % bases.len()];
                kind = generated_kind(base.kind).unwrap();
                role = Role::Generated(base.id);
            }
        }
        _ => {}
    }
    let plain = matches!(role, Role::Plain | Role::Default(_));
    Column {
        id: ids.next(),
        name: name.to_owned(),
        kind,
        not_null: choice.not_null && plain,
        role,
    }
}

/// Chooses what the table is partitioned or clustered by; the first column stays in the files.
fn lay_out(choice: &TableChoice, state: &mut State) {
    let free = |column: &&Column| {
        // What is computed from an empty text would not be what is computed from the NULL that a log makes of it.
        let base = state
            .columns
            .iter()
            .any(|other| other.role == Role::Generated(column.id));
        let able = match column.role {
            // An empty text that was computed would become NULL, and would not be what the next UPDATE computes.
            Role::Generated(_) => column.kind != Kind::Text,
            Role::Identity(..) => false,
            Role::Plain | Role::Default(_) => true,
        };
        able && !base && column.kind.partitions()
    };
    let able: Vec<u32> = state
        .columns
        .iter()
        .skip(1)
        .filter(free)
        .map(|column| column.id)
        .collect();
    let mut partitions = Vec::new();
    for pick in &choice.partitions {
        if !able.is_empty() && !partitions.contains(&able[usize::from(*pick) % able.len()]) {
            partitions.push(able[usize::from(*pick) % able.len()]);
        }
    }
    let able: Vec<u32> = state
        .columns
        .iter()
        .filter(|c| c.kind.clusters() && c.given())
        .map(|c| c.id)
        .collect();
    if let Some(pick) = choice.cluster
        && partitions.is_empty()
        && !able.is_empty()
    {
        state.clusters.push(able[usize::from(pick) % able.len()]);
    }
    state.partitions = partitions;
}

fn definition(column: &Column, state: &State) -> String {
    let role = match &column.role {
        Role::Plain => String::new(),
        Role::Default(value) => format!(" DEFAULT {}", column.kind.literal(value)),
        Role::Generated(base) => format!(
            " GENERATED ALWAYS AS ({})",
            generated_sql(state.column(*base))
        ),
        Role::Identity(start, step) => {
            format!(" GENERATED ALWAYS AS IDENTITY (START WITH {start} INCREMENT BY {step})")
        }
    };
    let not_null = if column.not_null { " NOT NULL" } else { "" };
    format!("{} {}{not_null}{role}", column.quoted(), column.kind.sql())
}
