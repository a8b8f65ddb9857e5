//! The commit loop: put, and where another writer was first, read what it did, check, and try on top of it.

use std::sync::Arc;
use std::time::Duration;

use deltaic_protocol::Action;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::file_name;
use deltaic_protocol::schema::DataType;
use deltaic_storage::PutOutcome;

use super::conflict::{CommitConflict, ConflictKind, Ours, Winner, check};
use super::prepare::{Prepared, prepare};
use super::{Commit, CommitContext, CommitResult, Transaction, post_commit};
use crate::Version;
use crate::commit::read_commit;
use crate::skipping::Column;
use crate::snapshot::{Snapshot, anchor_holds, apply, first, table_not_found};

/// Longest pause between two attempts, milliseconds.
const MAX_PAUSE_MS: u64 = 250;

/// A look at the log of an object store that is no older than this counts at a commit.
const RECENT: Duration = Duration::from_secs(1);

pub(super) async fn commit(transaction: Transaction, context: &CommitContext) -> Result<Commit> {
    if let Some(read) = &transaction.read
        && transaction.operation.skip_empty
        && transaction.is_empty()
    {
        return Ok(Commit::Committed(CommitResult::unchanged(read)));
    }
    if let Some(read) = &transaction.read
        && let Some(mut conflict) = replaced(read).await?
    {
        conflict.table = table_name(&transaction, context);
        return Ok(Commit::Conflict(Box::new(conflict)));
    }
    let started = context.clock.now_ms();
    let txn_id = context.ids.uuid();
    let first_version = transaction.read.as_ref().map_or(0, |s| s.version() + 1);
    let mut base = transaction.read.clone();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let prepared = prepare(&transaction, base.as_ref(), started, &txn_id, context).await?;
        let put = context
            .committer
            .put(&transaction.store, prepared.version, prepared.bytes.clone())
            .await;
        let lost = match put {
            Ok(PutOutcome::Created) => false,
            Ok(PutOutcome::AlreadyExists) => true,
            Err(error) => match read_commit(&transaction.store, prepared.version).await {
                Ok(_) => true, // the file is there: whose it is, its transaction tells
                // The folder of the log is gone: the table was dropped meanwhile.
                Err(_) if error.kind() == ErrorKind::NotFound && prepared.version > 0 => {
                    return Err(table_not_found(&transaction.store).with_source(error));
                }
                Err(_) => return Err(error.with_version(prepared.version)),
            },
        };
        if !lost {
            return finish(
                &transaction,
                base.as_ref(),
                prepared,
                &txn_id,
                attempts,
                context,
            )
            .await
            .map(Commit::Committed);
        }
        let winners = match winners(&transaction, prepared.version).await {
            // What was there a moment ago is gone with the table.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(table_not_found(&transaction.store).with_source(error));
            }
            other => other?,
        };
        if winners
            .first()
            .is_some_and(|(_, actions)| is_ours(actions, &txn_id))
        {
            return finish(
                &transaction,
                base.as_ref(),
                prepared,
                &txn_id,
                attempts,
                context,
            )
            .await
            .map(Commit::Committed);
        }
        for (version, actions) in &winners {
            if let Some(mut conflict) =
                against(&transaction, &prepared, *version, actions, context)?
            {
                conflict.table = table_name(&transaction, context);
                return Ok(Commit::Conflict(Box::new(conflict)));
            }
        }
        if attempts >= context.max_attempts {
            return Err(DeltaError::new("DELTA_MAX_COMMIT_RETRIES_EXCEEDED")
                .param("numAttempts", attempts)
                .param("startVersion", first_version)
                .param("failVersion", prepared.version)
                .param("numActions", prepared.actions.len())
                .param("timeSpent", context.clock.now_ms() - started)
                .with_path(transaction.store.root().to_string())
                .with_version(prepared.version));
        }
        base = match base {
            Some(base) => Some(apply(&base, winners)?),
            None => {
                return Err(DeltaError::internal(
                    "a new table was committed to and no conflict was found",
                ));
            }
        };
        pause(attempts, context).await;
    }
}

/// Whether the log is no longer the one that was read. A commit on top of it could then land in another table that was made at
/// the same place, or below versions whose commits were cleaned away, where no reader would ever find it.
async fn replaced(read: &Snapshot) -> Result<Option<CommitConflict>> {
    // The look for newer commits was a look at this too; on an object store another one costs a round trip.
    if read.store().root().scheme().is_cloud() && read.was_seen_within(RECENT) {
        return Ok(None);
    }
    if anchor_holds(read).await? {
        return Ok(None);
    }
    let Some(now) = Snapshot::try_load(read.store()).await? else {
        return Err(table_not_found(read.store()));
    };
    let conflict = |kind| CommitConflict {
        kind,
        version: now.version(),
        commit_info: None,
        partition: None,
        table: String::new(),
    };
    if now.metadata().id != read.metadata().id || now.version() < read.version() {
        return Ok(Some(conflict(ConflictKind::MetadataChanged)));
    }
    let commit = file_name::commit(read.version());
    let gone = read.store().log().stat(&commit).await?.is_none();
    // Only touched, as copies and repairs do: it is the same commit.
    Ok((gone && now.version() > read.version()).then(|| conflict(ConflictKind::ConcurrentWrite)))
}

/// The commits from `version` on.
async fn winners(
    transaction: &Transaction,
    version: Version,
) -> Result<Vec<(Version, Vec<Action>)>> {
    let mut out = vec![(version, read_commit(&transaction.store, version).await?)];
    loop {
        let next = version + out.len() as Version;
        match read_commit(&transaction.store, next).await {
            Ok(actions) => out.push((next, actions)),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(out),
            Err(e) => return Err(e),
        }
    }
}

fn is_ours(actions: &[Action], txn_id: &str) -> bool {
    actions
        .iter()
        .any(|a| matches!(a, Action::CommitInfo(info) if info.txn_id.as_deref() == Some(txn_id)))
}

fn against(
    transaction: &Transaction,
    prepared: &Prepared,
    version: Version,
    actions: &[Action],
    context: &CommitContext,
) -> Result<Option<CommitConflict>> {
    let commit_info = actions.iter().find_map(|a| match a {
        Action::CommitInfo(info) => Some(info.as_ref().clone()),
        _ => None,
    });
    let plain = |kind| CommitConflict {
        kind,
        version,
        commit_info: commit_info.clone(),
        partition: None,
        table: String::new(),
    };
    let Some(read) = &transaction.read else {
        return Ok(Some(plain(ConflictKind::ProtocolChanged)));
    };
    if transaction.operation.large || transaction.operation.alone {
        return Ok(Some(plain(ConflictKind::ConcurrentWrite)));
    }
    let columns = partition_columns(read);
    let ours = Ours {
        root: transaction.store.root(),
        scope: &transaction.scope,
        actions: &transaction.actions,
        changes_protocol: transaction.protocol.is_some(),
        changes_metadata: transaction.metadata.is_some(),
        isolation: prepared.isolation,
        metadata: Some(read.metadata()),
        protocol: Some(read.protocol()),
        partition_columns: &columns,
        zone: &context.zone,
    };
    Ok(check(&ours, &Winner { version, actions }))
}

fn partition_columns(snapshot: &Snapshot) -> Vec<(String, Column)> {
    let column = |name: &String| {
        let field = snapshot.schema().field(name);
        let physical = field.map_or(name.as_str(), |f| f.physical_name());
        let data_type = field.map_or(DataType::String, |f| f.data_type.clone());
        (name.clone(), Column::new(physical, data_type))
    };
    snapshot.partition_columns().iter().map(column).collect()
}

fn table_name(transaction: &Transaction, context: &CommitContext) -> String {
    context.shown_name(&transaction.store)
}

/// The first repetition comes at once; later ones after a random pause that grows.
async fn pause(attempts: u32, context: &CommitContext) {
    if attempts < 2 {
        return;
    }
    let bound = (4u64 << attempts.min(7)).min(MAX_PAUSE_MS);
    tokio::time::sleep(Duration::from_millis(context.ids.below(bound))).await;
}

/// The commit is there: the new snapshot, and what follows a commit.
async fn finish(
    transaction: &Transaction,
    base: Option<&Snapshot>,
    prepared: Prepared,
    txn_id: &str,
    attempts: u32,
    context: &CommitContext,
) -> Result<CommitResult> {
    let Prepared {
        version,
        actions,
        in_commit_timestamp,
        ..
    } = prepared;
    if let Some(base) = base.filter(|_| context.write_checksum) {
        base.recall_summary().await;
    }
    let snapshot = match base {
        Some(base) => apply(base, vec![(version, actions)])?,
        None => first(&transaction.store, version, actions)?,
    };
    let done = post_commit::Done {
        snapshot: &snapshot,
        txn_id: Arc::from(txn_id),
        in_commit_timestamp,
        large: transaction.operation.large,
        actions: &transaction.actions,
    };
    let warnings = post_commit::run(&done, context).await;
    Ok(CommitResult {
        version,
        snapshot,
        skipped: false,
        attempts,
        warnings,
    })
}
