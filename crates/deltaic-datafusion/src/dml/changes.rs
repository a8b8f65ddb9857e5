//! Files of changes: what a statement did to each row, for the change feed (protocol section "Add CDC File").
//!
//! A version that has such a file is read from those files alone, so they name every row that the statement touched.

use std::sync::Arc;

use datafusion::common::Column;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Volatility, lit};
use datafusion::physical_plan::ExecutionPlanProperties;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use deltaic_log::Snapshot;
use deltaic_log::changes::CHANGE_TYPE;
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, AddCdcFile};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::TableStore;

use super::matching::Touched;
use super::target::DmlTarget;
use crate::context::{Prepared, WriteContext};
use crate::error::Classed;
use crate::provider::mode_of;
use crate::scan::build::ScanFile;
use crate::scan::pinned::PinnedTable;
use crate::scan::prune::has_subquery;
use crate::scan::rows::FileRows;
use crate::tracking::RowTracking;
use crate::write::task::WrittenFile;

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

/// The table whose changes are written, as it is after the statement.
pub(crate) struct ChangedTable<'a> {
    pub store: &'a TableStore,
    pub config: &'a TableConfig,
    pub schema: &'a StructType,
    pub partition_columns: &'a [String],
}

impl<'a> ChangedTable<'a> {
    /// A table whose columns stay as they are.
    pub(crate) fn of(snapshot: &'a Snapshot) -> ChangedTable<'a> {
        ChangedTable {
            store: snapshot.store(),
            config: snapshot.config(),
            schema: snapshot.schema(),
            partition_columns: snapshot.partition_columns(),
        }
    }

    fn schema_with_mark(&self) -> StructType {
        let mut fields = self.schema.fields.clone();
        fields.push(StructField::nullable(CHANGE_TYPE, DataType::String));
        StructType::new(fields)
    }

    /// A scan of files of this table that the statement itself has written.
    pub(crate) fn scan(
        &self,
        ctx: &WriteContext<'_>,
        schema: StructType,
        files: Vec<ScanFile>,
    ) -> Result<LogicalPlanBuilder> {
        let table = PinnedTable::new(
            self.store.clone(),
            schema,
            self.partition_columns.to_vec(),
            mode_of(self.config)?,
            ctx.zone.clone(),
            files,
        );
        LogicalPlanBuilder::scan("written", provider_as_source(Arc::new(table)), None).classed()
    }
}

/// Writes changes; the actions of the files.
pub(crate) async fn write_changes(
    ctx: &WriteContext<'_>,
    table: &ChangedTable<'_>,
    changes: LogicalPlan,
) -> Result<Vec<Action>> {
    let prepared = Prepared::changes(
        ctx,
        table.store,
        table.config,
        &table.schema_with_mark(),
        table.partition_columns,
    )?;
    let mut plan = ctx.session.create_physical_plan(&changes).await.classed()?;
    if plan.output_partitioning().partition_count() > 1 {
        // Old and new rows into the same files.
        plan = Arc::new(CoalescePartitionsExec::new(plan));
    }
    let output = prepared.write(ctx, &plan.into()).await?;
    let file = |written: WrittenFile| {
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

/// Writes the rows of new files once more as insertions. They are read back, not computed again: a query may give other rows
/// the second time.
pub(crate) async fn write_insertions(
    ctx: &WriteContext<'_>,
    table: &ChangedTable<'_>,
    written: &[WrittenFile],
) -> Result<Vec<Action>> {
    let files = written
        .iter()
        .map(|file| ScanFile::whole(Arc::new(file.add.clone())))
        .collect();
    let rows = table
        .scan(ctx, table.schema.clone(), files)?
        .build()
        .classed()?;
    write_changes(ctx, table, marked(rows, "insert")?).await
}

/// The new rows of an UPDATE out of its files of changes.
pub(crate) fn written_postimages(
    ctx: &WriteContext<'_>,
    table: &ChangedTable<'_>,
    changes: &[Action],
) -> Result<LogicalPlan> {
    let files = changes
        .iter()
        .filter_map(|action| match action {
            Action::Cdc(file) => Some(ScanFile::whole(Arc::new(Add {
                path: file.path.clone(),
                partition_values: file.partition_values.clone(),
                size: file.size,
                ..Add::default()
            }))),
            _ => None,
        })
        .collect();
    let mark = Expr::Column(Column::from_name(CHANGE_TYPE));
    let columns = table
        .schema
        .names()
        .map(|name| Expr::Column(Column::from_name(name)));
    table
        .scan(ctx, table.schema_with_mark(), files)?
        .filter(mark.eq(lit("update_postimage")))
        .and_then(|plan| plan.project(columns))
        .and_then(|plan| plan.build())
        .classed()
}

/// The rows in new files of an UPDATE that have new values: those whose version is the one that the commit gives them.
pub(crate) fn changed_in(
    ctx: &WriteContext<'_>,
    table: &ChangedTable<'_>,
    tracking: &RowTracking,
    written: &[WrittenFile],
) -> Result<LogicalPlan> {
    let files = written
        .iter()
        .map(|file| ScanFile::whole(Arc::new(file.add.clone())))
        .collect();
    let version = Expr::Column(Column::from_name(&tracking.version_column));
    let columns = table
        .schema
        .names()
        .map(|name| Expr::Column(Column::from_name(name)));
    table
        .scan(ctx, tracking.with_columns(table.schema), files)?
        .filter(version.is_null())
        .and_then(|plan| plan.project(columns))
        .and_then(|plan| plan.build())
        .classed()
}

/// Whether an expression gives the same value each time it is computed for a row.
pub(crate) fn is_repeatable(expr: &Expr) -> bool {
    let varies = expr.exists(|node| {
        Ok(match node {
            Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Immutable,
            _ => false,
        })
    });
    !has_subquery(expr) && matches!(varies, Ok(false))
}
