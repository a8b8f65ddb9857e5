//! A log store that tells a hook of every operation.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::{StreamExt, stream};

use super::{Area, OpKind, StoreHook, StoreOp};
use crate::{DeleteOutcome, FileMeta, FileStream, LogStore, PutOutcome};

/// The wrapper.
pub struct HookedLogStore {
    inner: Arc<dyn LogStore>,
    hook: Arc<dyn StoreHook>,
}

impl HookedLogStore {
    /// Wraps a store.
    pub fn new(inner: Arc<dyn LogStore>, hook: Arc<dyn StoreHook>) -> HookedLogStore {
        HookedLogStore { inner, hook }
    }

    fn begin(&self, kind: OpKind, name: &str) -> Result<StoreOp> {
        let op = StoreOp {
            kind,
            area: Area::Log,
            path: name.to_string(),
        };
        self.hook.before(&op)?;
        Ok(op)
    }
}

impl std::fmt::Debug for HookedLogStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooked({:?})", self.inner)
    }
}

#[async_trait]
impl LogStore for HookedLogStore {
    async fn read(&self, name: &str) -> Result<Bytes> {
        let op = self.begin(OpKind::Read, name)?;
        let content = self.inner.read(name).await?;
        self.hook.after(&op)?;
        Ok(content)
    }

    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        let op = self.begin(OpKind::Read, name)?;
        let content = self.inner.read_range(name, range).await?;
        self.hook.after(&op)?;
        Ok(content)
    }

    fn list_from(&self, start: &str) -> FileStream {
        match self.begin(OpKind::List, start) {
            Ok(_) => self.inner.list_from(start),
            Err(error) => stream::once(async move { Err(error) }).boxed(),
        }
    }

    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        let op = self.begin(OpKind::Write, name)?;
        let outcome = self.inner.create(name, content).await?;
        self.hook.after(&op)?;
        Ok(outcome)
    }

    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()> {
        let op = self.begin(OpKind::Write, name)?;
        self.inner.overwrite(name, content).await?;
        self.hook.after(&op)
    }

    async fn delete(&self, name: &str) -> Result<DeleteOutcome> {
        let op = self.begin(OpKind::Delete, name)?;
        let outcome = self.inner.delete(name).await?;
        self.hook.after(&op)?;
        Ok(outcome)
    }

    async fn stat(&self, name: &str) -> Result<Option<FileMeta>> {
        let op = self.begin(OpKind::Stat, name)?;
        let found = self.inner.stat(name).await?;
        self.hook.after(&op)?;
        Ok(found)
    }

    async fn remove_unfinished(&self, before_ms: i64) -> Result<u64> {
        let op = self.begin(OpKind::Delete, "")?;
        let removed = self.inner.remove_unfinished(before_ms).await?;
        self.hook.after(&op)?;
        Ok(removed)
    }
}
