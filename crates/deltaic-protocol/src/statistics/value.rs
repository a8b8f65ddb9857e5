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

/// Reads a bound; none where it is absent, a number or date that does not exist, or JSON of another kind than the type's: a text
/// where a number is due proves nothing. The numbers that JSON lacks (NaN, the infinities) are texts.
pub fn from_json_bound(value: &Value, data_type: &DataType) -> Option<Scalar> {
    match value {
        Value::Number(number) => from_number(&number.to_string(), data_type),
        Value::String(text) => from_text(text, data_type),
        _ => None,
    }
}

fn from_number(word: &str, data_type: &DataType) -> Option<Scalar> {
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
        _ => return None,
    })
}

fn from_text(word: &str, data_type: &DataType) -> Option<Scalar> {
    Some(match data_type {
        DataType::String => Scalar::String(word.to_owned()),
        DataType::Date => Scalar::Date(parse_date(word)?),
        DataType::Timestamp => Scalar::Timestamp(parse_timestamp(word, &Zone::utc(), None)?),
        DataType::TimestampNtz => Scalar::TimestampNtz(parse_timestamp_ntz(word)?),
        DataType::Float | DataType::Double => {
            let number = parse_double(word).filter(|number| !number.is_finite())?;
            match data_type {
                #[allow(clippy::cast_possible_truncation)] // what is not finite stays what it is
                DataType::Float => Scalar::Float(number as f32),
                _ => Scalar::Double(number),
            }
        }
        _ => return None,
    })
}

/// How far a decimal bound may lie from the value that it was made from, in units of its last digit. A writer that has decimals
/// prints as many digits after the point as the type has; other forms may have gone through a double, which keeps 15 digits.
pub(super) fn decimal_slack(value: &Value, bound: &Scalar) -> i128 {
    const EXACT_IN_DOUBLE: u128 = 1_000_000_000_000_000;
    let (
        Value::Number(number),
        Scalar::Decimal {
            unscaled, scale, ..
        },
    ) = (value, bound)
    else {
        return 0;
    };
    let text = number.to_string();
    let fraction = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let as_written = fraction == usize::from(*scale) && !text.contains(['e', 'E']);
    if as_written || unscaled.unsigned_abs() < EXACT_IN_DOUBLE {
        return 0;
    }
    (unscaled.abs() >> 50) + 1
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
