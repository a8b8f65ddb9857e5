//! Between the protocol's scalars and DataFusion's.

use arrow::datatypes::DataType as Arrow;
use datafusion::common::ScalarValue;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::timestamp::Zone;

/// A partition value out of the log, of the column's Arrow type. Texts without a zone are read in `zone`.
///
/// # Errors
/// `DELTA_FAILED_CAST_PARTITION_VALUE`.
pub(crate) fn partition_scalar(
    text: Option<&str>,
    data_type: &DataType,
    arrow: &Arrow,
    zone: &Zone,
) -> Result<ScalarValue> {
    match Scalar::from_partition_text(text, data_type, zone)? {
        Scalar::Null => ScalarValue::try_new_null(arrow).map_err(|error| {
            DeltaError::internal(format!("a partition column of type {arrow}")).with_source(error)
        }),
        value => Ok(scalar_value(value)),
    }
}

/// DataFusion's value of a scalar.
pub(crate) fn scalar_value(value: Scalar) -> ScalarValue {
    match value {
        Scalar::Null => ScalarValue::Null,
        Scalar::Boolean(value) => ScalarValue::Boolean(Some(value)),
        Scalar::Byte(value) => ScalarValue::Int8(Some(value)),
        Scalar::Short(value) => ScalarValue::Int16(Some(value)),
        Scalar::Integer(value) => ScalarValue::Int32(Some(value)),
        Scalar::Long(value) => ScalarValue::Int64(Some(value)),
        Scalar::Float(value) => ScalarValue::Float32(Some(value)),
        Scalar::Double(value) => ScalarValue::Float64(Some(value)),
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        } => ScalarValue::Decimal128(
            Some(unscaled),
            precision,
            i8::try_from(scale).unwrap_or(i8::MAX),
        ),
        Scalar::String(value) => ScalarValue::Utf8(Some(value)),
        Scalar::Binary(value) => ScalarValue::Binary(Some(value)),
        Scalar::Date(value) => ScalarValue::Date32(Some(value)),
        Scalar::Timestamp(value) => {
            ScalarValue::TimestampMicrosecond(Some(value), Some("UTC".into()))
        }
        Scalar::TimestampNtz(value) => ScalarValue::TimestampMicrosecond(Some(value), None),
    }
}

/// The protocol's scalar of a value; none for nested and other types that cannot partition a table.
pub(crate) fn to_scalar(value: &ScalarValue) -> Option<Scalar> {
    if value.is_null() {
        return Some(Scalar::Null);
    }
    Some(match value {
        ScalarValue::Boolean(Some(value)) => Scalar::Boolean(*value),
        ScalarValue::Int8(Some(value)) => Scalar::Byte(*value),
        ScalarValue::Int16(Some(value)) => Scalar::Short(*value),
        ScalarValue::Int32(Some(value)) => Scalar::Integer(*value),
        ScalarValue::Int64(Some(value)) => Scalar::Long(*value),
        ScalarValue::Float32(Some(value)) => Scalar::Float(*value),
        ScalarValue::Float64(Some(value)) => Scalar::Double(*value),
        ScalarValue::Decimal128(Some(value), precision, scale) => Scalar::Decimal {
            unscaled: *value,
            precision: *precision,
            scale: u8::try_from(*scale).ok()?,
        },
        ScalarValue::Utf8(Some(value))
        | ScalarValue::LargeUtf8(Some(value))
        | ScalarValue::Utf8View(Some(value)) => Scalar::String(value.clone()),
        ScalarValue::Binary(Some(value))
        | ScalarValue::LargeBinary(Some(value))
        | ScalarValue::BinaryView(Some(value)) => Scalar::Binary(value.clone()),
        ScalarValue::Date32(Some(value)) => Scalar::Date(*value),
        ScalarValue::TimestampMicrosecond(Some(value), Some(_)) => Scalar::Timestamp(*value),
        ScalarValue::TimestampMicrosecond(Some(value), None) => Scalar::TimestampNtz(*value),
        _ => return None,
    })
}
