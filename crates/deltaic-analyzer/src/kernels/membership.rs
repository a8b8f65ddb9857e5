//! `value IN (the values of a subquery)` where no filter stands: the values come as one array.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

#[derive(Debug, PartialEq, Eq, Hash)]
struct Membership {
    signature: Signature,
}

/// Is the value in the array? A missing array has no values; an unknown value or a NULL beside it gives NULL.
pub fn is_in(value: Expr, values: Expr) -> Expr {
    let signature = Signature::any(2, Volatility::Immutable);
    ScalarUDF::new_from_impl(Membership { signature }).call(vec![value, values])
}

impl ScalarUDFImpl for Membership {
    fn name(&self) -> &str {
        "spark_in_values"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let value = one_zero(args.args[0].to_array(args.number_rows)?);
        let found = match &args.args[1] {
            // One list for every row, however long: it is hashed, not repeated.
            ColumnarValue::Scalar(list) => of_one(&value, &list.to_array()?)?,
            ColumnarValue::Array(lists) => of_each(&value, lists)?,
        };
        Ok(ColumnarValue::Array(Arc::new(found)))
    }
}

/// `-0.0` equals `0.0` for Spark but not for Arrow.
fn one_zero(values: ArrayRef) -> ArrayRef {
    match values.data_type() {
        ArrowType::Float64 => Arc::new(
            values
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|v| v + 0.0),
        ),
        ArrowType::Float32 => Arc::new(
            values
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|v| v + 0.0),
        ),
        _ => values,
    }
}

fn of_one(value: &ArrayRef, list: &ArrayRef) -> DfResult<BooleanArray> {
    let list = list.as_list::<i32>();
    if list.is_null(0) || list.value_length(0) == 0 {
        return Ok(BooleanArray::from(vec![false; value.len()]));
    }
    let items = one_zero(list.value(0));
    let converter = RowConverter::new(vec![SortField::new(items.data_type().clone())])?;
    let rows = converter.convert_columns(std::slice::from_ref(&items))?;
    let wanted = converter.convert_columns(std::slice::from_ref(value))?;
    let set: HashSet<&[u8]> = (0..items.len())
        .filter(|n| items.is_valid(*n))
        .map(|n| rows.row(n).data())
        .collect();
    let unknown = items.null_count() > 0;
    Ok((0..value.len())
        .map(|row| {
            let found = value
                .is_valid(row)
                .then(|| set.contains(wanted.row(row).data()))?;
            (found || !unknown).then_some(found)
        })
        .collect())
}

fn of_each(value: &ArrayRef, lists: &ArrayRef) -> DfResult<BooleanArray> {
    let lists = lists.as_list::<i32>();
    let items = one_zero(Arc::clone(lists.values()));
    let equal = arrow::array::make_comparator(&items, value, SortOptions::default())?;
    let offsets = lists.offsets();
    Ok((0..value.len())
        .map(|row| {
            let items = offsets[row] as usize..offsets[row + 1] as usize;
            if lists.is_null(row) || items.is_empty() {
                return Some(false);
            }
            value.is_valid(row).then_some(())?;
            let mut unknown = false;
            for n in items {
                if lists.values().is_null(n) {
                    unknown = true;
                } else if equal(n, row) == Ordering::Equal {
                    return Some(true);
                }
            }
            (!unknown).then_some(false)
        })
        .collect())
}
