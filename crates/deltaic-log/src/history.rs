//! Commits as events: when each version was made, which version stood at a point in time, and what each commit says about itself
//! (protocol sections "Commit Provenance Information" and "In-Commit Timestamps").
//!
//! Without in-commit timestamps a version's time is the modification time of its file, pushed up where needed so that times
//! ascend strictly with versions.

mod timestamp;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use deltaic_protocol::Action;
use deltaic_protocol::action::CommitInfo;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{LOG_DIR, TableStore};
use futures::{StreamExt, TryStreamExt};

use crate::Version;
use crate::commit::read_commit;
use crate::listing::{CommitFile, list_log};
use crate::segment::recreatable_range;
use crate::snapshot::Snapshot;

pub use timestamp::{VersionAt, version_at_timestamp};

/// Commits that are read at the same time.
const CONCURRENCY: usize = 16;

/// A version and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitTime {
    /// The version.
    pub version: Version,
    /// Milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
}

/// A commit in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// The version.
    pub version: Version,
    /// When it was made, milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
    /// What the commit says about itself; `None` where it says nothing.
    pub commit_info: Option<Arc<CommitInfo>>,
}

/// The times of these commits by their files, ascending strictly.
pub fn monotonic_times(commits: &[CommitFile]) -> Vec<CommitTime> {
    let mut out: Vec<CommitTime> = Vec::with_capacity(commits.len());
    for commit in commits {
        let own = commit.file.modified_ms;
        let timestamp = out
            .last()
            .map_or(own, |before| own.max(before.timestamp + 1));
        out.push(CommitTime {
            version: commit.version,
            timestamp,
        });
    }
    out
}

/// The commits up to the snapshot's version, newest first, at most `limit`. Versions whose file has gone are left out.
///
/// # Errors
/// The log cannot be read.
pub async fn history(snapshot: &Snapshot, limit: Option<usize>) -> Result<Vec<HistoryEntry>> {
    let store = snapshot.store();
    let listing = list_log(store, 0, Some(snapshot.version())).await?;
    let mut times = monotonic_times(&listing.commits);
    times.reverse();
    times.truncate(limit.unwrap_or(usize::MAX));
    let since = in_commit_since(snapshot)?;
    let read = futures::stream::iter(times).map(|time| async move {
        let commit_info = match read_commit(store, time.version).await {
            Ok(actions) => commit_info(actions),
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None), // cleaned up meanwhile
            Err(e) => return Err(e),
        };
        let recorded = commit_info
            .as_ref()
            .and_then(|info| info.in_commit_timestamp);
        let timestamp = match recorded {
            Some(recorded) if since.is_some_and(|from| time.version >= from) => recorded,
            _ => time.timestamp,
        };
        Ok::<_, DeltaError>(Some(HistoryEntry {
            version: time.version,
            timestamp,
            commit_info,
        }))
    });
    let entries: Vec<Option<HistoryEntry>> = read.buffered(CONCURRENCY).try_collect().await?;
    Ok(entries.into_iter().flatten().collect())
}

/// The time of one version as the history shows it.
///
/// # Errors
/// The log cannot be read, or the commit's file has gone.
pub async fn commit_timestamp(snapshot: &Snapshot, version: Version) -> Result<i64> {
    if in_commit_since(snapshot)?.is_some_and(|from| version >= from) {
        return in_commit_timestamp(snapshot.store(), version).await;
    }
    let listing = list_log(snapshot.store(), 0, Some(version)).await?;
    let times = monotonic_times(&listing.commits);
    let own = times
        .into_iter()
        .rfind(|t| t.version == version)
        .map(|t| t.timestamp);
    // Where the commit was cleaned away, its checkpoint is the only witness left.
    let checkpoint = || {
        listing
            .checkpoints
            .iter()
            .find(|c| c.version == version)
            .map(|c| c.file.modified_ms)
    };
    own.or_else(checkpoint)
        .ok_or_else(|| no_commits(snapshot.store()))
}

/// The earliest and the latest version that can be read.
///
/// # Errors
/// The log cannot be listed; `DELTA_NO_COMMITS_FOUND` and `DELTA_NO_RECREATABLE_HISTORY_FOUND` where there is nothing to read.
pub async fn available_versions(store: &TableStore) -> Result<(Version, Version)> {
    let listing = list_log(store, 0, None).await?;
    match recreatable_range(&listing) {
        Some(range) => Ok(range),
        None if listing.newest().is_none() => Err(no_commits(store)),
        None => Err(DeltaError::new("DELTA_NO_RECREATABLE_HISTORY_FOUND")
            .param("logPath", store.root().display(LOG_DIR))
            .with_path(store.root().display(LOG_DIR))),
    }
}

/// From which version on in-commit timestamps count; `None` where the table keeps none.
pub(crate) fn in_commit_since(snapshot: &Snapshot) -> Result<Option<Version>> {
    let config = snapshot.config();
    if !config.in_commit_timestamps_enabled()? {
        return Ok(None);
    }
    Ok(Some(
        config
            .in_commit_timestamp_enablement()?
            .map_or(0, |(version, _)| version),
    ))
}

/// The in-commit timestamp of a version.
async fn in_commit_timestamp(store: &TableStore, version: Version) -> Result<i64> {
    let missing = |class: &'static str| {
        DeltaError::new(class)
            .param("featureName", "inCommitTimestamp")
            .param("version", version)
            .with_version(version)
    };
    match commit_info(read_commit(store, version).await?) {
        None => Err(missing("DELTA_MISSING_COMMIT_INFO")),
        Some(info) => info
            .in_commit_timestamp
            .ok_or_else(|| missing("DELTA_MISSING_COMMIT_TIMESTAMP")),
    }
}

fn commit_info(actions: Vec<Action>) -> Option<Arc<CommitInfo>> {
    actions.into_iter().find_map(|a| match a {
        Action::CommitInfo(info) => Some(Arc::from(info)),
        _ => None,
    })
}

fn no_commits(store: &TableStore) -> DeltaError {
    let path = store.root().display(LOG_DIR);
    DeltaError::new("DELTA_NO_COMMITS_FOUND")
        .param("logPath", &path)
        .with_path(path)
}
