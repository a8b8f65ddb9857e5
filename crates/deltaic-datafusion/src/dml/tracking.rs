//! Ids of rows that are written anew (protocol section "Row Tracking"). A row keeps its id, and a copy keeps the version in
//! which the row last changed, in two columns of the file that the table's schema does not show.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::{DataType as Arrow, Int64Type};
use datafusion::common::{Column, ScalarValue, exec_err};
use datafusion::error::Result as EngineResult;
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility, ident, lit, when,
};
use deltaic_log::Snapshot;
use deltaic_log::transaction::Operation;
use deltaic_protocol::error::{DeltaError, Result};

use super::target::DmlTarget;
use crate::error::Classed;
use crate::layout::{FILE_COLUMN, ROW_COLUMN};
use crate::scan::build::ScanFile;
use crate::tracking::RowTracking;

/// The tag of commits in which every row kept its id.
const PRESERVED: &str = "delta.rowTracking.preserved";

/// What the rows of a scan of these files have in the hidden columns. `changed` tells for a row whether it gets new values;
/// its version is then the commit's own, which a reader takes from the file.
///
/// # Errors
/// A file has no ids.
pub(crate) fn hidden_values(
    tracking: &RowTracking,
    files: &[ScanFile],
    changed: Changed,
) -> Result<[Expr; 2]> {
    let mut ids = Vec::with_capacity(files.len());
    let mut versions = Vec::with_capacity(files.len());
    for file in files {
        let (Some(id), Some(version)) = (file.add.base_row_id, file.add.default_row_commit_version)
        else {
            return Err(DeltaError::unclassed(
                "java.lang.IllegalStateException",
                format!("The rows of {} have no ids", file.add.path),
            )
            .with_path(&file.add.path));
        };
        ids.push(id);
        versions.push(version);
    }
    let id = coalesce(vec![
        ident(&tracking.id_column),
        of_file(ids) + ident(ROW_COLUMN),
    ]);
    let kept = coalesce(vec![ident(&tracking.version_column), of_file(versions)]);
    let none = lit(ScalarValue::Int64(None));
    let version = match changed {
        Changed::None => kept,
        Changed::All => none,
        Changed::If(condition) => when(condition, none).otherwise(kept).classed()?,
    };
    Ok([
        id.alias(&tracking.id_column),
        version.alias(&tracking.version_column),
    ])
}

/// Notes on a commit that rows kept their ids, where the table asks for that.
///
/// # Errors
/// As [`RowTracking::of`].
pub(crate) fn tag(operation: &mut Operation, snapshot: &Snapshot) -> Result<()> {
    if RowTracking::of(snapshot)?.is_some() {
        operation
            .tags
            .insert(PRESERVED.to_owned(), "true".to_owned());
    }
    Ok(())
}

/// Which rows of a scan get new values.
pub(crate) enum Changed {
    None,
    All,
    If(Expr),
}

impl DmlTarget {
    /// A scan of these files with file and row positions, and the hidden columns where the table tracks rows.
    ///
    /// # Errors
    /// The plan cannot be built.
    pub fn tracked(&self, files: Vec<ScanFile>) -> Result<LogicalPlanBuilder> {
        let provider = match RowTracking::of(&self.snapshot)? {
            Some(tracking) => {
                let schema = tracking.with_columns(self.snapshot.schema());
                self.provider.clone().with_columns(&schema)
            }
            None => self.provider.clone(),
        };
        self.scan(provider.with_row_positions(Arc::new(files)))
    }

    /// The rows of these files, with the hidden columns where the table tracks rows: to be written anew as they are.
    ///
    /// # Errors
    /// The plan cannot be built, a file has no ids.
    pub fn copied(&self, files: Vec<ScanFile>) -> Result<LogicalPlan> {
        let Some(tracking) = RowTracking::of(&self.snapshot)? else {
            return self.rows(files)?.build().classed();
        };
        let hidden = hidden_values(&tracking, &files, Changed::None)?;
        let plan = self.tracked(files)?.build().classed()?;
        let schema = Arc::clone(plan.schema());
        let mut columns = Vec::new();
        for field in self.provider.layout().schema.fields() {
            let (qualifier, own) = schema
                .qualified_field_with_unqualified_name(field.name())
                .classed()?;
            columns.push(Expr::Column(Column::new(qualifier.cloned(), own.name())));
        }
        columns.extend(hidden);
        LogicalPlanBuilder::from(plan)
            .project(columns)
            .and_then(|plan| plan.build())
            .classed()
    }
}

/// A number for each file of a scan.
#[derive(Debug)]
struct OfFile {
    numbers: Arc<Vec<i64>>,
    signature: Signature,
}

impl PartialEq for OfFile {
    fn eq(&self, other: &Self) -> bool {
        self.numbers == other.numbers
    }
}

impl Eq for OfFile {}

impl Hash for OfFile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.numbers.hash(state);
    }
}

impl ScalarUDFImpl for OfFile {
    fn name(&self) -> &str {
        "__deltaic_of_file"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[Arrow]) -> EngineResult<Arrow> {
        Ok(Arrow::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> EngineResult<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let files = arrays[0].as_primitive::<Int64Type>();
        let mut out = Vec::with_capacity(files.values().len());
        for file in files.values() {
            match usize::try_from(*file)
                .ok()
                .and_then(|at| self.numbers.get(at))
            {
                Some(number) => out.push(*number),
                None => return exec_err!("a scan has no file {file}"),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(Int64Array::from(out))))
    }
}

/// The number of the file that the row at hand is in.
fn of_file(numbers: Vec<i64>) -> Expr {
    let signature = Signature::exact(vec![Arrow::Int64], Volatility::Immutable);
    let function = ScalarUDF::new_from_impl(OfFile {
        numbers: Arc::new(numbers),
        signature,
    });
    debug_assert!((&function as &dyn Any).is::<ScalarUDF>());
    function.call(vec![ident(FILE_COLUMN)])
}
