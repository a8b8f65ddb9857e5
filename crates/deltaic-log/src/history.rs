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
use deltaic_protocol::file_name;
use deltaic_storage::{LOG_DIR, TableStore};
use futures::{StreamExt, TryStreamExt};

use crate::Version;
use crate::commit::{parse_actions, read_commit};
use crate::hint::read_hint;
use crate::listing::{CommitFile, list_log};
use crate::segment::recreatable_range;
use crate::snapshot::Snapshot;

pub use timestamp::{VersionAt, latest_version_at, version_at_timestamp};

/// Commits that a store is asked for together.
const TOGETHER: usize = 16;
/// How many times so many are under way.
const CONCURRENCY: usize = 4;

/// How many commits before the first that is asked for are listed to learn its time.
const LOOK_BACK: Version = 32;

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

/// The times of the commits from `oldest` to `newest`, as they are where the log is seen from its start: many stores keep whole
/// seconds, so that the time of a commit depends on how many came before it in the same second. No more of the log is listed than it
/// takes to find a commit that was not pushed up.
async fn times_from(
    store: &TableStore,
    oldest: Version,
    newest: Version,
) -> Result<Vec<CommitTime>> {
    let mut back = LOOK_BACK;
    loop {
        let from = oldest.saturating_sub(back).max(0);
        let listing = list_log(store, from, Some(newest)).await?;
        let mut times = monotonic_times(&listing.commits);
        let shown = times.partition_point(|time| time.version < oldest);
        let settled = (1..=shown).any(|at| {
            let own = listing.commits.get(at).map(|c| c.file.modified_ms);
            own.is_some_and(|own| own > times[at - 1].timestamp)
        });
        if from == 0 || settled {
            times.drain(..shown);
            return Ok(times);
        }
        back = back.saturating_mul(4);
    }
}

/// The commits up to the snapshot's version, newest first, at most `limit`. Versions whose file has gone are left out.
///
/// # Errors
/// The log cannot be read.
pub async fn history(snapshot: &Snapshot, limit: Option<usize>) -> Result<Vec<HistoryEntry>> {
    let since = in_commit_since(snapshot)?;
    entries(snapshot.store(), snapshot.version(), since, limit).await
}

/// The newest commits of a table, as [`history`] gives them, without putting the table's state together where the commits
/// themselves tell their times.
///
/// # Errors
/// The log cannot be read; `DELTA_NO_COMMITS_FOUND` where there is none.
pub async fn latest_history(store: &TableStore, limit: Option<usize>) -> Result<Vec<HistoryEntry>> {
    let hint = read_hint(store).await.map_or(0, |hint| hint.version);
    let mut newest = list_log(store, hint, None).await?.newest();
    if newest.is_none() && hint > 0 {
        newest = list_log(store, 0, None).await?.newest();
    }
    let newest = newest.ok_or_else(|| no_commits(store))?;
    if records_times(store, newest).await? {
        let snapshot = Snapshot::load(store, Some(newest)).await?;
        return history(&snapshot, limit).await;
    }
    entries(store, newest, None, limit).await
}

/// Whether a commit records its time, or has gone and so does not say: then the table's properties tell which times count. A
/// table that keeps in-commit timestamps has one in each commit.
async fn records_times(store: &TableStore, version: Version) -> Result<bool> {
    match read_commit(store, version).await {
        Ok(actions) => {
            Ok(commit_info(actions).is_some_and(|info| info.in_commit_timestamp.is_some()))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
        Err(e) => Err(e),
    }
}

/// The newest `limit` commits up to a version; those from `since` on have a time of their own.
async fn entries(
    store: &TableStore,
    newest: Version,
    since: Option<Version>,
    limit: Option<usize>,
) -> Result<Vec<HistoryEntry>> {
    let limit = limit.map_or(Version::MAX, |limit| {
        Version::try_from(limit).unwrap_or(Version::MAX)
    });
    let oldest = newest.saturating_sub(limit).saturating_add(1).max(0);
    let mut times = times_from(store, oldest, newest).await?;
    times.reverse();
    let read = futures::stream::iter(times.chunks(TOGETHER).map(<[CommitTime]>::to_vec))
        .map(|times| read_entries(store, times, since));
    let entries: Vec<Vec<HistoryEntry>> = read.buffered(CONCURRENCY).try_collect().await?;
    Ok(entries.into_iter().flatten().collect())
}

async fn read_entries(
    store: &TableStore,
    times: Vec<CommitTime>,
    since: Option<Version>,
) -> Result<Vec<HistoryEntry>> {
    let names = times.iter().map(|time| file_name::commit(time.version));
    let contents = store.log().read_each(names.collect()).await?;
    let mut out = Vec::with_capacity(times.len());
    for (time, bytes) in times.into_iter().zip(contents) {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => continue, // cleaned up meanwhile
            Err(e) => return Err(e),
        };
        let name = file_name::commit(time.version);
        let info = commit_info(parse_actions(store.root(), &name, time.version, &bytes)?);
        let recorded = info.as_ref().and_then(|info| info.in_commit_timestamp);
        let timestamp = match recorded {
            Some(recorded) if since.is_some_and(|from| time.version >= from) => recorded,
            _ => time.timestamp,
        };
        out.push(HistoryEntry {
            version: time.version,
            timestamp,
            commit_info: info,
        });
    }
    Ok(out)
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
