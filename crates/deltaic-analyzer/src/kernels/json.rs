//! Kernels of JSON: `to_json`, `from_json`, `get_json_object`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, new_null_array};
use arrow::compute::concat;
use chrono_tz::Tz;
use datafusion::common::ScalarValue;
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;
use serde_json::{Map, Number, Value};

use super::decimal;
use super::variant_json::variant_json;
use crate::error::Ours;
use crate::kernel::Batch;
use crate::text;
use crate::time;
use crate::types::arrow_type;

/// `to_json(struct, array or map)`: NULL fields are left out.
pub fn to_json(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        Ok(Some(
            json(&b.args[0], r, &b.types[0], b.env.zone).to_string(),
        ))
    })
}

/// An array of untyped NULLs has no validity of its own.
fn is_null(array: &ArrayRef, r: usize, ty: &DataType) -> bool {
    *ty == DataType::Void || array.is_null(r)
}

fn json(array: &ArrayRef, r: usize, ty: &DataType, zone: Tz) -> Value {
    if is_null(array, r, ty) {
        return Value::Null;
    }
    let plain = || text::value_text(array, r, ty, zone);
    let numeral = |text: String| {
        text.parse::<Number>()
            .map_or(Value::String(text), Value::Number)
    };
    match ty {
        DataType::Boolean => Value::Bool(array.as_boolean().value(r)),
        DataType::Byte
        | DataType::Short
        | DataType::Integer
        | DataType::Long
        | DataType::Decimal { .. } => numeral(plain()),
        DataType::Float | DataType::Double => numeral(plain()),
        DataType::Timestamp => {
            let micros = array
                .as_primitive::<arrow::datatypes::TimestampMicrosecondType>()
                .value(r);
            let offset = time::offset_at(micros, zone);
            let zone_text = if offset == 0 {
                "Z".to_owned()
            } else {
                format!(
                    "{}{:02}:{:02}",
                    if offset < 0 { '-' } else { '+' },
                    offset.abs() / 3600,
                    offset.abs() / 60 % 60
                )
            };
            Value::String(format!("{}{zone_text}", iso(time::to_wall(micros, zone))))
        }
        DataType::TimestampNtz => Value::String(iso(array
            .as_primitive::<arrow::datatypes::TimestampMicrosecondType>()
            .value(r))),
        DataType::Binary => {
            use base64::Engine;
            Value::String(
                base64::engine::general_purpose::STANDARD.encode(array.as_binary::<i32>().value(r)),
            )
        }
        DataType::Array(a) => {
            let items = array.as_list::<i32>().value(r);
            Value::Array(
                (0..items.len())
                    .map(|n| json(&items, n, &a.element_type, zone))
                    .collect(),
            )
        }
        DataType::Map(m) => {
            let entries = array.as_map().value(r);
            let mut out = Map::new();
            for n in 0..entries.len() {
                let key = text::value_text(entries.column(0), n, &m.key_type, zone);
                out.insert(key, json(entries.column(1), n, &m.value_type, zone));
            }
            Value::Object(out)
        }
        DataType::Struct(s) => {
            let columns = array.as_struct().columns();
            let mut out = Map::new();
            for (f, c) in s.fields.iter().zip(columns) {
                if !is_null(c, r, &f.data_type) {
                    out.insert(f.name.clone(), json(c, r, &f.data_type, zone));
                }
            }
            Value::Object(out)
        }
        DataType::Variant => variant(array, r, zone).unwrap_or_else(|| Value::String(plain())),
        _ => Value::String(plain()),
    }
}

/// A variant within another value.
fn variant(array: &ArrayRef, r: usize, zone: Tz) -> Option<Value> {
    let part = |name: &str| {
        let column = array.as_struct().column_by_name(name)?;
        Some(column.as_binary_opt::<i32>()?.value(r))
    };
    let text = variant_json(part("metadata")?, part("value")?, zone)?;
    serde_json::from_str(&text).ok()
}

fn iso(micros: i64) -> String {
    let text = time::format_wall(micros);
    let (date, clock) = text.split_once(' ').unwrap_or((&text, "00:00:00"));
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    format!("{date}T{whole}.{fraction:0<3}")
}

/// `from_json(text, schema)`: what does not fit is NULL.
pub fn from_json(b: &Batch<'_>) -> Result<ArrayRef> {
    let texts = b.str(0);
    let mut rows = Vec::with_capacity(b.rows);
    for r in 0..b.rows {
        if texts.is_null(r) {
            rows.push(None);
            continue;
        }
        rows.push(
            serde_json::from_str::<Value>(texts.value(r))
                .ok()
                .or(Some(Value::Object(Map::new()))),
        );
    }
    let refs: Vec<Option<&Value>> = rows.iter().map(Option::as_ref).collect();
    column(&refs, b.ret, b.env.zone)
}

/// Values of one type as an array.
fn column(rows: &[Option<&Value>], ty: &DataType, zone: Tz) -> Result<ArrayRef> {
    let arrow = arrow_type(ty);
    if rows.is_empty() {
        return Ok(new_null_array(&arrow, 0));
    }
    match ty {
        DataType::Struct(s) => {
            let arrow::datatypes::DataType::Struct(fields) = arrow else {
                return Ok(new_null_array(&arrow, rows.len()));
            };
            let columns = s
                .fields
                .iter()
                .map(|f| {
                    let inner: Vec<Option<&Value>> = rows
                        .iter()
                        .map(|v| v.and_then(|v| v.as_object()).and_then(|o| o.get(&f.name)))
                        .collect();
                    column(&inner, &f.data_type, zone)
                })
                .collect::<Result<Vec<_>>>()?;
            let nulls = rows
                .iter()
                .map(|v| v.is_some_and(Value::is_object))
                .collect::<Vec<_>>()
                .into();
            let made = arrow::array::StructArray::try_new_with_length(
                fields,
                columns,
                Some(nulls),
                rows.len(),
            )
            .ours()?;
            Ok(Arc::new(made))
        }
        DataType::Array(a) => {
            let arrow::datatypes::DataType::List(field) = arrow else {
                return Ok(new_null_array(&arrow, rows.len()));
            };
            let mut flat = Vec::new();
            let mut lengths = Vec::new();
            for v in rows {
                let items = v.and_then(|v| v.as_array());
                lengths.push(items.map_or(0, Vec::len));
                flat.extend(items.into_iter().flatten().map(Some));
            }
            let values = column(&flat, &a.element_type, zone)?;
            let nulls = rows
                .iter()
                .map(|v| v.is_some_and(Value::is_array))
                .collect::<Vec<_>>()
                .into();
            let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths);
            let made =
                arrow::array::ListArray::try_new(field, offsets, values, Some(nulls)).ours()?;
            Ok(Arc::new(made))
        }
        DataType::Map(m) => {
            let arrow::datatypes::DataType::Map(entry, sorted) = arrow else {
                return Ok(new_null_array(&arrow, rows.len()));
            };
            let arrow::datatypes::DataType::Struct(fields) = entry.data_type() else {
                return Ok(new_null_array(&arrow_type(ty), rows.len()));
            };
            let (mut keys, mut flat, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
            for v in rows {
                let items = v.and_then(|v| v.as_object());
                lengths.push(items.map_or(0, Map::len));
                for (k, v) in items.into_iter().flatten() {
                    keys.push(Value::String(k.clone()));
                    flat.push(Some(v));
                }
            }
            let keys: Vec<Option<&Value>> = keys.iter().map(Some).collect();
            let columns = vec![
                column(&keys, &m.key_type, zone)?,
                column(&flat, &m.value_type, zone)?,
            ];
            let entries =
                arrow::array::StructArray::try_new(fields.clone(), columns, None).ours()?;
            let nulls = rows
                .iter()
                .map(|v| v.is_some_and(Value::is_object))
                .collect::<Vec<_>>()
                .into();
            let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths);
            let made =
                arrow::array::MapArray::try_new(entry, offsets, entries, Some(nulls), sorted)
                    .ours()?;
            Ok(Arc::new(made))
        }
        _ => {
            let parts = rows
                .iter()
                .map(|v| {
                    let value = v.and_then(|v| scalar(v, ty, zone));
                    match value {
                        Some(v) => v.to_array().ours(),
                        None => Ok(new_null_array(&arrow, 1)),
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            concat(&parts.iter().map(|p| p.as_ref()).collect::<Vec<_>>()).ours()
        }
    }
}

fn scalar(v: &Value, ty: &DataType, zone: Tz) -> Option<ScalarValue> {
    let string = || match v {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let utc = || Some(deltaic_log::arrow_schema::UTC.into());
    Some(match ty {
        DataType::String => {
            if v.is_null() {
                return None;
            }
            ScalarValue::Utf8(Some(string()))
        }
        DataType::Boolean => ScalarValue::Boolean(Some(v.as_bool()?)),
        DataType::Byte => ScalarValue::Int8(Some(v.as_i64()?.try_into().ok()?)),
        DataType::Short => ScalarValue::Int16(Some(v.as_i64()?.try_into().ok()?)),
        DataType::Integer => ScalarValue::Int32(Some(v.as_i64()?.try_into().ok()?)),
        DataType::Long => ScalarValue::Int64(Some(v.as_i64()?)),
        DataType::Float => ScalarValue::Float32(Some(v.as_f64()? as f32)),
        DataType::Double => ScalarValue::Float64(Some(v.as_f64()?)),
        DataType::Decimal { precision, scale } => ScalarValue::Decimal128(
            decimal::read(&string(), *precision, *scale).ok()?,
            *precision,
            *scale as i8,
        ),
        DataType::Date => ScalarValue::Date32(Some(time::parse::date(v.as_str()?)?)),
        DataType::Timestamp => ScalarValue::TimestampMicrosecond(
            Some(time::parse::timestamp(v.as_str()?, zone, 0)?),
            utc(),
        ),
        DataType::TimestampNtz => ScalarValue::TimestampMicrosecond(
            Some(time::parse::timestamp_ntz(v.as_str()?, true)?),
            None,
        ),
        DataType::Binary => {
            use base64::Engine;
            ScalarValue::Binary(
                base64::engine::general_purpose::STANDARD
                    .decode(v.as_str()?)
                    .ok(),
            )
        }
        _ => return None,
    })
}

/// `get_json_object(text, path)`: `$`, `.name`, `['name']`, `[n]`, `[*]`.
pub fn get_object(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let Ok(root) = serde_json::from_str::<Value>(b.str(0).value(r)) else {
            return Ok(None);
        };
        let Some(steps) = b.str(1).value(r).strip_prefix('$') else {
            return Ok(None);
        };
        Ok(walk(&root, steps).and_then(|v| match v {
            Value::Null => None,
            Value::String(s) => Some(s),
            other => Some(other.to_string()),
        }))
    })
}

fn walk(value: &Value, path: &str) -> Option<Value> {
    if path.is_empty() {
        return Some(value.clone());
    }
    if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        return walk(value.get(&rest[..end])?, &rest[end..]);
    }
    let rest = path.strip_prefix('[')?;
    let end = rest.find(']')?;
    let (inside, after) = (&rest[..end], &rest[end + 1..]);
    if inside == "*" {
        let found: Vec<Value> = value
            .as_array()?
            .iter()
            .filter_map(|v| walk(v, after))
            .collect();
        return match found.len() {
            0 => None,
            1 => found.into_iter().next(),
            _ => Some(Value::Array(found)),
        };
    }
    if let Some(name) = inside.strip_prefix('\'').and_then(|n| n.strip_suffix('\'')) {
        return walk(value.get(name)?, after);
    }
    walk(value.get(inside.parse::<usize>().ok()?)?, after)
}

/// `json_array_length(text)`.
pub fn array_length(b: &Batch<'_>) -> Result<ArrayRef> {
    b.rows(|r| {
        let value = serde_json::from_str::<Value>(b.str(0).value(r)).ok();
        Ok(value.and_then(|v| v.as_array().map(|a| a.len() as i32)))
    })
}
