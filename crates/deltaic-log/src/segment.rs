//! Which files of the log make up a version (protocol sections "Delta Log Entries" and "Checkpoints").
//!
//! Pure: a listing in, a [`LogSegment`] or an error out. Zero-length checkpoints and multi-part sets with a missing part do not
//! count. Compacted log files spare reading the commits that they sum up; they never stand in for a commit that is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::file_name;
use deltaic_storage::{FileMeta, LOG_DIR, TableRoot};

use crate::Version;
use crate::checkpoint::{CheckpointFiles, CheckpointKind};
use crate::listing::{CommitFile, CompactedFile, LogListing};

#[cfg(test)]
mod tests;

/// The files from which a version is reconstructed.
#[derive(Debug, Clone, PartialEq)]
pub struct LogSegment {
    /// The version.
    pub version: Version,
    /// The checkpoint below the commits, if one is used.
    pub checkpoint: Option<Arc<CheckpointFiles>>,
    /// The commits above the checkpoint, ascending and without a gap.
    pub commits: Vec<CommitFile>,
    /// Compacted files to read in place of the commits that they sum up, ascending and disjoint.
    pub compacted: Vec<CompactedFile>,
    /// The entry of the file that vouches for the version: its commit, or its checkpoint where the commit is gone.
    pub anchor: FileMeta,
}

/// What to look for in a listing.
#[derive(Debug, Clone, Default)]
pub struct SegmentRequest {
    /// The version wanted; the newest if `None`.
    pub version: Option<Version>,
    /// Checkpoints that turned out to be damaged.
    pub damaged: BTreeSet<Version>,
    /// The retentions of log and checkpoints that a table without its beginning was last known to have, for the error text.
    pub retention: Option<(String, String)>,
}

impl LogSegment {
    /// Picks the newest usable checkpoint and the commits after it. `None` where the listing has neither.
    ///
    /// # Errors
    /// A gap among the commits, or a log whose beginning is gone and that has no checkpoint.
    pub fn try_new(
        root: &TableRoot,
        listing: &LogListing,
        request: &SegmentRequest,
    ) -> Result<Option<Self>> {
        let within = |version: Version| request.version.is_none_or(|wanted| version <= wanted);
        let checkpoint = complete_checkpoints(listing)
            .into_iter()
            .filter(|c| within(c.version) && !request.damaged.contains(&c.version))
            .max_by(|a, b| a.rank().cmp(&b.rank()));
        let base = checkpoint.as_ref().map_or(-1, |c| c.version);
        let commits: Vec<CommitFile> = listing
            .commits
            .iter()
            .filter(|c| c.version > base && within(c.version))
            .cloned()
            .collect();
        let Some(version) = commits
            .last()
            .map(|c| c.version)
            .or(checkpoint.as_ref().map(|c| c.version))
        else {
            return Ok(None);
        };
        check_contiguous(root, base, &commits, request)?;
        let own_commit = commits
            .last()
            .or_else(|| listing.commits.iter().find(|c| c.version == version));
        let anchor = match (own_commit, &checkpoint) {
            (Some(commit), _) => commit.file.clone(),
            (None, Some(checkpoint)) => match checkpoint.files.first() {
                Some(file) => file.clone(),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let compacted = choose_compacted(&listing.compacted, base, version);
        Ok(Some(Self {
            version,
            checkpoint: checkpoint.map(Arc::new),
            commits,
            compacted,
            anchor,
        }))
    }
}

/// The compacted files that replace commits after `base` up to `version`.
///
/// The reference walks the folder in the order of names and takes each compacted file that begins after all it has taken and
/// ends no later than the version; so of several that begin at one version the shortest wins. Where compacted files and commits
/// disagree this choice shows in the rows, so it is made in the same way here.
fn choose_compacted(
    files: &[CompactedFile],
    base: Version,
    version: Version,
) -> Vec<CompactedFile> {
    let mut sorted: Vec<&CompactedFile> = files.iter().collect();
    sorted.sort_by_key(|file| (file.start, file.end));
    let mut out: Vec<CompactedFile> = Vec::new();
    let mut covered = base;
    for file in sorted {
        if file.start > covered && file.end <= version {
            covered = file.end;
            out.push(file.clone());
        }
    }
    out
}

/// All checkpoints of a listing whose files are all there.
pub fn complete_checkpoints(listing: &LogListing) -> Vec<CheckpointFiles> {
    let mut out = Vec::new();
    let mut parts: BTreeMap<(Version, u32), BTreeMap<u32, FileMeta>> = BTreeMap::new();
    for candidate in listing.checkpoints.iter().filter(|c| c.file.size > 0) {
        match candidate.kind {
            CheckpointKind::MultiPart { part, parts: of } => {
                parts
                    .entry((candidate.version, of))
                    .or_default()
                    .insert(part, candidate.file.clone());
            }
            kind => out.push(CheckpointFiles::new(
                candidate.version,
                kind,
                vec![candidate.file.clone()],
            )),
        }
    }
    for ((version, of), files) in parts {
        if files.keys().copied().eq(1..=of) {
            let kind = CheckpointKind::MultiPart { part: 1, parts: of };
            out.push(CheckpointFiles::new(
                version,
                kind,
                files.into_values().collect(),
            ));
        }
    }
    out
}

/// The earliest and the latest version that a listing of the whole log can reconstruct. The earliest is 0 while its commit is
/// there, else the oldest complete checkpoint from which commits lead on without a gap.
pub fn recreatable_range(listing: &LogListing) -> Option<(Version, Version)> {
    let checkpoints = complete_checkpoints(listing);
    let newest_checkpoint = checkpoints.iter().map(|c| c.version).max();
    let latest = listing
        .commits
        .last()
        .map(|c| c.version)
        .max(newest_checkpoint)?;
    // The first version of the run of commits that ends with the newest.
    let mut run = latest + 1;
    for commit in listing.commits.iter().rev() {
        if commit.version + 1 == run {
            run = commit.version;
        }
    }
    if run == 0 {
        return Some((0, latest));
    }
    let earliest = checkpoints
        .iter()
        .map(|c| c.version)
        .filter(|v| *v + 1 >= run)
        .min()?;
    Some((earliest, latest))
}

fn check_contiguous(
    root: &TableRoot,
    base: Version,
    commits: &[CommitFile],
    request: &SegmentRequest,
) -> Result<()> {
    let (Some(first), Some(last)) = (commits.first(), commits.last()) else {
        return Ok(());
    };
    if base < 0 && first.version > 0 {
        return Err(truncated(root, last.version, request));
    }
    let mut before = base;
    for commit in commits {
        if commit.version != before + 1 {
            let list: Vec<String> = commits.iter().map(|c| c.version.to_string()).collect();
            return Err(DeltaError::new("DELTA_VERSIONS_NOT_CONTIGUOUS")
                .param("versionList", list.join(", "))
                .param("startVersion", before)
                .param("endVersion", commit.version)
                .param("versionToLoad", request.version.unwrap_or(-1))
                .with_path(root.display(LOG_DIR))
                .with_version(before + 1));
        }
        before = commit.version;
    }
    Ok(())
}

/// The log's beginning is gone and no checkpoint stands in for it.
fn truncated(root: &TableRoot, version: Version, request: &SegmentRequest) -> DeltaError {
    let known = request.retention.as_ref();
    let (log, checkpoint) =
        known.map_or(("30 days", "2 days"), |(log, checkpoint)| (log, checkpoint));
    let path = root.display(&format!("{LOG_DIR}/{}", file_name::commit(0)));
    DeltaError::new("DELTA_TRUNCATED_TRANSACTION_LOG")
        .param("path", &path)
        .param("version", version)
        .param("logRetentionKey", "delta.logRetentionDuration")
        .param("logRetention", log)
        .param(
            "checkpointRetentionKey",
            "delta.checkpointRetentionDuration",
        )
        .param("checkpointRetention", checkpoint)
        .with_path(path)
        .with_version(version)
}
