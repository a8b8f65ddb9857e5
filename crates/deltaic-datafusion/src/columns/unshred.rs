//! Variants whose parts lie in columns of their own ("Variant Shredding" of the Parquet format), put together again.
//!
//! A group `value`, `typed_value` holds a value in one of the two, or an object in both: the fields that have columns in the
//! one, the others in the other. Neither is filled where a field of an object is missing.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, ListArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{self as types, DataType, Fields, TimeUnit};
use arrow::error::ArrowError;
use arrow::temporal_conversions::date32_to_datetime;
use chrono::{DateTime, NaiveTime};
use deltaic_protocol::error::DeltaError;
use parquet_variant::{
    ObjectFieldBuilder, Variant, VariantBuilder, VariantBuilderExt, VariantMetadata,
};
use uuid::Uuid;

const VALUE: &str = "value";
const METADATA: &str = "metadata";
const TYPED: &str = "typed_value";

/// Whether a file's struct holds variants in parts.
pub(super) fn is_shredded(fields: &Fields) -> bool {
    fields.find(TYPED).is_some() && fields.find(METADATA).is_some()
}

/// The variants of a file's struct as `fields`, the two binary parts of whole ones.
///
/// # Errors
/// `MALFORMED_VARIANT`; a type that no variant has.
pub(super) fn unshred(from: &StructArray, fields: &Fields) -> Result<ArrayRef, ArrowError> {
    let metadata = from.column_by_name(METADATA).ok_or_else(malformed)?;
    let metadata = binary(metadata)?;
    let group = Group::new(from)?;
    let mut values = BinaryBuilder::with_capacity(from.len(), 0);
    let mut names = BinaryBuilder::with_capacity(from.len(), 0);
    for row in 0..from.len() {
        if from.is_null(row) {
            values.append_value(b"");
            names.append_value(b"");
            continue;
        }
        if metadata.is_null(row) {
            return Err(malformed());
        }
        if !group.is_typed(row)
            && let Some(value) = group.value(row)
        {
            values.append_value(value);
            names.append_value(metadata.value(row));
            continue;
        }
        let own = VariantMetadata::try_new(metadata.value(row)).map_err(|_| malformed())?;
        let mut whole = VariantBuilder::new();
        group.append(row, &own, &mut whole)?;
        let (built, value) = whole.finish();
        values.append_value(value);
        names.append_value(built);
    }
    let (values, names) = (Arc::new(values.finish()), Arc::new(names.finish()));
    let columns = fields
        .iter()
        .map(|field| match field.name().as_str() {
            VALUE => Arc::clone(&values) as ArrayRef,
            _ => Arc::clone(&names) as ArrayRef,
        })
        .collect();
    Ok(Arc::new(StructArray::try_new(
        fields.clone(),
        columns,
        from.nulls().cloned(),
    )?))
}

fn malformed() -> ArrowError {
    ArrowError::from_external_error(Box::new(DeltaError::new("MALFORMED_VARIANT")))
}

fn binary(array: &ArrayRef) -> Result<BinaryArray, ArrowError> {
    Ok(cast(array, &DataType::Binary)?.as_binary::<i32>().clone())
}

/// The two places of a value.
struct Group {
    value: Option<BinaryArray>,
    typed: Option<Typed>,
    /// The group itself, where it may be null.
    there: StructArray,
}

enum Typed {
    Object(StructArray, Vec<(String, Group)>),
    List(ListArray, Box<Group>),
    Scalar(ArrayRef),
}

impl Group {
    fn new(from: &StructArray) -> Result<Group, ArrowError> {
        let value = from.column_by_name(VALUE).map(binary).transpose()?;
        let typed = from.column_by_name(TYPED).map(Typed::new).transpose()?;
        Ok(Group {
            value,
            typed,
            there: from.clone(),
        })
    }

    fn of(array: &ArrayRef) -> Result<Group, ArrowError> {
        Group::new(array.as_struct_opt().ok_or_else(malformed)?)
    }

    fn value(&self, row: usize) -> Option<&[u8]> {
        let values = self.value.as_ref().filter(|values| values.is_valid(row))?;
        Some(values.value(row))
    }

    fn is_typed(&self, row: usize) -> bool {
        self.typed.as_ref().is_some_and(|typed| typed.is_there(row))
    }

    /// Whether there is a value at all.
    fn is_there(&self, row: usize) -> bool {
        self.there.is_valid(row) && (self.is_typed(row) || self.value(row).is_some())
    }

    fn append(
        &self,
        row: usize,
        names: &VariantMetadata<'_>,
        out: &mut impl VariantBuilderExt,
    ) -> Result<(), ArrowError> {
        let rest = self.value(row);
        match &self.typed {
            Some(Typed::Object(object, fields)) if object.is_valid(row) => {
                let mut whole = out.try_new_object()?;
                for (name, field) in fields {
                    if field.is_there(row) {
                        field.append(row, names, &mut ObjectFieldBuilder::new(name, &mut whole))?;
                    }
                }
                if let Some(rest) = rest {
                    let Variant::Object(rest) = plain(names, rest)? else {
                        return Err(malformed());
                    };
                    for (name, value) in rest.iter() {
                        // What has a column does not lie elsewhere.
                        if fields.iter().any(|(own, _)| own == name) {
                            return Err(malformed());
                        }
                        whole.try_insert(name, value)?;
                    }
                }
                whole.finish();
            }
            Some(Typed::List(list, element)) if list.is_valid(row) => {
                let mut whole = out.try_new_list()?;
                let offsets = list.value_offsets();
                for at in place(offsets[row])?..place(offsets[row + 1])? {
                    element.append(at, names, &mut whole)?;
                }
                whole.finish();
            }
            Some(Typed::Scalar(values)) if values.is_valid(row) => {
                out.append_value(scalar(values, row)?);
            }
            _ => match rest {
                Some(value) => out.append_value(plain(names, value)?),
                // Only a field may be missing.
                None => out.append_value(Variant::Null),
            },
        }
        Ok(())
    }
}

impl Typed {
    fn new(array: &ArrayRef) -> Result<Typed, ArrowError> {
        Ok(match array.data_type() {
            DataType::Struct(fields) => {
                let object = array.as_struct().clone();
                let groups = fields
                    .iter()
                    .zip(object.columns())
                    .map(|(field, column)| Ok((field.name().clone(), Group::of(column)?)))
                    .collect::<Result<_, ArrowError>>()?;
                Typed::Object(object, groups)
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>().clone();
                let element = Group::of(list.values())?;
                Typed::List(list, Box::new(element))
            }
            DataType::Utf8View | DataType::LargeUtf8 => {
                Typed::Scalar(cast(array, &DataType::Utf8)?)
            }
            DataType::BinaryView | DataType::LargeBinary => {
                Typed::Scalar(cast(array, &DataType::Binary)?)
            }
            DataType::Decimal32(p, s) | DataType::Decimal64(p, s) => {
                Typed::Scalar(cast(array, &DataType::Decimal128(*p, *s))?)
            }
            _ => Typed::Scalar(Arc::clone(array)),
        })
    }

    fn is_there(&self, row: usize) -> bool {
        match self {
            Typed::Object(object, _) => object.is_valid(row),
            Typed::List(list, _) => list.is_valid(row),
            Typed::Scalar(values) => values.is_valid(row),
        }
    }
}

fn place(offset: i32) -> Result<usize, ArrowError> {
    usize::try_from(offset).map_err(|_| malformed())
}

/// A value that lies in one piece.
fn plain<'m, 'v>(
    names: &VariantMetadata<'m>,
    value: &'v [u8],
) -> Result<Variant<'m, 'v>, ArrowError> {
    Variant::try_new_with_metadata(names.clone(), value).map_err(|_| malformed())
}

/// A value of a column.
fn scalar(values: &ArrayRef, row: usize) -> Result<Variant<'_, '_>, ArrowError> {
    let micros = |value| DateTime::from_timestamp_micros(value).ok_or_else(malformed);
    Ok(match values.data_type() {
        DataType::Boolean => Variant::from(values.as_boolean().value(row)),
        DataType::Int8 => Variant::from(values.as_primitive::<types::Int8Type>().value(row)),
        DataType::Int16 => Variant::from(values.as_primitive::<types::Int16Type>().value(row)),
        DataType::Int32 => Variant::from(values.as_primitive::<types::Int32Type>().value(row)),
        DataType::Int64 => Variant::from(values.as_primitive::<types::Int64Type>().value(row)),
        DataType::Float32 => Variant::from(values.as_primitive::<types::Float32Type>().value(row)),
        DataType::Float64 => Variant::from(values.as_primitive::<types::Float64Type>().value(row)),
        DataType::Decimal128(precision, scale) => {
            let value = values.as_primitive::<types::Decimal128Type>().value(row);
            decimal(value, *precision, *scale)?
        }
        DataType::Date32 => {
            let days = values.as_primitive::<types::Date32Type>().value(row);
            Variant::from(date32_to_datetime(days).ok_or_else(malformed)?.date())
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let value = values.as_primitive::<types::TimestampMicrosecondType>();
            let at = micros(value.value(row))?;
            match zone {
                Some(_) => Variant::TimestampMicros(at),
                None => Variant::TimestampNtzMicros(at.naive_utc()),
            }
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            let value = values.as_primitive::<types::TimestampNanosecondType>();
            let at = DateTime::from_timestamp_nanos(value.value(row));
            match zone {
                Some(_) => Variant::TimestampNanos(at),
                None => Variant::TimestampNtzNanos(at.naive_utc()),
            }
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            let value = values.as_primitive::<types::Time64MicrosecondType>();
            let micros = u64::try_from(value.value(row)).map_err(|_| malformed())?;
            let seconds = u32::try_from(micros / 1_000_000).map_err(|_| malformed())?;
            let nanos = u32::try_from(micros % 1_000_000 * 1000).map_err(|_| malformed())?;
            let time = NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos);
            Variant::Time(time.ok_or_else(malformed)?)
        }
        DataType::Utf8 => Variant::from(values.as_string::<i32>().value(row)),
        DataType::Binary => Variant::from(values.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(16) => {
            let bytes = values.as_fixed_size_binary().value(row);
            Variant::Uuid(Uuid::from_slice(bytes).map_err(|_| malformed())?)
        }
        other => {
            return Err(ArrowError::CastError(format!(
                "no variant is a value of type {other}"
            )));
        }
    })
}

/// The precision tells how many bytes a decimal has.
fn decimal<'a>(value: i128, precision: u8, scale: i8) -> Result<Variant<'a, 'a>, ArrowError> {
    let scale = u8::try_from(scale).map_err(|_| malformed())?;
    match precision {
        0..=9 => Variant::try_from((i32::try_from(value).map_err(|_| malformed())?, scale)),
        10..=18 => Variant::try_from((i64::try_from(value).map_err(|_| malformed())?, scale)),
        _ => Variant::try_from((value, scale)),
    }
}

#[cfg(test)]
mod tests;
