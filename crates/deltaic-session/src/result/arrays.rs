//! Arrow arrays from values: the answers of commands are few rows, made by hand.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, ListArray, MapArray, NullArray, RecordBatch,
    RecordBatchOptions, StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Field, Fields};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::value::Value;

/// One batch with the given rows.
pub(super) fn batch(schema: &StructType, rows: &[Vec<Value>]) -> Result<RecordBatch> {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for (index, field) in schema.fields.iter().enumerate() {
        let values: Vec<&Value> = rows
            .iter()
            .map(|row| row.get(index).unwrap_or(&Value::Null))
            .collect();
        let array = array(&field.data_type, &values)?;
        fields.push(arrow_field(field, array.data_type()));
        columns.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(
        Arc::new(arrow::datatypes::Schema::new(fields)),
        columns,
        &options,
    )
    .map_err(|error| {
        DeltaError::unclassed(
            "java.lang.IllegalStateException",
            format!("an answer has a wrong form: {error}"),
        )
    })
}

fn arrow_field(field: &StructField, data_type: &ArrowType) -> Field {
    Field::new(&field.name, data_type.clone(), field.nullable)
}

/// Reads a whole number and narrows it.
fn whole<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    if let Value::Long(value) = value {
        T::try_from(*value).ok()
    } else {
        None
    }
}

fn array(data_type: &DataType, values: &[&Value]) -> Result<ArrayRef> {
    let micros = |value: &&Value| match value {
        Value::Timestamp(micros) | Value::TimestampNtz(micros) => Some(*micros),
        _ => None,
    };
    Ok(match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from_iter(values.iter().map(
            |value| match value {
                Value::Boolean(value) => Some(*value),
                _ => None,
            },
        ))),
        DataType::Byte => Arc::new(Int8Array::from_iter(
            values.iter().map(|value| whole(value)),
        )),
        DataType::Short => Arc::new(Int16Array::from_iter(
            values.iter().map(|value| whole(value)),
        )),
        DataType::Integer => Arc::new(Int32Array::from_iter(
            values.iter().map(|value| whole(value)),
        )),
        DataType::Long => Arc::new(Int64Array::from_iter(
            values.iter().map(|value| whole(value)),
        )),
        DataType::Float => Arc::new(Float32Array::from_iter(values.iter().map(
            |value| match value {
                Value::Float(value) => Some(*value),
                _ => None,
            },
        ))),
        DataType::Double => Arc::new(Float64Array::from_iter(values.iter().map(
            |value| match value {
                Value::Double(value) => Some(*value),
                _ => None,
            },
        ))),
        DataType::Decimal { precision, scale } => Arc::new(
            Decimal128Array::from_iter(values.iter().map(|value| match value {
                Value::Decimal(unscaled, _) => Some(*unscaled),
                _ => None,
            }))
            .with_precision_and_scale(*precision, *scale as i8)
            .map_err(wrong)?,
        ),
        DataType::Binary => Arc::new(BinaryArray::from_iter(values.iter().map(
            |value| match value {
                Value::Binary(bytes) => Some(bytes.as_slice()),
                _ => None,
            },
        ))),
        DataType::Date => Arc::new(Date32Array::from_iter(values.iter().map(
            |value| match value {
                Value::Date(days) => Some(*days),
                _ => None,
            },
        ))),
        DataType::Timestamp => Arc::new(
            TimestampMicrosecondArray::from_iter(values.iter().map(micros)).with_timezone("UTC"),
        ),
        DataType::TimestampNtz => Arc::new(TimestampMicrosecondArray::from_iter(
            values.iter().map(micros),
        )),
        DataType::Struct(inner) => struct_array(inner, values)?,
        DataType::Array(inner) => list_array(&inner.element_type, inner.contains_null, values)?,
        DataType::Map(inner) => map_array(&inner.key_type, &inner.value_type, values)?,
        DataType::Void => Arc::new(NullArray::new(values.len())),
        _ => Arc::new(StringArray::from_iter(values.iter().map(
            |value| match value {
                Value::String(text) | Value::Variant(text) => Some(text.as_str()),
                _ => None,
            },
        ))),
    })
}

fn struct_array(inner: &StructType, values: &[&Value]) -> Result<ArrayRef> {
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for (index, field) in inner.fields.iter().enumerate() {
        let parts: Vec<&Value> = values
            .iter()
            .map(|value| match value {
                Value::Struct(parts) => parts.get(index).map_or(&Value::Null, |(_, value)| value),
                _ => &Value::Null,
            })
            .collect();
        let column = array(&field.data_type, &parts)?;
        fields.push(arrow_field(field, column.data_type()));
        columns.push(column);
    }
    Ok(Arc::new(
        StructArray::try_new(Fields::from(fields), columns, Some(nulls(values))).map_err(wrong)?,
    ))
}

fn list_array(element: &DataType, contains_null: bool, values: &[&Value]) -> Result<ArrayRef> {
    let mut flat = Vec::new();
    let mut lengths = Vec::new();
    for value in values {
        let items: &[Value] = if let Value::Array(items) = value {
            items
        } else {
            &[]
        };
        lengths.push(items.len());
        flat.extend(items.iter());
    }
    let inner = array(element, &flat)?;
    let field = Arc::new(Field::new(
        "element",
        inner.data_type().clone(),
        contains_null,
    ));
    let list = ListArray::try_new(
        field,
        OffsetBuffer::from_lengths(lengths),
        inner,
        Some(nulls(values)),
    );
    Ok(Arc::new(list.map_err(wrong)?))
}

fn map_array(key: &DataType, value_type: &DataType, values: &[&Value]) -> Result<ArrayRef> {
    let mut keys = Vec::new();
    let mut entries = Vec::new();
    let mut lengths = Vec::new();
    for value in values {
        let pairs: &[(Value, Value)] = if let Value::Map(pairs) = value {
            pairs
        } else {
            &[]
        };
        lengths.push(pairs.len());
        for (key, value) in pairs {
            keys.push(key);
            entries.push(value);
        }
    }
    let keys = array(key, &keys)?;
    let entries = array(value_type, &entries)?;
    let fields = Fields::from(vec![
        Field::new("key", keys.data_type().clone(), false),
        Field::new("value", entries.data_type().clone(), true),
    ]);
    let entries = StructArray::try_new(fields.clone(), vec![keys, entries], None).map_err(wrong)?;
    let field = Arc::new(Field::new("entries", ArrowType::Struct(fields), false));
    let map = MapArray::try_new(
        field,
        OffsetBuffer::from_lengths(lengths),
        entries,
        Some(nulls(values)),
        false,
    );
    Ok(Arc::new(map.map_err(wrong)?))
}

fn nulls(values: &[&Value]) -> NullBuffer {
    NullBuffer::from_iter(values.iter().map(|value| !matches!(value, Value::Null)))
}

fn wrong(error: arrow::error::ArrowError) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalStateException",
        format!("an answer has a wrong form: {error}"),
    )
}
