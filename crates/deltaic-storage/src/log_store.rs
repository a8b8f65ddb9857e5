//! The log store: files of `_delta_log` by their names.
//!
//! Three promises, checked by the contract suite on every backend:
//! a file appears whole or not at all; of several writers creating one name exactly one sees
//! [`PutOutcome::Created`]; once a write returns, listing shows the file.

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::StreamExt;

use crate::{DeleteOutcome, FileMeta, FileStream, PutOutcome};

/// Files that [`LogStore::read_each`] asks a store for at the same time.
const CONCURRENT_READS: usize = 32;

/// Access to the files of one table's `_delta_log`. Names are relative to that folder (`00000000000000000003.json`,
/// `_sidecars/….parquet`).
#[async_trait]
pub trait LogStore: Send + Sync + std::fmt::Debug {
    /// The whole content of a file. A missing file is an error of kind `NotFound`.
    async fn read(&self, name: &str) -> Result<Bytes>;

    /// The whole content of several files, each as [`read`](Self::read) gives it, in the order of the names. All of it is in
    /// memory at the same time. The outer error is about none of the files.
    async fn read_each(&self, names: Vec<String>) -> Result<Vec<Result<Bytes>>> {
        let contents = futures::stream::iter(names)
            .map(|name| async move { self.read(&name).await })
            .buffered(CONCURRENT_READS)
            .collect();
        Ok(contents.await)
    }

    /// A part of a file; the end is cut at the end of the file.
    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes>;

    /// The entries directly inside the folder whose names are not below `start`, in lexicographic (byte) order.
    /// A missing folder lists as empty; names of unfinished writes are not listed.
    fn list_from(&self, start: &str) -> FileStream;

    /// Put-if-absent: makes the file with its whole content, or changes nothing. The first commit makes the folder where
    /// the store has folders; the files that follow it fail where the folder is gone.
    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome>;

    /// Replaces or makes the file; a reader sees the old or the new content, never a mixture.
    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()>;

    /// Removes a file.
    async fn delete(&self, name: &str) -> Result<DeleteOutcome>;

    /// The entry of one file, `None` where it is missing.
    async fn stat(&self, name: &str) -> Result<Option<FileMeta>>;

    /// Removes what writers that died have left behind, if it was last touched before `before_ms`; the number of files
    /// removed. Stores that leave nothing behind return 0.
    async fn remove_unfinished(&self, before_ms: i64) -> Result<u64>;
}
