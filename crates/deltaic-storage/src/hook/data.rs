//! A data store that tells a hook of every operation.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::{StreamExt, stream};

use super::{Area, OpKind, StoreHook, StoreOp};
use crate::{DataStore, DeleteOutcome, Descend, DirOutcome, FileMeta, FileStream, PutOutcome};

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

    async fn delete_empty_dir(&self, path: &str) -> Result<DirOutcome> {
        let op = self.begin(OpKind::Delete, path)?;
        let outcome = self.inner.delete_empty_dir(path).await?;
        self.hook.after(&op)?;
        Ok(outcome)
    }

    async fn set_modified(&self, path: &str, modified_ms: i64) -> Result<()> {
        let op = self.begin(OpKind::Touch, path)?;
        self.inner.set_modified(path, modified_ms).await?;
        self.hook.after(&op)
    }
}
