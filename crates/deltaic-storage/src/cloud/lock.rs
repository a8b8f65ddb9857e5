//! Commits through a lock, for stores that do not keep two commits apart: the protocol of Delta's `S3DynamoDBLogStore`,
//! so that Spark and deltalake can write the same table at the same time.
//!
//! A commit of version N is: the file under a temporary name (`_delta_log/.tmp/N.json.UUID`), an entry of the lock that
//! is made only if N has none (from here on it is the commit of version N), the copy to `N.json`, and the mark in the
//! entry that the copy is there. Whoever finds an entry without that mark makes the copy and the mark: a writer before
//! its own commit, a reader before it lists the log.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt, stream};

use super::stores::CloudTable;
use crate::root::TableRoot;
use crate::unfinished::TEMP_DIR;
use crate::{DataStore, DeleteOutcome, FileMeta, FileStream, LOG_DIR, LogStore, PutOutcome};

/// A writer that was stopped for longer than this between its file and its entry begins anew: the file may have been
/// swept.
const STALE: Duration = Duration::from_secs(15 * 60);
/// How often a commit is tried whose rival has vanished without a trace.
const TRIES: usize = 4;

/// What a lock knows of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockEntry {
    /// The name of the commit file: `00000000000000000003.json`.
    pub file: String,
    /// Where its content was written first, relative to `_delta_log`.
    pub temp: String,
    /// Whether the commit file is there.
    pub complete: bool,
}

/// A lock: entries of commits, by table and file, of which each can be made once.
#[async_trait]
pub trait CommitLock: Send + Sync + std::fmt::Debug {
    /// The entry of a file, read consistently.
    async fn entry(&self, table: &str, file: &str) -> Result<Option<LockEntry>>;

    /// The entry with the greatest file name, read consistently.
    async fn latest(&self, table: &str) -> Result<Option<LockEntry>>;

    /// Makes an entry if the file has none. `true` where this entry is the one that is there now, also when it took an
    /// earlier try whose answer was lost.
    async fn claim(&self, table: &str, entry: &LockEntry) -> Result<bool>;

    /// Marks an entry as complete, if it is still there as it was.
    async fn complete(&self, table: &str, entry: &LockEntry) -> Result<()>;
}

/// The log store of one table whose commits go through a lock. All else goes to the store itself.
#[derive(Debug)]
pub(super) struct LockedLog {
    table: CloudTable,
    lock: Arc<dyn CommitLock>,
    key: String,
    root: TableRoot,
    /// Whether the store at least takes the condition of a put; it then finds writers that do not know of the lock.
    conditional: bool,
}

impl LockedLog {
    pub(super) fn new(
        table: CloudTable,
        lock: Arc<dyn CommitLock>,
        root: TableRoot,
        conditional: bool,
    ) -> LockedLog {
        LockedLog {
            table,
            lock,
            // As Hadoop prints the path: other writers have the same key only for the same scheme.
            key: root.to_string(),
            root,
            conditional,
        }
    }

    async fn commit(&self, name: &str, version: u64, content: Bytes) -> Result<PutOutcome> {
        for _ in 0..TRIES {
            if self.is_there(name).await? {
                return self.compared(name, &content).await;
            }
            self.finish_previous(version).await?;
            let since = SystemTime::now();
            let entry = LockEntry {
                file: name.to_owned(),
                temp: format!("{TEMP_DIR}/{name}.{}", uuid::Uuid::new_v4()),
                complete: false,
            };
            LogStore::overwrite(&self.table, &entry.temp, content.clone()).await?;
            if since.elapsed().is_ok_and(|passed| passed > STALE) {
                self.discard(&entry).await;
                continue;
            }
            // Where the answer is lost for good, the entry may be there, and the file must be there for it.
            if self.lock.claim(&self.key, &entry).await? {
                return Ok(self.acknowledge(&entry, content).await);
            }
            self.discard(&entry).await;
            if self.finish_rival(name).await? {
                return self.compared(name, &content).await;
            }
        }
        Err(self.vanished(name))
    }

    /// The commit is made. What fails now is finished by whoever comes next.
    async fn acknowledge(&self, entry: &LockEntry, content: Bytes) -> PutOutcome {
        match self.publish(entry, content).await {
            // Somebody commits without the lock; what readers see is theirs.
            Ok(PutOutcome::AlreadyExists) => PutOutcome::AlreadyExists,
            Ok(PutOutcome::Created) | Err(_) => PutOutcome::Created,
        }
    }

    /// Gives a commit its name and marks its entry.
    async fn publish(&self, entry: &LockEntry, content: Bytes) -> Result<PutOutcome> {
        let put = match self.conditional {
            true => self.create_or_overwrite(&entry.file, content).await?,
            // All who come here for one entry write the same.
            false => {
                LogStore::overwrite(&self.table, &entry.file, content).await?;
                PutOutcome::Created
            }
        };
        self.mark(entry).await?;
        Ok(put)
    }

    /// A conditional put, or a plain one where the store turns out to have none.
    async fn create_or_overwrite(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        match LogStore::create(&self.table, name, content.clone()).await {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                LogStore::overwrite(&self.table, name, content).await?;
                Ok(PutOutcome::Created)
            }
            other => other,
        }
    }

    async fn mark(&self, entry: &LockEntry) -> Result<()> {
        self.lock.complete(&self.key, entry).await?;
        self.discard(entry).await;
        Ok(())
    }

    /// Does what is left of a commit that another has begun.
    async fn finish(&self, entry: &LockEntry) -> Result<()> {
        if entry.complete {
            return Ok(());
        }
        if !self.is_there(&entry.file).await? {
            match LogStore::read(&self.table, &entry.temp).await {
                Ok(content) => return self.publish(entry, content).await.map(|_| ()),
                // Another has finished it meanwhile, and removed what was left.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    if !self.is_there(&entry.file).await? {
                        return Err(self.lost(entry).with_source(error));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.mark(entry).await
    }

    /// The commit before this one must have its name first, else readers would find a gap.
    async fn finish_previous(&self, version: u64) -> Result<()> {
        let Some(previous) = version.checked_sub(1) else {
            return Ok(());
        };
        match self.lock.entry(&self.key, &commit_name(previous)).await? {
            Some(entry) => self.finish(&entry).await,
            None => Ok(()),
        }
    }

    /// Finishes the commit that has won; `false` where there is none any more.
    async fn finish_rival(&self, name: &str) -> Result<bool> {
        let Some(entry) = self.lock.entry(&self.key, name).await? else {
            return self.is_there(name).await;
        };
        self.finish(&entry).await?;
        match self.is_there(name).await? {
            true => Ok(true),
            false => Err(self.left_over(name)),
        }
    }

    /// Whether the commit that is there is ours.
    async fn compared(&self, name: &str, content: &Bytes) -> Result<PutOutcome> {
        let there = LogStore::read(&self.table, name).await?;
        Ok(match there == *content {
            true => PutOutcome::Created,
            false => PutOutcome::AlreadyExists,
        })
    }

    async fn is_there(&self, name: &str) -> Result<bool> {
        Ok(LogStore::stat(&self.table, name).await?.is_some())
    }

    /// Removes a temporary file that no entry needs. One that stays is swept later.
    async fn discard(&self, entry: &LockEntry) {
        let path = format!("{LOG_DIR}/{}", entry.temp);
        let _ = self.table.delete_file(&path).await;
    }

    fn error(&self, name: &str, text: String) -> DeltaError {
        DeltaError::unclassed("java.nio.file.FileSystemException", text)
            .with_path(self.root.display(&format!("{LOG_DIR}/{name}")))
    }

    fn vanished(&self, name: &str) -> DeltaError {
        self.error(
            name,
            format!("The entry of the lock for {name} comes and goes: the commit was given up"),
        )
        .with_kind(ErrorKind::Storage)
        .with_hint("run the statement again")
    }

    fn left_over(&self, name: &str) -> DeltaError {
        self.error(
            name,
            format!(
                "Old entries for table {} still exist in the lock: {name} was committed and is gone",
                self.key
            ),
        )
        .with_kind(ErrorKind::Conflict)
        .with_hint(
            "a table that was removed leaves its entries for a day; wait, remove them from the DynamoDB table, or use another \
             location",
        )
    }

    fn lost(&self, entry: &LockEntry) -> DeltaError {
        self.error(
            &entry.file,
            format!(
                "The lock names {} as the commit {}, but neither file is there",
                entry.temp, entry.file
            ),
        )
        .with_kind(ErrorKind::Corrupt)
        .with_hint(
            "the temporary file was removed by hand or by a rule of the bucket before the commit was finished; if it cannot be \
             restored, remove the entry from the DynamoDB table",
        )
    }

    /// What is left of a temporary file of this age: a commit that is unfinished is finished, all else goes.
    async fn sweep(&self, path: &str) -> Result<u64> {
        let Some(temp) = path.strip_prefix(&format!("{LOG_DIR}/")) else {
            return Ok(0);
        };
        let file = temp
            .strip_prefix(&format!("{TEMP_DIR}/"))
            .and_then(|name| name.get(..commit_name(0).len()))
            .filter(|name| commit_version(name).is_some());
        if let Some(file) = file
            && let Some(entry) = self.lock.entry(&self.key, file).await?
            && entry.temp == temp
            && !entry.complete
        {
            self.finish(&entry).await?;
            return Ok(0);
        }
        Ok(match self.table.delete_file(path).await? {
            DeleteOutcome::Deleted => 1,
            DeleteOutcome::Missing => 0,
        })
    }
}

fn commit_name(version: u64) -> String {
    format!("{version:020}.json")
}

fn commit_version(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".json")?;
    (digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

#[async_trait]
impl LogStore for LockedLog {
    async fn read(&self, name: &str) -> Result<Bytes> {
        LogStore::read(&self.table, name).await
    }

    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        LogStore::read_range(&self.table, name, range).await
    }

    fn list_from(&self, start: &str) -> FileStream {
        let log = LockedLog {
            table: self.table.clone(),
            lock: Arc::clone(&self.lock),
            key: self.key.clone(),
            root: self.root.clone(),
            conditional: self.conditional,
        };
        let start = start.to_owned();
        // The newest commit must have its name before the folder is looked at.
        stream::once(async move {
            if let Some(entry) = log.lock.latest(&log.key).await? {
                log.finish(&entry).await?;
            }
            Ok(LogStore::list_from(&log.table, &start))
        })
        .try_flatten()
        .boxed()
    }

    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        match commit_version(name) {
            Some(version) => self.commit(name, version, content).await,
            // Checkpoints and checksums of one version say the same, whoever writes them.
            None if self.conditional => self.create_or_overwrite(name, content).await,
            None if self.is_there(name).await? => self.compared(name, &content).await,
            None => LogStore::overwrite(&self.table, name, content)
                .await
                .map(|()| PutOutcome::Created),
        }
    }

    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()> {
        LogStore::overwrite(&self.table, name, content).await
    }

    async fn delete(&self, name: &str) -> Result<DeleteOutcome> {
        LogStore::delete(&self.table, name).await
    }

    async fn stat(&self, name: &str) -> Result<Option<FileMeta>> {
        LogStore::stat(&self.table, name).await
    }

    async fn remove_unfinished(&self, before_ms: i64) -> Result<u64> {
        let mut files = DataStore::list(&self.table, &format!("{LOG_DIR}/{TEMP_DIR}"), None);
        // Of clients that had no lock.
        let mut removed = LogStore::remove_unfinished(&self.table, before_ms).await?;
        while let Some(file) = files.try_next().await? {
            if !file.is_dir && file.modified_ms < before_ms {
                removed += self.sweep(&file.path).await?;
            }
        }
        Ok(removed)
    }
}
