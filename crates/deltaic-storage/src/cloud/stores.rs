//! Log store and data store of one table on an object store.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
};
use tokio::time::Instant;

use super::deletes::{BATCH, delete_keys};
use super::failure::{is_final, to_delta};
use super::limits::Limits;
use super::listing::listing;
use super::markers::without_markers;
use super::odd::Odd;
use super::probe::Gate;
use super::wire::Kept;
use crate::object_path::{from_object_path, to_object_path};
use crate::root::TableRoot;
use crate::unfinished::{is_of_probe, is_unfinished_write};
use crate::{
    DataStore, DeleteOutcome, DeleteStream, Descend, DirOutcome, FileMeta, FileStream, LOG_DIR,
    LogStore, Odds, PutOutcome,
};

/// A table's view of the store.
#[derive(Clone)]
pub(super) struct CloudTable {
    store: Arc<dyn ObjectStore>,
    root: TableRoot,
    gate: Arc<Gate>,
    limits: Limits,
    kept: Kept,
}

impl std::fmt::Debug for CloudTable {
    /// Without the client: among its settings are addresses of proxies with passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CloudTable({})", self.root)
    }
}

impl CloudTable {
    pub(super) fn new(
        store: Arc<dyn ObjectStore>,
        root: TableRoot,
        gate: Arc<Gate>,
        limits: Limits,
    ) -> CloudTable {
        CloudTable {
            store,
            root,
            gate,
            limits,
            kept: Kept::default(),
        }
    }

    /// The same, whose client notes what answers say of deletions.
    pub(super) fn noting(self, kept: Kept) -> CloudTable {
        CloudTable { kept, ..self }
    }

    fn key(&self, relative: &str) -> Path {
        to_object_path(&self.root.absolute(relative))
    }

    /// The path of an entry below a folder, relative to the table; an absolute one where the folder is none of the table's.
    fn relative(&self, folder: &str, entry: &str) -> String {
        let absolute = format!(
            "{}/{entry}",
            self.root.absolute(folder).trim_end_matches('/')
        );
        match self.root.relativize(&absolute) {
            Some(relative) => relative.to_owned(),
            None => absolute,
        }
    }

    fn log_key(&self, name: &str) -> Path {
        self.key(&format!("{LOG_DIR}/{name}"))
    }

    fn failed(&self, operation: &str, key: &Path, error: &object_store::Error) -> DeltaError {
        to_delta(operation, &self.root.place(&from_object_path(key)), error)
    }

    async fn get(&self, key: &Path) -> Result<Bytes> {
        let found = match self.store.get(key).await {
            Ok(found) => found.bytes().await,
            Err(error) => Err(error),
        };
        found.map_err(|error| self.failed("read", key, &error))
    }

    async fn get_part(&self, key: &Path, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return self.head(key).await.and_then(|found| match found {
                Some(_) => Ok(Bytes::new()),
                None => Err(crate::error::not_found(
                    &self.root.place(&from_object_path(key)),
                )),
            });
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        let part = match self.store.get_opts(key, options).await {
            Ok(found) => found.bytes().await,
            Err(error) => Err(error),
        };
        match part {
            Ok(bytes) => Ok(bytes),
            // A range behind the end is no part of the file; only then is its size asked for.
            Err(error) if !is_final(&error) => match self.head(key).await? {
                Some(meta) if meta.size <= range.start => Ok(Bytes::new()),
                _ => Err(self.failed("read", key, &error)),
            },
            Err(error) => Err(self.failed("read", key, &error)),
        }
    }

    async fn head(&self, key: &Path) -> Result<Option<ObjectMeta>> {
        match self.store.head(key).await {
            Ok(meta) => Ok(Some(meta)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed("look up", key, &error)),
        }
    }

    /// Put-if-absent. An answer that leaves open whether the file was made (a lost connection, a server that failed, a
    /// repeated request that met its own first try) is settled by reading what is there: our content can only be ours.
    async fn put_new(&self, key: &Path, content: Bytes) -> Result<PutOutcome> {
        let began = Instant::now();
        let mut number = 0;
        loop {
            let payload = PutPayload::from_bytes(content.clone());
            let put = self.store.put_opts(key, payload, PutMode::Create.into());
            let Err(error) = put.await else {
                return Ok(PutOutcome::Created);
            };
            // A refusal too may be that of a repetition whose first try was done.
            match self.read_back(key).await {
                Ok(Some(there)) if there == content => return Ok(PutOutcome::Created),
                _ if is_final(&error) => return Err(self.failed("create", key, &error)),
                Ok(Some(_)) => return Ok(PutOutcome::AlreadyExists),
                // Nothing there: the store was busy with another request on the same key, or never saw ours.
                Ok(None) => {}
                Err(_) if number == 0 => {}
                Err(unread) => return Err(self.unclear(key, &unread)),
            }
            match self.limits.pause(number, began) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.unclear(key, &error)),
            }
            number += 1;
        }
    }

    async fn read_back(&self, key: &Path) -> object_store::Result<Option<Bytes>> {
        match self.store.get(key).await {
            Ok(found) => found.bytes().await.map(Some),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The error of a put whose outcome could not be found out.
    fn unclear(&self, key: &Path, error: &object_store::Error) -> DeltaError {
        self.failed("create", key, error).with_hint(
            "the store did not say whether the file was made: check that the endpoint answers, look with DESCRIBE HISTORY \
             whether the statement took effect, and run it again if it did not",
        )
    }

    /// Deletes keys; see [`delete_keys`].
    async fn remove(&self, keys: &[Path]) -> Vec<Result<DeleteOutcome>> {
        let failed = |key: &Path, error: &object_store::Error| self.failed("delete", key, error);
        let outcomes = delete_keys(&self.store, self.limits, keys, failed).await;
        outcomes
            .into_iter()
            .map(|outcome| outcome.map(|()| DeleteOutcome::Deleted))
            .collect()
    }

    async fn remove_one(&self, key: Path) -> Result<DeleteOutcome> {
        let outcome = self.remove(&[key]).await.pop();
        outcome.unwrap_or(Ok(DeleteOutcome::Missing))
    }

    /// Objects below a folder in the store's order, without the markers that stand for folders.
    fn below(&self, folder: &str, after: Option<Path>) -> FileStream {
        self.below_noting(folder, after, Arc::new(|_: &str| {}))
    }

    /// The same; keys that no request can name are told to `odd`, relative to the folder.
    fn below_noting(&self, folder: &str, after: Option<Path>, odd: Odds) -> FileStream {
        let base = format!("{}/", folder.trim_end_matches('/'));
        let prefix = to_object_path(folder);
        let prefix = (!prefix.as_ref().is_empty()).then_some(prefix);
        let place = self.root.place(folder);
        // OneLake answers a listing from a key with nothing: https://github.com/apache/arrow-rs-object-store/issues/695
        let offsets = !self.root.bucket().fabric;
        listing(Arc::clone(&self.store), prefix, after, self.limits, offsets)
            .map(move |entry| match entry {
                Ok(meta) => Ok(match Odd::of(&meta.location) {
                    None => to_meta(&meta, &base),
                    Some(Odd::Folder) => None,
                    Some(Odd::Unnameable(key)) => {
                        odd(key.strip_prefix(&base[1..]).unwrap_or(&key));
                        None
                    }
                }),
                Err(error) => Err(to_delta("list", &place, &error)),
            })
            .try_filter_map(|entry| async move { Ok(entry) })
            .boxed()
    }
}

fn to_meta(meta: &ObjectMeta, base: &str) -> Option<FileMeta> {
    let absolute = from_object_path(&meta.location);
    let path = absolute.strip_prefix(base)?;
    if path.is_empty() || path.ends_with("_$folder$") {
        return None;
    }
    Some(file(path, meta))
}

fn file(path: &str, meta: &ObjectMeta) -> FileMeta {
    // Azure's listings write a tag without the quotes that its other answers have.
    let tag = meta.e_tag.as_deref();
    FileMeta {
        path: path.to_owned(),
        size: meta.size,
        modified_ms: meta.last_modified.timestamp_millis(),
        is_dir: false,
        e_tag: tag.map(|tag| tag.trim_matches('"').to_owned()),
    }
}

/// The name before `start` from which a listing that begins after a name holds `start` too.
fn before(start: &str) -> Option<&str> {
    let (at, _) = start.char_indices().next_back()?;
    (at > 0).then(|| &start[..at])
}

/// Whether a name is the number of version 0.
fn is_first(start: &str) -> bool {
    start.bytes().all(|digit| digit == b'0')
}

#[async_trait]
impl LogStore for CloudTable {
    async fn read(&self, name: &str) -> Result<Bytes> {
        self.get(&self.log_key(name)).await
    }

    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        self.get_part(&self.log_key(name), range).await
    }

    fn list_from(&self, start: &str) -> FileStream {
        let start = start.to_owned();
        // In front of the first version there is little; a listing of all needs no trust in offsets.
        let after = before(&start)
            .filter(|_| !is_first(&start))
            .map(|name| self.log_key(name));
        self.below(&self.root.absolute(LOG_DIR), after)
            // Not every store begins where it is asked to.
            .try_filter(move |entry| {
                let wanted = !entry.path.contains('/')
                    && !is_of_probe(&entry.path)
                    && entry.path.as_str() >= start.as_str();
                async move { wanted }
            })
            .boxed()
    }

    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        self.gate.pass(&self.store, &self.root, self.limits).await?;
        self.put_new(&self.log_key(name), content).await
    }

    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()> {
        let key = self.log_key(name);
        self.store
            .put(&key, PutPayload::from_bytes(content))
            .await
            .map(|_| ())
            .map_err(|error| self.failed("write", &key, &error))
    }

    async fn delete(&self, name: &str) -> Result<DeleteOutcome> {
        let key = self.log_key(name);
        match self.head(&key).await? {
            Some(_) => self.remove_one(key).await,
            None => Ok(DeleteOutcome::Missing),
        }
    }

    async fn stat(&self, name: &str) -> Result<Option<FileMeta>> {
        let found = self.head(&self.log_key(name)).await?;
        Ok(found.map(|meta| file(name, &meta)))
    }

    /// Objects of probes whose process has died.
    async fn remove_unfinished(&self, before_ms: i64) -> Result<u64> {
        let mut entries = self.below(&self.root.absolute(LOG_DIR), Some(self.log_key("-")));
        let mut old = Vec::new();
        // In the order of names, those that begin with a dot come before those of versions.
        while let Some(entry) = entries.try_next().await? {
            if is_of_probe(&entry.path) && entry.modified_ms < before_ms {
                old.push(self.log_key(&entry.path));
            } else if entry.path.starts_with(|c: char| c.is_ascii_digit()) {
                break;
            }
        }
        let mut gone = 0;
        for outcome in self.remove(&old).await {
            outcome?;
            gone += 1;
        }
        Ok(gone)
    }
}

#[async_trait]
impl DataStore for CloudTable {
    fn list(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        self.list_noting(prefix, descend, Arc::new(|_: &str| {}))
    }

    fn list_noting(&self, prefix: &str, descend: Option<Descend>, odd: Odds) -> FileStream {
        let folder = prefix.trim_end_matches('/').to_owned();
        let absolute = self.root.absolute(&folder);
        let entries = without_markers(
            self.below_noting(&absolute, None, odd),
            Arc::clone(&self.store),
            self.root.clone(),
            absolute,
        );
        entries
            .map_ok(move |mut entry| {
                if !folder.is_empty() {
                    entry.path = format!("{folder}/{}", entry.path);
                }
                entry
            })
            .try_filter(move |entry| {
                let wanted = descend.as_ref().is_none_or(|descend| {
                    entry
                        .path
                        .match_indices('/')
                        .all(|(at, _)| descend(&entry.path[..at]))
                });
                async move { wanted }
            })
            .boxed()
    }

    async fn stat(&self, path: &str) -> Result<Option<FileMeta>> {
        let key = self.key(path);
        if !key.as_ref().is_empty()
            && let Some(meta) = self.head(&key).await?
        {
            return Ok(Some(file(path, &meta)));
        }
        let mut inside = self.below(&self.root.absolute(path), None);
        while let Some(entry) = inside.try_next().await? {
            // What nobody has finished yet makes no folder.
            if !is_unfinished_write(&self.relative(path, &entry.path)) {
                return Ok(Some(FileMeta {
                    path: path.to_owned(),
                    size: 0,
                    modified_ms: 0,
                    is_dir: true,
                    e_tag: None,
                }));
            }
        }
        Ok(None)
    }

    async fn read(&self, path: &str) -> Result<Bytes> {
        self.get(&self.key(path)).await
    }

    async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        self.get_part(&self.key(path), range).await
    }

    async fn create(&self, path: &str, content: Bytes) -> Result<PutOutcome> {
        self.put_new(&self.key(path), content).await
    }

    async fn delete_file(&self, path: &str) -> Result<DeleteOutcome> {
        self.remove_one(self.key(path)).await
    }

    fn batch_size(&self) -> usize {
        BATCH
    }

    fn keeps_deleted(&self) -> bool {
        self.kept.is_so()
    }

    fn delete_files(&self, paths: Vec<String>, parallel: usize) -> DeleteStream<'_> {
        let batches: Vec<Vec<String>> = paths.chunks(BATCH).map(<[String]>::to_vec).collect();
        stream::iter(batches)
            .map(move |batch| async move {
                let keys: Vec<Path> = batch.iter().map(|path| self.key(path)).collect();
                stream::iter(batch.into_iter().zip(self.remove(&keys).await))
            })
            .buffer_unordered(parallel.max(1))
            .flatten()
            .boxed()
    }

    async fn delete_empty_dir(&self, _path: &str) -> Result<DirOutcome> {
        Ok(DirOutcome::Missing)
    }

    async fn set_modified(&self, path: &str, _modified_ms: i64) -> Result<()> {
        Err(DeltaError::unclassed(
            "java.lang.UnsupportedOperationException",
            format!(
                "An object store does not let the time of {} be set",
                self.root.display(path)
            ),
        )
        .with_kind(ErrorKind::Unsupported))
    }
}
