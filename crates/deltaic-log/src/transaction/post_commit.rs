//! What follows a commit: its checksum, and at the table's interval a checkpoint and log cleanup. None of it can undo the commit,
//! so failures are told, not raised.

use std::sync::Arc;

use deltaic_protocol::Action;
use deltaic_protocol::error::Result;

use super::CommitContext;
use crate::Version;
use crate::checksum::{ChecksumInput, MAX_FILES, VersionChecksum, write_checksum};
use crate::maintain::{checkpoint, checkpoint_unverified, clean};
use crate::manifest;
use crate::snapshot::Snapshot;

/// A commit that is in the log.
pub(super) struct Done<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) txn_id: Arc<str>,
    pub(super) in_commit_timestamp: Option<i64>,
    /// The commit replaced a state as a whole: readers get a checkpoint of the new one at once.
    pub(super) large: bool,
    /// What was staged.
    pub(super) actions: &'a [Action],
}

/// Does what is due and returns what went wrong. A checksum goes to a store on the network behind the commit's back, if the
/// context has a place for that.
pub(super) async fn run(done: &Done<'_>, context: &CommitContext) -> Vec<String> {
    let mut warnings = Vec::new();
    let version = done.snapshot.version();
    let mut note = |what: &str, result: Result<()>| warnings.extend(failed(what, version, result));
    if context.write_checksum {
        let store = done.snapshot.store().clone();
        let remote = store.root().scheme().is_cloud();
        match (checksum(done).await, &context.later) {
            (Ok(checksum), Some(later)) if remote => {
                let write = async move {
                    let written = write_checksum(&store, version, &checksum).await;
                    failed("the checksum", version, written)
                };
                later.begin(write).await;
            }
            (Ok(checksum), _) => note(
                "the checksum",
                write_checksum(&store, version, &checksum).await,
            ),
            (Err(e), _) => note("the checksum", Err(e)),
        }
    }
    if context.write_checkpoint && (done.large || is_due(done.snapshot)) {
        let now = context.clock.now_ms();
        let (snapshot, ids) = (done.snapshot, context.ids.as_ref());
        let written = if context.checksum_mismatch_is_fatal {
            checkpoint(snapshot, now, ids).await
        } else {
            checkpoint_unverified(snapshot, now, ids).await
        };
        let fine = written.is_ok();
        note("the checkpoint", written.map(|_| ()));
        if fine {
            note(
                "the log cleanup",
                clean(done.snapshot, now).await.map(|_| ()),
            );
        }
    }
    if manifest::is_kept(done.snapshot) {
        let touched = (!done.large).then_some(done.actions);
        note(
            "the symlink manifest",
            manifest::write(done.snapshot, touched).await,
        );
    }
    warnings
}

fn failed(what: &str, version: Version, result: Result<()>) -> Option<String> {
    let error = result.err()?;
    Some(format!("{what} of version {version} failed: {error}"))
}

fn is_due(snapshot: &Snapshot) -> bool {
    // A text that is no number stands for the default: a bad property must not end in a log without checkpoints.
    let interval = snapshot.config().checkpoint_interval().unwrap_or(10);
    snapshot.version() > 0 && interval > 0 && snapshot.version() % interval == 0
}

async fn checksum(done: &Done<'_>) -> Result<VersionChecksum> {
    let snapshot = done.snapshot;
    let summary = snapshot.summary().await?;
    let few = usize::try_from(summary.num_files).is_ok_and(|n| n <= MAX_FILES);
    let files = if few {
        Some(snapshot.files().await?)
    } else {
        None
    };
    Ok(VersionChecksum::new(&ChecksumInput {
        txn_id: &done.txn_id,
        summary: &summary,
        files: files.as_deref(),
        in_commit_timestamp: done.in_commit_timestamp,
        txns: snapshot.txns(),
        domains: snapshot.domains(),
        metadata: snapshot.metadata(),
        protocol: snapshot.protocol(),
        deletion_vectors: snapshot.config().supports("deletionVectors"),
    }))
}
