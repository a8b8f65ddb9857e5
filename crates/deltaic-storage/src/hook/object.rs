//! An object store that tells a hook of every operation.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::DeltaError;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::{Area, OpKind, StoreHook, StoreOp};
use crate::object_path::from_object_path;

/// The wrapper.
#[derive(Clone)]
pub struct HookedObjectStore {
    inner: Arc<dyn ObjectStore>,
    hook: Arc<dyn StoreHook>,
}

impl HookedObjectStore {
    /// Wraps a store.
    pub fn new(inner: Arc<dyn ObjectStore>, hook: Arc<dyn StoreHook>) -> HookedObjectStore {
        HookedObjectStore { inner, hook }
    }

    fn begin(&self, kind: OpKind, location: &Path) -> Result<StoreOp> {
        let op = StoreOp {
            kind,
            area: Area::Object,
            path: from_object_path(location),
        };
        self.hook.before(&op).map_err(to_object_error)?;
        Ok(op)
    }

    fn end(&self, op: &StoreOp) -> Result<()> {
        self.hook.after(op).map_err(to_object_error)
    }
}

fn to_object_error(error: DeltaError) -> Error {
    Error::Generic {
        store: "hook",
        source: Box::new(error),
    }
}

impl std::fmt::Debug for HookedObjectStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooked({:?})", self.inner)
    }
}

impl std::fmt::Display for HookedObjectStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooked({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for HookedObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let op = self.begin(OpKind::Write, location)?;
        let result = self.inner.put_opts(location, payload, options).await?;
        self.end(&op)?;
        Ok(result)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let op = self.begin(OpKind::Write, location)?;
        let inner = self.inner.put_multipart_opts(location, options).await?;
        self.end(&op)?;
        Ok(Box::new(HookedUpload {
            inner,
            store: self.clone(),
            location: location.clone(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let op = self.begin(
            if options.head {
                OpKind::Stat
            } else {
                OpKind::Read
            },
            location,
        )?;
        let result = self.inner.get_opts(location, options).await?;
        self.end(&op)?;
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let op = self.begin(OpKind::Read, location)?;
        let parts = self.inner.get_ranges(location, ranges).await?;
        self.end(&op)?;
        Ok(parts)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let asked = locations.map(move |location| {
            let location = location?;
            store.begin(OpKind::Delete, &location)?;
            Ok(location)
        });
        self.inner.delete_stream(asked.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.begin(OpKind::List, prefix.unwrap_or(&Path::ROOT)) {
            Ok(_) => self.inner.list(prefix),
            Err(error) => stream::once(async move { Err(error) }).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let op = self.begin(OpKind::List, prefix.unwrap_or(&Path::ROOT))?;
        let result = self.inner.list_with_delimiter(prefix).await?;
        self.end(&op)?;
        Ok(result)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let op = self.begin(OpKind::Write, to)?;
        self.inner.copy_opts(from, to, options).await?;
        self.end(&op)
    }
}

#[derive(Debug)]
struct HookedUpload {
    inner: Box<dyn MultipartUpload>,
    store: HookedObjectStore,
    location: Path,
}

#[async_trait]
impl MultipartUpload for HookedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        match self.store.begin(OpKind::WritePart, &self.location) {
            Ok(_) => self.inner.put_part(data),
            Err(error) => futures::future::ready(Err(error)).boxed(),
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let op = self.store.begin(OpKind::WriteEnd, &self.location)?;
        let result = self.inner.complete().await?;
        self.store.end(&op)?;
        Ok(result)
    }

    async fn abort(&mut self) -> Result<()> {
        self.store.begin(OpKind::Delete, &self.location)?;
        self.inner.abort().await
    }
}
