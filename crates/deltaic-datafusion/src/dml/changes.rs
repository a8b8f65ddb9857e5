//! Files of changes: what a statement did to each row, for the change feed (protocol section "Add CDC File").
//!
//! A version that has such a file is read from those files alone, so they name every row that the statement touched.

use std::sync::Arc;

use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use deltaic_log::Snapshot;
use deltaic_protocol::Action;
use deltaic_protocol::action::AddCdcFile;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::matching::Touched;
use super::target::DmlTarget;
use crate::context::{Prepared, WriteContext};
use crate::error::Classed;
use crate::scan::build::ScanFile;
use crate::scan::rows::FileRows;
use crate::write::target::FileKind;

/// The column that says what happened.
pub(crate) const CHANGE_TYPE: &str = "_change_type";

/// Whether statements on this table leave files of changes.
pub(crate) fn are_wanted(snapshot: &Snapshot) -> Result<bool> {
    snapshot.config().change_data_feed_enabled()
}

/// The matching rows alone.
pub(crate) fn matching_rows(files: &[Touched]) -> Vec<ScanFile> {
    files
        .iter()
        .map(|touched| ScanFile {
            add: touched.add.clone(),
            rows: FileRows {
                only: touched.rows.clone(),
                ..FileRows::default()
            },
        })
        .collect()
}

/// The matching rows as they were, marked with what happens to them.
pub(crate) fn old_rows(target: &DmlTarget, files: &[Touched], change: &str) -> Result<LogicalPlan> {
    marked(
        target.rows(matching_rows(files))?.build().classed()?,
        change,
    )
}

/// A plan's rows with the mark.
pub(crate) fn marked(plan: LogicalPlan, change: &str) -> Result<LogicalPlan> {
    let mut columns: Vec<Expr> = plan
        .schema()
        .columns()
        .into_iter()
        .map(Expr::Column)
        .collect();
    columns.push(lit(change).alias(CHANGE_TYPE));
    LogicalPlanBuilder::from(plan)
        .project(columns)
        .and_then(|plan| plan.build())
        .classed()
}

/// Writes changes; the actions of the files.
pub(crate) async fn write_changes(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    changes: LogicalPlan,
) -> Result<Vec<Action>> {
    let mut fields = snapshot.schema().fields.clone();
    fields.push(StructField::nullable(CHANGE_TYPE, DataType::String));
    let prepared = Prepared::unchecked(ctx, snapshot, &StructType::new(fields), FileKind::Change)?;
    let mut plan = ctx.session.create_physical_plan(&changes).await.classed()?;
    if plan.output_partitioning().partition_count() > 1 {
        // Old and new rows into the same files.
        plan = Arc::new(CoalescePartitionsExec::new(plan));
    }
    let output = prepared.write(ctx, &plan.into()).await?;
    let file = |written: crate::write::task::WrittenFile| {
        Action::Cdc(AddCdcFile {
            path: written.add.path,
            partition_values: written.add.partition_values,
            size: written.add.size,
            data_change: false,
            tags: None,
        })
    };
    Ok(output.files.into_iter().map(file).collect())
}
