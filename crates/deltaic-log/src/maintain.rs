//! Checkpointing and cleaning a table at a snapshot: fills in what [`crate::checkpoint`] and [`crate::cleanup`] decide by.

use deltaic_protocol::action::SetTransaction;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{StructField, StructType};

use crate::checkpoint::{CheckpointColumns, CheckpointContent, WrittenCheckpoint, write_checkpoint};
use crate::cleanup::{CleanupReport, CleanupRules, clean_log};
use crate::ids::Ids;
use crate::snapshot::Snapshot;

/// Writes a checkpoint of the snapshot's version, in the table's form, and points `_last_checkpoint` to it.
///
/// # Errors
/// The state cannot be read or the store fails.
pub async fn checkpoint(snapshot: &Snapshot, now_ms: i64, ids: &dyn Ids) -> Result<WrittenCheckpoint> {
    let content = CheckpointContent {
        version: snapshot.version(),
        protocol: snapshot.protocol().clone(),
        metadata: snapshot.metadata().clone(),
        txns: live_txns(snapshot, now_ms)?,
        domains: snapshot.domains().values().cloned().collect(),
        adds: snapshot.files().await?.to_vec(),
        removes: snapshot.live_tombstones(now_ms).await?,
        columns: columns(snapshot)?,
        v2: writes_v2(snapshot),
    };
    write_checkpoint(snapshot.store(), &content, &|| ids.uuid()).await
}

/// Removes what no protected version needs any more, after a checkpoint at the snapshot's version; nothing where the table does not
/// want its log cleaned.
///
/// # Errors
/// The store fails.
pub async fn clean(snapshot: &Snapshot, now_ms: i64) -> Result<CleanupReport> {
    let config = snapshot.config();
    if !config.expired_log_cleanup()? || config.supports("catalogManaged") {
        return Ok(CleanupReport::default());
    }
    let rules = CleanupRules {
        now_ms,
        retention_ms: config.log_retention()?.to_millis(),
        protect_before: if config.supports("checkpointProtection") { config.checkpoint_protection_before()? } else { 0 },
        v2: writes_v2(snapshot),
    };
    clean_log(snapshot.store(), snapshot.version(), &rules).await
}

fn writes_v2(snapshot: &Snapshot) -> bool {
    snapshot.config().supports("v2Checkpoint") && snapshot.config().wants_v2_checkpoints()
}

/// The application transactions that the table's retention keeps.
fn live_txns(snapshot: &Snapshot, now_ms: i64) -> Result<Vec<SetTransaction>> {
    let all = snapshot.txns().values();
    let Some(retention) = snapshot.config().set_transaction_retention()? else { return Ok(all.cloned().collect()) };
    let since = now_ms.saturating_sub(retention.to_millis());
    Ok(all.filter(|t| t.last_updated.is_some_and(|at| at > since)).cloned().collect())
}

/// The optional columns of a checkpoint of this table.
fn columns(snapshot: &Snapshot) -> Result<CheckpointColumns> {
    let config = snapshot.config();
    let typed = config.write_stats_as_struct()?;
    let schema = snapshot.schema();
    let partition: Vec<StructField> = snapshot
        .partition_columns()
        .iter()
        .filter_map(|name| schema.field(name))
        .map(|f| StructField::nullable(f.physical_name(), f.data_type.clone()))
        .collect();
    Ok(CheckpointColumns {
        stats_text: config.write_stats_as_json()?,
        stats_parsed: if typed { stats_schema(snapshot)? } else { None },
        partition_parsed: (typed && !partition.is_empty()).then(|| StructType::new(partition)),
    })
}

/// The schema of `stats_parsed`: the statistics of this table as typed columns.
fn stats_schema(_snapshot: &Snapshot) -> Result<Option<StructType>> {
    Ok(None)
}
