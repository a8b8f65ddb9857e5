//! Typed columns of a checkpoint: `stats_parsed` and `partitionValues_parsed`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, StringArray, StructArray,
    TimestampMicrosecondArray, new_null_array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Fields};
use deltaic_protocol::schema::{DataType, StructType};

use crate::arrow_schema::{UTC, to_arrow_type};
use crate::skipping::Value;

/// Rows of named values as a struct column.
pub(super) fn typed_struct(
    schema: &StructType,
    rows: &[Option<BTreeMap<String, Value>>],
) -> ArrayRef {
    let children = schema
        .iter()
        .map(|field| {
            let values = rows
                .iter()
                .map(|row| row.as_ref()?.get(&field.name).cloned())
                .collect();
            typed_array(&field.data_type, values)
        })
        .collect();
    structure(schema, children, rows.iter().map(Option::is_some).collect())
}

pub(super) fn structure(
    schema: &StructType,
    children: Vec<ArrayRef>,
    nulls: NullBuffer,
) -> ArrayRef {
    let arrow = to_arrow_type(&DataType::Struct(schema.clone()));
    let length = nulls.len();
    let fields = match &arrow {
        ArrowType::Struct(fields) if !fields.is_empty() => fields.clone(),
        _ => return Arc::new(StructArray::new_empty_fields(length, Some(nulls))),
    };
    match StructArray::try_new(Fields::clone(&fields), children, Some(nulls)) {
        Ok(array) => Arc::new(array),
        Err(_) => new_null_array(&arrow, length),
    }
}

/// A column of one type; values of another type read as null.
pub(super) fn typed_array(data_type: &DataType, values: Vec<Option<Value>>) -> ArrayRef {
    macro_rules! collect {
        ($array:ty, $pattern:pat => $value:expr) => {
            Arc::new(
                values
                    .iter()
                    .map(|v| match v {
                        Some($pattern) => $value,
                        _ => None,
                    })
                    .collect::<$array>(),
            )
        };
    }
    match data_type {
        DataType::Boolean => collect!(BooleanArray, Value::Boolean(b) => Some(*b)),
        DataType::Byte => collect!(Int8Array, Value::Integer(i) => i8::try_from(*i).ok()),
        DataType::Short => collect!(Int16Array, Value::Integer(i) => i16::try_from(*i).ok()),
        DataType::Integer => collect!(Int32Array, Value::Integer(i) => i32::try_from(*i).ok()),
        DataType::Long => collect!(Int64Array, Value::Integer(i) => Some(*i)),
        DataType::Float => collect!(Float32Array, Value::Double(d) => Some(*d as f32)),
        DataType::Double => collect!(Float64Array, Value::Double(d) => Some(*d)),
        DataType::String => collect!(StringArray, Value::String(s) => Some(s.as_str())),
        DataType::Binary => collect!(BinaryArray, Value::Binary(b) => Some(b.as_slice())),
        DataType::Date => collect!(Date32Array, Value::Date(d) => Some(*d)),
        DataType::TimestampNtz => {
            collect!(TimestampMicrosecondArray, Value::Timestamp(t) => Some(*t))
        }
        DataType::Timestamp => {
            let times = values.iter().map(|v| match v {
                Some(Value::Timestamp(t)) => Some(*t),
                _ => None,
            });
            Arc::new(
                times
                    .collect::<TimestampMicrosecondArray>()
                    .with_timezone(UTC),
            )
        }
        DataType::Decimal { precision, scale } => {
            let numbers = values.iter().map(|v| match v {
                Some(Value::Decimal(unscaled, from)) if from <= scale => {
                    unscaled.checked_mul(10i128.checked_pow(u32::from(scale - from))?)
                }
                _ => None,
            });
            let array = numbers.collect::<Decimal128Array>();
            let scaled = i8::try_from(*scale)
                .ok()
                .and_then(|s| array.with_precision_and_scale(*precision, s).ok());
            scaled.map_or_else(
                || new_null_array(&to_arrow_type(data_type), values.len()),
                |a| Arc::new(a),
            )
        }
        other => new_null_array(&to_arrow_type(other), values.len()),
    }
}
