//! Partition values of the log as values of a row.

use std::cmp::Ordering;

use deltaic_protocol::error::Result;
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::schema::StructField;
use deltaic_protocol::timestamp::Zone;

use crate::result::Value;

/// The typed value of a partition column's text.
pub(crate) fn value(text: Option<&str>, field: &StructField, zone: &Zone) -> Result<Value> {
    Ok(
        match Scalar::from_partition_text(text, &field.data_type, zone)? {
            Scalar::Null => Value::Null,
            Scalar::Boolean(value) => Value::Boolean(value),
            Scalar::Byte(value) => Value::Long(value.into()),
            Scalar::Short(value) => Value::Long(value.into()),
            Scalar::Integer(value) => Value::Long(value.into()),
            Scalar::Long(value) => Value::Long(value),
            Scalar::Float(value) => Value::Float(value),
            Scalar::Double(value) => Value::Double(value),
            Scalar::Decimal {
                unscaled, scale, ..
            } => Value::Decimal(unscaled, scale as i8),
            Scalar::String(value) => Value::String(value),
            Scalar::Binary(value) => Value::Binary(value),
            Scalar::Date(value) => Value::Date(value),
            Scalar::Timestamp(value) => Value::Timestamp(value),
            Scalar::TimestampNtz(value) => Value::TimestampNtz(value),
        },
    )
}

/// A value as it would be written in a partition clause.
pub(crate) fn plain_text(value: &Value) -> String {
    crate::result::cell_text(value, &Zone::utc())
}

/// Rows in order: nulls first, then by value.
pub(crate) fn compare_rows(a: &[Value], b: &[Value]) -> Ordering {
    a.iter()
        .zip(b)
        .map(|(a, b)| compare(a, b))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Long(a), Value::Long(b)) | (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::TimestampNtz(a), Value::TimestampNtz(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Decimal(a, _), Value::Decimal(b, _)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
        _ => plain_text(a).cmp(&plain_text(b)),
    }
}
