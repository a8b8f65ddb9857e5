//! Statistics of a data file (protocol: "Per-file Statistics"): the JSON text of `add.stats`, in both directions. Keys are physical
//! names, nested as the schema is.

mod columns;
#[cfg(test)]
mod tests;
mod text;
mod value;

pub use columns::{StatisticsColumns, check_stats_columns};
pub use text::{DEFAULT_STRING_PREFIX, cut_maximum, cut_minimum};
pub use value::{from_json_bound, has_bounds, to_json_bound};

use crate::partition::Scalar;
use crate::schema::DataType;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Timestamps are cut to milliseconds when they are written, so a maximum may be that much too low.
const MILLISECOND: i64 = 1000;

/// What is known about a file's rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// Rows in the file, deletion vectors not counted.
    pub num_records: Option<i64>,
    pub min_values: Map<String, Value>,
    pub max_values: Map<String, Value>,
    pub null_count: Map<String, Value>,
    /// Whether bounds are attained and null counts exact; absent means yes.
    pub tight_bounds: Option<bool>,
}

/// What is known about a column's nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    Unknown,
    None,
    All,
    /// Exactly so many, with tight bounds.
    Some(i64),
}

impl Statistics {
    /// Reads statistics. Text that is none gives none: a file without statistics is legal. Bare `NaN` and `Infinity`, which some
    /// writers leave in numbers, are understood; unknown keys are ignored.
    pub fn from_json(text: &str) -> Option<Statistics> {
        let value = serde_json::from_str::<Value>(text)
            .or_else(|_| serde_json::from_str(&quote_bare_words(text)))
            .ok()?;
        let Value::Object(mut map) = value else {
            return None;
        };
        let mut part = |key: &str| match map.remove(key) {
            Some(Value::Object(part)) => part,
            _ => Map::new(),
        };
        let (min_values, max_values) = (part("minValues"), part("maxValues"));
        let null_count = part("nullCount");
        Some(Statistics {
            num_records: map.get("numRecords").and_then(Value::as_i64),
            tight_bounds: map.get("tightBounds").and_then(Value::as_bool),
            min_values,
            max_values,
            null_count,
        })
    }

    /// The text, keys in the order that Spark writes them. Empty parts are left out when nothing but the count is known.
    pub fn to_json(&self) -> String {
        let mut out = Map::new();
        if let Some(records) = self.num_records {
            out.insert("numRecords".into(), Value::from(records));
        }
        let parts = [
            ("minValues", &self.min_values),
            ("maxValues", &self.max_values),
            ("nullCount", &self.null_count),
        ];
        if parts.iter().any(|(_, part)| !part.is_empty()) {
            for (key, part) in parts {
                out.insert(key.into(), Value::Object(part.clone()));
            }
        }
        if let Some(tight) = self.tight_bounds {
            out.insert("tightBounds".into(), Value::Bool(tight));
        }
        Value::Object(out).to_string()
    }

    /// The same for a file that has a deletion vector: bounds are no longer tight.
    pub fn with_wide_bounds(mut self) -> Statistics {
        self.tight_bounds = Some(false);
        self
    }

    /// Whether bounds are attained.
    pub fn is_tight(&self) -> bool {
        self.tight_bounds.unwrap_or(true)
    }

    /// Lower bound of a column by the physical names from the top.
    pub fn min(&self, path: &[impl AsRef<str>], data_type: &DataType) -> Option<Scalar> {
        let value = lookup(&self.min_values, path)?;
        let bound = from_json_bound(value, data_type)?;
        Some(moved(bound, |slack| -slack, value))
    }

    /// Upper bound of a column; of timestamps a millisecond later than written.
    pub fn max(&self, path: &[impl AsRef<str>], data_type: &DataType) -> Option<Scalar> {
        let value = lookup(&self.max_values, path)?;
        let bound = from_json_bound(value, data_type)?;
        Some(match moved(bound, |slack| slack, value) {
            Scalar::Timestamp(micros) => Scalar::Timestamp(micros.saturating_add(MILLISECOND)),
            Scalar::TimestampNtz(micros) => {
                Scalar::TimestampNtz(micros.saturating_add(MILLISECOND))
            }
            other => other,
        })
    }

    /// Nulls of a column. Without tight bounds only "none" and "all" mean something.
    pub fn nulls(&self, path: &[impl AsRef<str>]) -> Nulls {
        let Some(count) = lookup(&self.null_count, path).and_then(Value::as_i64) else {
            return Nulls::Unknown;
        };
        if count == 0 {
            Nulls::None
        } else if self.num_records == Some(count) {
            Nulls::All
        } else if self.is_tight() {
            Nulls::Some(count)
        } else {
            Nulls::Unknown
        }
    }
}

/// A decimal bound, moved by what its writer may have lost.
fn moved(bound: Scalar, way: impl Fn(i128) -> i128, written: &Value) -> Scalar {
    let slack = value::decimal_slack(written, &bound);
    match bound {
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        } => Scalar::Decimal {
            unscaled: unscaled.saturating_add(way(slack)),
            precision,
            scale,
        },
        other => other,
    }
}

fn lookup<'a>(part: &'a Map<String, Value>, path: &[impl AsRef<str>]) -> Option<&'a Value> {
    let (last, parents) = path.split_last()?;
    let mut at = part;
    for name in parents {
        at = at.get(name.as_ref())?.as_object()?;
    }
    at.get(last.as_ref()).filter(|value| !value.is_null())
}

/// Puts bare `NaN`, `Infinity` and `-Infinity` in quotes, outside of strings.
fn quote_bare_words(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut rest, mut inside) = (text, false);
    while let Some(c) = rest.chars().next() {
        let word = WORDS
            .iter()
            .find(|word| !inside && rest.starts_with(**word));
        if let Some(word) = word {
            out.push('"');
            out.push_str(word);
            out.push('"');
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        let mut taken = c.len_utf8();
        if c == '"' {
            inside = !inside;
        } else if c == '\\' && inside {
            taken += rest.chars().nth(1).map_or(0, char::len_utf8);
        }
        let (head, tail) = rest.split_at_checked(taken).unwrap_or((rest, ""));
        out.push_str(head);
        rest = tail;
    }
    Cow::Owned(out)
}
