//! Bounds as JSON values.

use crate::number::{format_decimal, java_double, java_float, parse_decimal};
use crate::partition::{Scalar, parse_double};
use crate::schema::DataType;
use crate::timestamp::{
    Zone, format_date, format_statistics, format_statistics_ntz, parse_date, parse_timestamp,
    parse_timestamp_ntz,
};
use serde_json::Value;

/// Whether columns of this type have bounds: numbers, dates, timestamps and strings do; booleans, bytes and nested types do not.
pub fn has_bounds(data_type: &DataType) -> bool {
    data_type.is_numeric()
        || matches!(
            data_type,
            DataType::Date | DataType::Timestamp | DataType::TimestampNtz | DataType::String
        )
}

/// Reads a bound; none where it is absent, of another type, or a date or number that does not exist.
pub fn from_json_bound(value: &Value, data_type: &DataType) -> Option<Scalar> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let word = text.as_str();
    Some(match data_type {
        DataType::Byte => Scalar::Byte(word.parse().ok()?),
        DataType::Short => Scalar::Short(word.parse().ok()?),
        DataType::Integer => Scalar::Integer(word.parse().ok()?),
        DataType::Long => Scalar::Long(word.parse().ok()?),
        DataType::Float => Scalar::Float(word.parse().ok()?),
        DataType::Double => Scalar::Double(parse_double(word)?),
        DataType::Decimal { precision, scale } => Scalar::Decimal {
            unscaled: parse_decimal(word, *precision, *scale)?,
            precision: *precision,
            scale: *scale,
        },
        DataType::String if value.is_string() => Scalar::String(text),
        DataType::Date => Scalar::Date(parse_date(word)?),
        DataType::Timestamp => Scalar::Timestamp(parse_timestamp(word, &Zone::utc(), None)?),
        DataType::TimestampNtz => Scalar::TimestampNtz(parse_timestamp_ntz(word)?),
        _ => return None,
    })
}

/// Writes a bound, strings as they are: cut them first. Timestamps are cut to milliseconds and shown in `zone`. None for values
/// without bounds.
pub fn to_json_bound(value: &Scalar, zone: &Zone) -> Option<Value> {
    let number = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
    Some(match value {
        Scalar::Byte(value) => Value::from(*value),
        Scalar::Short(value) => Value::from(*value),
        Scalar::Integer(value) => Value::from(*value),
        Scalar::Long(value) => Value::from(*value),
        Scalar::Float(value) => number(java_float(*value)),
        Scalar::Double(value) => number(java_double(*value)),
        Scalar::Decimal {
            unscaled, scale, ..
        } => number(format_decimal(*unscaled, *scale)),
        Scalar::String(text) => Value::String(text.clone()),
        Scalar::Date(days) => Value::String(format_date(*days)),
        Scalar::Timestamp(micros) => Value::String(format_statistics(*micros, zone)),
        Scalar::TimestampNtz(micros) => Value::String(format_statistics_ntz(*micros)),
        Scalar::Null | Scalar::Boolean(_) | Scalar::Binary(_) => return None,
    })
}
