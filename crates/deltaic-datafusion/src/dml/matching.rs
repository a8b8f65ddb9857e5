//! Finds the rows that a condition matches, by their positions.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Expr, ident};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_plan::execute_stream;
use deltaic_log::transaction::Transaction;
use deltaic_protocol::action::Add;
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::error::{DeltaError, Result};
use futures::StreamExt;
use roaring::RoaringTreemap;

use super::target::DmlTarget;
use crate::context::WriteContext;
use crate::error::{Classed, unwrap};
use crate::layout::{FILE_COLUMN, ROW_COLUMN};
use crate::scan::build::ScanFile;
use crate::scan::failure::classify;
use crate::scan::footer::read_footer;
use crate::scan::predicate::to_predicate;
use crate::scan::prune::{has_subquery, is_partition_only, matches};
use crate::scan::stats::FileStats;
use crate::scan::vector::VectorFile;

/// A file in which rows matched.
#[derive(Debug, Clone)]
pub(crate) struct Touched {
    /// The file.
    pub add: Arc<Add>,
    /// Its matching rows that were not deleted before; none if they all match and nobody needed to look.
    pub rows: Option<Arc<RoaringTreemap>>,
    /// Its rows that were not deleted before.
    pub live: u64,
}

impl Touched {
    /// How many rows matched.
    pub(crate) fn matched(&self) -> u64 {
        self.rows.as_ref().map_or(self.live, |rows| rows.len())
    }

    /// Whether no row is left.
    pub(crate) fn is_whole(&self) -> bool {
        self.matched() >= self.live
    }
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matches {
    /// Files with matching rows, in the order of the log.
    pub files: Vec<Touched>,
}

impl Matches {
    /// All matching rows.
    pub(crate) fn rows(&self) -> u64 {
        self.files.iter().map(Touched::matched).sum()
    }
}

/// Finds the rows; the transaction learns what was read. No condition matches every row.
pub(crate) async fn find(
    ctx: &WriteContext<'_>,
    target: &DmlTarget,
    predicate: Option<&Expr>,
    transaction: &mut Transaction,
) -> Result<Matches> {
    let all: Vec<ScanFile> = target
        .snapshot
        .files()
        .await?
        .iter()
        .cloned()
        .map(ScanFile::whole)
        .collect();
    let predicate = predicate.map(|predicate| simplified(target, predicate));
    let Some(predicate) = predicate.filter(|predicate| !is_true(predicate)) else {
        transaction.read_whole_table();
        return whole(target, all).await;
    };
    if is_never_true(&predicate) {
        return Ok(Matches::default());
    }
    let layout = target.provider.layout();
    if has_subquery(&predicate) {
        // The subquery may read this table too.
        transaction.read_whole_table();
    } else {
        transaction.read_where(to_predicate(
            &unqualified(&predicate)?,
            target.snapshot.schema(),
        ));
    }
    if is_partition_only(layout, &predicate) {
        let keep = matches(ctx.session, layout, &ctx.zone, &all, &[&predicate]).classed()?;
        let files: Vec<ScanFile> = all
            .into_iter()
            .zip(keep)
            .filter_map(|(file, keep)| keep.then_some(file))
            .collect();
        transaction.read_files(files.iter().map(|file| file.add.as_ref()));
        return whole(target, files).await;
    }
    let conjuncts = split_conjunction_owned(unqualified_if_plain(&predicate)?);
    let candidates = target
        .provider
        .scan_files(ctx.session, &conjuncts)
        .await
        .classed()?;
    transaction.read_files(candidates.iter().map(|file| file.add.as_ref()));
    if candidates.is_empty() {
        return Ok(Matches::default());
    }
    let adds: Vec<Arc<Add>> = candidates
        .iter()
        .map(|file| Arc::clone(&file.add))
        .collect();
    let plan = target
        .positions(candidates)?
        .filter(predicate)
        .and_then(|plan| plan.project(vec![ident(FILE_COLUMN), ident(ROW_COLUMN)]))
        .and_then(|plan| plan.build())
        .classed()?;
    let plan = ctx.session.create_physical_plan(&plan).await.classed()?;
    let mut batches = execute_stream(plan, ctx.session.task_ctx()).classed()?;
    let mut found: Vec<RoaringTreemap> = vec![RoaringTreemap::new(); adds.len()];
    while let Some(batch) = batches.next().await {
        let batch = batch.classed()?;
        let files = batch.column(0).as_primitive::<Int64Type>().values();
        let rows = batch.column(1).as_primitive::<Int64Type>().values();
        for (file, row) in files.iter().zip(rows) {
            let slot = usize::try_from(*file)
                .ok()
                .and_then(|file| found.get_mut(file));
            let (Some(slot), Ok(row)) = (slot, u64::try_from(*row)) else {
                return Err(DeltaError::internal(format!(
                    "row {row} of file {file} does not exist"
                )));
            };
            slot.insert(row);
        }
    }
    let mut files = Vec::new();
    for (add, rows) in adds.into_iter().zip(found) {
        if !rows.is_empty() {
            let live = live_rows(target, &add).await?;
            let touched = Touched {
                add,
                rows: Some(Arc::new(rows)),
                live,
            };
            if touched.is_whole() {
                has_no_other_row(target, &touched).await?;
            }
            files.push(touched);
        }
    }
    Ok(Matches { files })
}

async fn whole(target: &DmlTarget, files: Vec<ScanFile>) -> Result<Matches> {
    let mut out = Vec::with_capacity(files.len());
    for file in files {
        let live = live_rows(target, &file.add).await?;
        out.push(Touched {
            add: file.add,
            rows: None,
            live,
        });
    }
    Ok(Matches { files: out })
}

/// The rows of a file that are not deleted: from its statistics, else from its footer.
async fn live_rows(target: &DmlTarget, add: &Add) -> Result<u64> {
    let physical = physical_rows(target, add).await?;
    let deleted = add.deletion_vector.as_ref().map_or(0, |vector| {
        u64::try_from(vector.cardinality).unwrap_or_default()
    });
    physical.checked_sub(deleted).ok_or_else(|| {
        DeltaError::new("DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH").with_path(&add.path)
    })
}

/// Makes sure of a file that is to go whole because the numbers in the log say that all of its rows matched: the rows that matched
/// and those that its deletion vector names are its rows, each once.
async fn has_no_other_row(target: &DmlTarget, touched: &Touched) -> Result<()> {
    let physical = physical_rows(target, &touched.add).await?;
    let matched = touched.rows.as_ref().and_then(|rows| rows.max());
    let deleted = match &touched.add.deletion_vector {
        Some(vector) => load_within(target, &touched.add, vector, physical)
            .await?
            .max(),
        None => None,
    };
    match matched.max(deleted) {
        Some(last) if last >= physical => Err(invalid_row(&touched.add)),
        _ => Ok(()),
    }
}

/// The rows that a deletion vector names.
///
/// # Errors
/// It cannot be read, or names a row that the file does not have.
pub(super) async fn load_within(
    target: &DmlTarget,
    add: &Add,
    vector: &DeletionVectorDescriptor,
    physical: u64,
) -> Result<RoaringTreemap> {
    let store = target.snapshot.store();
    let rows = VectorFile::new(store, vector.clone()).load().await?;
    match rows.max() {
        Some(last) if last >= physical => Err(invalid_row(add)),
        _ => Ok(rows),
    }
}

fn invalid_row(add: &Add) -> DeltaError {
    DeltaError::new("DELTA_DELETION_VECTOR_INVALID_ROW_INDEX").with_path(&add.path)
}

/// The rows that a file physically has.
pub(crate) async fn physical_rows(target: &DmlTarget, add: &Add) -> Result<u64> {
    if let Some(rows) = FileStats::of(add).physical_rows() {
        return Ok(rows);
    }
    let store = target.snapshot.store();
    let path = store.resolve(&add.path)?;
    match read_footer(store.object_store(), &path.object_path()).await {
        Ok(metadata) => Ok(u64::try_from(metadata.file_metadata().num_rows()).unwrap_or_default()),
        Err(error) => Err(unwrap(classify(error.into(), &path.uri()))),
    }
}

/// The condition with its constants folded; as it is where that fails (the failure then comes up, or not, row by row).
fn simplified(target: &DmlTarget, predicate: &Expr) -> Expr {
    let schema = target
        .positions(Vec::new())
        .map(|plan| Arc::clone(plan.schema()));
    let Ok(schema) = schema else {
        return predicate.clone();
    };
    let context = SimplifyContext::builder().with_schema(schema).build();
    ExprSimplifier::new(context)
        .simplify(predicate.clone())
        .unwrap_or_else(|_| predicate.clone())
}

fn is_true(predicate: &Expr) -> bool {
    matches!(
        predicate,
        Expr::Literal(ScalarValue::Boolean(Some(true)), _)
    )
}

fn is_never_true(predicate: &Expr) -> bool {
    matches!(
        predicate,
        Expr::Literal(
            ScalarValue::Boolean(Some(false) | None) | ScalarValue::Null,
            _
        )
    )
}

fn unqualified(predicate: &Expr) -> Result<Expr> {
    crate::exprs::unqualified(predicate.clone())
}

/// Correlated subqueries need their qualifiers; they do not help to leave files out anyway.
fn unqualified_if_plain(predicate: &Expr) -> Result<Expr> {
    if has_subquery(predicate) {
        Ok(predicate.clone())
    } else {
        unqualified(predicate)
    }
}
