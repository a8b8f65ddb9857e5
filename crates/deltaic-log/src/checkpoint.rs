//! Checkpoints: the state of a version in a few files (protocol section "Checkpoints").
//!
//! All three kinds are read: classic (one Parquet file), multi-part, and V2 with its sidecars (Parquet or JSON). Written are
//! classic ones and, where the table asks for it, V2.

mod columns;
mod decode;
mod encode;
mod kept;
mod parquet_file;
mod parsed_stats;
mod read;
mod rows;
mod schema;
mod statistics;
mod typed;
mod write;

#[cfg(test)]
mod rows_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_storage::FileMeta;

use crate::Version;

use kept::Kept;
pub use read::{CheckpointHeader, read_adds, read_header, read_removes};
pub(crate) use read::{add_rows, named_chunks, remove_chunks};
pub use rows::{AddChunk, AddRows};
pub use schema::CheckpointColumns;
pub use write::{
    AddChunks, CheckpointContent, WrittenCheckpoint, write_checkpoint, write_compatible,
};

/// Path, as the log has it, and deletion vector of a live file.
pub type Named<'a> = (&'a str, Option<&'a DeletionVectorDescriptor>);

/// How a checkpoint is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckpointKind {
    /// One Parquet file under the version's name; its content may be that of a V2 checkpoint.
    Classic,
    /// Several Parquet files, each a part.
    MultiPart {
        /// Which part, from 1.
        part: u32,
        /// Of how many.
        parts: u32,
    },
    /// A V2 checkpoint whose top file is JSON.
    V2Json,
    /// A V2 checkpoint whose top file is Parquet.
    V2Parquet,
}

/// A complete checkpoint.
#[derive(Debug, Clone)]
pub struct CheckpointFiles {
    /// The version whose state it holds.
    pub version: Version,
    /// Its layout.
    pub kind: CheckpointKind,
    /// Its files, parts in order; sidecars are not among them.
    pub files: Vec<FileMeta>,
    kept: Arc<Kept>,
}

impl PartialEq for CheckpointFiles {
    fn eq(&self, other: &Self) -> bool {
        (self.version, self.kind, &self.files) == (other.version, other.kind, &other.files)
    }
}

impl CheckpointFiles {
    /// A checkpoint of these files, parts in order.
    pub fn new(version: Version, kind: CheckpointKind, files: Vec<FileMeta>) -> Self {
        Self {
            version,
            kind,
            files,
            kept: Arc::default(),
        }
    }

    /// The order of preference: newer first, then by layout, by number of parts, and by name.
    pub(crate) fn rank(&self) -> (Version, u8, u32, Option<&str>) {
        let (layout, parts) = match self.kind {
            CheckpointKind::Classic => (0, 1),
            CheckpointKind::MultiPart { parts, .. } => (1, parts),
            CheckpointKind::V2Json | CheckpointKind::V2Parquet => (2, 1),
        };
        (
            self.version,
            layout,
            parts,
            self.files.first().map(|f| f.path.as_str()),
        )
    }

    /// A V2 checkpoint by its name.
    pub fn is_v2(&self) -> bool {
        matches!(
            self.kind,
            CheckpointKind::V2Json | CheckpointKind::V2Parquet
        )
    }
}
