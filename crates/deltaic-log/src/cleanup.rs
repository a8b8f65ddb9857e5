//! Log cleanup: commits, checkpoints and checksums that no protected version needs go after the table's log retention
//! (protocol section "Metadata Cleanup").
//!
//! A pure plan first. A version is protected if its commit is younger than the cutoff, which lies at midnight UTC, or if it was the
//! table's newest at that moment; whatever the oldest protected version is reconstructed from stays.

use std::collections::BTreeSet;

use deltaic_protocol::action::Sidecar;
use deltaic_protocol::error::Result;
use deltaic_protocol::file_name::{LogFileName, SIDECAR_DIR};
use deltaic_storage::{FileMeta, LOG_DIR, TableStore};
use futures::StreamExt;

use crate::Version;
use crate::checkpoint::{CheckpointKind, read_header, write_compatible};
use crate::listing::LogListing;
use crate::segment::complete_checkpoints;

#[cfg(test)]
mod tests;

const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;

/// How exact the moment is up to which commits are expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Granularity {
    /// Midnight UTC.
    #[default]
    Day,
    /// The full minute, where a statement asks for the history's end.
    Minute,
}

/// What cleanup decides by.
#[derive(Debug, Clone, Copy)]
pub struct CleanupRules {
    /// Now, milliseconds since 1970-01-01 UTC.
    pub now_ms: i64,
    /// The table's log retention, milliseconds.
    pub retention_ms: i64,
    /// No checkpoint below this version may go (`delta.requireCheckpointProtectionBeforeVersion`).
    pub protect_before: Version,
    /// The table writes V2 checkpoints.
    pub v2: bool,
    /// Down to where the moment of expiry is rounded.
    pub granularity: Granularity,
}

/// What a cleanup removes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupPlan {
    /// Names inside the log folder, oldest version first.
    pub delete: Vec<String>,
    /// Whether a checkpoint is among them.
    pub deletes_checkpoint: bool,
    /// The version whose checkpoint becomes the oldest.
    pub oldest_kept: Version,
}

/// What a cleanup did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CleanupReport {
    /// Files removed.
    pub deleted: usize,
}

/// The moment up to which commits are expired: now less the retention, rounded down.
pub fn cutoff(rules: &CleanupRules) -> i64 {
    let at = rules.now_ms.saturating_sub(rules.retention_ms);
    match rules.granularity {
        Granularity::Day => midnight(at),
        Granularity::Minute => at - at.rem_euclid(MINUTE_MS),
    }
}

fn midnight(at: i64) -> i64 {
    at - at.rem_euclid(DAY_MS)
}

/// Decides what goes.
pub fn plan_cleanup(files: &[FileMeta], rules: &CleanupRules) -> CleanupPlan {
    let listing = LogListing::from_files(files.iter().cloned());
    let cutoff = cutoff(rules);
    let Some(newest) = listing.commits.last().map(|c| c.version) else {
        return CleanupPlan::default();
    };
    // The newest commit that is expired: its state was the table's until the next commit, which is protected.
    let newest_expired = crate::history::monotonic_times(&listing.commits)
        .into_iter()
        .find(|t| t.timestamp > cutoff)
        .map_or(newest, |t| t.version - 1);
    let base = complete_checkpoints(&listing)
        .iter()
        .map(|c| c.version)
        .filter(|v| *v <= newest_expired)
        .max();
    let Some(base) = base.filter(|b| *b >= rules.protect_before) else {
        return CleanupPlan::default();
    };
    let mut doomed: Vec<(Version, &FileMeta, bool)> = Vec::new();
    for file in files.iter().filter(|f| !f.is_dir) {
        let name = LogFileName::parse(&file.path);
        let version = match name {
            // One that begins at the oldest kept checkpoint sums up what that checkpoint holds: nobody reads it again.
            LogFileName::Compacted { start, .. } if start == base => Some(base - 1),
            LogFileName::Compacted { start, .. } => Some(start),
            LogFileName::LastCheckpoint | LogFileName::Other => None,
            ref other => other.version(),
        };
        if let Some(version) = version.filter(|v| *v < base) {
            doomed.push((version, file, name.is_checkpoint()));
        }
    }
    doomed.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
    CleanupPlan {
        deletes_checkpoint: doomed.iter().any(|(_, _, checkpoint)| *checkpoint),
        delete: doomed
            .into_iter()
            .map(|(_, file, _)| file.path.clone())
            .collect(),
        oldest_kept: base,
    }
}

/// Cleans the log after a checkpoint at `version`.
///
/// # Errors
/// The store fails; what was removed until then stays removed, and every protected version stays readable.
pub async fn clean_log(
    store: &TableStore,
    version: Version,
    rules: &CleanupRules,
) -> Result<CleanupReport> {
    let mut files = Vec::new();
    let mut listed = store.log().list_from("0");
    while let Some(file) = listed.next().await {
        files.push(file?);
    }
    let plan = plan_cleanup(&files, rules);
    if plan.delete.is_empty() {
        return Ok(CleanupReport::default());
    }
    if rules.v2 {
        write_compatible_before(store, &files, version).await?;
    }
    let mut deleted = 0;
    for name in &plan.delete {
        store.log().delete(name).await?;
        deleted += 1;
    }
    if plan.deletes_checkpoint {
        deleted += clean_sidecars(store, rules.now_ms).await?;
    }
    Ok(CleanupReport { deleted })
}

/// Gives the newest V2 checkpoint before `version` a twin under a classic name.
async fn write_compatible_before(
    store: &TableStore,
    files: &[FileMeta],
    version: Version,
) -> Result<()> {
    let listing = LogListing::from_files(files.iter().cloned());
    let newest = complete_checkpoints(&listing)
        .into_iter()
        .filter(|c| c.version < version)
        .max_by_key(|c| c.version);
    if let Some(checkpoint) = newest.filter(|c| c.is_v2()) {
        let header = read_header(store, &checkpoint).await?;
        if !header.sidecars.is_empty() {
            // With sidecars all file actions are in them, so the twin is complete.
            write_compatible(store, checkpoint.version, &header).await?;
        }
    }
    Ok(())
}

/// Removes sidecars that no checkpoint names, if they are older than a day.
async fn clean_sidecars(store: &TableStore, now_ms: i64) -> Result<usize> {
    let mut files = Vec::new();
    let mut listed = store.log().list_from("0");
    while let Some(file) = listed.next().await {
        files.push(file?);
    }
    let mut named = BTreeSet::new();
    for checkpoint in complete_checkpoints(&LogListing::from_files(files)) {
        if matches!(checkpoint.kind, CheckpointKind::MultiPart { .. }) {
            continue;
        }
        let header = read_header(store, &checkpoint).await?;
        named.extend(header.sidecars.iter().map(bare_name));
    }
    let cutoff = midnight(now_ms.saturating_sub(DAY_MS));
    let mut deleted = 0;
    let mut sidecars = store.data().list(&format!("{LOG_DIR}/{SIDECAR_DIR}"), None);
    while let Some(file) = sidecars.next().await {
        let file = file?;
        let Some(bare) = file.path.rsplit('/').next() else {
            continue;
        };
        if !file.is_dir && file.modified_ms < cutoff && !named.contains(bare) {
            store.log().delete(&format!("{SIDECAR_DIR}/{bare}")).await?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

fn bare_name(sidecar: &Sidecar) -> String {
    let decoded =
        deltaic_storage::decode_uri_path(&sidecar.path).unwrap_or_else(|_| sidecar.path.clone());
    decoded.rsplit('/').next().unwrap_or_default().to_owned()
}
