//! What follows an aggregate: lists in Spark's form, percentiles out of all the values of a group.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, take};
use arrow::datatypes::{DataType as ArrowType, Float64Type};
use deltaic_protocol::Result;
use deltaic_protocol::error::DeltaError;

use crate::error::{Ours, internal};
use crate::kernel::Batch;
use crate::types::arrow_type;

/// `collect_list` of no values is an empty array, never NULL.
pub fn list(b: &Batch<'_>) -> Result<ArrayRef> {
    let source = super::lambda::compact(b.list(0))?;
    let ArrowType::List(field) = arrow_type(b.ret) else {
        return Err(internal("a list that is none"));
    };
    let values = if source.values().data_type() == field.data_type() {
        Arc::clone(source.values())
    } else {
        arrow::compute::cast(source.values(), field.data_type()).ours()?
    };
    let lengths = (0..source.len()).map(|r| {
        if source.is_null(r) {
            0
        } else {
            source.value_length(r) as usize
        }
    });
    ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, None)
        .map(|l| Arc::new(l) as ArrayRef)
        .ours()
}

/// Values of a row as doubles, sorted.
fn sorted(list: &ListArray, r: usize) -> Vec<f64> {
    let values = list.value(r);
    let values = values.as_primitive::<Float64Type>();
    let mut out: Vec<f64> = values.iter().flatten().collect();
    out.sort_by(f64::total_cmp);
    out
}

/// A percentage lies between 0 and 1.
fn percentage(p: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&p) {
        return Ok(p);
    }
    Err(DeltaError::new("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .param("sqlExpr", "\"percentile\"")
        .param("exprName", "percentage")
        .param("valueRange", "[0.0, 1.0]")
        .param("currentValue", format!("{p:?}D")))
}

fn at(values: &[f64], p: f64) -> f64 {
    let place = p * (values.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    if low == high {
        values[low]
    } else {
        (high as f64 - place) * values[low] + (place - low as f64) * values[high]
    }
}

/// `percentile(list, p)`: by interpolation between the neighbours.
pub fn percentile(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    b.rows(|r| {
        let values = sorted(list, r);
        let p = percentage(b.f64(1).value(r))?;
        Ok((!values.is_empty()).then(|| at(&values, p)))
    })
}

/// `percentile(list, array of p)`.
pub fn percentiles(b: &Batch<'_>) -> Result<ArrayRef> {
    let (list, wanted) = (b.list(0), b.list(1));
    let (mut out, mut lengths, mut valid): (Vec<f64>, Vec<usize>, Vec<bool>) =
        (vec![], vec![], vec![]);
    for r in 0..b.rows {
        let values = if b.any_null(r) {
            vec![]
        } else {
            sorted(list, r)
        };
        valid.push(!values.is_empty());
        let before = out.len();
        if !values.is_empty() {
            let ps = wanted.value(r);
            for p in ps.as_primitive::<Float64Type>().iter().flatten() {
                out.push(at(&values, percentage(p)?));
            }
        }
        lengths.push(out.len() - before);
    }
    let array: ArrayRef = Arc::new(arrow::array::Float64Array::from(out));
    super::arrays::build(b, array, lengths, Some(NullBuffer::from(valid)))
}

/// `percentile_approx(list, p)`: the value at the rank, exactly.
pub fn percentile_approx(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let compare =
        arrow::array::make_comparator(list.values(), list.values(), SortOptions::default())
            .ours()?;
    for r in (0..b.rows).filter(|r| !b.any_null(*r)) {
        percentage(b.f64(1).value(r))?;
    }
    let picks: Vec<Option<u32>> = (0..b.rows)
        .map(|r| {
            if b.any_null(r) {
                return None;
            }
            let mut items: Vec<usize> = (list.value_offsets()[r] as usize
                ..list.value_offsets()[r + 1] as usize)
                .filter(|n| !list.values().is_null(*n))
                .collect();
            items.sort_by(|x, y| compare(*x, *y));
            let rank = (b.f64(1).value(r) * items.len() as f64).ceil().max(1.0) as usize;
            items.get(rank - 1).map(|n| *n as u32)
        })
        .collect();
    let out = take(list.values(), &UInt32Array::from(picks), None).ours()?;
    let wanted = arrow_type(b.ret);
    if *out.data_type() == wanted {
        Ok(out)
    } else {
        arrow::compute::cast(&out, &wanted).ours()
    }
}

/// Positions of an array's elements, from 0; for `posexplode`.
pub fn positions(b: &Batch<'_>) -> Result<ArrayRef> {
    let lengths: Vec<usize> = (0..b.rows)
        .map(|r| {
            if b.any_null(r) {
                0
            } else {
                b.list(0).value_length(r) as usize
            }
        })
        .collect();
    let numbers: Vec<i32> = lengths.iter().flat_map(|n| 0..*n as i32).collect();
    let array: ArrayRef = Arc::new(arrow::array::Int32Array::from(numbers));
    super::arrays::build(b, array, lengths, b.args[0].nulls().cloned())
}

/// An empty array becomes NULL, so that an outer generator gives its row.
pub fn null_if_empty(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let valid: NullBuffer = (0..b.rows)
        .map(|r| !list.is_null(r) && list.value_length(r) > 0)
        .collect::<Vec<_>>()
        .into();
    super::misc::masked(&b.args[0], Some(&valid))
}
