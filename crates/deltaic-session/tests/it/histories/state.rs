//! A version of a table in the model: its columns, what they demand, and its rows.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, NaiveDate};
use chrono_tz::Tz;
use deltaic_session::Value;

use super::conditions::Condition;
use super::kinds::{Kind, date};

pub type Row = Vec<Value>;

/// Where a column's values come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    Plain,
    Default(Value),
    /// Computed from the column with this id.
    Generated(u32),
    /// GENERATED ALWAYS AS IDENTITY with this start and step.
    Identity(i64, i64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Kept for the column's life, never given to another one.
    pub id: u32,
    pub name: String,
    pub kind: Kind,
    pub not_null: bool,
    pub role: Role,
}

impl Column {
    /// The name in SQL.
    pub fn quoted(&self) -> String {
        format!("`{}`", self.name)
    }

    /// Whether a statement may give it values of its choice.
    pub fn given(&self) -> bool {
        matches!(self.role, Role::Plain | Role::Default(_))
    }
}

/// The type of a column that is generated from one of this type.
pub fn generated_kind(base: Kind) -> Option<Kind> {
    match base {
        Kind::Long => Some(Kind::Long),
        Kind::Text => Some(Kind::Text),
        Kind::Instant => Some(Kind::Date),
        Kind::Date => Some(Kind::Int),
        _ => None,
    }
}

/// The expression of such a column.
pub fn generated_sql(base: &Column) -> String {
    let name = base.quoted();
    match base.kind {
        Kind::Long => format!("{name} % 10"),
        Kind::Text => format!("substring({name}, 1, 2)"),
        Kind::Instant => format!("CAST({name} AS DATE)"),
        _ => format!("year({name})"),
    }
}

/// Its value.
fn generated(base: &Value, zone: Tz) -> Value {
    match base {
        Value::Long(number) => Value::Long(number % 10),
        Value::String(text) => Value::text(text.chars().take(2).collect::<String>()),
        Value::Timestamp(micros) => {
            let instant = DateTime::from_timestamp_micros(*micros).unwrap();
            let local = instant.with_timezone(&zone).date_naive();
            Value::Date(
                (local - NaiveDate::default())
                    .num_days()
                    .try_into()
                    .unwrap(),
            )
        }
        Value::Date(days) => Value::Long(date(*days).year().into()),
        _ => Value::Null,
    }
}

/// What identity columns hold in the model until the table tells.
pub const UNKNOWN: i64 = i64::MIN;

/// A table at one version.
#[derive(Debug, Clone)]
pub struct State {
    /// The zone of the session that fills the table.
    pub zone: Tz,
    pub columns: Vec<Column>,
    /// Ids of the partition columns.
    pub partitions: Vec<u32>,
    pub clusters: Vec<u32>,
    pub checks: Vec<(String, Condition)>,
    /// The table's properties as the table tells them.
    pub config: BTreeMap<String, String>,
    pub rows: Vec<Row>,
}

impl State {
    /// A table without columns.
    pub fn of(zone: Tz) -> Self {
        State {
            zone,
            columns: Vec::new(),
            partitions: Vec::new(),
            clusters: Vec::new(),
            checks: Vec::new(),
            config: BTreeMap::new(),
            rows: Vec::new(),
        }
    }

    /// Where a column stands.
    pub fn place(&self, id: u32) -> usize {
        self.columns
            .iter()
            .position(|column| column.id == id)
            .unwrap()
    }

    pub fn column(&self, id: u32) -> &Column {
        &self.columns[self.place(id)]
    }

    pub fn is(&self, property: &str) -> bool {
        self.config
            .get(property)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether the table's protocol names a feature.
    pub fn has_feature(&self, feature: &str) -> bool {
        self.config
            .contains_key(&format!("delta.feature.{feature}"))
    }

    /// Whether columns have names apart from those in the files.
    pub fn mapped(&self) -> bool {
        self.config
            .get("delta.columnMapping.mode")
            .is_some_and(|mode| mode != "none")
    }

    /// The columns that a statement may give values to.
    pub fn given(&self) -> Vec<&Column> {
        self.columns
            .iter()
            .filter(|column| column.given())
            .collect()
    }

    /// Whether files have no column to hold.
    pub fn is_all_partitions(&self) -> bool {
        self.columns.len() == self.partitions.len()
    }

    /// Whether a constraint or another column is made of this one.
    pub fn depended_on(&self, id: u32) -> bool {
        self.checks
            .iter()
            .any(|(_, check)| check.reads().contains(&id))
            || self
                .columns
                .iter()
                .any(|column| column.role == Role::Generated(id))
    }

    /// Whether the version has the columns that another one has.
    pub fn same_columns(&self, other: &State) -> bool {
        let shape = |state: &State| -> Vec<(u32, String, Kind)> {
            state
                .columns
                .iter()
                .map(|column| (column.id, column.name.clone(), column.kind))
                .collect()
        };
        shape(self) == shape(other)
    }

    /// A row as the table keeps it, where these columns are given and the others are not.
    pub fn row(&self, given: &[(u32, Value)]) -> Row {
        let mut row: Row = self
            .columns
            .iter()
            .map(
                |column| match (given.iter().find(|(id, _)| *id == column.id), &column.role) {
                    (Some((_, value)), _) => value.clone(),
                    (None, Role::Default(value)) => value.clone(),
                    (None, Role::Identity(..)) => Value::Long(UNKNOWN),
                    _ => Value::Null,
                },
            )
            .collect();
        self.settle(&mut row);
        row
    }

    /// Computes what is generated, and makes of partition values what a log keeps of them.
    pub fn settle(&self, row: &mut Row) {
        for (at, column) in self.columns.iter().enumerate() {
            if let Role::Generated(base) = column.role {
                row[at] = generated(&row[self.place(base)], self.zone);
            }
        }
        for id in &self.partitions {
            let at = self.place(*id);
            if row[at] == Value::text("") {
                row[at] = Value::Null;
            }
        }
    }

    /// Whether the table takes a row.
    pub fn takes(&self, row: &[Value]) -> bool {
        let full = self
            .columns
            .iter()
            .zip(row)
            .all(|(column, value)| !(column.not_null && *value == Value::Null));
        full && self
            .checks
            .iter()
            .all(|(_, check)| check.holds(self, row) == Some(true))
    }
}
