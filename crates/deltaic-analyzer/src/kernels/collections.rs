//! Kernels of maps.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, MapArray, StructArray, UInt32Array, make_comparator, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{SortOptions, cast, concat, interleave, take};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::arrays;
use crate::error::{Ours, internal};
use crate::kernel::Batch;
use crate::text;
use crate::types::arrow_type;

/// A map of the result type out of keys, values and lengths; a key may stand once only, and never be NULL.
fn build(
    b: &Batch<'_>,
    keys: ArrayRef,
    values: ArrayRef,
    lengths: Vec<usize>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let (ArrowType::Map(entry, sorted), DataType::Map(ty)) = (arrow_type(b.ret), b.ret) else {
        return Err(internal("a map that is none"));
    };
    let ArrowType::Struct(fields) = entry.data_type() else {
        return Err(internal("a map that is none"));
    };
    if keys.null_count() > 0 {
        return Err(DeltaError::new("NULL_MAP_KEY"));
    }
    let adapt = |a: ArrayRef, to: &ArrowType| {
        if a.data_type() == to {
            Ok(a)
        } else {
            cast(&a, to).ours()
        }
    };
    let keys = adapt(keys, fields[0].data_type())?;
    let values = adapt(values, fields[1].data_type())?;
    if !keys.is_empty() {
        let converter = RowConverter::new(vec![SortField::new(keys.data_type().clone())]).ours()?;
        let rows = converter.convert_columns(&[Arc::clone(&keys)]).ours()?;
        let mut at = 0;
        for length in &lengths {
            let mut seen = std::collections::HashSet::new();
            for n in at..at + length {
                if !seen.insert(rows.row(n)) {
                    return Err(DeltaError::new("DUPLICATED_MAP_KEY")
                        .param("key", text::value_text(&keys, n, &ty.key_type, b.env.zone))
                        .param("mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\""));
                }
            }
            at += length;
        }
    }
    let fields = if values.null_count() > 0 && !fields[1].is_nullable() {
        vec![
            Arc::clone(&fields[0]),
            Arc::new(fields[1].as_ref().clone().with_nullable(true)),
        ]
        .into()
    } else {
        fields.clone()
    };
    let entry = Arc::new(
        entry
            .as_ref()
            .clone()
            .with_data_type(ArrowType::Struct(fields.clone())),
    );
    let entries = StructArray::try_new(fields, vec![keys, values], None).ours()?;
    MapArray::try_new(
        entry,
        OffsetBuffer::from_lengths(lengths),
        entries,
        nulls,
        sorted,
    )
    .map(|m| Arc::new(m) as ArrayRef)
    .ours()
}

/// `map(k1, v1, k2, v2, …)`.
pub fn make(b: &Batch<'_>) -> Result<ArrayRef> {
    let pairs = b.args.len() / 2;
    let ArrowType::Map(entry, _) = arrow_type(b.ret) else {
        return Err(internal("a map that is none"));
    };
    let ArrowType::Struct(fields) = entry.data_type() else {
        return Err(internal("a map that is none"));
    };
    let side = |n: usize| -> Result<ArrayRef> {
        let arrays: Vec<&dyn Array> = b
            .args
            .iter()
            .skip(n)
            .step_by(2)
            .map(|a| a.as_ref())
            .collect();
        let picks: Vec<(usize, usize)> = (0..b.rows)
            .flat_map(|r| (0..pairs).map(move |n| (n, r)))
            .collect();
        if picks.is_empty() {
            Ok(new_null_array(fields[n].data_type(), 0))
        } else {
            interleave(&arrays, &picks).ours()
        }
    };
    build(b, side(0)?, side(1)?, vec![pairs; b.rows], None)
}

/// `map_from_arrays(keys, values)`.
pub fn from_arrays(b: &Batch<'_>) -> Result<ArrayRef> {
    let (k, v) = (b.list(0), b.list(1));
    let (mut ki, mut vi, mut lengths, mut valid) = (vec![], vec![], vec![], vec![]);
    for r in 0..b.rows {
        let ok = !b.any_null(r);
        valid.push(ok);
        if !ok {
            lengths.push(0);
            continue;
        }
        if k.value_length(r) != v.value_length(r) {
            return Err(DeltaError::unclassed(
                "org.apache.spark.SparkRuntimeException",
                "The key array and value array of MapData must have the same length.",
            ));
        }
        lengths.push(k.value_length(r) as usize);
        ki.extend((0..k.value_length(r)).map(|n| (k.value_offsets()[r] + n) as u32));
        vi.extend((0..v.value_length(r)).map(|n| (v.value_offsets()[r] + n) as u32));
    }
    let keys = take(k.values(), &UInt32Array::from(ki), None).ours()?;
    let values = take(v.values(), &UInt32Array::from(vi), None).ours()?;
    build(b, keys, values, lengths, Some(NullBuffer::from(valid)))
}

/// `map_from_entries(array of structs)`.
pub fn from_entries(b: &Batch<'_>) -> Result<ArrayRef> {
    let list = b.list(0);
    let entries = list.values().as_struct();
    let (mut index, mut lengths, mut valid) = (vec![], vec![], vec![]);
    for r in 0..b.rows {
        let items = list.value_offsets()[r] as u32..list.value_offsets()[r + 1] as u32;
        let ok = !list.is_null(r) && !items.clone().any(|n| entries.is_null(n as usize));
        valid.push(ok);
        lengths.push(if ok { items.len() } else { 0 });
        if ok {
            index.extend(items);
        }
    }
    let index = UInt32Array::from(index);
    let keys = take(entries.column(0), &index, None).ours()?;
    let values = take(entries.column(1), &index, None).ours()?;
    build(b, keys, values, lengths, Some(NullBuffer::from(valid)))
}

/// `map_concat(a, b, …)`.
pub fn concatenate(b: &Batch<'_>) -> Result<ArrayRef> {
    let maps: Vec<&MapArray> = (0..b.args.len()).map(|n| b.map(n)).collect();
    let keys = concat(&maps.iter().map(|m| m.keys().as_ref()).collect::<Vec<_>>()).ours()?;
    let values = concat(&maps.iter().map(|m| m.values().as_ref()).collect::<Vec<_>>()).ours()?;
    let mut shift = 0;
    let shifts: Vec<u32> = maps
        .iter()
        .map(|m| {
            let at = shift;
            shift += m.keys().len() as u32;
            at
        })
        .collect();
    let (mut index, mut lengths, mut valid) = (vec![], vec![], vec![]);
    for r in 0..b.rows {
        let ok = !b.any_null(r);
        valid.push(ok);
        let before = index.len();
        if ok {
            for (m, s) in maps.iter().zip(&shifts) {
                index.extend(
                    (m.value_offsets()[r] as u32..m.value_offsets()[r + 1] as u32).map(|n| n + s),
                );
            }
        }
        lengths.push(index.len() - before);
    }
    let index = UInt32Array::from(index);
    let keys = take(&keys, &index, None).ours()?;
    let values = take(&values, &index, None).ours()?;
    build(b, keys, values, lengths, Some(NullBuffer::from(valid)))
}

/// The value of a key: `map[key]`, `element_at(map, key)`; NULL where there is none.
pub fn value(b: &Batch<'_>) -> Result<ArrayRef> {
    let map = b.map(0);
    let equal = make_comparator(map.keys(), &b.args[1], SortOptions::default()).ours()?;
    let picks: Vec<Option<u32>> = (0..b.rows)
        .map(|r| {
            if b.any_null(r) {
                return None;
            }
            (map.value_offsets()[r] as u32..map.value_offsets()[r + 1] as u32)
                .find(|n| equal(*n as usize, r) == Ordering::Equal)
        })
        .collect();
    take(map.values(), &UInt32Array::from(picks), None).ours()
}

/// `map_contains_key(map, key)`.
pub fn contains_key(b: &Batch<'_>) -> Result<ArrayRef> {
    let map = b.map(0);
    let equal = make_comparator(map.keys(), &b.args[1], SortOptions::default()).ours()?;
    b.rows(|r| {
        let mut items = map.value_offsets()[r] as usize..map.value_offsets()[r + 1] as usize;
        Ok(Some(items.any(|n| equal(n, r) == Ordering::Equal)))
    })
}

fn spread(b: &Batch<'_>, values: &ArrayRef) -> Result<ArrayRef> {
    let map = b.map(0);
    let (mut index, mut lengths) = (vec![], vec![]);
    for r in 0..b.rows {
        let items = if map.is_null(r) {
            0..0
        } else {
            map.value_offsets()[r] as u32..map.value_offsets()[r + 1] as u32
        };
        lengths.push(items.len());
        index.extend(items);
    }
    let values = take(values, &UInt32Array::from(index), None).ours()?;
    arrays::build(b, values, lengths, map.nulls().cloned())
}

/// `map_keys(map)`.
pub fn keys(b: &Batch<'_>) -> Result<ArrayRef> {
    spread(b, b.map(0).keys())
}
/// `map_values(map)`.
pub fn values(b: &Batch<'_>) -> Result<ArrayRef> {
    spread(b, b.map(0).values())
}
/// `map_entries(map)`.
pub fn entries(b: &Batch<'_>) -> Result<ArrayRef> {
    let all: ArrayRef = Arc::new(b.map(0).entries().clone());
    spread(b, &all)
}

/// `str_to_map(text, pairs, key and value)`.
pub fn from_text(b: &Batch<'_>) -> Result<ArrayRef> {
    let (mut keys, mut values): (Vec<String>, Vec<Option<String>>) = (vec![], vec![]);
    let (mut lengths, mut valid) = (vec![], vec![]);
    for r in 0..b.rows {
        let ok = !b.any_null(r);
        valid.push(ok);
        if !ok {
            lengths.push(0);
            continue;
        }
        let mut order: Vec<String> = Vec::new();
        let mut found: HashMap<String, Option<String>> = HashMap::new();
        for pair in b.str(0).value(r).split(b.str(1).value(r)) {
            let (k, v) = match pair.split_once(b.str(2).value(r)) {
                Some((k, v)) => (k, Some(v.to_owned())),
                None => (pair, None),
            };
            if found.insert(k.to_owned(), v).is_none() {
                order.push(k.to_owned());
            }
        }
        lengths.push(order.len());
        for k in order {
            values.push(found.remove(&k).flatten());
            keys.push(k);
        }
    }
    let keys: ArrayRef = Arc::new(arrow::array::StringArray::from(keys));
    let values: ArrayRef = Arc::new(arrow::array::StringArray::from(values));
    build(b, keys, values, lengths, Some(NullBuffer::from(valid)))
}
