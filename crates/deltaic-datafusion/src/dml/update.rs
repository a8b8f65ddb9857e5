//! UPDATE: matching rows get new values, in a new file beside deletion vectors, or by writing their files anew
//! (operation `UPDATE`).

use std::sync::Arc;

use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, when};
use deltaic_log::Snapshot;
use deltaic_log::transaction::{Operation, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::error::{DeltaError, Result};

use super::changes::{self, ChangedTable, is_repeatable, matching_rows, written_postimages};
use super::delete::{mark, without_matching};
use super::matched::is_matched;
use super::matching::{Touched, find};
use super::metrics::DmlMetrics;
use super::target::DmlTarget;
use super::tracking::{self, Changed};
use crate::context::{DmlReport, Prepared, Stopwatch, WriteContext};
use crate::error::Classed;
use crate::scan::build::ScanFile;
use crate::tracking::RowTracking;
use crate::write::checks::WriteChecks;

/// Changes rows.
#[derive(Debug, Clone, Default)]
pub struct Update {
    /// New values by column (logical names of top-level columns); of the column's type, over the table's columns. Generated
    /// columns that depend on assigned ones belong here too.
    pub assignments: Vec<(String, Expr)>,
    /// The condition over the table's columns; none changes every row. It may hold subqueries.
    pub predicate: Option<Expr>,
    /// The name under which the expressions know the table.
    pub qualifier: Option<TableReference>,
    /// The condition as Catalyst prints it, for the history.
    pub predicate_text: Option<String>,
    /// CHECK constraints, column invariants and generated columns.
    pub checks: WriteChecks,
}

/// Updates the rows that match. Where none does, nothing is committed.
///
/// # Errors
/// Those of the expressions, violated checks, conflicts with other writers, append-only tables.
pub async fn update(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    request: Update,
) -> Result<DmlReport> {
    let mut watch = Stopwatch::start();
    let target = DmlTarget::new(ctx, snapshot, request.qualifier.clone())?;
    target.check_changeable()?;
    if ctx.options.is_done(snapshot) {
        return Ok(DmlReport::already_done());
    }
    let texts: Vec<String> = match (&request.predicate_text, &request.predicate) {
        (Some(text), _) => vec![text.clone()],
        (None, Some(predicate)) => vec![predicate.to_string()],
        (None, None) => Vec::new(),
    };
    let mut operation = Operation::new("UPDATE")
        .text_parameter("predicate", serde_json::Value::from(texts).to_string());
    tracking::tag(&mut operation, snapshot)?;
    let mut transaction = Transaction::begin(snapshot, operation);
    let found = find(ctx, &target, request.predicate.as_ref(), &mut transaction).await?;
    let updated = found.rows();
    let mut metrics = DmlMetrics {
        scan_ms: watch.lap_ms(),
        ..DmlMetrics::default()
    };
    ctx.options.stage(&mut transaction, ctx.now_ms());
    if updated == 0 {
        if transaction.is_empty() {
            return Ok(DmlReport::nothing());
        }
        metrics.total_ms = watch.total_ms();
        metrics.record(transaction.operation_mut(), ("numUpdatedRows", 0));
        let commit = transaction.commit(ctx.commit).await?.into_result()?;
        return Ok(DmlReport::committed(0, commit));
    }
    let now = ctx.now_ms();
    let files: Vec<Touched> = found
        .files
        .into_iter()
        .filter(|touched| touched.matched() > 0)
        .collect();
    let vectors =
        ctx.options.update_with_vectors && snapshot.config().deletion_vectors_enabled()?;
    let mut plan = if vectors {
        changed_rows(&target, &files, &request, true)?
    } else {
        changed_files(&target, &files, &request)?
    };
    let prepared = Prepared::rewriting(ctx, snapshot, &request.checks)?;
    let mut actions = Vec::new();
    let feed = Feed::of(snapshot, &request)?;
    let table = ChangedTable::of(snapshot);
    if matches!(feed, Feed::Computed | Feed::First) {
        let new = changed_rows(&target, &files, &request, false)?;
        actions.extend(write_both(ctx, &table, &target, &files, new).await?);
    }
    if feed == Feed::First {
        let new = written_postimages(ctx, &table, &actions)?;
        plan = match kept_rows(&target, &files, vectors)? {
            Some(kept) => LogicalPlanBuilder::from(kept)
                .union(new)
                .and_then(|plan| plan.build())
                .classed()?,
            None => new,
        };
    }
    let output = prepared.write(ctx, &plan.into()).await?;
    if let Feed::Last(tracking) = &feed {
        let new = changes::changed_in(ctx, &table, tracking, &output.files)?;
        actions.extend(write_both(ctx, &table, &target, &files, new).await?);
    }
    metrics.change_files = actions.len();
    let (gone, kept): (Vec<Touched>, Vec<Touched>) = files
        .into_iter()
        .partition(|touched| !vectors || touched.is_whole());
    if !kept.is_empty() {
        mark(ctx, &target, &kept, now, &mut actions, &mut metrics).await?;
    }
    for touched in &gone {
        // An UPDATE of all rows does not look at the vectors one by one, so the reference counts none.
        metrics.vectors_removed +=
            usize::from(request.predicate.is_some() && touched.add.deletion_vector.is_some());
        metrics.removed_files += 1;
        metrics.removed_bytes += touched.add.size;
        let mut remove = touched.add.to_remove(now, true);
        if !vectors {
            remove.stats = None;
        }
        actions.push(Action::Remove(remove));
    }
    metrics.added_files = output.files.len();
    metrics.added_bytes = output.bytes();
    metrics.copied_rows = if vectors {
        0
    } else {
        output.rows().saturating_sub(updated)
    };
    metrics.rewrite_ms = watch.lap_ms();
    metrics.total_ms = watch.total_ms();
    metrics.record(transaction.operation_mut(), ("numUpdatedRows", updated));
    for file in output.files {
        transaction.add(file.add);
    }
    transaction.stage_all(actions);
    let commit = transaction.commit(ctx.commit).await?.into_result()?;
    Ok(DmlReport::committed(updated, commit))
}

/// How the change feed learns of the new rows.
#[derive(PartialEq, Eq)]
enum Feed {
    /// The table has none.
    None,
    /// They are computed for it too: each value comes out the same.
    Computed,
    /// A value may come out otherwise the second time, so the rows go into the feed, and from there into the table.
    First,
    /// As before, but what the feed holds would have lost the ids of the rows: they go from the table into the feed.
    Last(RowTracking),
}

impl Feed {
    fn of(snapshot: &Snapshot, request: &Update) -> Result<Feed> {
        if !changes::are_wanted(snapshot)? {
            return Ok(Feed::None);
        }
        if request
            .assignments
            .iter()
            .all(|(_, value)| is_repeatable(value))
        {
            return Ok(Feed::Computed);
        }
        Ok(match RowTracking::of(snapshot)? {
            Some(tracking) => Feed::Last(tracking),
            None => Feed::First,
        })
    }
}

/// Writes the matching rows as they were, and these new ones.
async fn write_both(
    ctx: &WriteContext<'_>,
    table: &ChangedTable<'_>,
    target: &DmlTarget,
    files: &[Touched],
    new: LogicalPlan,
) -> Result<Vec<Action>> {
    let old = changes::old_rows(target, files, "update_preimage")?;
    let new = changes::marked(new, "update_postimage")?;
    let both = LogicalPlanBuilder::from(old)
        .union(new)
        .and_then(|plan| plan.build())
        .classed()?;
    changes::write_changes(ctx, table, both).await
}

/// The new form of the matching rows alone; with `ids`, they keep theirs.
fn changed_rows(
    target: &DmlTarget,
    files: &[Touched],
    request: &Update,
    ids: bool,
) -> Result<LogicalPlan> {
    let rows = matching_rows(files);
    let tracking = RowTracking::of(&target.snapshot)?.filter(|_| ids);
    let (plan, hidden) = match tracking {
        Some(tracking) => {
            let hidden = tracking::hidden_values(&tracking, &rows, Changed::All)?;
            (target.tracked(rows)?, hidden.to_vec())
        }
        None => (target.positions(rows)?, Vec::new()),
    };
    project(target, plan.build().classed()?, request, None, hidden)
}

/// The rows that did not match, where their files are written anew.
fn kept_rows(target: &DmlTarget, files: &[Touched], vectors: bool) -> Result<Option<LogicalPlan>> {
    let kept: Vec<ScanFile> = files
        .iter()
        .filter(|touched| !vectors && !touched.is_whole())
        .map(without_matching)
        .collect();
    if kept.is_empty() {
        return Ok(None);
    }
    target.rows(kept)?.build().classed().map(Some)
}

/// All rows of the files, the matching ones in their new form, each in its place.
fn changed_files(target: &DmlTarget, files: &[Touched], request: &Update) -> Result<LogicalPlan> {
    let all: Vec<ScanFile> = files
        .iter()
        .map(|touched| ScanFile::whole(Arc::clone(&touched.add)))
        .collect();
    let condition = if files.iter().all(Touched::is_whole) {
        None
    } else {
        Some(is_matched(
            files.iter().map(|touched| touched.rows.clone()).collect(),
        ))
    };
    let hidden = match RowTracking::of(&target.snapshot)? {
        Some(tracking) => {
            let changed = match &condition {
                Some(condition) => Changed::If(condition.clone()),
                None => Changed::All,
            };
            tracking::hidden_values(&tracking, &all, changed)?.to_vec()
        }
        None => Vec::new(),
    };
    let plan = target.tracked(all)?.build().classed()?;
    project(target, plan, request, condition, hidden)
}

fn project(
    target: &DmlTarget,
    plan: LogicalPlan,
    request: &Update,
    condition: Option<Expr>,
    hidden: Vec<Expr>,
) -> Result<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    let mut columns = Vec::new();
    for field in target.provider.layout().schema.fields() {
        let (qualifier, own) = schema
            .qualified_field_with_unqualified_name(field.name())
            .classed()?;
        let column = Expr::Column(Column::new(qualifier.cloned(), own.name()));
        let assigned = request
            .assignments
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(field.name()));
        columns.push(match (assigned, &condition) {
            (None, _) => column,
            (Some((_, value)), None) => value.clone().alias(field.name()),
            (Some((_, value)), Some(condition)) => when(condition.clone(), value.clone())
                .otherwise(column)
                .classed()?
                .alias(field.name()),
        });
    }
    columns.extend(hidden);
    let unknown = request.assignments.iter().find(|(name, _)| {
        !target
            .provider
            .layout()
            .schema
            .fields()
            .iter()
            .any(|field| field.name().eq_ignore_ascii_case(name))
    });
    if let Some((name, _)) = unknown {
        return Err(DeltaError::internal(format!(
            "column {name} does not exist"
        )));
    }
    LogicalPlanBuilder::from(plan)
        .project(columns)
        .and_then(|plan| plan.build())
        .classed()
}
