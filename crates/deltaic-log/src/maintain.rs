//! Checkpointing and cleaning a table at a snapshot: fills in what [`crate::checkpoint`] and [`crate::cleanup`] decide by.

use std::sync::Arc;

use deltaic_protocol::action::SetTransaction;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::statistics::{StatisticsColumns, has_bounds};
use futures::TryStreamExt;
use futures::stream::{self, StreamExt};

use crate::checkpoint::{
    AddChunk, AddChunks, CheckpointColumns, CheckpointContent, WrittenCheckpoint, write_checkpoint,
};
use crate::checksum::failed_integrity;
use crate::cleanup::{CleanupReport, CleanupRules, Granularity, clean_log};
use crate::files::FileSummary;
use crate::ids::Ids;
use crate::snapshot::Snapshot;

/// Writes a checkpoint of the snapshot's version, in the table's form, and points `_last_checkpoint` to it. Files that nobody has
/// asked for go from the older checkpoint to the new one without being held in memory.
///
/// # Errors
/// The state cannot be read or the store fails. `DELTA_TXN_LOG_FAILED_INTEGRITY` where the files are not those whose totals memory or
/// the version's checksum has: a checkpoint would make the loss of a commit's content last.
pub async fn checkpoint(
    snapshot: &Snapshot,
    now_ms: i64,
    ids: &dyn Ids,
) -> Result<WrittenCheckpoint> {
    write(snapshot, now_ms, ids, true).await
}

/// The same, whatever the totals say: the log alone counts.
///
/// # Errors
/// The state cannot be read or the store fails.
pub async fn checkpoint_unverified(
    snapshot: &Snapshot,
    now_ms: i64,
    ids: &dyn Ids,
) -> Result<WrittenCheckpoint> {
    write(snapshot, now_ms, ids, false).await
}

async fn write(
    snapshot: &Snapshot,
    now_ms: i64,
    ids: &dyn Ids,
    verify: bool,
) -> Result<WrittenCheckpoint> {
    snapshot.recall_summary().await;
    let recorded = snapshot.known_summary().cloned();
    let v2 = writes_v2(snapshot);
    let num_adds = match &recorded {
        Some(totals) => usize::try_from(totals.num_files).unwrap_or(0),
        None if v2 => snapshot.files().await?.len(),
        None => 0,
    };
    let content = CheckpointContent {
        version: snapshot.version(),
        protocol: snapshot.protocol().clone(),
        metadata: snapshot.metadata().clone(),
        txns: live_txns(snapshot, now_ms)?,
        domains: snapshot.domains().values().cloned().collect(),
        num_adds,
        removes: snapshot.live_tombstones(now_ms).await?,
        columns: columns(snapshot)?,
        v2,
    };
    let recorded = recorded.filter(|_| verify);
    let uuid = || ids.uuid();
    let adds = checked(snapshot, snapshot.file_chunks(), recorded.clone());
    match write_checkpoint(snapshot.store(), &content, adds, &uuid).await {
        Err(e) if is_lost(&e) && snapshot.checkpoint_version().is_some() => {
            // The older checkpoint is damaged; what stands in for it is read as a whole.
            let files = snapshot.files().await?.to_vec();
            let adds = checked(
                snapshot,
                stream::iter([Ok(AddChunk::Files(files))]).boxed(),
                recorded,
            );
            write_checkpoint(snapshot.store(), &content, adds, &uuid).await
        }
        written => written,
    }
}

/// A file of the log is damaged or missing.
fn is_lost(error: &DeltaError) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound)
        && error.class() != Some("DELTA_TXN_LOG_FAILED_INTEGRITY")
}

/// The same files, with an error at their end if their totals are not those that were recorded.
fn checked(
    snapshot: &Snapshot,
    adds: AddChunks<'static>,
    recorded: Option<Arc<FileSummary>>,
) -> AddChunks<'static> {
    let Some(recorded) = recorded else {
        return adds;
    };
    let (store, version) = (snapshot.store().clone(), snapshot.version());
    let begin = (adds, FileSummary::default());
    stream::try_unfold(begin, move |(mut adds, mut counted)| {
        let (recorded, store) = (Arc::clone(&recorded), store.clone());
        async move {
            if let Some(chunk) = adds.try_next().await? {
                counted.include_all(&chunk);
                return Ok(Some((chunk, (adds, counted))));
            }
            match recorded.differences(&counted) {
                None => Ok(None),
                Some(what) => Err(failed_integrity(&store, version, &what)),
            }
        }
    })
    .boxed()
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
    let retention_ms = config.log_retention()?.to_millis();
    truncate(snapshot, now_ms, retention_ms, Granularity::Day).await
}

/// Removes the versions that are older than a retention of the caller's, as far as a checkpoint stands in for them; also where
/// the table does not want its log cleaned.
///
/// # Errors
/// The store fails.
pub async fn truncate(
    snapshot: &Snapshot,
    now_ms: i64,
    retention_ms: i64,
    granularity: Granularity,
) -> Result<CleanupReport> {
    let config = snapshot.config();
    let rules = CleanupRules {
        now_ms,
        retention_ms,
        granularity,
        protect_before: if config.supports("checkpointProtection") {
            config.checkpoint_protection_before()?
        } else {
            0
        },
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
    let Some(retention) = snapshot.config().set_transaction_retention()? else {
        return Ok(all.cloned().collect());
    };
    let since = now_ms.saturating_sub(retention.to_millis());
    Ok(all
        .filter(|t| t.last_updated.is_some_and(|at| at > since))
        .cloned()
        .collect())
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

/// The schema of `stats_parsed`: the statistics of this table as typed columns, under physical names.
fn stats_schema(snapshot: &Snapshot) -> Result<Option<StructType>> {
    let schema = snapshot.schema();
    let clustered = snapshot.clustering_columns().unwrap_or_default();
    let leaves = schema.leaves();
    let always = leaves
        .iter()
        .filter(|l| clustered.iter().any(|c| l.physical_names() == *c));
    let always = always
        .map(|l| l.names().into_iter().map(str::to_owned).collect())
        .collect();
    let chosen = StatisticsColumns::new(snapshot.config())?.with_always(always);
    let (mut bounds, mut nulls) = (StructType::default(), StructType::default());
    for leaf in chosen.select(schema, snapshot.partition_columns()) {
        let Some(field) = leaf.field() else { continue };
        let path = leaf.physical_names();
        insert(&mut nulls, &path, &DataType::Long);
        if has_bounds(&field.data_type) {
            insert(&mut bounds, &path, &field.data_type);
        }
    }
    let mut fields = vec![StructField::nullable("numRecords", DataType::Long)];
    for (name, part) in [
        ("minValues", bounds.clone()),
        ("maxValues", bounds),
        ("nullCount", nulls),
    ] {
        if !part.is_empty() {
            fields.push(StructField::nullable(name, DataType::Struct(part)));
        }
    }
    if snapshot.config().supports("deletionVectors") {
        fields.push(StructField::nullable("tightBounds", DataType::Boolean));
    }
    Ok(Some(StructType::new(fields)))
}

/// Puts a leaf at a path of names, making the structs on the way.
fn insert(at: &mut StructType, path: &[&str], data_type: &DataType) {
    let Some((name, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        at.fields
            .push(StructField::nullable(*name, data_type.clone()));
        return;
    }
    if at.field_exact(name).is_none() {
        at.fields.push(StructField::nullable(
            *name,
            DataType::Struct(StructType::default()),
        ));
    }
    let parent = at.fields.iter_mut().find(|f| f.name == *name);
    if let Some(StructField {
        data_type: DataType::Struct(inner),
        ..
    }) = parent
    {
        insert(inner, rest, data_type);
    }
}
