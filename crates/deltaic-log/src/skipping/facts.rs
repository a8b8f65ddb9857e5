//! What is known about the columns of one file.

use std::collections::BTreeMap;

use deltaic_protocol::statistics::{self, Statistics};

use super::{Column, Value};

/// How long a string in statistics may be before its writer cut it, in characters.
const STRING_LIMIT: usize = 32;
/// Timestamps in statistics are cut to milliseconds.
const MILLISECOND: i64 = 1_000;

/// Nulls of a column within a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// No row is NULL.
    None,
    /// Every row is NULL.
    All,
    /// Not known, or a mixture.
    Possible,
}

/// Bounds and nulls of one column in one file.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFacts {
    /// No value is below it.
    pub min: Option<Value>,
    /// No value is above it.
    pub max: Option<Value>,
    /// Nulls.
    pub nulls: Nulls,
    /// Both bounds are attained; true for partition values.
    pub exact: bool,
}

impl ColumnFacts {
    /// Nothing known.
    pub const UNKNOWN: Self = Self {
        min: None,
        max: None,
        nulls: Nulls::Possible,
        exact: false,
    };

    /// One value in every row.
    pub fn constant(value: Value) -> Self {
        match value {
            Value::Null => Self {
                min: None,
                max: None,
                nulls: Nulls::All,
                exact: true,
            },
            value => Self {
                min: Some(value.clone()),
                max: Some(value),
                nulls: Nulls::None,
                exact: true,
            },
        }
    }
}

/// Where a predicate gets its facts from.
pub trait FileFacts {
    /// What is known about a column.
    fn facts(&self, column: &Column) -> ColumnFacts;
}

/// The facts of an `add`: its partition values and its statistics.
#[derive(Debug, Clone)]
pub struct StatisticsFacts {
    partition: BTreeMap<String, Value>,
    statistics: Statistics,
}

impl StatisticsFacts {
    /// Reads the facts of a file. `partition` maps the physical names of the partition columns to typed values; statistics
    /// that are absent or damaged count as unknown.
    pub fn new(stats: Option<&str>, partition: BTreeMap<String, Value>) -> Self {
        Self {
            partition,
            statistics: stats.and_then(Statistics::from_json).unwrap_or_default(),
        }
    }

    /// Rows of the file before its deletion vector, if recorded.
    pub fn num_records(&self) -> Option<i64> {
        self.statistics.num_records
    }
}

impl FileFacts for StatisticsFacts {
    fn facts(&self, column: &Column) -> ColumnFacts {
        if let [name] = column.path.as_slice()
            && let Some(value) = self.partition.get(name)
        {
            return ColumnFacts::constant(value.clone());
        }
        let nulls = match self.statistics.nulls(&column.path) {
            statistics::Nulls::None => Nulls::None,
            statistics::Nulls::All => Nulls::All,
            statistics::Nulls::Some(_) | statistics::Nulls::Unknown => Nulls::Possible,
        };
        let min = self
            .statistics
            .min(&column.path, &column.data_type)
            .map(Value::from);
        let max = self
            .statistics
            .max(&column.path, &column.data_type)
            .map(Value::from);
        ColumnFacts {
            min: min.and_then(lower),
            max: max.and_then(upper),
            nulls,
            exact: false,
        }
    }
}

/// A recorded minimum as a bound that holds whatever the writer cut.
fn lower(value: Value) -> Option<Value> {
    match value {
        Value::Double(d) if d.is_nan() => None,
        Value::Double(d) => Some(Value::Double(d.min(as_float(d)))),
        Value::Timestamp(t) => t.checked_sub(MILLISECOND).map(Value::Timestamp),
        other => Some(other),
    }
}

/// A maximum as a bound that holds whatever the writer cut; of timestamps the cut is made up for already.
fn upper(value: Value) -> Option<Value> {
    match value {
        Value::Double(d) if d.is_nan() => None,
        Value::Double(d) => Some(Value::Double(d.max(as_float(d)))),
        Value::String(s) => Some(Value::String(above_cut(s))),
        other => Some(other),
    }
}

/// A cut maximum ends in a character above whatever followed. A writer that forgot it leaves a mere prefix, and older releases of
/// the reference end with U+FFFD, above which there are characters.
fn above_cut(mut text: String) -> String {
    let long = text.encode_utf16().count() >= STRING_LIMIT;
    if long && !text.ends_with(['\u{7f}', '\u{10ffff}']) {
        text.truncate(text.trim_end_matches('\u{fffd}').len());
        text.push('\u{10ffff}');
    }
    text
}

/// The number that a FLOAT holds for this text. The files of a column that was widened to DOUBLE have bounds in the shortest
/// digits of a float: `0.7` stands for 0.699999988.
fn as_float(d: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation)]
    let float = f64::from(d as f32);
    if float.is_finite() { float } else { d }
}
