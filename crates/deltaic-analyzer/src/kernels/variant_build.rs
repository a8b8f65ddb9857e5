//! Variants out of JSON texts and of values of other types, in Parquet's variant encoding.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type,
    TimestampMicrosecondType,
};
use chrono::DateTime;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use parquet_variant::{
    ObjectFieldBuilder, Variant, VariantBuilder, VariantBuilderExt, VariantDecimal4,
    VariantDecimal8, VariantDecimal16,
};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::values::{Number, number};
use crate::error::internal;
use crate::text;
use crate::types::arrow_type;

/// Metadata and value of one variant.
pub type Encoded = (Vec<u8>, Vec<u8>);

/// Most digits of a decimal.
const DIGITS: usize = 38;

/// Rows as a column of type VARIANT.
pub fn column(rows: &[Option<Encoded>]) -> Result<ArrayRef> {
    let part = |pick: fn(&Encoded) -> &[u8]| -> ArrayRef {
        Arc::new(BinaryArray::from_iter_values(
            rows.iter().map(|row| row.as_ref().map_or(&[][..], pick)),
        ))
    };
    let ArrowType::Struct(fields) = arrow_type(&DataType::Variant) else {
        return Err(internal("a variant that is no struct"));
    };
    let columns = fields
        .iter()
        .map(|field| match field.name().as_str() {
            "metadata" => part(|encoded| &encoded.0),
            _ => part(|encoded| &encoded.1),
        })
        .collect();
    let nulls: NullBuffer = rows.iter().map(Option::is_some).collect();
    StructArray::try_new(fields, columns, Some(nulls))
        .map(|array| Arc::new(array) as ArrayRef)
        .map_err(|e| internal(e.to_string()))
}

/// The first JSON value of a text; what follows it does not count, as in Spark.
///
/// # Errors
/// A text that is no JSON, or an object with one key twice: the cause tells which.
pub fn from_json(text: &str, function: &str) -> Result<Encoded> {
    let mut input = serde_json::Deserializer::from_str(text);
    let value = Value::deserialize(&mut input).map_err(|_| malformed(text))?;
    let mut again = serde_json::Deserializer::from_str(text);
    let seen = Keys::deserialize(&mut again).map_err(|_| malformed(text))?;
    if let Some(key) = seen.twice {
        let twice = DeltaError::new("VARIANT_DUPLICATE_KEY").param("key", key);
        return Err(malformed(text).with_source(twice));
    }
    let mut builder = VariantBuilder::new();
    json(&mut builder, &value).map_err(|e| internal(format!("{function}: {e}")))?;
    Ok(builder.finish())
}

fn malformed(text: &str) -> DeltaError {
    DeltaError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
        .param("badRecord", text)
        .param("failFastMode", "FAILFAST")
}

type Built = std::result::Result<(), arrow::error::ArrowError>;

/// `append_null` would leave the field of an object out.
fn json(to: &mut impl VariantBuilderExt, value: &Value) -> Built {
    match value {
        Value::Null => to.append_value(Variant::Null),
        Value::Bool(value) => to.append_value(*value),
        Value::Number(number) => to.append_value(numeral(&number.to_string())),
        Value::String(text) => to.append_value(text.as_str()),
        Value::Array(items) => {
            let mut list = to.try_new_list()?;
            for item in items {
                json(&mut list, item)?;
            }
            list.finish();
        }
        Value::Object(fields) => {
            let mut object = to.try_new_object()?;
            for (key, value) in fields {
                json(&mut ObjectFieldBuilder::new(key, &mut object), value)?;
            }
            object.finish();
        }
    }
    Ok(())
}

/// A number of JSON: the smallest integer, a decimal where it has no exponent and fits one, else a double.
fn numeral(text: &str) -> Variant<'static, 'static> {
    if let Ok(whole) = text.parse::<i64>() {
        return integer(whole);
    }
    exact(text).unwrap_or_else(|| Variant::Double(text.parse().unwrap_or(f64::NAN)))
}

fn exact(text: &str) -> Option<Variant<'static, 'static>> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    let scale = text.split_once('.').map_or(0, |(_, after)| after.len());
    let digits: String = text.chars().filter(|c| *c != '.').collect();
    let significant = digits.trim_start_matches('-').trim_start_matches('0').len();
    if !plain || scale > DIGITS || significant > DIGITS {
        return None;
    }
    decimal(digits.parse().ok()?, u8::try_from(scale).ok()?)
}

/// The smallest integer that holds a value.
pub fn integer(value: i64) -> Variant<'static, 'static> {
    if let Ok(value) = i8::try_from(value) {
        Variant::Int8(value)
    } else if let Ok(value) = i16::try_from(value) {
        Variant::Int16(value)
    } else if let Ok(value) = i32::try_from(value) {
        Variant::Int32(value)
    } else {
        Variant::Int64(value)
    }
}

/// The smallest decimal that holds a value.
fn decimal(unscaled: i128, scale: u8) -> Option<Variant<'static, 'static>> {
    if scale <= 9
        && unscaled.abs() < 1_000_000_000
        && let Ok(small) = i32::try_from(unscaled)
    {
        return VariantDecimal4::try_new(small, scale)
            .ok()
            .map(Variant::Decimal4);
    }
    if scale <= 18
        && unscaled.abs() < 1_000_000_000_000_000_000
        && let Ok(small) = i64::try_from(unscaled)
    {
        return VariantDecimal8::try_new(small, scale)
            .ok()
            .map(Variant::Decimal8);
    }
    VariantDecimal16::try_new(unscaled, scale)
        .ok()
        .map(Variant::Decimal16)
}

/// A row of a column as a variant; nothing where it is NULL. Parts that are NULL inside become variant nulls.
///
/// # Errors
/// A defect of the encoding.
pub fn from_value(array: &ArrayRef, row: usize, ty: &DataType) -> Result<Option<Encoded>> {
    if *ty == DataType::Void || array.is_null(row) {
        return Ok(None);
    }
    let mut builder = VariantBuilder::new();
    value(&mut builder, array, row, ty).map_err(|e| internal(e.to_string()))?;
    Ok(Some(builder.finish()))
}

fn value(to: &mut impl VariantBuilderExt, array: &ArrayRef, row: usize, ty: &DataType) -> Built {
    if *ty == DataType::Void || array.is_null(row) {
        to.append_value(Variant::Null);
        return Ok(());
    }
    match ty {
        DataType::Array(inner) => {
            let items = array.as_list::<i32>().value(row);
            let mut list = to.try_new_list()?;
            for item in 0..items.len() {
                value(&mut list, &items, item, &inner.element_type)?;
            }
            list.finish();
        }
        DataType::Map(inner) => {
            let entries = array.as_map().value(row);
            let mut object = to.try_new_object()?;
            for entry in 0..entries.len() {
                let key = text::value_text(
                    entries.column(0),
                    entry,
                    &inner.key_type,
                    chrono_tz::Tz::UTC,
                );
                let mut field = ObjectFieldBuilder::new(&key, &mut object);
                value(&mut field, entries.column(1), entry, &inner.value_type)?;
            }
            object.finish();
        }
        DataType::Struct(inner) => {
            let columns = array.as_struct().columns();
            let mut object = to.try_new_object()?;
            for (field, column) in inner.fields.iter().zip(columns) {
                let mut part = ObjectFieldBuilder::new(&field.name, &mut object);
                value(&mut part, column, row, &field.data_type)?;
            }
            object.finish();
        }
        DataType::Variant => {
            let source = array.as_struct();
            let bytes = |name: &str| {
                source
                    .column_by_name(name)
                    .map(|column| column.as_binary::<i32>().value(row))
                    .unwrap_or_default()
            };
            to.append_value(Variant::try_new(bytes("metadata"), bytes("value"))?);
        }
        DataType::String => to.append_value(array.as_string::<i32>().value(row)),
        DataType::Binary => to.append_value(array.as_binary::<i32>().value(row)),
        _ => to.append_value(scalar(array, row, ty)),
    }
    Ok(())
}

/// Values whose variants borrow nothing.
fn scalar(array: &ArrayRef, row: usize, ty: &DataType) -> Variant<'static, 'static> {
    let moment = || {
        DateTime::from_timestamp_micros(array.as_primitive::<TimestampMicrosecondType>().value(row))
    };
    match ty {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Float => Variant::Float(array.as_primitive::<Float32Type>().value(row)),
        DataType::Double => Variant::Double(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal { scale, .. } => {
            decimal(array.as_primitive::<Decimal128Type>().value(row), *scale)
                .unwrap_or(Variant::Null)
        }
        DataType::Date => {
            Date32Type::to_naive_date_opt(array.as_primitive::<Date32Type>().value(row))
                .map_or(Variant::Null, Variant::Date)
        }
        DataType::Timestamp => moment().map_or(Variant::Null, Variant::TimestampMicros),
        DataType::TimestampNtz => moment().map_or(Variant::Null, |at| {
            Variant::TimestampNtzMicros(at.naive_utc())
        }),
        _ => match number(array, row, ty) {
            Some(Number::Whole(value)) => integer(value),
            _ => Variant::Null,
        },
    }
}

/// The keys of a JSON value as far as they tell whether an object has one twice.
struct Keys {
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(input: D) -> std::result::Result<Keys, D::Error> {
        input.deserialize_any(KeysOf)
    }
}

struct KeysOf;

const NONE: Keys = Keys { twice: None };

impl<'de> Visitor<'de> for KeysOf {
    type Value = Keys;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<Keys, E> {
        Ok(NONE)
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Keys, E> {
        Ok(NONE)
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Keys, E> {
        Ok(NONE)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Keys, E> {
        Ok(NONE)
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Keys, E> {
        Ok(NONE)
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<Keys, E> {
        Ok(NONE)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Keys, A::Error> {
        while let Some(item) = items.next_element::<Keys>()? {
            if item.twice.is_some() {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(item);
            }
        }
        Ok(NONE)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<Keys, A::Error> {
        let mut seen = HashSet::new();
        let mut twice = None;
        while let Some(key) = fields.next_key::<String>()? {
            let inside = fields.next_value::<Keys>()?.twice;
            if twice.is_none() {
                twice = match seen.contains(&key) {
                    true => Some(key.clone()),
                    false => inside,
                };
            }
            seen.insert(key);
        }
        Ok(Keys { twice })
    }
}
