//! Types and values of Arrow in the form of `deltaic sql --pipe`.

use std::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use delta_kernel::arrow::array::{Array, AsArray};
use delta_kernel::arrow::datatypes::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use delta_kernel::arrow::temporal_conversions::{date32_to_datetime, timestamp_us_to_datetime};
use delta_kernel::schema::{DataType, PrimitiveType};
use parquet_variant::Variant;
use parquet_variant_json::VariantToJson;
use serde_json::{Map, Value, json};

use crate::Failure;

/// Spark's short name of a type.
pub fn type_text(kind: &DataType) -> String {
    match kind {
        DataType::Primitive(PrimitiveType::Long) => "bigint".to_owned(),
        DataType::Primitive(PrimitiveType::Integer) => "int".to_owned(),
        DataType::Primitive(PrimitiveType::Short) => "smallint".to_owned(),
        DataType::Primitive(PrimitiveType::Byte) => "tinyint".to_owned(),
        DataType::Primitive(other) => other.to_string(),
        DataType::Array(array) => format!("array<{}>", type_text(array.element_type())),
        DataType::Map(map) => format!(
            "map<{},{}>",
            type_text(map.key_type()),
            type_text(map.value_type())
        ),
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields
                .fields()
                .map(|field| format!("{}:{}", field.name(), type_text(field.data_type())))
                .collect();
            format!("struct<{}>", fields.join(","))
        }
        DataType::Variant(_) => "variant".to_owned(),
    }
}

/// One value. The array must be of the form that the kernel gives for the type.
pub fn cell(kind: &DataType, array: &dyn Array, row: usize) -> Result<Value, Failure> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    match kind {
        DataType::Primitive(kind) => primitive(kind, array, row),
        DataType::Array(of) => {
            let list = array.as_list_opt::<i32>().ok_or_else(|| unfit("array"))?;
            let items = list.value(row);
            let items = (0..items.len()).map(|n| cell(of.element_type(), &items, n));
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        DataType::Map(of) => {
            let entries = array.as_map_opt().ok_or_else(|| unfit("map"))?.value(row);
            let pairs = (0..entries.len()).map(|n| {
                let key = cell(of.key_type(), entries.column(0), n)?;
                let value = cell(of.value_type(), entries.column(1), n)?;
                Ok((key_text(of.key_type(), &key), value))
            });
            Ok(Value::Object(pairs.collect::<Result<_, Failure>>()?))
        }
        DataType::Struct(of) => {
            let parts = array.as_struct_opt().ok_or_else(|| unfit("struct"))?;
            let mut out = Map::new();
            for (field, part) in of.fields().zip(parts.columns()) {
                out.insert(field.name().clone(), cell(field.data_type(), part, row)?);
            }
            Ok(Value::Object(out))
        }
        DataType::Variant(_) => variant(array, row),
    }
}

fn primitive(kind: &PrimitiveType, array: &dyn Array, row: usize) -> Result<Value, Failure> {
    macro_rules! of {
        ($arrow:ty) => {
            array
                .as_primitive_opt::<$arrow>()
                .ok_or_else(|| unfit(kind))?
                .value(row)
        };
    }
    Ok(match kind {
        PrimitiveType::Boolean => json!(
            array
                .as_boolean_opt()
                .ok_or_else(|| unfit(kind))?
                .value(row)
        ),
        PrimitiveType::Byte => json!(of!(Int8Type)),
        PrimitiveType::Short => json!(of!(Int16Type)),
        PrimitiveType::Integer => json!(of!(Int32Type)),
        PrimitiveType::Long => json!(of!(Int64Type)),
        PrimitiveType::Float => float(f64::from(of!(Float32Type))),
        PrimitiveType::Double => float(of!(Float64Type)),
        PrimitiveType::Decimal(of) => json!(decimal(of!(Decimal128Type), of.scale())),
        PrimitiveType::String => {
            json!(
                array
                    .as_string_opt::<i32>()
                    .ok_or_else(|| unfit(kind))?
                    .value(row)
            )
        }
        PrimitiveType::Binary => {
            let bytes = array.as_binary_opt::<i32>().ok_or_else(|| unfit(kind))?;
            json!({"base64": STANDARD.encode(bytes.value(row))})
        }
        PrimitiveType::Date => {
            let day = date32_to_datetime(of!(Date32Type)).ok_or("a date out of range")?;
            json!(day.format("%Y-%m-%d").to_string())
        }
        PrimitiveType::Timestamp | PrimitiveType::TimestampNtz => {
            json!(time(of!(TimestampMicrosecondType))?)
        }
        other => return Err(unfit(other)),
    })
}

fn variant(array: &dyn Array, row: usize) -> Result<Value, Failure> {
    let parts = array.as_struct_opt().ok_or("a variant that is no struct")?;
    let part = |name: &str| {
        let bytes = parts.column_by_name(name)?.as_binary_opt::<i32>()?;
        Some(bytes.value(row))
    };
    let (Some(metadata), Some(value)) = (part("metadata"), part("value")) else {
        return Err("a variant without metadata or value".into());
    };
    Ok(json!(Variant::try_new(metadata, value)?.to_json_string()?))
}

fn unfit(kind: &(impl Display + ?Sized)) -> Failure {
    format!("no array for the type {kind}").into()
}

fn float(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => json!(value),
    }
}

/// Microseconds as ISO text, with a fraction only where there is one.
fn time(micros: i64) -> Result<String, Failure> {
    let time = timestamp_us_to_datetime(micros).ok_or("a timestamp out of range")?;
    let form = match micros.rem_euclid(1_000_000) {
        0 => "%Y-%m-%dT%H:%M:%S",
        _ => "%Y-%m-%dT%H:%M:%S%.6f",
    };
    Ok(time.format(form).to_string())
}

/// Text as Python prints a `Decimal`: with an exponent where the first digit stands more than six places behind the
/// point.
fn decimal(unscaled: i128, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    let (scale, length) = (usize::from(scale), digits.len());
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    if scale >= length + 6 {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}E-{}", scale + 1 - length);
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// The text of a key of a map, as Python's `str()` gives it.
fn key_text(kind: &DataType, key: &Value) -> String {
    match (kind, key) {
        (
            DataType::Primitive(PrimitiveType::Timestamp | PrimitiveType::TimestampNtz),
            Value::String(text),
        ) => text.replace('T', " "),
        (_, Value::Bool(true)) => "True".to_owned(),
        (_, Value::Bool(false)) => "False".to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}
