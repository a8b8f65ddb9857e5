//! What a listing of the log folder holds, sorted by kind (protocol section "Delta Log Directory").

use deltaic_protocol::error::Result;
use deltaic_protocol::file_name::LogFileName;
use deltaic_storage::{FileMeta, TableStore};
use futures::StreamExt;

use crate::Version;
use crate::checkpoint::CheckpointKind;

/// A commit file.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitFile {
    /// Its version.
    pub version: Version,
    /// Its entry; the modification time is the commit's time where the table keeps no in-commit timestamps.
    pub file: FileMeta,
}

/// A file of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointFile {
    /// The checkpoint's version.
    pub version: Version,
    /// The checkpoint's layout, and for multi-part ones which part it is.
    pub kind: CheckpointKind,
    /// Its entry.
    pub file: FileMeta,
}

/// A file that sums up several commits (protocol section "Log Compaction Files").
#[derive(Debug, Clone, PartialEq)]
pub struct CompactedFile {
    /// The first version in it.
    pub start: Version,
    /// The last version in it.
    pub end: Version,
    /// Its entry.
    pub file: FileMeta,
}

/// The files of a log folder. Each list ascends by version.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogListing {
    /// Commits.
    pub commits: Vec<CommitFile>,
    /// Files of checkpoints, complete or not.
    pub checkpoints: Vec<CheckpointFile>,
    /// Version checksums.
    pub checksums: Vec<CommitFile>,
    /// Compacted log files, by their first version and then by their last.
    pub compacted: Vec<CompactedFile>,
}

impl LogListing {
    /// Sorts entries of the log folder; other files are passed over.
    pub fn from_files(files: impl IntoIterator<Item = FileMeta>) -> Self {
        let mut out = Self::default();
        for file in files {
            out.push(file);
        }
        out
    }

    fn push(&mut self, file: FileMeta) {
        let (version, kind) = match LogFileName::parse(&file.path) {
            LogFileName::Commit { version } => {
                return self.commits.push(CommitFile { version, file });
            }
            LogFileName::Checksum { version } => {
                return self.checksums.push(CommitFile { version, file });
            }
            LogFileName::Compacted { start, end } => {
                return self.compacted.push(CompactedFile { start, end, file });
            }
            LogFileName::Checkpoint { version } => (version, CheckpointKind::Classic),
            LogFileName::MultiPartCheckpoint {
                version,
                part,
                parts,
            } => (version, CheckpointKind::MultiPart { part, parts }),
            LogFileName::V2Checkpoint {
                version,
                json: true,
                ..
            } => (version, CheckpointKind::V2Json),
            LogFileName::V2Checkpoint {
                version,
                json: false,
                ..
            } => (version, CheckpointKind::V2Parquet),
            _ => return,
        };
        self.checkpoints.push(CheckpointFile {
            version,
            kind,
            file,
        });
    }

    /// The newest version that has a commit or a part of a checkpoint.
    pub fn newest(&self) -> Option<Version> {
        let commit = self.commits.last().map(|c| c.version);
        commit.max(self.checkpoints.last().map(|c| c.version))
    }
}

/// Lists the log folder from a version on, up to and including `to` if given.
///
/// # Errors
/// The store fails.
pub async fn list_log(
    store: &TableStore,
    from: Version,
    to: Option<Version>,
) -> Result<LogListing> {
    let mut listing = LogListing::default();
    let mut files = store.log().list_from(&format!("{:020}", from.max(0)));
    while let Some(file) = files.next().await {
        let file = file?;
        if file.is_dir {
            continue;
        }
        if let (Some(to), Some(version)) = (to, leading_version(&file.path))
            && version > to
        {
            break;
        }
        listing.push(file);
    }
    Ok(listing)
}

/// The version that a name of the log folder begins with.
fn leading_version(name: &str) -> Option<Version> {
    name.get(..20)?.parse().ok()
}
