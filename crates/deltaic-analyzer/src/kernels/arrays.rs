//! Kernels of arrays: making them, taking from them, sorting and comparing their elements.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, UInt32Array, make_comparator, new_null_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, concat, interleave, take};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::strings::Lcg;
use crate::error::{ANSI_CONFIG, Ours, internal};
use crate::kernel::Batch;
use crate::text;
use crate::time::{self, MICROS_PER_DAY};
use crate::types::arrow_type;

/// An array of the result type out of values and lengths.
pub fn build(
    b: &Batch<'_>,
    values: ArrayRef,
    lengths: Vec<usize>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let ArrowType::List(field) = arrow_type(b.ret) else {
        return Err(internal("an array that is none"));
    };
    let values = if values.data_type() == field.data_type() {
        values
    } else {
        arrow::compute::cast(&values, field.data_type()).ours()?
    };
    let field = if values.null_count() > 0 && !field.is_nullable() {
        Arc::new(field.as_ref().clone().with_nullable(true))
    } else {
        field
    };
    ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), values, nulls)
        .map(|l| Arc::new(l) as ArrayRef)
        .ours()
}

/// `array(a, b, …)`.
pub fn make(b: &Batch<'_>) -> Result<ArrayRef> {
    let width = b.args.len();
    let ArrowType::List(field) = arrow_type(b.ret) else {
        return Err(internal("an array that is none"));
    };
    if width == 0 {
        return build(
            b,
            new_null_array(field.data_type(), 0),
            vec![0; b.rows],
            None,
        );
    }
    let arrays: Vec<&dyn Array> = b.args.iter().map(|a| a.as_ref()).collect();
    let picks: Vec<(usize, usize)> = (0..b.rows)
        .flat_map(|r| (0..width).map(move |n| (n, r)))
        .collect();
    let values = if picks.is_empty() {
        new_null_array(field.data_type(), 0)
    } else {
        interleave(&arrays, &picks).ours()?
    };
    build(b, values, vec![width; b.rows], None)
}

/// The range of values of a row.
fn range(list: &ListArray, row: usize) -> std::ops::Range<usize> {
    let offsets = list.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

/// Elements of the first array by index, one per row; None is NULL.
fn pick(b: &Batch<'_>, values: &ArrayRef, indices: Vec<Option<u32>>) -> Result<ArrayRef> {
    let out = take(values, &UInt32Array::from(indices), None).ours()?;
    let wanted = arrow_type(b.ret);
    if *out.data_type() == wanted {
        Ok(out)
    } else {
        arrow::compute::cast(&out, &wanted).ours()
    }
}

/// `element_at(array, n)`: from 1, from the end where negative; outside an error, or NULL where `env.salt` is 1.
pub fn element_at(b: &Batch<'_>) -> Result<ArrayRef> {
    let (list, at) = (b.list(0), b.i32(1));
    let mut out = Vec::with_capacity(b.rows);
    for r in 0..b.rows {
        if b.any_null(r) {
            out.push(None);
            continue;
        }
        let (items, n) = (range(list, r), at.value(r));
        if n == 0 {
            return Err(DeltaError::new("INVALID_INDEX_OF_ZERO"));
        }
        let len = items.len();
        let place = if n > 0 {
            n as usize - 1
        } else {
            len.wrapping_sub(n.unsigned_abs() as usize)
        };
        if place < len {
            out.push(Some((items.start + place) as u32));
        } else if b.env.salt == 1 || !b.env.ansi {
            out.push(None);
        } else {
            return Err(DeltaError::new("INVALID_ARRAY_INDEX_IN_ELEMENT_AT")
                .param("indexValue", n)
                .param("arraySize", len)
                .param("ansiConfig", ANSI_CONFIG));
        }
    }
    pick(b, list.values(), out)
}

/// `array[n]` and `get(array, n)` (`env.salt` 1): from 0.
pub fn item(b: &Batch<'_>) -> Result<ArrayRef> {
    let (list, at) = (b.list(0), b.i32(1));
    let mut out = Vec::with_capacity(b.rows);
    for r in 0..b.rows {
        if b.any_null(r) {
            out.push(None);
            continue;
        }
        let (items, n) = (range(list, r), at.value(r));
        match usize::try_from(n).ok().filter(|n| *n < items.len()) {
            Some(n) => out.push(Some((items.start + n) as u32)),
            None if b.env.salt == 1 || !b.env.ansi => out.push(None),
            None => {
                return Err(DeltaError::new("INVALID_ARRAY_INDEX")
                    .param("indexValue", n)
                    .param("arraySize", items.len())
                    .param("ansiConfig", ANSI_CONFIG));
            }
        }
    }
    pick(b, list.values(), out)
}

/// `size(array or map)`: -1 for NULL only in the legacy mode, so NULL.
pub fn size(b: &Batch<'_>) -> Result<ArrayRef> {
    match &b.types[0] {
        DataType::Map(_) => b.rows(|r| Ok(Some(b.map(0).value_length(r)))),
        _ => b.rows(|r| Ok(Some(b.list(0).value_length(r)))),
    }
}

/// `array_contains(array, value)`: NULL where it is not found beside a NULL.
pub fn contains(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let equal = make_comparator(list.values(), &b.args[1], SortOptions::default()).ours()?;
    b.rows(|r| {
        let mut unknown = false;
        for n in range(list, r) {
            if list.values().is_null(n) {
                unknown = true;
            } else if equal(n, r) == Ordering::Equal {
                return Ok(Some(true));
            }
        }
        Ok(if unknown { None } else { Some(false) })
    })
}

/// `array_position(array, value)`: from 1, 0 where there is none.
pub fn position(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let equal = make_comparator(list.values(), &b.args[1], SortOptions::default()).ours()?;
    b.rows(|r| {
        let items = range(list, r);
        let start = items.start;
        let found = items
            .into_iter()
            .find(|n| !list.values().is_null(*n) && equal(*n, r) == Ordering::Equal);
        Ok(Some(found.map_or(0, |n| (n - start) as i64 + 1)))
    })
}

/// One array whose rows are chosen elements of the first argument.
fn choose(
    b: &Batch<'_>,
    list: &ListArray,
    f: impl FnMut(usize) -> Result<Option<Vec<usize>>>,
) -> Result<ArrayRef> {
    choose_of(b, list.values(), f)
}

fn choose_of(
    b: &Batch<'_>,
    values: &ArrayRef,
    mut f: impl FnMut(usize) -> Result<Option<Vec<usize>>>,
) -> Result<ArrayRef> {
    let (mut indices, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for r in 0..b.rows {
        match f(r)? {
            Some(picked) => {
                lengths.push(picked.len());
                indices.extend(picked.into_iter().map(|n| n as u32));
                valid.push(true);
            }
            None => {
                lengths.push(0);
                valid.push(false);
            }
        }
    }
    let values = take(values, &UInt32Array::from(indices), None).ours()?;
    build(b, values, lengths, Some(NullBuffer::from(valid)))
}

/// `sort_array(array, ascending)`: NULLs first ascending, last descending.
pub fn sort(b: &Batch<'_>) -> Result<ArrayRef> {
    let (list, ascending) = (b.list(0), b.bool(1));
    let compare = make_comparator(
        list.values(),
        list.values(),
        SortOptions {
            descending: false,
            nulls_first: true,
        },
    )
    .ours()?;
    choose(b, list, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        let mut items: Vec<usize> = range(list, r).collect();
        let up = ascending.value(r);
        items.sort_by(|x, y| if up { compare(*x, *y) } else { compare(*y, *x) });
        Ok(Some(items))
    })
}

/// `array_sort(array)`: ascending, NULLs last.
pub fn sort_nulls_last(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let compare = make_comparator(
        list.values(),
        list.values(),
        SortOptions {
            descending: false,
            nulls_first: false,
        },
    )
    .ours()?;
    choose(b, list, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        let mut items: Vec<usize> = range(list, r).collect();
        items.sort_by(|x, y| compare(*x, *y));
        Ok(Some(items))
    })
}

/// `reverse(array)`.
pub fn reverse(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    choose(b, list, |r| {
        Ok((!b.any_null(r)).then(|| range(list, r).rev().collect()))
    })
}

/// `slice(array, start, length)`.
pub fn slice(b: &Batch<'_>) -> Result<ArrayRef> {
    let (list, start, length) = (b.list(0), b.i32(1), b.i32(2));
    choose(b, list, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        let (items, from, count) = (range(list, r), start.value(r), length.value(r));
        if from == 0 {
            return Err(DeltaError::new("INVALID_PARAMETER_VALUE.START")
                .param("parameter", "`start`")
                .param("functionName", "`slice`"));
        }
        if count < 0 {
            return Err(DeltaError::new("INVALID_PARAMETER_VALUE.LENGTH")
                .param("parameter", "`length`")
                .param("length", count)
                .param("functionName", "`slice`"));
        }
        let first = if from > 0 {
            from as i64 - 1
        } else {
            items.len() as i64 + i64::from(from)
        };
        if first < 0 {
            return Ok(Some(Vec::new()));
        }
        Ok(Some(
            items.skip(first as usize).take(count as usize).collect(),
        ))
    })
}

/// `array_remove(array, value)`.
pub fn remove(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let compare = make_comparator(list.values(), &b.args[1], SortOptions::default()).ours()?;
    choose(b, list, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        Ok(Some(
            range(list, r)
                .filter(|n| list.values().is_null(*n) || compare(*n, r) != Ordering::Equal)
                .collect(),
        ))
    })
}

/// `array_compact(array)`: without its NULLs.
pub fn compact(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    choose(b, list, |r| {
        Ok((!b.any_null(r)).then(|| {
            range(list, r)
                .filter(|n| !list.values().is_null(*n))
                .collect()
        }))
    })
}

/// Rows of a comparable form, equal exactly where the values are.
fn keys(values: &[&ArrayRef]) -> Result<Vec<Vec<Vec<u8>>>> {
    let Some(first) = values.first() else {
        return Ok(Vec::new());
    };
    let converter = RowConverter::new(vec![SortField::new(first.data_type().clone())]).ours()?;
    values
        .iter()
        .map(|v| {
            let rows = converter.convert_columns(&[Arc::clone(v)]).ours()?;
            Ok((0..v.len())
                .map(|n| rows.row(n).as_ref().to_vec())
                .collect())
        })
        .collect()
}

/// `array_distinct(array)`.
pub fn distinct(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let keys = keys(&[list.values()])?;
    choose(b, list, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        let mut seen = HashSet::new();
        Ok(Some(
            range(list, r)
                .filter(|n| seen.insert(&keys[0][*n]))
                .collect(),
        ))
    })
}

/// `array_union`, `array_intersect`, `array_except`.
pub fn union(b: &Batch<'_>) -> Result<ArrayRef> {
    set(b, |_, _| true, true)
}
/// See [`union`].
pub fn intersect(b: &Batch<'_>) -> Result<ArrayRef> {
    set(b, |key, right| right.contains(key), false)
}
/// See [`union`].
pub fn except(b: &Batch<'_>) -> Result<ArrayRef> {
    set(b, |key, right| !right.contains(key), false)
}

type KeySet<'a> = HashSet<&'a Vec<u8>>;

fn set(b: &Batch<'_>, keep: fn(&Vec<u8>, &KeySet<'_>) -> bool, both: bool) -> Result<ArrayRef> {
    let (x, y) = (b.list(0), b.list(1));
    let keys = keys(&[x.values(), y.values()])?;
    let joined = concat(&[x.values().as_ref(), y.values().as_ref()]).ours()?;
    let shift = x.values().len();
    choose_of(b, &joined, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        let right: KeySet<'_> = range(y, r).map(|n| &keys[1][n]).collect();
        let mut seen = HashSet::new();
        let mut out: Vec<usize> = range(x, r)
            .filter(|n| keep(&keys[0][*n], &right) && seen.insert(&keys[0][*n]))
            .collect();
        if both {
            out.extend(
                range(y, r)
                    .filter(|n| seen.insert(&keys[1][*n]))
                    .map(|n| n + shift),
            );
        }
        Ok(Some(out))
    })
}

/// `arrays_overlap(a, b)`.
pub fn overlap(b: &Batch<'_>) -> Result<ArrayRef> {
    let (x, y) = (b.list(0), b.list(1));
    let keys = keys(&[x.values(), y.values()])?;
    b.rows(|r| {
        let right: KeySet<'_> = range(y, r)
            .filter(|n| !y.values().is_null(*n))
            .map(|n| &keys[1][n])
            .collect();
        if range(x, r).any(|n| !x.values().is_null(n) && right.contains(&keys[0][n])) {
            return Ok(Some(true));
        }
        let holds_null = range(x, r).any(|n| x.values().is_null(n))
            || range(y, r).any(|n| y.values().is_null(n));
        let both = !range(x, r).is_empty() && !range(y, r).is_empty();
        Ok(if holds_null && both {
            None
        } else {
            Some(false)
        })
    })
}

/// `concat` of arrays.
pub fn concatenate(b: &Batch<'_>) -> Result<ArrayRef> {
    let lists: Vec<&ListArray> = (0..b.args.len()).map(|n| b.list(n)).collect();
    let parts: Vec<&dyn Array> = lists.iter().map(|l| l.values().as_ref()).collect();
    let joined = concat(&parts).ours()?;
    let mut shifts = vec![0];
    for l in &lists {
        shifts.push(shifts.last().copied().unwrap_or(0) + l.values().len());
    }
    choose_of(b, &joined, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        Ok(Some(
            lists
                .iter()
                .zip(&shifts)
                .flat_map(|(l, s)| range(l, r).map(move |n| n + s))
                .collect(),
        ))
    })
}

/// `flatten(array of arrays)`.
pub fn flatten(b: &Batch<'_>) -> Result<ArrayRef> {
    let outer = b.list(0);
    let inner = arrow::array::AsArray::as_list::<i32>(outer.values());
    choose_of(b, inner.values(), |r| {
        if b.any_null(r) || range(outer, r).any(|n| inner.is_null(n)) {
            return Ok(None);
        }
        Ok(Some(
            range(outer, r).flat_map(|n| range(inner, n)).collect(),
        ))
    })
}

/// `array_append`, `array_prepend` (`env.salt` 1).
pub fn append(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let joined = concat(&[list.values().as_ref(), b.args[1].as_ref()]).ours()?;
    let shift = list.values().len();
    choose_of(b, &joined, |r| {
        if list.is_null(r) {
            return Ok(None);
        }
        let mut out: Vec<usize> = range(list, r).collect();
        if b.env.salt == 1 {
            out.insert(0, shift + r)
        } else {
            out.push(shift + r)
        }
        Ok(Some(out))
    })
}

/// The most elements that an array can have in Spark.
const LONGEST: i128 = 2_147_483_632;

fn limit(length: i128, function: &str) -> Result<()> {
    if length <= LONGEST {
        return Ok(());
    }
    Err(DeltaError::new("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER")
        .param("numberOfElements", length)
        .param("maxRoundedArrayLength", LONGEST)
        .param("parameter", "`count`")
        .param("functionName", format!("`{function}`")))
}

/// `array_repeat(value, n)`.
pub fn repeat(b: &Batch<'_>) -> Result<ArrayRef> {
    let count = b.i32(1);
    for r in (0..b.rows).filter(|r| !count.is_null(*r)) {
        limit(i128::from(count.value(r)), "array_repeat")?;
    }
    choose_of(b, &b.args[0], |r| {
        Ok((!count.is_null(r)).then(|| vec![r; count.value(r).max(0) as usize]))
    })
}

/// `array_min`, `array_max`.
pub fn minimum(b: &Batch<'_>) -> Result<ArrayRef> {
    extreme(b, Ordering::Less)
}
/// See [`minimum`].
pub fn maximum(b: &Batch<'_>) -> Result<ArrayRef> {
    extreme(b, Ordering::Greater)
}

fn extreme(b: &Batch<'_>, wanted: Ordering) -> Result<ArrayRef> {
    let list = b.list(0);
    let compare = make_comparator(list.values(), list.values(), SortOptions::default()).ours()?;
    let picks = (0..b.rows)
        .map(|r| {
            if b.any_null(r) {
                return None;
            }
            let mut best: Option<usize> = None;
            for n in range(list, r).filter(|n| !list.values().is_null(*n)) {
                if best.is_none_or(|at| compare(n, at) == wanted) {
                    best = Some(n);
                }
            }
            best.map(|n| n as u32)
        })
        .collect();
    pick(b, list.values(), picks)
}

/// `array_join(array, separator[, null])`.
pub fn join(b: &Batch<'_>) -> Result<ArrayRef> {
    let (list, separator) = (b.list(0), b.str(1));
    let DataType::Array(ty) = &b.types[0] else {
        return Err(internal("an array that is none"));
    };
    b.all_rows(|r| {
        if list.is_null(r) || separator.is_null(r) {
            return Ok(None);
        }
        let replacement = (b.args.len() > 2 && !b.args[2].is_null(r)).then(|| b.str(2).value(r));
        let mut parts = Vec::new();
        for n in range(list, r) {
            if list.values().is_null(n) {
                parts.extend(replacement.map(str::to_owned));
            } else {
                parts.push(text::value_text(
                    list.values(),
                    n,
                    &ty.element_type,
                    b.env.zone,
                ));
            }
        }
        Ok(Some(parts.join(separator.value(r))))
    })
}

/// `shuffle(array)`.
pub fn shuffle(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    choose(b, list, |r| {
        if b.any_null(r) {
            return Ok(None);
        }
        let mut random = Lcg::of_row(b.env.salt, b.rows_before + r as u64);
        let mut items: Vec<usize> = range(list, r).collect();
        for n in (1..items.len()).rev() {
            items.swap(n, (random.next() % (n as u64 + 1)) as usize);
        }
        Ok(Some(items))
    })
}

/// `sequence(start, stop, step)` of whole numbers, and of dates and timestamps by an interval.
pub fn sequence(b: &Batch<'_>) -> Result<ArrayRef> {
    let ArrowType::List(field) = arrow_type(b.ret) else {
        return Err(internal("an array that is none"));
    };
    let (mut values, mut lengths, mut valid): (Vec<i64>, Vec<usize>, Vec<bool>) =
        (vec![], vec![], vec![]);
    for r in 0..b.rows {
        if b.any_null(r) {
            lengths.push(0);
            valid.push(false);
            continue;
        }
        let items = sequence_of(b, r)?;
        lengths.push(items.len());
        valid.push(true);
        values.extend(items);
    }
    let DataType::Array(element) = b.ret else {
        return Err(internal("an array that is none"));
    };
    let values: ArrayRef = match &element.element_type {
        DataType::Date => arrow::compute::cast(
            &arrow::compute::cast(&arrow::array::Int64Array::from(values), &ArrowType::Int32)
                .ours()?,
            field.data_type(),
        )
        .ours()?,
        DataType::Timestamp | DataType::TimestampNtz => {
            arrow::compute::cast(&arrow::array::Int64Array::from(values), field.data_type())
                .ours()?
        }
        _ => arrow::compute::cast(&arrow::array::Int64Array::from(values), field.data_type())
            .ours()?,
    };
    build(b, values, lengths, Some(NullBuffer::from(valid)))
}

fn illegal(start: impl ToString, stop: impl ToString, step: impl ToString) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!(
            "requirement failed: Illegal sequence boundaries: {} to {} by {}",
            start.to_string(),
            stop.to_string(),
            step.to_string()
        ),
    )
}

fn sequence_of(b: &Batch<'_>, r: usize) -> Result<Vec<i64>> {
    let whole = |n: usize| match super::values::number(&b.args[n], r, &b.types[n]) {
        Some(super::values::Number::Whole(v)) => v,
        _ => 0,
    };
    let mut out = Vec::new();
    if crate::types::is_integral(&b.types[0]) {
        let (start, stop) = (whole(0), whole(1));
        let step = if b.args.len() > 2 {
            whole(2)
        } else if start <= stop {
            1
        } else {
            -1
        };
        if (step == 0 && start != stop) || (step > 0 && start > stop) || (step < 0 && start < stop)
        {
            return Err(illegal(start, stop, step));
        }
        if step == 0 {
            return Ok(vec![start]);
        }
        let length = (i128::from(stop) - i128::from(start)) / i128::from(step) + 1;
        limit(length, "sequence")?;
        let mut at = start;
        while (step > 0 && at <= stop) || (step < 0 && at >= stop) {
            out.push(at);
            match at.checked_add(step) {
                Some(next) => at = next,
                None => break,
            }
        }
        return Ok(out);
    }
    let is_date = b.types[0] == DataType::Date;
    let local = b.types[0] == DataType::Timestamp;
    let wall = |n: usize| {
        if is_date {
            i64::from(b.date(n).value(r)) * MICROS_PER_DAY
        } else if local {
            time::to_wall(b.ts(n).value(r), b.env.zone)
        } else {
            b.ts(n).value(r)
        }
    };
    let (start, stop) = (wall(0), wall(1));
    let (months, micros) = match b.types.get(2) {
        Some(DataType::YearMonthInterval { .. }) => (i64::from(b.year_month(2).value(r)), 0),
        Some(DataType::DayTimeInterval { .. }) => (0, b.day_time(2).value(r)),
        _ => (
            0,
            if start <= stop {
                MICROS_PER_DAY
            } else {
                -MICROS_PER_DAY
            },
        ),
    };
    let forward = months > 0 || micros > 0;
    if (months == 0 && micros == 0) || (forward && start > stop) || (!forward && start < stop) {
        return Err(illegal(
            start,
            stop,
            if months != 0 { months } else { micros },
        ));
    }
    let mut n = 0;
    loop {
        let at = if months != 0 {
            time::add_months_to_wall(start, months * n).unwrap_or(i64::MAX)
        } else {
            start + micros * n
        };
        if (forward && at > stop) || (!forward && at < stop) {
            return Ok(out);
        }
        out.push(if is_date {
            at.div_euclid(MICROS_PER_DAY)
        } else if local {
            time::from_wall(at, b.env.zone)
        } else {
            at
        });
        n += 1;
    }
}

/// `arrays_zip(a, b, …)`: structs of the elements at each position.
pub fn zip(b: &Batch<'_>) -> Result<ArrayRef> {
    let ArrowType::List(field) = arrow_type(b.ret) else {
        return Err(internal("an array that is none"));
    };
    let ArrowType::Struct(fields) = field.data_type() else {
        return Err(internal("a struct that is none"));
    };
    let lists: Vec<&ListArray> = (0..b.args.len()).map(|n| b.list(n)).collect();
    let mut picks: Vec<Vec<Option<u32>>> = vec![Vec::new(); lists.len()];
    let (mut lengths, mut valid) = (Vec::new(), Vec::new());
    for r in 0..b.rows {
        let ok = !b.any_null(r);
        let length = if ok {
            lists.iter().map(|l| range(l, r).len()).max().unwrap_or(0)
        } else {
            0
        };
        for (list, pick) in lists.iter().zip(&mut picks) {
            let items = range(list, r);
            pick.extend((0..length).map(|n| (n < items.len()).then(|| (items.start + n) as u32)));
        }
        lengths.push(length);
        valid.push(ok);
    }
    let total = lengths.iter().sum();
    let columns = lists
        .iter()
        .zip(picks)
        .map(|(l, p)| take(l.values(), &UInt32Array::from(p), None).ours())
        .collect::<Result<Vec<_>>>()?;
    let entries =
        arrow::array::StructArray::try_new_with_length(fields.clone(), columns, None, total)
            .ours()?;
    build(b, Arc::new(entries), lengths, Some(NullBuffer::from(valid)))
}
