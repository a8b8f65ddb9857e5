//! From what a data file holds to what the table's schema says: renamed and missing nested fields, widened types.
//!
//! The plan is made once per file from the two types; applying it touches only what differs. Conversions are those of
//! the protocol section "Type Widening" and the ones that Spark's Parquet reader allows; another difference is an error.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, FieldRef, Fields, TimeUnit};
use arrow::error::ArrowError;
use datafusion::error::{DataFusionError, Result};

use super::mapping::{FieldMap, MappingMode};
use super::unshred::{is_shredded, unshred};

/// How an array of a file becomes an array of the table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reshape {
    /// It is one already.
    Keep,
    /// A conversion of scalar values.
    Cast(DataType),
    /// A struct from the fields of another one.
    Struct(Fields, Vec<Child>),
    /// A list whose elements are reshaped.
    List(FieldRef, Box<Reshape>),
    /// Variants that lie in parts, put together.
    Variant(Fields),
    /// A map whose entries are reshaped.
    Map(FieldRef, Box<Reshape>, Box<Reshape>),
}

/// One field of a struct.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Child {
    /// Its position in the file's struct; `None` reads as null.
    pub source: Option<usize>,
    /// What happens to it.
    pub shape: Reshape,
}

impl Reshape {
    /// The way from a file's type to the table's. `map` describes the table's field, `path` names it in errors.
    ///
    /// # Errors
    /// [`TypeMismatch`]: Spark would not read the one as the other.
    pub fn plan(
        mode: MappingMode,
        map: &FieldMap,
        logical: &DataType,
        physical: &DataType,
        path: &str,
    ) -> Result<Reshape> {
        Reshape::with_rule(mode, map, logical, physical, path, &is_readable)
    }

    /// The way between two types whose scalars may differ as `rule(from, to)` allows.
    ///
    /// # Errors
    /// [`TypeMismatch`].
    pub fn with_rule(
        mode: MappingMode,
        map: &FieldMap,
        logical: &DataType,
        physical: &DataType,
        path: &str,
        rule: &dyn Fn(&DataType, &DataType) -> bool,
    ) -> Result<Reshape> {
        if mode == MappingMode::None && logical == physical {
            return Ok(Reshape::Keep);
        }
        match (logical, physical) {
            // A variant is the struct of two binary parts whose fields the schema does not know.
            (DataType::Struct(want), DataType::Struct(have))
                if map.children.is_empty() && want.len() == 2 && is_shredded(have) =>
            {
                Ok(Reshape::Variant(want.clone()))
            }
            (DataType::Struct(want), DataType::Struct(have)) => {
                let children = want
                    .iter()
                    .map(|field| {
                        let own = leaf_map(field.name());
                        let child = map.child(field.name()).unwrap_or(&own);
                        let source = child.find(mode, have);
                        let shape = match source {
                            Some(at) => {
                                let path = format!("{path}.{}", field.name());
                                Reshape::with_rule(
                                    mode,
                                    child,
                                    field.data_type(),
                                    have[at].data_type(),
                                    &path,
                                    rule,
                                )?
                            }
                            None => Reshape::Keep,
                        };
                        Ok(Child { source, shape })
                    })
                    .collect::<Result<Vec<_>>>()?;
                let same = want == have
                    && children
                        .iter()
                        .enumerate()
                        .all(|(at, c)| c.source == Some(at) && c.shape == Reshape::Keep);
                Ok(if same {
                    Reshape::Keep
                } else {
                    Reshape::Struct(want.clone(), children)
                })
            }
            (DataType::List(want), DataType::List(have)) => {
                let own = leaf_map("element");
                let child = map.children.first().unwrap_or(&own);
                let shape = Reshape::with_rule(
                    mode,
                    child,
                    want.data_type(),
                    have.data_type(),
                    &format!("{path}.element"),
                    rule,
                )?;
                Ok(if want == have && shape == Reshape::Keep {
                    Reshape::Keep
                } else {
                    Reshape::List(Arc::clone(want), Box::new(shape))
                })
            }
            (DataType::Map(want, _), DataType::Map(have, _)) => {
                let (DataType::Struct(want_pair), DataType::Struct(have_pair)) =
                    (want.data_type(), have.data_type())
                else {
                    return Err(mismatch(path, logical, physical));
                };
                let own = leaf_map("entry");
                let plan = |at: usize, name: &str| {
                    let child = map.children.get(at).unwrap_or(&own);
                    Reshape::with_rule(
                        mode,
                        child,
                        want_pair[at].data_type(),
                        have_pair[at].data_type(),
                        &format!("{path}.{name}"),
                        rule,
                    )
                };
                let (key, value) = (plan(0, "key")?, plan(1, "value")?);
                let same = logical == physical && key == Reshape::Keep && value == Reshape::Keep;
                Ok(if same {
                    Reshape::Keep
                } else {
                    Reshape::Map(Arc::clone(want), Box::new(key), Box::new(value))
                })
            }
            _ if logical == physical => Ok(Reshape::Keep),
            _ if rule(physical, logical) => Ok(Reshape::Cast(logical.clone())),
            _ => Err(mismatch(path, logical, physical)),
        }
    }

    /// Applies the plan.
    ///
    /// # Errors
    /// A value does not fit its new type.
    pub fn apply(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match self {
            Reshape::Keep => Ok(Arc::clone(array)),
            Reshape::Cast(to) => cast_with_options(
                array,
                to,
                &CastOptions {
                    safe: false,
                    ..CastOptions::default()
                },
            ),
            Reshape::Struct(fields, children) => {
                let from = array
                    .as_any()
                    .downcast_ref::<StructArray>()
                    .ok_or_else(|| {
                        ArrowError::CastError(format!(
                            "expected a struct, found {}",
                            array.data_type()
                        ))
                    })?;
                let columns = children
                    .iter()
                    .zip(fields)
                    .map(|(child, field)| match child.source {
                        Some(at) => child.shape.apply(from.column(at)),
                        None => Ok(new_null_array(field.data_type(), from.len())),
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                if columns.is_empty() {
                    return Ok(Arc::new(StructArray::new_empty_fields(
                        from.len(),
                        from.nulls().cloned(),
                    )));
                }
                Ok(Arc::new(StructArray::try_new(
                    fields.clone(),
                    columns,
                    from.nulls().cloned(),
                )?))
            }
            Reshape::Variant(fields) => {
                let from = array.as_struct_opt().ok_or_else(|| {
                    ArrowError::CastError(format!(
                        "expected a variant, found {}",
                        array.data_type()
                    ))
                })?;
                unshred(from, fields)
            }
            Reshape::List(field, shape) => {
                let from = array.as_any().downcast_ref::<ListArray>().ok_or_else(|| {
                    ArrowError::CastError(format!("expected a list, found {}", array.data_type()))
                })?;
                let values = shape.apply(from.values())?;
                Ok(Arc::new(ListArray::try_new(
                    Arc::clone(field),
                    from.offsets().clone(),
                    values,
                    from.nulls().cloned(),
                )?))
            }
            Reshape::Map(field, key, value) => {
                let from = array.as_any().downcast_ref::<MapArray>().ok_or_else(|| {
                    ArrowError::CastError(format!("expected a map, found {}", array.data_type()))
                })?;
                let DataType::Struct(pair) = field.data_type() else {
                    return Err(ArrowError::CastError("a map without entries".to_string()));
                };
                let entries = StructArray::try_new(
                    pair.clone(),
                    vec![key.apply(from.keys())?, value.apply(from.values())?],
                    None,
                )?;
                Ok(Arc::new(MapArray::try_new(
                    Arc::clone(field),
                    from.offsets().clone(),
                    entries,
                    from.nulls().cloned(),
                    false,
                )?))
            }
        }
    }
}

fn leaf_map(name: &str) -> FieldMap {
    FieldMap {
        name: name.to_string(),
        physical: name.to_string(),
        id: None,
        children: Vec::new(),
    }
}

fn mismatch(path: &str, logical: &DataType, physical: &DataType) -> DataFusionError {
    DataFusionError::External(Box::new(TypeMismatch {
        column: path.to_string(),
        logical: logical.clone(),
        physical: physical.clone(),
    }))
}

/// A column of a file has a type that the table's type cannot take.
#[derive(Debug, Clone)]
pub struct TypeMismatch {
    /// The dotted logical name.
    pub column: String,
    /// What the table says.
    pub logical: DataType,
    /// What the file holds.
    pub physical: DataType,
}

impl std::fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "column {}: expected {}, the file holds {}",
            self.column, self.logical, self.physical
        )
    }
}

impl std::error::Error for TypeMismatch {}

/// Whether Spark reads values of one type as another one.
fn is_readable(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Int8, Int16 | Int32 | Int64 | Float32 | Float64 | Decimal128(_, _)) => true,
        (Int16, Int8 | Int32 | Int64 | Float32 | Float64 | Decimal128(_, _)) => true,
        (Int32, Int8 | Int16 | Int64 | Float64 | Date32 | Decimal128(_, _)) => true,
        (UInt8, Int16 | Int32 | Int64) | (UInt16, Int32 | Int64) | (UInt32, Int64) => true,
        (Int64, Decimal128(_, _)) => true,
        (UInt64, Decimal128(_, _)) => true,
        (Float32, Float64) | (Float16, Float32 | Float64) => true,
        (Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s), Decimal128(to_p, to_s)) => {
            to_s >= s && i16::from(*to_p) - i16::from(*to_s) >= i16::from(*p) - i16::from(*s)
        }
        (Date32, Timestamp(_, None)) => true,
        (Timestamp(_, _), Timestamp(TimeUnit::Microsecond, _)) => true,
        (
            Utf8 | LargeUtf8 | Utf8View,
            Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView,
        ) => true,
        (
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_),
            Binary | LargeBinary | BinaryView,
        ) => true,
        (Binary | LargeBinary | BinaryView, Utf8 | LargeUtf8 | Utf8View) => true,
        (Dictionary(_, value), _) => value.as_ref() == to || is_readable(value, to),
        (Null, _) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
