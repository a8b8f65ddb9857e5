//! Kernels of structs, LIKE with any escape, and functions about the session and errors.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use regex::Regex;

use super::strings::Lcg;
use crate::error::{Ours, internal};
use crate::kernel::Batch;
use crate::types::arrow_type;

/// The field `env.salt` of a struct; NULL where the struct is.
pub fn struct_field(b: &Batch<'_>) -> Result<ArrayRef> {
    let source = b.structs(0);
    let Some(column) = source.columns().get(b.env.salt as usize) else {
        return Err(internal("no such field"));
    };
    masked(column, source.nulls())
}

/// The array with NULL where `nulls` says so.
pub fn masked(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef> {
    if nulls.is_none() || *array.data_type() == ArrowType::Null {
        return Ok(Arc::clone(array));
    }
    let both = NullBuffer::union(array.nulls(), nulls);
    let data = array.to_data().into_builder().nulls(both).build().ours()?;
    Ok(make_array(data))
}

/// `named_struct` and `struct`: the values become fields in order.
pub fn make_struct(b: &Batch<'_>) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = arrow_type(b.ret) else {
        return Err(internal("a struct that is none"));
    };
    let columns: Vec<ArrayRef> = b.args.iter().map(Arc::clone).collect();
    let fields = fields
        .iter()
        .zip(&columns)
        .map(|(f, c)| {
            if c.null_count() > 0 && !f.is_nullable() {
                Arc::new(f.as_ref().clone().with_nullable(true))
            } else {
                Arc::clone(f)
            }
        })
        .collect();
    StructArray::try_new_with_length(fields, columns, None, b.rows)
        .map(|s| Arc::new(s) as ArrayRef)
        .ours()
}

/// LIKE with the escape character and the case rule of `env.salt`.
pub fn like(b: &Batch<'_>) -> Result<ArrayRef> {
    let escape = char::from_u32((b.env.salt >> 1) as u32).unwrap_or('\\');
    let insensitive = b.env.salt & 1 == 1;
    let (value, pattern) = (b.str(0), b.str(1));
    let mut last: Option<(String, Regex)> = None;
    b.rows(|r| {
        let text = pattern.value(r);
        if last.as_ref().is_none_or(|(t, _)| t != text) {
            last = Some((text.to_owned(), like_regex(text, escape, insensitive)?));
        }
        Ok(last.as_ref().map(|(_, re)| re.is_match(value.value(r))))
    })
}

/// The regular expression of a LIKE pattern.
pub fn like_regex(pattern: &str, escape: char, insensitive: bool) -> Result<Regex> {
    let mut out = String::from(if insensitive { "(?si)^" } else { "(?s)^" });
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            c if c == escape => chars.next().unwrap_or(c),
            '_' => {
                out.push('.');
                continue;
            }
            '%' => {
                out.push_str(".*");
                continue;
            }
            c => c,
        };
        out.push_str(&regex::escape(&plain.to_string()));
    }
    out.push('$');
    Regex::new(&out).map_err(|e| internal(e.to_string()))
}

/// `assert_true(condition, message)`.
pub fn assert_true(b: &Batch<'_>) -> Result<ArrayRef> {
    let (condition, message) = (b.bool(0), b.str(1));
    for r in 0..b.rows {
        if condition.is_null(r) || !condition.value(r) {
            let text = if message.is_null(r) {
                "null"
            } else {
                message.value(r)
            };
            return Err(DeltaError::new("USER_RAISED_EXCEPTION").param("errorMessage", text));
        }
    }
    Ok(b.nulls())
}

/// `raise_error(message)`.
pub fn raise_error(b: &Batch<'_>) -> Result<ArrayRef> {
    let message = b.str(0);
    if b.rows == 0 {
        return Ok(b.nulls());
    }
    let text = if message.is_null(0) {
        "null"
    } else {
        message.value(0)
    };
    Err(DeltaError::new("USER_RAISED_EXCEPTION").param("errorMessage", text))
}

/// `uuid()`, from the statement's seed.
pub fn uuid(b: &Batch<'_>) -> Result<ArrayRef> {
    let seed = b.env.salt ^ b.env.now_us as u64;
    b.all_rows(|r| {
        let mut random = Lcg::of_row(seed, b.rows_before + r as u64);
        let bytes = (u128::from(random.next()) << 64) | u128::from(random.next());
        Ok(Some(
            uuid::Builder::from_random_bytes(bytes.to_be_bytes())
                .into_uuid()
                .to_string(),
        ))
    })
}

/// `rand()`.
pub fn rand(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| {
        Ok(Some(
            Lcg::of_row(b.env.salt, b.rows_before + r as u64).unit(),
        ))
    })
}

/// `randn()`.
pub fn randn(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| {
        let mut random = Lcg::of_row(b.env.salt, b.rows_before + r as u64);
        let (u, v) = (random.unit().max(f64::MIN_POSITIVE), random.unit());
        Ok(Some(
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos(),
        ))
    })
}

/// `monotonically_increasing_id()`: rows are counted through all batches and partitions.
pub fn row_ids(b: &Batch<'_>) -> Result<ArrayRef> {
    b.all_rows(|r| Ok(Some((b.rows_before + r as u64) as i64)))
}

/// `typeof` needs no value.
pub fn type_name(ty: &DataType) -> String {
    ty.simple_string()
}

/// `nanvl(a, b)`.
pub fn nanvl(b: &Batch<'_>) -> Result<ArrayRef> {
    match b.ret {
        DataType::Float => {
            let (x, y) = (b.f32(0), b.f32(1));
            b.all_rows(|r| {
                if x.is_null(r) {
                    return Ok(None);
                }
                Ok(if x.value(r).is_nan() {
                    (!y.is_null(r)).then(|| y.value(r))
                } else {
                    Some(x.value(r))
                })
            })
        }
        _ => {
            let (x, y) = (b.f64(0), b.f64(1));
            b.all_rows(|r| {
                if x.is_null(r) {
                    return Ok(None);
                }
                Ok(if x.value(r).is_nan() {
                    (!y.is_null(r)).then(|| y.value(r))
                } else {
                    Some(x.value(r))
                })
            })
        }
    }
}

/// `isnan(x)`: false for NULL.
pub fn is_nan(b: &Batch<'_>) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Float => {
            b.all_rows(|r| Ok(Some(!b.f32(0).is_null(r) && b.f32(0).value(r).is_nan())))
        }
        _ => b.all_rows(|r| Ok(Some(!b.f64(0).is_null(r) && b.f64(0).value(r).is_nan()))),
    }
}

/// `greatest` and `least`: NULLs are skipped, NaN is the largest.
pub fn greatest(b: &Batch<'_>) -> Result<ArrayRef> {
    extreme(b, std::cmp::Ordering::Greater)
}
/// See [`greatest`].
pub fn least(b: &Batch<'_>) -> Result<ArrayRef> {
    extreme(b, std::cmp::Ordering::Less)
}

fn extreme(b: &Batch<'_>, wanted: std::cmp::Ordering) -> Result<ArrayRef> {
    let arrays: Vec<&dyn Array> = b.args.iter().map(|a| a.as_ref()).collect();
    let mut picks = Vec::with_capacity(b.rows);
    let comparators = arrays
        .iter()
        .map(|x| {
            arrays
                .iter()
                .map(|y| arrow::array::make_comparator(*x, *y, Default::default()))
                .collect::<std::result::Result<Vec<_>, _>>()
        })
        .collect::<std::result::Result<Vec<_>, _>>()
        .ours()?;
    for r in 0..b.rows {
        let mut best: Option<usize> = None;
        for n in 0..arrays.len() {
            if arrays[n].is_null(r) {
                continue;
            }
            if best.is_none_or(|at| comparators[n][at](r, r) == wanted) {
                best = Some(n);
            }
        }
        picks.push((best.unwrap_or(0), r));
    }
    arrow::compute::interleave(&arrays, &picks).ours()
}

/// The field `env.salt` of every struct in an array.
pub fn array_field(b: &Batch<'_>) -> Result<ArrayRef> {
    use arrow::array::{AsArray, ListArray};
    let list = b.list(0);
    let structs = list.values().as_struct();
    let Some(column) = structs.columns().get(b.env.salt as usize) else {
        return Err(internal("no such field"));
    };
    let values = masked(column, structs.nulls())?;
    let ArrowType::List(field) = arrow_type(b.ret) else {
        return Err(internal("an array that is none"));
    };
    let field = if values.null_count() > 0 {
        Arc::new(field.as_ref().clone().with_nullable(true))
    } else {
        field
    };
    ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())
        .map(|l| Arc::new(l) as ArrayRef)
        .ours()
}
