//! A function that tells for a row, by its position, whether a statement's condition matched it.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, ident,
};
use roaring::RoaringTreemap;

use crate::layout::{FILE_COLUMN, ROW_COLUMN};

/// The matched rows of each file of a scan; none: all rows.
#[derive(Debug)]
struct Matched {
    rows: Arc<Vec<Option<Arc<RoaringTreemap>>>>,
    signature: Signature,
}

impl PartialEq for Matched {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows)
    }
}

impl Eq for Matched {}

impl Hash for Matched {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.rows) as usize).hash(state);
    }
}

impl ScalarUDFImpl for Matched {
    fn name(&self) -> &str {
        "__deltaic_matched"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let (files, rows) = (
            arrays[0].as_primitive::<Int64Type>(),
            arrays[1].as_primitive::<Int64Type>(),
        );
        let answers: BooleanArray = files
            .values()
            .iter()
            .zip(rows.values())
            .map(|(file, row)| {
                let matched = usize::try_from(*file)
                    .ok()
                    .and_then(|file| self.rows.get(file));
                Some(match matched {
                    Some(Some(set)) => u64::try_from(*row).is_ok_and(|row| set.contains(row)),
                    Some(None) => true,
                    None => false,
                })
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(answers)))
    }
}

/// Whether the row at hand is among `rows` (one set for each file of the scan).
pub(crate) fn is_matched(rows: Vec<Option<Arc<RoaringTreemap>>>) -> Expr {
    let signature = Signature::exact(
        vec![DataType::Int64, DataType::Int64],
        Volatility::Immutable,
    );
    let function = ScalarUDF::new_from_impl(Matched {
        rows: Arc::new(rows),
        signature,
    });
    debug_assert!((&function as &dyn Any).is::<ScalarUDF>());
    function.call(vec![ident(FILE_COLUMN), ident(ROW_COLUMN)])
}
