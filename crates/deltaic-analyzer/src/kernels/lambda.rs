//! Functions that take lambdas: `transform`, `filter`, `exists`, `aggregate` and their kin. The body of a lambda is an
//! expression over the elements, laid out flat, beside the columns it captures.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, ListArray, MapArray, StructArray,
    UInt32Array, UInt64Array, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result as DfResult;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use datafusion::physical_expr::create_physical_expr;
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use crate::error::{Ours, internal, unsupported, wrap};
use crate::types::arrow_type;

/// A lambda, lowered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Body {
    /// Names and types of its parameters.
    pub params: Vec<(String, ArrowType)>,
    /// What it computes.
    pub body: Expr,
    /// The type of that.
    pub ret: ArrowType,
}

#[derive(Clone, Debug)]
struct HigherOrder {
    name: String,
    types: Vec<DataType>,
    lambdas: Vec<Body>,
    captures: Vec<(Column, ArrowType)>,
    arrow: ArrowType,
    signature: Signature,
}

impl PartialEq for HigherOrder {
    fn eq(&self, o: &Self) -> bool {
        self.name == o.name
            && self.types == o.types
            && self.lambdas == o.lambdas
            && self.captures == o.captures
    }
}
impl Eq for HigherOrder {}
impl Hash for HigherOrder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.types.hash(state);
        self.lambdas.hash(state);
    }
}

/// The call as an expression: plain arguments first, then what the bodies capture.
#[allow(clippy::too_many_arguments)]
pub fn call(
    name: &str,
    args: Vec<Expr>,
    types: Vec<DataType>,
    lambdas: Vec<Body>,
    captures: Vec<(Column, ArrowType)>,
    ret: &DataType,
    volatile: bool,
) -> Expr {
    let volatility = if volatile {
        Volatility::Volatile
    } else {
        Volatility::Immutable
    };
    let signature = Signature::one_of(
        vec![TypeSignature::Nullary, TypeSignature::VariadicAny],
        volatility,
    );
    let arrow = arrow_type(ret);
    let udf = HigherOrder {
        name: format!("spark_{name}"),
        types,
        lambdas,
        captures,
        arrow,
        signature,
    };
    ScalarUDF::new_from_impl(udf).call(args)
}

impl ScalarUDFImpl for HigherOrder {
    fn name(&self) -> &str {
        &self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.arrow.clone())
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args
            .args
            .into_iter()
            .map(|a| a.into_array(rows))
            .collect::<DfResult<Vec<_>>>()?;
        let plain = arrays.len() - self.captures.len();
        let run = Run {
            f: self,
            args: &arrays[..plain],
            captured: &arrays[plain..],
            rows,
        };
        Ok(ColumnarValue::Array(run.dispatch().map_err(wrap)?))
    }
}

struct Run<'a> {
    f: &'a HigherOrder,
    args: &'a [ArrayRef],
    captured: &'a [ArrayRef],
    rows: usize,
}

/// For each element, the row it belongs to and its position there.
struct Layout {
    rows: Vec<u32>,
    positions: Vec<i32>,
}

fn layout(offsets: &OffsetBuffer<i32>) -> Layout {
    let mut rows = Vec::new();
    let mut positions = Vec::new();
    for (row, pair) in offsets.windows(2).enumerate() {
        for n in 0..pair[1] - pair[0] {
            rows.push(row as u32);
            positions.push(n);
        }
    }
    Layout { rows, positions }
}

impl Run<'_> {
    fn dispatch(&self) -> Result<ArrayRef> {
        match self.f.name.trim_start_matches("spark_") {
            "transform" => self.transform(),
            "filter" => self.filter(),
            "exists" => self.quantifier(true),
            "forall" => self.quantifier(false),
            "aggregate" => self.aggregate(),
            "zip_with" => self.zip_with(),
            "transform_keys" => self.map_entries(true),
            "transform_values" => self.map_entries(false),
            "map_filter" => self.map_filter(),
            "array_sort" => self.array_sort(),
            other => Err(unsupported(format!("the function {other}"))),
        }
    }

    /// Evaluates a lambda over flat parameters; `rows` tells from which row each comes.
    fn body(&self, n: usize, params: Vec<ArrayRef>, rows: &[u32]) -> Result<ArrayRef> {
        let lambda = &self.f.lambdas[n];
        let index = UInt32Array::from(rows.to_vec());
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for ((name, ty), column) in lambda.params.iter().zip(params) {
            fields.push((None, Arc::new(Field::new(name, ty.clone(), true))));
            columns.push(if column.data_type() == ty {
                column
            } else {
                cast(&column, ty).ours()?
            });
        }
        for ((column, ty), array) in self.f.captures.iter().zip(self.captured) {
            fields.push((
                column.relation.clone(),
                Arc::new(Field::new(&column.name, ty.clone(), true)),
            ));
            columns.push(take(array, &index, None).ours()?);
        }
        let plain = Schema::new(
            fields
                .iter()
                .enumerate()
                .map(|(n, (_, f))| f.as_ref().clone().with_name(format!("{n}")))
                .collect::<Vec<_>>(),
        );
        let schema = DFSchema::new_with_metadata(fields, Default::default()).ours()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(Arc::new(plain), columns, &options).ours()?;
        let physical = create_physical_expr(
            &lambda.body,
            &schema,
            &ExecutionProps::new(),
            &PhysicalPlanningContext::default(),
        )
        .ours()?;
        let out = physical
            .evaluate(&batch)
            .ours()?
            .into_array(rows.len())
            .ours()?;
        if *out.data_type() == lambda.ret {
            Ok(out)
        } else {
            cast(&out, &lambda.ret).ours()
        }
    }

    fn list(&self, n: usize) -> Result<(ListArray, Layout)> {
        let list = compact(self.args[n].as_list::<i32>())?;
        let at = layout(list.offsets());
        Ok((list, at))
    }

    fn with_positions(&self, n: usize, values: ArrayRef, at: &Layout) -> Vec<ArrayRef> {
        let mut params = vec![values];
        if self.f.lambdas[n].params.len() > 1 {
            params.push(Arc::new(Int32Array::from(at.positions.clone())));
        }
        params
    }

    fn as_list(
        &self,
        values: ArrayRef,
        offsets: OffsetBuffer<i32>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let ArrowType::List(field) = &self.f.arrow else {
            return Err(internal("an array that is none"));
        };
        let values = if values.data_type() == field.data_type() {
            values
        } else {
            cast(&values, field.data_type()).ours()?
        };
        let field = if values.null_count() > 0 {
            Arc::new(field.as_ref().clone().with_nullable(true))
        } else {
            Arc::clone(field)
        };
        ListArray::try_new(field, offsets, values, nulls)
            .map(|l| Arc::new(l) as ArrayRef)
            .ours()
    }

    fn transform(&self) -> Result<ArrayRef> {
        let (list, at) = self.list(0)?;
        let params = self.with_positions(0, Arc::clone(list.values()), &at);
        let values = self.body(0, params, &at.rows)?;
        self.as_list(values, list.offsets().clone(), list.nulls().cloned())
    }

    fn filter(&self) -> Result<ArrayRef> {
        let (list, at) = self.list(0)?;
        let params = self.with_positions(0, Arc::clone(list.values()), &at);
        let keep = self.body(0, params, &at.rows)?;
        let keep = keep.as_boolean();
        let (indices, lengths) = kept(keep, list.offsets());
        let values = take(list.values(), &indices, None).ours()?;
        self.as_list(
            values,
            OffsetBuffer::from_lengths(lengths),
            list.nulls().cloned(),
        )
    }

    /// `exists` (any true) and `forall` (none false), with SQL's three values.
    fn quantifier(&self, exists: bool) -> Result<ArrayRef> {
        let (list, at) = self.list(0)?;
        let answers = self.body(0, vec![Arc::clone(list.values())], &at.rows)?;
        let answers = answers.as_boolean();
        let mut out = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            if list.is_null(row) {
                out.push(None);
                continue;
            }
            let (mut decided, mut unknown) = (false, false);
            for n in list.value_offsets()[row]..list.value_offsets()[row + 1] {
                let n = n as usize;
                unknown |= answers.is_null(n);
                decided |= !answers.is_null(n) && answers.value(n) == exists;
            }
            out.push(if decided {
                Some(exists)
            } else if unknown {
                None
            } else {
                Some(!exists)
            });
        }
        Ok(Arc::new(BooleanArray::from(out)))
    }

    /// `aggregate(array, start, merge[, finish])`: one step per position, all rows at once.
    fn aggregate(&self) -> Result<ArrayRef> {
        let list = compact(self.args[0].as_list::<i32>())?;
        let mut state = Arc::clone(&self.args[1]);
        let longest = (0..self.rows)
            .filter(|r| !list.is_null(*r))
            .map(|r| list.value_length(r))
            .max()
            .unwrap_or(0);
        for step in 0..longest {
            let rows: Vec<u32> = (0..self.rows)
                .filter(|r| !list.is_null(*r) && list.value_length(*r) > step)
                .map(|r| r as u32)
                .collect();
            let elements = UInt64Array::from_iter_values(
                rows.iter()
                    .map(|r| (list.value_offsets()[*r as usize] + step) as u64),
            );
            let element = take(list.values(), &elements, None).ours()?;
            let before = take(&state, &UInt32Array::from(rows.clone()), None).ours()?;
            let after = self.body(0, vec![before, element], &rows)?;
            let after = if after.data_type() == state.data_type() {
                after
            } else {
                cast(&after, state.data_type()).ours()?
            };
            // New states for the rows that had an element, the old for the others.
            let both = concat(&[state.as_ref(), after.as_ref()]).ours()?;
            let mut pick: Vec<u32> = (0..self.rows as u32).collect();
            for (n, row) in rows.iter().enumerate() {
                pick[*row as usize] = (self.rows + n) as u32;
            }
            state = take(&both, &UInt32Array::from(pick), None).ours()?;
        }
        if self.f.lambdas.len() > 1 {
            let all: Vec<u32> = (0..self.rows as u32).collect();
            state = self.body(1, vec![state], &all)?;
        }
        super::misc::masked(&state, list.nulls())
    }

    fn zip_with(&self) -> Result<ArrayRef> {
        let (x, y) = (
            compact(self.args[0].as_list::<i32>())?,
            compact(self.args[1].as_list::<i32>())?,
        );
        let (mut left, mut right, mut rows, mut lengths, mut valid) =
            (vec![], vec![], vec![], vec![], vec![]);
        for row in 0..self.rows {
            let ok = !x.is_null(row) && !y.is_null(row);
            valid.push(ok);
            let length = if ok {
                x.value_length(row).max(y.value_length(row))
            } else {
                0
            };
            lengths.push(length as usize);
            for n in 0..length {
                left.push((n < x.value_length(row)).then(|| (x.value_offsets()[row] + n) as u32));
                right.push((n < y.value_length(row)).then(|| (y.value_offsets()[row] + n) as u32));
                rows.push(row as u32);
            }
        }
        let a = take(x.values(), &UInt32Array::from(left), None).ours()?;
        let b = take(y.values(), &UInt32Array::from(right), None).ours()?;
        let values = self.body(0, vec![a, b], &rows)?;
        self.as_list(
            values,
            OffsetBuffer::from_lengths(lengths),
            Some(NullBuffer::from(valid)),
        )
    }

    fn map_entries(&self, keys: bool) -> Result<ArrayRef> {
        let map = self.args[0].as_map();
        let at = layout(map.offsets());
        let start = map.offsets().first().copied().unwrap_or(0) as usize;
        let length = at.rows.len();
        let (k, v) = (
            map.keys().slice(start, length),
            map.values().slice(start, length),
        );
        let out = self.body(0, vec![Arc::clone(&k), Arc::clone(&v)], &at.rows)?;
        let (k, v) = if keys { (out, v) } else { (k, out) };
        let lengths = (0..map.len()).map(|r| map.value_length(r) as usize);
        self.as_map(
            k,
            v,
            OffsetBuffer::from_lengths(lengths),
            map.nulls().cloned(),
        )
    }

    fn map_filter(&self) -> Result<ArrayRef> {
        let map = self.args[0].as_map();
        let at = layout(map.offsets());
        let start = map.offsets().first().copied().unwrap_or(0) as usize;
        let length = at.rows.len();
        let (k, v) = (
            map.keys().slice(start, length),
            map.values().slice(start, length),
        );
        let keep = self.body(0, vec![Arc::clone(&k), Arc::clone(&v)], &at.rows)?;
        let offsets =
            OffsetBuffer::from_lengths((0..map.len()).map(|r| map.value_length(r) as usize));
        let (indices, lengths) = kept(keep.as_boolean(), &offsets);
        let (k, v) = (
            take(&k, &indices, None).ours()?,
            take(&v, &indices, None).ours()?,
        );
        self.as_map(
            k,
            v,
            OffsetBuffer::from_lengths(lengths),
            map.nulls().cloned(),
        )
    }

    fn as_map(
        &self,
        k: ArrayRef,
        v: ArrayRef,
        offsets: OffsetBuffer<i32>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let ArrowType::Map(entry, sorted) = &self.f.arrow else {
            return Err(internal("a map that is none"));
        };
        let ArrowType::Struct(fields) = entry.data_type() else {
            return Err(internal("a map that is none"));
        };
        let entries = StructArray::try_new(fields.clone(), vec![k, v], None).ours()?;
        MapArray::try_new(Arc::clone(entry), offsets, entries, nulls, *sorted)
            .map(|m| Arc::new(m) as ArrayRef)
            .ours()
    }

    /// `array_sort(array, comparator)`: the comparator is asked for pairs, by a merge sort.
    fn array_sort(&self) -> Result<ArrayRef> {
        let list = compact(self.args[0].as_list::<i32>())?;
        let mut order: Vec<u32> = Vec::with_capacity(list.values().len());
        for row in 0..self.rows {
            let (from, to) = (
                list.value_offsets()[row] as u32,
                list.value_offsets()[row + 1] as u32,
            );
            let mut items: Vec<u32> = (from..to).collect();
            let mut failure = None;
            let mut less = |a: u32, b: u32| -> bool {
                let one = |n: u32| take(list.values(), &UInt32Array::from(vec![n]), None).ours();
                let answer = one(a)
                    .and_then(|a| Ok((a, one(b)?)))
                    .and_then(|(a, b)| self.body(0, vec![a, b], &[row as u32]));
                match answer {
                    Ok(v) => {
                        let v = v.as_primitive::<arrow::datatypes::Int32Type>();
                        !v.is_null(0) && v.value(0) <= 0
                    }
                    Err(e) => {
                        failure.get_or_insert(e);
                        true
                    }
                }
            };
            merge_sort(&mut items, &mut less);
            if let Some(e) = failure {
                return Err(e);
            }
            order.extend(items);
        }
        let values = take(list.values(), &UInt32Array::from(order), None).ours()?;
        self.as_list(values, list.offsets().clone(), list.nulls().cloned())
    }
}

fn merge_sort(items: &mut Vec<u32>, in_order: &mut dyn FnMut(u32, u32) -> bool) {
    if items.len() < 2 {
        return;
    }
    let mut right = items.split_off(items.len() / 2);
    merge_sort(items, in_order);
    merge_sort(&mut right, in_order);
    let left = std::mem::take(items);
    let (mut l, mut r) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        match (l.peek(), r.peek()) {
            (Some(a), Some(b)) => {
                let next = if in_order(*a, *b) { l.next() } else { r.next() };
                items.extend(next);
            }
            (Some(_), None) => items.extend(l.next()),
            (None, Some(_)) => items.extend(r.next()),
            (None, None) => return,
        }
    }
}

fn kept(keep: &BooleanArray, offsets: &OffsetBuffer<i32>) -> (UInt32Array, Vec<usize>) {
    let mut indices = Vec::new();
    let mut lengths = Vec::new();
    for pair in offsets.windows(2) {
        let before = indices.len();
        for n in pair[0]..pair[1] {
            let at = n as usize;
            if !keep.is_null(at) && keep.value(at) {
                indices.push(n as u32);
            }
        }
        lengths.push(indices.len() - before);
    }
    (UInt32Array::from(indices), lengths)
}

/// The list with its values exactly those that its rows hold, in order; NULL rows are empty.
pub fn compact(list: &ListArray) -> Result<ListArray> {
    let field = match list.data_type() {
        ArrowType::List(field) => Arc::clone(field),
        _ => return Err(internal("a list that is none")),
    };
    let offsets = list.value_offsets();
    let mut indices = Vec::new();
    let mut lengths = Vec::with_capacity(list.len());
    for row in 0..list.len() {
        if list.is_null(row) {
            lengths.push(0);
            continue;
        }
        indices.extend(offsets[row] as u32..offsets[row + 1] as u32);
        lengths.push((offsets[row + 1] - offsets[row]) as usize);
    }
    let values = if indices.is_empty() {
        new_null_array(field.data_type(), 0)
    } else {
        take(list.values(), &UInt32Array::from(indices), None).ours()?
    };
    ListArray::try_new(
        field,
        OffsetBuffer::from_lengths(lengths),
        values,
        list.nulls().cloned(),
    )
    .ours()
}
