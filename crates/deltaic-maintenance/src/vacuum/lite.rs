//! VACUUM LITE: candidates from the removals that the log tells of, without listing the folder (spec: delta, section 2.6).

use std::collections::BTreeMap;

use deltaic_log::Snapshot;
use deltaic_log::commit::each_action;
use deltaic_log::history::{CommitTime, VersionAt, monotonic_times, version_at_timestamp};
use deltaic_log::listing::list_log;
use deltaic_protocol::Action;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::file_name;

use super::Keep;
use super::candidates::{Candidate, Found, without_links, without_tables_below};
use super::keep::{relative_path, vector_path};
use super::last_info;

/// What the log tells.
#[derive(Debug, Default)]
pub(super) struct LiteFound {
    /// The candidates.
    pub(super) candidates: Found,
    /// The newest version of which nothing is left to do; none if all of the log is younger than the retention.
    pub(super) end: Option<i64>,
}

/// Reads the commits since the last LITE run, up to the newest one that is older than `cutoff_ms`.
///
/// # Errors
/// `DELTA_CANNOT_VACUUM_LITE` where commits are gone that no LITE run has seen; a commit that cannot be read.
pub(super) async fn find(snapshot: &Snapshot, cutoff_ms: i64, keep: &Keep) -> Result<LiteFound> {
    let table = snapshot.store();
    let commits = list_log(table, 0, Some(snapshot.version())).await?.commits;
    let end = match snapshot.config().in_commit_timestamps_enabled()? {
        true => match version_at_timestamp(snapshot, cutoff_ms).await? {
            VersionAt::Found(commit) | VersionAt::AfterLatest(commit) => Some(commit.version),
            VersionAt::BeforeEarliest(_) => None,
        },
        false => newest_until(&monotonic_times(&commits), cutoff_ms),
    };
    let Some(end) = end else {
        return Ok(LiteFound::default());
    };
    let earliest = commits.first().map_or(0, |commit| commit.version);
    let saved = last_info::read(table).await;
    let start = range_start(earliest, saved)?;

    let mut files: BTreeMap<String, Candidate> = BTreeMap::new();
    let mut note = |path: Option<String>, bytes: i64, time_ms: i64| {
        if let Some(path) = path.filter(|path| time_ms < cutoff_ms && !keep.has_file(path)) {
            let bytes = u64::try_from(bytes).unwrap_or(0);
            files.insert(
                path.clone(),
                Candidate {
                    path,
                    bytes,
                    time_ms,
                    is_dir: false,
                },
            );
        }
    };
    let mut seen = end;
    for version in start..=end {
        let mut failed = Ok(());
        let mut take = |action: Action| -> Result<()> {
            match action {
                Action::Remove(remove) => {
                    let time = remove.deletion_timestamp.unwrap_or(0);
                    if time >= cutoff_ms {
                        // By its writer's clock too young, though its commit is old: the next run must look again.
                        seen = seen.min(version - 1);
                    }
                    note(
                        relative_path(table, &remove.path)?,
                        remove.size.unwrap_or(0),
                        time,
                    );
                    if let Some(vector) = &remove.deletion_vector {
                        note(vector_path(table, vector)?, 0, time);
                    }
                }
                Action::Cdc(cdc) => note(relative_path(table, &cdc.path)?, cdc.size, 0),
                _ => {}
            }
            Ok(())
        };
        let name = file_name::commit(version);
        let content = table.log().read(&name).await?;
        each_action(
            table.root(),
            &name,
            version,
            &content,
            takes_away,
            |action| {
                if failed.is_ok() {
                    failed = take(action);
                }
            },
        )?;
        failed?;
    }
    let candidates = Found {
        found: files.into_values().collect(),
        ..Found::default()
    };
    Ok(LiteFound {
        candidates: without_tables_below(table, without_links(table, candidates).await?).await?,
        end: Some(seen).filter(|seen| *seen >= 0),
    })
}

/// Whether a line of a commit may be of an action that takes a file away. Most lines of most commits speak of other things, and
/// are passed over unread unless they spell letters in another way.
fn takes_away(line: &str) -> bool {
    ["\"remove\"", "\"cdc\"", "\\u"]
        .iter()
        .any(|part| line.contains(part))
}

/// The newest version that was committed at or before a moment.
fn newest_until(times: &[CommitTime], ms: i64) -> Option<i64> {
    times
        .iter()
        .rev()
        .find(|commit| commit.timestamp <= ms)
        .map(|commit| commit.version)
}

/// The first version to look at.
///
/// # Errors
/// `DELTA_CANNOT_VACUUM_LITE`: the log does not reach back to what was seen last.
pub(super) fn range_start(earliest: i64, saved: Option<i64>) -> Result<i64> {
    match saved {
        Some(saved) if saved >= earliest => Ok(saved.saturating_add(1)),
        // What was seen last lies directly before, or the log is complete.
        Some(saved) if saved.saturating_add(1) == earliest => Ok(earliest),
        _ if earliest == 0 => Ok(0),
        _ => Err(DeltaError::new("DELTA_CANNOT_VACUUM_LITE").with_hint("run VACUUM … FULL once")),
    }
}
