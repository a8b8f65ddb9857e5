//! The data store: every file of a table, by its path below the table's root.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};

use crate::{DeleteOutcome, DirOutcome, FileMeta, FileStream, PutOutcome};

/// Decides, by its path relative to the table, whether a listing enters a directory. The directory itself is listed
/// either way.
pub type Descend = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Is told names in a listing that no request can name, relative to what is listed, to be shown to people.
pub type Odds = Arc<dyn Fn(&str) + Send + Sync>;

/// Files of a bulk deletion with what became of each, in any order.
pub type DeleteStream<'a> = BoxStream<'a, (String, Result<DeleteOutcome>)>;

/// Access to the files of one table. A path is decoded and relative to the table's root (`p=1/part-0.parquet`), or
/// absolute within the same backend when it begins with `/` (files of a shallow clone's source).
#[async_trait]
pub trait DataStore: Send + Sync + std::fmt::Debug {
    /// Everything below `prefix` (a directory, `""` for the table), recursively and as a stream; directories come before
    /// their content where the store has them. Symbolic links to directories are neither followed nor listed. A missing
    /// prefix lists as empty; a directory that cannot be read ends the stream with an error.
    fn list(&self, prefix: &str, descend: Option<Descend>) -> FileStream;

    /// The same for those who must tell what [`DataStore::list`] passes over: objects whose keys no request can name (`a//b`,
    /// `./x`, line breaks), as other programs make them in object stores. One may be told twice.
    fn list_noting(&self, prefix: &str, descend: Option<Descend>, _odd: Odds) -> FileStream {
        self.list(prefix, descend)
    }

    /// The same for those who only read: a symbolic link is what it points to, a directory too. Links that lead back to a
    /// directory above them end the stream with an error, links to nothing are passed over.
    fn list_through_links(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        self.list(prefix, descend)
    }

    /// The entry of one file or directory, `None` where it is missing.
    async fn stat(&self, path: &str) -> Result<Option<FileMeta>>;

    /// The whole content. A missing file is an error of kind `NotFound`.
    async fn read(&self, path: &str) -> Result<Bytes>;

    /// A part of a file; the end is cut at the end of the file.
    async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes>;

    /// Makes a new file; missing folders are made. A crash may leave a part of the file, which no commit names.
    async fn create(&self, path: &str, content: Bytes) -> Result<PutOutcome>;

    /// Removes a file (a symbolic link itself, never what it points to). An object store answers `Deleted` where nothing was
    /// there too.
    async fn delete_file(&self, path: &str) -> Result<DeleteOutcome>;

    /// How many files one request of [`DataStore::delete_files`] removes.
    fn batch_size(&self) -> usize {
        1
    }

    /// Whether an answer to a deletion has said that the store keeps what was deleted for a while (soft delete of Azure).
    fn keeps_deleted(&self) -> bool {
        false
    }

    /// Removes files as [`DataStore::delete_file`] does, with up to `parallel` requests under way. Each path that was given
    /// comes back once: as gone, or with the error that kept it. An unclear answer is an error only where asking again did
    /// not help. Files that have not come back when the stream is dropped may be gone.
    fn delete_files(&self, paths: Vec<String>, parallel: usize) -> DeleteStream<'_> {
        stream::iter(paths)
            .map(move |path| async move {
                let outcome = self.delete_file(&path).await;
                (path, outcome)
            })
            .buffer_unordered(parallel.max(1))
            .boxed()
    }

    /// Removes a directory if nothing is in it.
    async fn delete_empty_dir(&self, path: &str) -> Result<DirOutcome>;

    /// Whether a file or directory is there.
    async fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.stat(path).await?.is_some())
    }

    /// Whether the way from the table's folder to a folder in it goes through a symbolic link, so that its files lie elsewhere and
    /// a listing passes them over. Never so on stores without links.
    async fn leads_through_link(&self, _folder: &str) -> Result<bool> {
        Ok(false)
    }

    /// Sets the modification time (milliseconds since 1970-01-01 UTC); for tests and repairs that move time.
    async fn set_modified(&self, path: &str, modified_ms: i64) -> Result<()>;
}
