//! Partition values: typed values, their text in the log (protocol: "Partition Value Serialization"), and the folder names that
//! Spark makes of them.

mod folder;
#[cfg(test)]
mod tests;

pub use folder::{DEFAULT_PARTITION, escape_path_name, partition_folder, unescape_path_name};

use crate::error::{DeltaError, Result};
use crate::number::{format_decimal, java_double, java_float, parse_decimal};
use crate::schema::DataType;
use crate::timestamp::{
    Zone, format_date, format_iso_utc, format_timestamp, format_timestamp_ntz, parse_date,
    parse_timestamp, parse_timestamp_ntz,
};

/// A value of a primitive type. Two texts of one value (`1` and `01`) give equal scalars.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub enum Scalar {
    Null,
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Integer(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Decimal {
        unscaled: i128,
        precision: u8,
        scale: u8,
    },
    String(String),
    Binary(Vec<u8>),
    /// Days since the epoch.
    Date(i32),
    /// Microseconds since the epoch.
    Timestamp(i64),
    /// Microseconds as if UTC.
    TimestampNtz(i64),
}

impl Scalar {
    /// Reads a value of the log. Null and the empty text are null for every type. So is the name that folders have for null,
    /// which the reference's CONVERT writes into the log, but for texts: there it stays what it is, as the reference reads it. A timestamp without zone is read in `zone`. Fails with `DELTA_FAILED_CAST_PARTITION_VALUE`.
    pub fn from_partition_text(
        text: Option<&str>,
        data_type: &DataType,
        zone: &Zone,
    ) -> Result<Scalar> {
        let is_text = matches!(data_type, DataType::String | DataType::Binary);
        let is_null = |text: &str| text.is_empty() || (text == DEFAULT_PARTITION && !is_text);
        let Some(text) = text.filter(|text| !is_null(text)) else {
            return Ok(Scalar::Null);
        };
        parse(text, data_type, zone).ok_or_else(|| {
            DeltaError::new("DELTA_FAILED_CAST_PARTITION_VALUE")
                .param("value", text)
                .param("dataType", data_type.sql())
        })
    }

    /// The text for the log; null and the empty string give none. Fails for a binary value that is no UTF-8 text, which the log
    /// cannot hold.
    pub fn to_partition_text(&self, column: &str) -> Result<Option<String>> {
        match self {
            Scalar::Timestamp(micros) => Ok(Some(format_iso_utc(*micros))),
            other => other.text(column, &Zone::utc()),
        }
    }

    /// The text for a folder's name: timestamps in the session's zone, as CAST to STRING gives them.
    pub fn to_folder_text(&self, column: &str, zone: &Zone) -> Result<Option<String>> {
        self.text(column, zone)
    }

    fn text(&self, column: &str, zone: &Zone) -> Result<Option<String>> {
        let text = match self {
            Scalar::Null => return Ok(None),
            Scalar::Boolean(value) => value.to_string(),
            Scalar::Byte(value) => value.to_string(),
            Scalar::Short(value) => value.to_string(),
            Scalar::Integer(value) => value.to_string(),
            Scalar::Long(value) => value.to_string(),
            Scalar::Float(value) => java_float(*value),
            Scalar::Double(value) => java_double(*value),
            Scalar::Decimal {
                unscaled, scale, ..
            } => format_decimal(*unscaled, *scale),
            Scalar::String(value) => value.clone(),
            Scalar::Binary(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(cause) => {
                    return Err(DeltaError::new("DELTA_INVALID_PARTITION_COLUMN_TYPE")
                        .param("name", column)
                        .param("dataType", "BINARY")
                        .with_hint("Only bytes that are UTF-8 text can be partition values.")
                        .with_source(cause));
                }
            },
            Scalar::Date(days) => format_date(*days),
            Scalar::Timestamp(micros) => format_timestamp(*micros, zone),
            Scalar::TimestampNtz(micros) => format_timestamp_ntz(*micros),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}

/// A floating point number as Spark's CAST reads it, with its words for infinity.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "nan" => return Some(f64::NAN),
        "inf" | "+inf" | "infinity" | "+infinity" => return Some(f64::INFINITY),
        "-inf" | "-infinity" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let body = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let numeric = body
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if numeric { body.parse().ok() } else { None }
}

fn parse(text: &str, data_type: &DataType, zone: &Zone) -> Option<Scalar> {
    let word = text.trim();
    Some(match data_type {
        DataType::Void => return None,
        DataType::Boolean => match word.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "1" => Scalar::Boolean(true),
            "false" | "f" | "no" | "n" | "0" => Scalar::Boolean(false),
            _ => return None,
        },
        DataType::Byte => Scalar::Byte(word.parse().ok()?),
        DataType::Short => Scalar::Short(word.parse().ok()?),
        DataType::Integer => Scalar::Integer(word.parse().ok()?),
        DataType::Long => Scalar::Long(word.parse().ok()?),
        // Through f32 itself: a detour over f64 would round twice.
        DataType::Float => match word.parse::<f32>() {
            Ok(value) => Scalar::Float(value),
            #[allow(clippy::cast_possible_truncation)]
            Err(_) => Scalar::Float(parse_double(word)? as f32),
        },
        DataType::Double => Scalar::Double(parse_double(word)?),
        DataType::Decimal { precision, scale } => Scalar::Decimal {
            unscaled: parse_decimal(word, *precision, *scale)?,
            precision: *precision,
            scale: *scale,
        },
        DataType::String => Scalar::String(text.to_owned()),
        DataType::Binary => Scalar::Binary(text.as_bytes().to_vec()),
        DataType::Date => Scalar::Date(parse_date(word)?),
        DataType::Timestamp => Scalar::Timestamp(parse_timestamp(word, zone, None)?),
        DataType::TimestampNtz => Scalar::TimestampNtz(parse_timestamp_ntz(word)?),
        _ => return None,
    })
}
