//! Single values out of arrays: numbers of any type, and values as they stand in error texts.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use chrono_tz::Tz;
use deltaic_protocol::schema::DataType;

use crate::text;

/// A number of any of Spark's types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// TINYINT to BIGINT.
    Whole(i64),
    /// DECIMAL: unscaled, scale.
    Decimal(i128, u8),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
}

/// The number in a row; None for NULL and for other types.
pub fn number(array: &ArrayRef, row: usize, ty: &DataType) -> Option<Number> {
    if array.is_null(row) {
        return None;
    }
    Some(match ty {
        DataType::Byte => Number::Whole(array.as_primitive::<Int8Type>().value(row).into()),
        DataType::Short => Number::Whole(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Integer => Number::Whole(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Long => Number::Whole(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float => Number::Float(array.as_primitive::<Float32Type>().value(row)),
        DataType::Double => Number::Double(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal { scale, .. } => {
            Number::Decimal(array.as_primitive::<Decimal128Type>().value(row), *scale)
        }
        _ => return None,
    })
}

/// A value with the suffix or the type in front that SQL needs: `3000000000L`, `1.5BD`, `'x'`.
pub fn sql_value(array: &ArrayRef, row: usize, ty: &DataType, zone: Tz) -> String {
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    let plain = text::value_text(array, row, ty, zone);
    match ty {
        DataType::Byte => plain + "Y",
        DataType::Short => plain + "S",
        DataType::Long => plain + "L",
        DataType::Float => format!("CAST({plain} AS FLOAT)"),
        DataType::Double if !plain.ends_with(|c: char| c.is_ascii_digit()) => {
            format!("CAST('{plain}' AS DOUBLE)")
        }
        DataType::Double => plain + "D",
        DataType::Decimal { .. } => plain + "BD",
        DataType::String => format!("'{}'", plain.replace('\\', "\\\\").replace('\'', "\\'")),
        DataType::Date => format!("DATE '{plain}'"),
        DataType::Timestamp => format!("TIMESTAMP '{plain}'"),
        DataType::TimestampNtz => format!("TIMESTAMP_NTZ '{plain}'"),
        _ => plain,
    }
}
