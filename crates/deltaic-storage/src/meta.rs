//! What a store says about files: listing entries and the outcomes of writes and deletes.

use deltaic_protocol::error::Result;
use futures::stream::BoxStream;

/// A stream of listing entries.
pub type FileStream = BoxStream<'static, Result<FileMeta>>;

/// One entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileMeta {
    /// Decoded path with `/` between segments, relative to what was listed: the table for data, `_delta_log` for the log.
    pub path: String,
    /// Bytes; 0 for a directory.
    pub size: u64,
    /// Last modification, milliseconds since 1970-01-01 UTC.
    pub modified_ms: i64,
    /// True for a directory. Stores without directories never say so.
    pub is_dir: bool,
    /// What the store calls this content of the file; another content has another tag. Only object stores have one.
    pub e_tag: Option<String>,
}

impl FileMeta {
    /// Whether two entries of one path are of the same content, as far as they tell. A listing may be finer in its times than
    /// an answer about one object, so tags count where there are some.
    pub fn is_same_file(&self, other: &FileMeta) -> bool {
        match (&self.e_tag, &other.e_tag) {
            (Some(a), Some(b)) => self.path == other.path && self.size == other.size && a == b,
            _ => self == other,
        }
    }
}

/// What became of a put-if-absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// This call made the file.
    Created,
    /// The file was there before; nothing was changed.
    AlreadyExists,
}

/// What became of the deletion of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// This call removed the file.
    Deleted,
    /// There was no such file.
    Missing,
}

/// What became of the deletion of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirOutcome {
    /// The directory was empty and is gone.
    Deleted,
    /// The directory has entries and stays.
    NotEmpty,
    /// There is no such directory (always so on stores without directories).
    Missing,
}
