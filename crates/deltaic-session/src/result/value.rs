//! One value of a row, taken out of Arrow.

use arrow::array::{
    Array, AsArray, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray,
    LargeStringArray, StringArray, StringViewArray,
};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use deltaic_protocol::schema::DataType;

/// A value with the type it has in Spark.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Boolean(bool),
    /// Any whole number.
    Long(i64),
    Float(f32),
    Double(f64),
    /// Unscaled value and scale.
    Decimal(i128, i8),
    String(String),
    Binary(Vec<u8>),
    /// Days since the epoch.
    Date(i32),
    /// Microseconds since the epoch, an instant.
    Timestamp(i64),
    /// Microseconds since the epoch, without a zone.
    TimestampNtz(i64),
    /// Months.
    YearMonth(i32),
    /// Microseconds.
    DayTime(i64),
    /// A variant, as JSON text.
    Variant(String),
    Struct(Vec<(String, Value)>),
    Array(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Value::String(text.into())
    }

    /// Text or null.
    pub fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or(Value::Null, |text| Value::String(text.into()))
    }

    /// A map of text to text, nulls kept.
    pub fn text_map<K: Into<String>, V: Into<String>>(
        pairs: impl IntoIterator<Item = (K, Option<V>)>,
    ) -> Self {
        Value::Map(
            pairs
                .into_iter()
                .map(|(key, value)| (Value::text(key), Value::optional(value)))
                .collect(),
        )
    }
}

/// The value in a row of an array; `spark` tells apart what Arrow does not.
pub(crate) fn cell(array: &dyn Array, row: usize, spark: &DataType) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        ArrowType::Null => Value::Null,
        ArrowType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        ArrowType::Int8 => Value::Long(array.as_primitive::<Int8Type>().value(row).into()),
        ArrowType::Int16 => Value::Long(array.as_primitive::<Int16Type>().value(row).into()),
        ArrowType::Int32 => Value::Long(array.as_primitive::<Int32Type>().value(row).into()),
        ArrowType::Int64 => Value::Long(array.as_primitive::<Int64Type>().value(row)),
        ArrowType::UInt8 => Value::Long(array.as_primitive::<UInt8Type>().value(row).into()),
        ArrowType::UInt16 => Value::Long(array.as_primitive::<UInt16Type>().value(row).into()),
        ArrowType::UInt32 => Value::Long(array.as_primitive::<UInt32Type>().value(row).into()),
        ArrowType::UInt64 => Value::Long(array.as_primitive::<UInt64Type>().value(row) as i64),
        ArrowType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(row)),
        ArrowType::Float64 => Value::Double(array.as_primitive::<Float64Type>().value(row)),
        ArrowType::Decimal128(_, scale) => {
            Value::Decimal(array.as_primitive::<Decimal128Type>().value(row), *scale)
        }
        ArrowType::Date32 => Value::Date(array.as_primitive::<Date32Type>().value(row)),
        ArrowType::Timestamp(unit, zone) => {
            let micros = micros_of(array, row, unit);
            if zone.is_some() {
                Value::Timestamp(micros)
            } else {
                Value::TimestampNtz(micros)
            }
        }
        ArrowType::Interval(arrow::datatypes::IntervalUnit::YearMonth) => {
            Value::YearMonth(array.as_primitive::<IntervalYearMonthType>().value(row))
        }
        ArrowType::Duration(TimeUnit::Microsecond) => {
            Value::DayTime(array.as_primitive::<DurationMicrosecondType>().value(row))
        }
        ArrowType::Dictionary(_, _) => dictionary_cell(array, row, spark),
        ArrowType::Struct(fields) => struct_cell(array, row, fields, spark),
        ArrowType::List(_) => Value::Array(items(
            array.as_list::<i32>().value(row).as_ref(),
            element_of(spark),
        )),
        ArrowType::LargeList(_) => Value::Array(items(
            array.as_list::<i64>().value(row).as_ref(),
            element_of(spark),
        )),
        ArrowType::Map(_, _) => map_cell(array, row, spark),
        _ => text_or_bytes(array, row),
    }
}

fn micros_of(array: &dyn Array, row: usize, unit: &TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => array
            .as_primitive::<TimestampSecondType>()
            .value(row)
            .saturating_mul(1_000_000),
        TimeUnit::Millisecond => array
            .as_primitive::<TimestampMillisecondType>()
            .value(row)
            .saturating_mul(1_000),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row),
        TimeUnit::Nanosecond => array
            .as_primitive::<TimestampNanosecondType>()
            .value(row)
            .div_euclid(1_000),
    }
}

fn text_or_bytes(array: &dyn Array, row: usize) -> Value {
    let any = array.as_any();
    if let Some(texts) = any.downcast_ref::<StringArray>() {
        Value::text(texts.value(row))
    } else if let Some(texts) = any.downcast_ref::<StringViewArray>() {
        Value::text(texts.value(row))
    } else if let Some(texts) = any.downcast_ref::<LargeStringArray>() {
        Value::text(texts.value(row))
    } else if let Some(bytes) = any.downcast_ref::<BinaryArray>() {
        Value::Binary(bytes.value(row).to_vec())
    } else if let Some(bytes) = any.downcast_ref::<BinaryViewArray>() {
        Value::Binary(bytes.value(row).to_vec())
    } else if let Some(bytes) = any.downcast_ref::<LargeBinaryArray>() {
        Value::Binary(bytes.value(row).to_vec())
    } else if let Some(bytes) = any.downcast_ref::<FixedSizeBinaryArray>() {
        Value::Binary(bytes.value(row).to_vec())
    } else {
        arrow::util::display::array_value_to_string(array, row).map_or(Value::Null, Value::String)
    }
}

fn dictionary_cell(array: &dyn Array, row: usize, spark: &DataType) -> Value {
    let ArrowType::Dictionary(_, values) = array.data_type() else {
        return Value::Null;
    };
    match arrow::compute::cast(&array.slice(row, 1), values) {
        Ok(plain) => cell(plain.as_ref(), 0, spark),
        Err(_) => Value::Null,
    }
}

fn struct_cell(
    array: &dyn Array,
    row: usize,
    fields: &arrow::datatypes::Fields,
    spark: &DataType,
) -> Value {
    let columns = array.as_struct().columns();
    if matches!(spark, DataType::Variant) {
        return variant_cell(columns, row, fields);
    }
    let inner = if let DataType::Struct(inner) = spark {
        Some(inner)
    } else {
        None
    };
    let values = columns
        .iter()
        .zip(fields.iter())
        .enumerate()
        .map(|(index, (column, field))| {
            let known = inner.and_then(|inner| inner.fields.get(index));
            let name = known.map_or_else(|| field.name().clone(), |known| known.name.clone());
            (
                name,
                cell(
                    column.as_ref(),
                    row,
                    known.map_or(&DataType::Void, |known| &known.data_type),
                ),
            )
        });
    Value::Struct(values.collect())
}

fn variant_cell(
    columns: &[arrow::array::ArrayRef],
    row: usize,
    fields: &arrow::datatypes::Fields,
) -> Value {
    let part = |name: &str| {
        let index = fields.iter().position(|field| field.name() == name)?;
        match text_or_bytes(columns.get(index)?.as_ref(), row) {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    };
    match (part("metadata"), part("value")) {
        (Some(metadata), Some(value)) => {
            deltaic_analyzer::variant_json(&metadata, &value, chrono_tz::Tz::UTC)
                .map_or(Value::Null, Value::Variant)
        }
        _ => Value::Null,
    }
}

fn items(array: &dyn Array, spark: &DataType) -> Vec<Value> {
    (0..array.len())
        .map(|row| cell(array, row, spark))
        .collect()
}

fn element_of(spark: &DataType) -> &DataType {
    if let DataType::Array(array) = spark {
        &array.element_type
    } else {
        &DataType::Void
    }
}

fn map_cell(array: &dyn Array, row: usize, spark: &DataType) -> Value {
    let entries = array.as_map().value(row);
    let (key, value) = match spark {
        DataType::Map(map) => (&map.key_type, &map.value_type),
        _ => (&DataType::Void, &DataType::Void),
    };
    let pairs = (0..entries.len()).map(|entry| {
        (
            cell(entries.column(0).as_ref(), entry, key),
            cell(entries.column(1).as_ref(), entry, value),
        )
    });
    Value::Map(pairs.collect())
}
