//! Kernels of VARIANT: `parse_json`, `variant_get`, casts, and what else Spark computes with variants.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, new_null_array};
use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int64Array, ListArray, MapArray, StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat;
use arrow::datatypes::DataType as ArrowType;
use arrow::datatypes::Date32Type;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use parquet_variant::Variant;

use super::cast_context::Context;
use super::variant_build::{self, Encoded};
use super::variant_json;
use super::variant_path::{self, Step};
use crate::error::internal;
use crate::kernel::{Batch, Env};
use crate::node::CastMode;
use crate::types::{arrow_type, castable, shown};

/// `parse_json(text)`.
pub fn parse_json(b: &Batch<'_>) -> Result<ArrayRef> {
    parsed(b, |text| {
        variant_build::from_json(text, "parse_json").map(Some)
    })
}

/// `try_parse_json(text)`: what is no JSON is NULL.
pub fn try_parse_json(b: &Batch<'_>) -> Result<ArrayRef> {
    parsed(b, |text| {
        Ok(variant_build::from_json(text, "try_parse_json").ok())
    })
}

fn parsed(b: &Batch<'_>, one: impl Fn(&str) -> Result<Option<Encoded>>) -> Result<ArrayRef> {
    let texts = b.str(0);
    let rows = (0..b.rows)
        .map(|row| match texts.is_null(row) {
            true => Ok(None),
            false => one(texts.value(row)),
        })
        .collect::<Result<Vec<_>>>()?;
    variant_build::column(&rows)
}

/// A value as a variant: `CAST(x AS VARIANT)` and `to_variant_object(x)`.
pub fn to_variant(b: &Batch<'_>) -> Result<ArrayRef> {
    let rows = (0..b.rows)
        .map(|row| variant_build::from_value(&b.args[0], row, &b.types[0]))
        .collect::<Result<Vec<_>>>()?;
    variant_build::column(&rows)
}

/// Calls with the variant of a row; NULL rows are not asked.
fn with<T>(
    array: &ArrayRef,
    row: usize,
    use_it: impl FnOnce(Variant<'_, '_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    if array.is_null(row) {
        return Ok(None);
    }
    let source = array.as_struct();
    let bytes = |name: &str| {
        source
            .column_by_name(name)
            .map(|column| column.as_binary::<i32>().value(row))
            .unwrap_or_default()
    };
    let variant = Variant::try_new(bytes("metadata"), bytes("value"))
        .map_err(|e| DeltaError::new("MALFORMED_VARIANT").with_source(e))?;
    use_it(variant)
}

/// `to_json(variant)`.
pub fn to_json(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|row| {
        with(&b.args[0], row, |variant| {
            let mut out = String::new();
            variant_json::write(&variant, b.env.zone, &mut out);
            Ok(Some(out))
        })
    })
}

/// `is_variant_null(variant)`: the null of JSON; NULL itself is none.
pub fn is_variant_null(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|row| {
        let null = with(&b.args[0], row, |variant| {
            Ok(Some(variant == Variant::Null))
        })?;
        Ok(Some(null.unwrap_or(false)))
    })
}

/// `schema_of_variant(variant)`.
pub fn schema_of_variant(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|row| {
        with(&b.args[0], row, |variant| {
            Ok(Some(variant_json::schema_text(&variant_json::type_of(
                &variant,
            ))))
        })
    })
}

/// `variant_get(variant, path)` as the type of the result.
pub fn variant_get(b: &Batch<'_>) -> Result<ArrayRef> {
    get(b, true)
}

/// `try_variant_get(variant, path)`: what does not fit the type is NULL.
pub fn try_variant_get(b: &Batch<'_>) -> Result<ArrayRef> {
    get(b, false)
}

fn get(b: &Batch<'_>, strict: bool) -> Result<ArrayRef> {
    let function = if strict {
        "variant_get"
    } else {
        "try_variant_get"
    };
    let paths = b.str(1);
    each(b, strict, |row| {
        if paths.is_null(row) {
            return Ok(None);
        }
        variant_path::parse(paths.value(row), function).map(Some)
    })
}

/// `CAST(variant AS type)`.
pub fn cast(b: &Batch<'_>) -> Result<ArrayRef> {
    each(b, true, |_| Ok(Some(Vec::new())))
}

/// `TRY_CAST(variant AS type)`.
pub fn try_cast(b: &Batch<'_>) -> Result<ArrayRef> {
    each(b, false, |_| Ok(Some(Vec::new())))
}

/// What lies at a path in each row, as the type of the result.
fn each(
    b: &Batch<'_>,
    strict: bool,
    path: impl Fn(usize) -> Result<Option<Vec<Step>>>,
) -> Result<ArrayRef> {
    if b.rows == 0 {
        return Ok(b.nulls());
    }
    let cast = Reader { env: b.env, strict };
    let mut cells = Vec::with_capacity(b.rows);
    for row in 0..b.rows {
        let cell = match path(row)? {
            Some(path) => with(&b.args[0], row, |variant| {
                match variant_path::follow(variant, &path) {
                    Some(found) => cast.cell(&found, b.ret).map(Some),
                    None => Ok(None),
                }
            })?,
            None => None,
        };
        cells.push(cell.unwrap_or_else(|| new_null_array(&arrow_type(b.ret), 1)));
    }
    joined(&cells)
}

fn joined(cells: &[ArrayRef]) -> Result<ArrayRef> {
    let refs: Vec<&dyn Array> = cells.iter().map(AsRef::as_ref).collect();
    concat(&refs).map_err(|e| internal(e.to_string()))
}

struct Reader<'a> {
    env: &'a Env,
    strict: bool,
}

impl Reader<'_> {
    /// A variant as a column of one row.
    fn cell(&self, variant: &Variant<'_, '_>, to: &DataType) -> Result<ArrayRef> {
        let null = || new_null_array(&arrow_type(to), 1);
        match (variant, to) {
            (_, DataType::Variant) => {
                let mut builder = parquet_variant::VariantBuilder::new();
                builder.append_value(variant.clone());
                variant_build::column(&[Some(builder.finish())])
            }
            (Variant::Null, _) => Ok(null()),
            (Variant::List(list), DataType::Array(inner)) => {
                let cells = list
                    .iter()
                    .map(|item| self.cell(&item, &inner.element_type))
                    .collect::<Result<Vec<_>>>()?;
                list_of(&cells, to)
            }
            (Variant::Object(object), DataType::Struct(inner)) => {
                let ArrowType::Struct(fields) = arrow_type(to) else {
                    return Err(internal("a struct that is none"));
                };
                let columns = inner
                    .fields
                    .iter()
                    .map(|field| match object.get(&field.name) {
                        Some(value) => self.cell(&value, &field.data_type),
                        None => Ok(new_null_array(&arrow_type(&field.data_type), 1)),
                    })
                    .collect::<Result<Vec<_>>>()?;
                StructArray::try_new(fields, columns, None)
                    .map(|array| Arc::new(array) as ArrayRef)
                    .map_err(|e| internal(e.to_string()))
            }
            (Variant::Object(object), DataType::Map(inner))
                if inner.key_type == DataType::String =>
            {
                let keys: Vec<&str> = object.iter().map(|(key, _)| key).collect();
                let cells = object
                    .iter()
                    .map(|(_, value)| self.cell(&value, &inner.value_type))
                    .collect::<Result<Vec<_>>>()?;
                map_of(keys, &cells, to)
            }
            (Variant::Object(_) | Variant::List(_), DataType::String) => {
                let mut out = String::new();
                variant_json::write(variant, self.env.zone, &mut out);
                Ok(Arc::new(StringArray::from(vec![out])))
            }
            (Variant::Object(_) | Variant::List(_), _) => self.misfit(variant, to),
            (_, DataType::Array(_) | DataType::Map(_) | DataType::Struct(_)) => {
                self.misfit(variant, to)
            }
            _ => self.scalar(variant, to),
        }
    }

    /// Through the type that the value has of itself; what that cast refuses does not fit.
    fn scalar(&self, variant: &Variant<'_, '_>, to: &DataType) -> Result<ArrayRef> {
        let Some((own, array)) = own(variant).filter(|(own, _)| castable::ansi(own, to)) else {
            return self.misfit(variant, to);
        };
        let context = Context {
            mode: CastMode::Try,
            env: self.env,
        };
        let out = context.array(&array, &own, to)?;
        if out.is_null(0) {
            return self.misfit(variant, to);
        }
        Ok(out)
    }

    fn misfit(&self, variant: &Variant<'_, '_>, to: &DataType) -> Result<ArrayRef> {
        if !self.strict {
            return Ok(new_null_array(&arrow_type(to), 1));
        }
        let mut value = String::new();
        variant_json::write(variant, self.env.zone, &mut value);
        Err(DeltaError::new("INVALID_VARIANT_CAST")
            .param("value", value)
            .param("dataType", shown(to)))
    }
}

/// A value that is no object and no list, as a column of its own type.
fn own(variant: &Variant<'_, '_>) -> Option<(DataType, ArrayRef)> {
    let decimal = |unscaled: i128, scale: u8| -> Option<(DataType, ArrayRef)> {
        let (unscaled, scale) = variant_json::stripped(unscaled, scale);
        let array = Decimal128Array::from(vec![unscaled])
            .with_precision_and_scale(38, i8::try_from(scale).ok()?)
            .ok()?;
        let ty = DataType::Decimal {
            precision: 38,
            scale,
        };
        Some((ty, Arc::new(array)))
    };
    let micros = |micros: i64| TimestampMicrosecondArray::from(vec![micros]);
    Some(match variant {
        Variant::BooleanTrue | Variant::BooleanFalse => (
            DataType::Boolean,
            Arc::new(BooleanArray::from(vec![*variant == Variant::BooleanTrue])),
        ),
        Variant::Int8(_) | Variant::Int16(_) | Variant::Int32(_) | Variant::Int64(_) => (
            DataType::Long,
            Arc::new(Int64Array::from(vec![variant.as_int64()?])),
        ),
        Variant::Float(value) => (DataType::Float, Arc::new(Float32Array::from(vec![*value]))),
        Variant::Double(value) => (DataType::Double, Arc::new(Float64Array::from(vec![*value]))),
        Variant::Decimal4(value) => decimal(value.integer().into(), value.scale())?,
        Variant::Decimal8(value) => decimal(value.integer().into(), value.scale())?,
        Variant::Decimal16(value) => decimal(value.integer(), value.scale())?,
        Variant::Date(date) => (
            DataType::Date,
            Arc::new(Date32Array::from(vec![Date32Type::from_naive_date(*date)])),
        ),
        Variant::TimestampMicros(at) | Variant::TimestampNanos(at) => (
            DataType::Timestamp,
            Arc::new(micros(at.timestamp_micros()).with_timezone("UTC")),
        ),
        Variant::TimestampNtzMicros(at) | Variant::TimestampNtzNanos(at) => (
            DataType::TimestampNtz,
            Arc::new(micros(at.and_utc().timestamp_micros())),
        ),
        Variant::Binary(bytes) => (DataType::Binary, Arc::new(BinaryArray::from(vec![*bytes]))),
        Variant::Uuid(id) => string(&id.to_string()),
        Variant::Time(time) => string(&time.to_string()),
        Variant::String(text) => string(text),
        Variant::ShortString(text) => string(text.as_str()),
        Variant::Null | Variant::Object(_) | Variant::List(_) => return None,
    })
}

fn string(text: &str) -> (DataType, ArrayRef) {
    (DataType::String, Arc::new(StringArray::from(vec![text])))
}

fn list_of(cells: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
    let ArrowType::List(field) = arrow_type(to) else {
        return Err(internal("an array that is none"));
    };
    let values = match cells.is_empty() {
        true => new_null_array(field.data_type(), 0),
        false => joined(cells)?,
    };
    ListArray::try_new(
        field,
        OffsetBuffer::from_lengths([values.len()]),
        values,
        None,
    )
    .map(|array| Arc::new(array) as ArrayRef)
    .map_err(|e| internal(e.to_string()))
}

fn map_of(keys: Vec<&str>, cells: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
    let ArrowType::Map(entry, sorted) = arrow_type(to) else {
        return Err(internal("a map that is none"));
    };
    let ArrowType::Struct(fields) = entry.data_type() else {
        return Err(internal("a map without entries"));
    };
    let values = match cells.is_empty() {
        true => new_null_array(fields[1].data_type(), 0),
        false => joined(cells)?,
    };
    let length = keys.len();
    let keys: ArrayRef = Arc::new(StringArray::from(keys));
    let entries = StructArray::try_new(fields.clone(), vec![keys, values], None)
        .map_err(|e| internal(e.to_string()))?;
    MapArray::try_new(
        entry,
        OffsetBuffer::from_lengths([length]),
        entries,
        None,
        sorted,
    )
    .map(|array| Arc::new(array) as ArrayRef)
    .map_err(|e| internal(e.to_string()))
}
