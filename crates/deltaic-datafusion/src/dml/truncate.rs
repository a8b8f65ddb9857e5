//! TRUNCATE TABLE: every file goes (operation `TRUNCATE`).

use deltaic_log::Snapshot;
use deltaic_log::transaction::{Operation, Transaction};
use deltaic_protocol::error::Result;

use super::matching::find;
use super::target::DmlTarget;
use crate::context::{DmlReport, Stopwatch, WriteContext};

/// Empties a table. An empty table stays as it is, without a commit.
///
/// # Errors
/// Conflicts with other writers, append-only tables.
pub async fn truncate(ctx: &WriteContext<'_>, snapshot: &Snapshot) -> Result<DmlReport> {
    let watch = Stopwatch::start();
    let target = DmlTarget::new(ctx, snapshot, None)?;
    target.check_changeable()?;
    let mut transaction = Transaction::begin(snapshot, Operation::new("TRUNCATE"));
    let found = find(ctx, &target, None, &mut transaction).await?;
    let rows = found.rows();
    if found.files.is_empty() {
        return Ok(DmlReport::nothing());
    }
    let now = ctx.now_ms();
    let operation = transaction.operation_mut();
    operation.set_metric("numRemovedFiles", found.files.len());
    operation.set_metric("executionTimeMs", watch.total_ms());
    for touched in &found.files {
        transaction.remove(touched.add.to_remove(now, true));
    }
    let commit = transaction.commit(ctx.commit).await?.into_result()?;
    Ok(DmlReport::committed(rows, commit))
}
