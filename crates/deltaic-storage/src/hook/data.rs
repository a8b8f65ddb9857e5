//! A data store that tells a hook of every operation.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::{StreamExt, stream};

use super::{Area, OpKind, StoreHook, StoreOp};
use crate::{
    DataStore, DeleteOutcome, DeleteStream, Descend, DirOutcome, FileMeta, FileStream, Odds,
    PutOutcome,
};

/// The wrapper.
pub struct HookedDataStore {
    inner: Arc<dyn DataStore>,
    hook: Arc<dyn StoreHook>,
}

impl HookedDataStore {
    /// Wraps a store.
    pub fn new(inner: Arc<dyn DataStore>, hook: Arc<dyn StoreHook>) -> HookedDataStore {
        HookedDataStore { inner, hook }
    }

    fn delete_batch(&self, batch: Vec<String>) -> DeleteStream<'_> {
        stream::once(async move {
            let mut refused = Vec::new();
            let mut paths = Vec::new();
            let mut asked = HashMap::new();
            for path in batch {
                match self.begin(OpKind::Delete, &path) {
                    Ok(op) => {
                        paths.push(path.clone());
                        asked.insert(path, op);
                    }
                    Err(error) => refused.push((path, Err(error))),
                }
            }
            let done = self
                .inner
                .delete_files(paths, 1)
                .map(move |(path, outcome)| {
                    let outcome = outcome.and_then(|outcome| match asked.get(&path) {
                        Some(op) => self.hook.after(op).map(|()| outcome),
                        None => Ok(outcome),
                    });
                    (path, outcome)
                });
            stream::iter(refused).chain(done)
        })
        .flatten()
        .boxed()
    }

    fn begin(&self, kind: OpKind, path: &str) -> Result<StoreOp> {
        let op = StoreOp {
            kind,
            area: Area::Data,
            path: path.to_string(),
        };
        self.hook.before(&op)?;
        Ok(op)
    }
}

impl std::fmt::Debug for HookedDataStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooked({:?})", self.inner)
    }
}

#[async_trait]
impl DataStore for HookedDataStore {
    fn list(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        match self.begin(OpKind::List, prefix) {
            Ok(_) => self.inner.list(prefix, descend),
            Err(error) => stream::once(async move { Err(error) }).boxed(),
        }
    }

    fn list_noting(&self, prefix: &str, descend: Option<Descend>, odd: Odds) -> FileStream {
        match self.begin(OpKind::List, prefix) {
            Ok(_) => self.inner.list_noting(prefix, descend, odd),
            Err(error) => stream::once(async move { Err(error) }).boxed(),
        }
    }

    fn list_through_links(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        match self.begin(OpKind::List, prefix) {
            Ok(_) => self.inner.list_through_links(prefix, descend),
            Err(error) => stream::once(async move { Err(error) }).boxed(),
        }
    }

    async fn stat(&self, path: &str) -> Result<Option<FileMeta>> {
        let op = self.begin(OpKind::Stat, path)?;
        let found = self.inner.stat(path).await?;
        self.hook.after(&op)?;
        Ok(found)
    }

    async fn read(&self, path: &str) -> Result<Bytes> {
        let op = self.begin(OpKind::Read, path)?;
        let content = self.inner.read(path).await?;
        self.hook.after(&op)?;
        Ok(content)
    }

    async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        let op = self.begin(OpKind::Read, path)?;
        let content = self.inner.read_range(path, range).await?;
        self.hook.after(&op)?;
        Ok(content)
    }

    async fn create(&self, path: &str, content: Bytes) -> Result<PutOutcome> {
        let op = self.begin(OpKind::Write, path)?;
        let outcome = self.inner.create(path, content).await?;
        self.hook.after(&op)?;
        Ok(outcome)
    }

    async fn delete_file(&self, path: &str) -> Result<DeleteOutcome> {
        let op = self.begin(OpKind::Delete, path)?;
        let outcome = self.inner.delete_file(path).await?;
        self.hook.after(&op)?;
        Ok(outcome)
    }

    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }

    fn keeps_deleted(&self) -> bool {
        self.inner.keeps_deleted()
    }

    /// The hook is told of each file of a batch before the batch, and of each that is gone after it; where the store deletes
    /// one by one, around each.
    fn delete_files(&self, paths: Vec<String>, parallel: usize) -> DeleteStream<'_> {
        let batches: Vec<Vec<String>> = paths
            .chunks(self.batch_size().max(1))
            .map(<[String]>::to_vec)
            .collect();
        stream::iter(batches)
            .map(move |batch| self.delete_batch(batch))
            .flatten_unordered(parallel.max(1))
            .boxed()
    }

    async fn delete_empty_dir(&self, path: &str) -> Result<DirOutcome> {
        let op = self.begin(OpKind::Delete, path)?;
        let outcome = self.inner.delete_empty_dir(path).await?;
        self.hook.after(&op)?;
        Ok(outcome)
    }

    async fn leads_through_link(&self, folder: &str) -> Result<bool> {
        let op = self.begin(OpKind::Stat, folder)?;
        let leads = self.inner.leads_through_link(folder).await?;
        self.hook.after(&op)?;
        Ok(leads)
    }

    async fn set_modified(&self, path: &str, modified_ms: i64) -> Result<()> {
        let op = self.begin(OpKind::Touch, path)?;
        self.inner.set_modified(path, modified_ms).await?;
        self.hook.after(&op)
    }
}
