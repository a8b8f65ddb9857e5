//! DELETE: whole files go by metadata alone; of others the rows go by deletion vectors where the table has them on, else
//! the file is written anew without them (operation `DELETE`).

use std::sync::Arc;

use datafusion::common::TableReference;
use datafusion::logical_expr::Expr;
use deltaic_log::Snapshot;
use deltaic_log::transaction::{Operation, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::deletion_vector::DeletionVector;
use deltaic_protocol::error::Result;
use roaring::RoaringTreemap;

use super::changes::{self, ChangedTable};
use super::matching::{Touched, find, load_within, physical_rows};
use super::metrics::DmlMetrics;
use super::target::DmlTarget;
use super::tracking;
use super::vectors::{with_vector, write_vectors};
use crate::context::{DmlReport, Prepared, Stopwatch, WriteContext};
use crate::scan::build::ScanFile;
use crate::scan::rows::FileRows;

/// Deletes rows.
#[derive(Debug, Clone, Default)]
pub struct Delete {
    /// The condition over the table's columns; none deletes every row. It may hold subqueries.
    pub predicate: Option<Expr>,
    /// The name under which the condition knows the table.
    pub qualifier: Option<TableReference>,
    /// The condition as Catalyst prints it, for the history.
    pub predicate_text: Option<String>,
}

/// Deletes the rows that match. Where none does, nothing is committed.
///
/// # Errors
/// Those of the condition, of reading and writing, conflicts with other writers, append-only tables.
pub async fn delete(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    request: Delete,
) -> Result<DmlReport> {
    let mut watch = Stopwatch::start();
    let target = DmlTarget::new(ctx, snapshot, request.qualifier)?;
    target.check_changeable()?;
    if ctx.options.is_done(snapshot) {
        return Ok(DmlReport::already_done());
    }
    let text = request
        .predicate_text
        .unwrap_or_else(|| match &request.predicate {
            Some(predicate) => predicate.to_string(),
            None => "true".to_string(),
        });
    let mut operation = Operation::new("DELETE")
        .text_parameter("predicate", serde_json::Value::from(vec![text]).to_string());
    tracking::tag(&mut operation, snapshot)?;
    let mut transaction = Transaction::begin(snapshot, operation);
    let mut done = deletion(ctx, &target, request.predicate.as_ref(), &mut transaction).await?;
    ctx.options.stage(&mut transaction, ctx.now_ms());
    if done.actions.is_empty() && transaction.is_empty() {
        return Ok(DmlReport::nothing());
    }
    done.metrics.total_ms = watch.total_ms();
    let _ = watch.lap_ms();
    done.metrics.record(
        transaction.operation_mut(),
        ("numDeletedRows", done.deleted_rows),
    );
    transaction.stage_all(done.actions);
    let commit = transaction.commit(ctx.commit).await?.into_result()?;
    Ok(DmlReport::committed(done.deleted_rows, commit))
}

/// The deletion of rows, not yet committed.
pub(crate) struct Deletion {
    pub actions: Vec<Action>,
    pub deleted_rows: u64,
    pub copied_rows: u64,
    pub removed_files: usize,
    pub removed_bytes: i64,
    pub metrics: DmlMetrics,
}

/// Finds the rows of a condition and prepares the actions that take them away.
pub(crate) async fn deletion(
    ctx: &WriteContext<'_>,
    target: &DmlTarget,
    predicate: Option<&Expr>,
    transaction: &mut Transaction,
) -> Result<Deletion> {
    let mut watch = Stopwatch::start();
    let found = find(ctx, target, predicate, transaction).await?;
    let mut metrics = DmlMetrics {
        scan_ms: watch.lap_ms(),
        ..DmlMetrics::default()
    };
    let deleted_rows = found.rows();
    let vectors =
        ctx.options.delete_with_vectors && target.snapshot.config().deletion_vectors_enabled()?;
    let mut actions = Vec::new();
    // Whole files and deletion vectors tell the change feed by themselves what went.
    if !vectors
        && changes::are_wanted(&target.snapshot)?
        && !found.files.iter().all(Touched::is_whole)
    {
        let changes = changes::old_rows(target, &found.files, "delete")?;
        let table = ChangedTable::of(&target.snapshot);
        actions.extend(changes::write_changes(ctx, &table, changes).await?);
        metrics.change_files = actions.len();
    }
    let (whole, partial): (Vec<Touched>, Vec<Touched>) =
        found.files.into_iter().partition(Touched::is_whole);
    let now = ctx.now_ms();
    for touched in &whole {
        metrics.vectors_removed += usize::from(touched.add.deletion_vector.is_some());
        metrics.removed_files += 1;
        metrics.removed_bytes += touched.add.size;
        actions.push(Action::Remove(touched.add.to_remove(now, true)));
    }
    if !partial.is_empty() {
        if vectors {
            mark(ctx, target, &partial, now, &mut actions, &mut metrics).await?;
        } else {
            rewrite(ctx, target, &partial, now, &mut actions, &mut metrics).await?;
        }
        metrics.rewrite_ms = watch.lap_ms();
    }
    let (copied_rows, removed_files, removed_bytes) = (
        metrics.copied_rows,
        metrics.removed_files,
        metrics.removed_bytes,
    );
    Ok(Deletion {
        actions,
        deleted_rows,
        copied_rows,
        removed_files,
        removed_bytes,
        metrics,
    })
}

/// New deletion vectors: the old one and the matching rows.
pub(crate) async fn mark(
    ctx: &WriteContext<'_>,
    target: &DmlTarget,
    files: &[Touched],
    now: i64,
    actions: &mut Vec<Action>,
    metrics: &mut DmlMetrics,
) -> Result<()> {
    let store = target.snapshot.store();
    let mut vectors = Vec::with_capacity(files.len());
    for touched in files {
        let mut vector: RoaringTreemap = match &touched.add.deletion_vector {
            Some(descriptor) => {
                let physical = physical_rows(target, &touched.add).await?;
                load_within(target, &touched.add, descriptor, physical).await?
            }
            None => RoaringTreemap::new(),
        };
        if let Some(rows) = &touched.rows {
            vector |= rows.as_ref();
        }
        vectors.push(DeletionVector { rows: vector });
    }
    let prefix = target.snapshot.config().random_prefix_length()?;
    let descriptors = write_vectors(store, ctx.commit.ids.as_ref(), prefix, &vectors).await?;
    for (touched, descriptor) in files.iter().zip(descriptors) {
        let physical = physical_rows(target, &touched.add).await?;
        metrics.vectors_added += 1;
        if touched.add.deletion_vector.is_some() {
            metrics.vectors_updated += 1;
            metrics.vectors_removed += 1;
        }
        actions.push(Action::Add(with_vector(&touched.add, descriptor, physical)));
    }
    actions.extend(
        files
            .iter()
            .map(|touched| Action::Remove(touched.add.to_remove(now, true))),
    );
    Ok(())
}

/// A file without its matching rows.
pub(crate) fn without_matching(touched: &Touched) -> ScanFile {
    ScanFile {
        add: Arc::clone(&touched.add),
        rows: FileRows {
            without: touched.rows.clone(),
            ..FileRows::default()
        },
    }
}

/// The files without the matching rows.
async fn rewrite(
    ctx: &WriteContext<'_>,
    target: &DmlTarget,
    files: &[Touched],
    now: i64,
    actions: &mut Vec<Action>,
    metrics: &mut DmlMetrics,
) -> Result<()> {
    let kept: Vec<ScanFile> = files.iter().map(without_matching).collect();
    let prepared = Prepared::copying(ctx, &target.snapshot)?;
    let query = target.copied(kept)?;
    let output = prepared.write(ctx, &query.into()).await?;
    for touched in files {
        metrics.vectors_removed += usize::from(touched.add.deletion_vector.is_some());
        metrics.removed_files += 1;
        metrics.removed_bytes += touched.add.size;
        let mut remove = touched.add.to_remove(now, true);
        remove.stats = None;
        actions.push(Action::Remove(remove));
    }
    metrics.added_files += output.files.len();
    metrics.added_bytes += output.bytes();
    metrics.copied_rows += output.rows();
    actions.extend(output.files.into_iter().map(|file| Action::Add(file.add)));
    Ok(())
}
