//! Values that predicates compare with, and their order as Spark has it.

use std::cmp::Ordering;

use deltaic_protocol::schema::DataType;

/// A literal of a column's type. Values of unlike kinds do not compare, which counts as "unknown".
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL; comparing with it gives NULL.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT, SMALLINT, INT and BIGINT.
    Integer(i64),
    /// FLOAT (widened) and DOUBLE.
    Double(f64),
    /// DECIMAL: unscaled value and scale.
    Decimal(i128, u8),
    /// STRING, CHAR and VARCHAR; ordered by their UTF-8 bytes.
    String(String),
    /// BINARY.
    Binary(Vec<u8>),
    /// DATE, days since 1970-01-01.
    Date(i32),
    /// TIMESTAMP (UTC) and TIMESTAMP_NTZ, microseconds since 1970-01-01 00:00.
    Timestamp(i64),
}

impl Value {
    /// The order of two values; `None` where they do not compare. NaN equals NaN and is above all else, as in Spark.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Double(a), Self::Double(b)) => Some(match (a.is_nan(), b.is_nan()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => a.partial_cmp(b)?,
            }),
            (Self::Decimal(a, s), Self::Decimal(b, t)) => {
                let scale = (*s).max(*t);
                Some(rescaled(*a, *s, scale)?.cmp(&rescaled(*b, *t, scale)?))
            }
            (Self::String(a), Self::String(b)) => Some(a.cmp(b)),
            (Self::Binary(a), Self::Binary(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Self::Double(_))
    }

    pub(crate) fn is_nan(&self) -> bool {
        matches!(self, Self::Double(d) if d.is_nan())
    }

    /// Reads a bound as statistics write it. `None` where it is absent or not of the type.
    pub(crate) fn from_statistics(json: &serde_json::Value, data_type: &DataType) -> Option<Self> {
        use serde_json::Value as Json;
        let text = match json {
            Json::String(text) => text.clone(),
            Json::Number(number) => number.to_string(),
            Json::Bool(flag) => return matches!(data_type, DataType::Boolean).then_some(Self::Boolean(*flag)),
            _ => return None,
        };
        match (data_type, json) {
            (DataType::Byte | DataType::Short | DataType::Integer | DataType::Long, Json::Number(_)) => {
                text.parse().ok().map(Self::Integer)
            }
            (DataType::Float | DataType::Double, _) => text.parse().ok().map(Self::Double),
            (DataType::Decimal { .. }, Json::Number(_)) => parse_decimal(&text),
            (DataType::String, Json::String(_)) => Some(Self::String(text)),
            (DataType::Date, Json::String(_)) => parse_date(&text).map(Self::Date),
            (DataType::Timestamp, Json::String(_)) => parse_instant(&text).map(Self::Timestamp),
            (DataType::TimestampNtz, Json::String(_)) => parse_local(&text).map(Self::Timestamp),
            _ => None,
        }
    }
}

fn rescaled(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    unscaled.checked_mul(10i128.checked_pow(u32::from(to - from))?)
}

/// Reads `-12.34` and `1.5E+3` exactly.
pub(crate) fn parse_decimal(text: &str) -> Option<Value> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].trim_start_matches('+').parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let unscaled: i128 = digits.parse().ok()?;
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    match u8::try_from(scale) {
        Ok(scale) => Some(Value::Decimal(unscaled, scale)),
        Err(_) => Some(Value::Decimal(unscaled.checked_mul(10i128.checked_pow(scale.checked_neg()?.try_into().ok()?)?)?, 0)),
    }
}

fn parse_date(text: &str) -> Option<i32> {
    let date = chrono::NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok()?;
    let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1)?;
    i32::try_from((date - epoch).num_days()).ok()
}

fn parse_instant(text: &str) -> Option<i64> {
    let parsed = chrono::DateTime::parse_from_rfc3339(text)
        .or_else(|_| chrono::DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z"));
    match parsed {
        Ok(instant) => Some(instant.timestamp_micros()),
        Err(_) => parse_local(text),
    }
}

fn parse_local(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f")
        .or_else(|_| chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f"))
        .ok()
        .map(|t| t.and_utc().timestamp_micros())
}
