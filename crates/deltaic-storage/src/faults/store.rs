//! The layer.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeDelta;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};

use super::Fault;
use super::schedule::{Chosen, Request, Schedule};

/// Keys of one request of S3.
const BATCH: usize = 1000;
/// Writes that a stale listing can leave out.
const REMEMBERED: usize = 64;

/// A store over another in which some requests go wrong.
#[derive(Clone)]
pub struct FaultStore {
    inner: Arc<dyn ObjectStore>,
    shared: Arc<Shared>,
    skew: TimeDelta,
}

struct Shared {
    schedule: Schedule,
    expired: AtomicBool,
    /// The keys written last.
    fresh: Mutex<VecDeque<Path>>,
}

impl FaultStore {
    /// The layer over a store.
    pub fn new(inner: Arc<dyn ObjectStore>, schedule: Schedule) -> FaultStore {
        FaultStore {
            inner,
            shared: Arc::new(Shared {
                schedule,
                expired: AtomicBool::new(false),
                fresh: Mutex::default(),
            }),
            skew: TimeDelta::zero(),
        }
    }

    /// The layer with a server whose clock is ahead by so many milliseconds (behind, where negative): modification times
    /// are moved by them.
    pub fn with_clock_skew(mut self, milliseconds: i64) -> FaultStore {
        self.skew = TimeDelta::milliseconds(milliseconds);
        self
    }

    /// The fault of a request, if it is one that the server never sees: then its error.
    async fn begin(
        &self,
        request: Request,
        at: &Path,
        conditional: bool,
    ) -> Result<Option<Chosen>> {
        if self.shared.expired.load(Ordering::SeqCst) {
            return Err(denied(at, "the credentials have expired"));
        }
        let Some(chosen) = self.shared.schedule.next(request) else {
            return Ok(None);
        };
        match chosen.fault {
            Fault::LostRequest => Err(lost(chosen)),
            Fault::Status(status) => Err(refused(status, at, conditional, chosen)),
            Fault::Expired => {
                self.shared.expired.store(true, Ordering::SeqCst);
                Err(denied(at, chosen))
            }
            Fault::Delay(delay) => {
                tokio::time::sleep(delay).await;
                Ok(None)
            }
            Fault::LostAnswer
            | Fault::Duplicate
            | Fault::Partial
            | Fault::Stale(_)
            | Fault::Truncated => Ok(Some(chosen)),
        }
    }

    fn fresh(&self) -> MutexGuard<'_, VecDeque<Path>> {
        self.shared
            .fresh
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self, at: &Path) {
        let mut fresh = self.fresh();
        fresh.push_back(at.clone());
        if fresh.len() > REMEMBERED {
            fresh.pop_front();
        }
    }

    fn skewed(&self, mut meta: ObjectMeta) -> ObjectMeta {
        meta.last_modified += self.skew;
        meta
    }

    fn listed(
        &self,
        prefix: Option<&Path>,
        list: impl FnOnce(&dyn ObjectStore) -> BoxStream<'static, Result<ObjectMeta>> + Send + 'static,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let store = self.clone();
        let at = prefix.cloned().unwrap_or_default();
        stream::once(async move {
            let chosen = match store.begin(Request::List, &at, false).await {
                Ok(chosen) => chosen,
                Err(error) => return stream::iter([Err(error)]).boxed(),
            };
            let skewing = store.clone();
            let entries = list(store.inner.as_ref())
                .map_ok(move |meta| skewing.skewed(meta))
                .boxed();
            match chosen {
                Some(chosen) => store.spoilt(chosen, entries).await,
                None => entries,
            }
        })
        .flatten()
        .boxed()
    }

    async fn spoilt(
        &self,
        chosen: Chosen,
        entries: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        match chosen.fault {
            Fault::Partial | Fault::Truncated => {
                let mut all: Vec<_> = entries.collect().await;
                all.truncate(all.len() / 2);
                stream::iter(all)
                    .chain(stream::iter([Err(lost(chosen))]))
                    .boxed()
            }
            Fault::LostAnswer => stream::iter([Err(lost(chosen))]).boxed(),
            Fault::Stale(writes) => {
                let hidden: Vec<Path> = self.fresh().iter().rev().take(writes).cloned().collect();
                entries
                    .try_filter(move |meta| {
                        futures::future::ready(!hidden.contains(&meta.location))
                    })
                    .boxed()
            }
            _ => entries,
        }
    }

    async fn delete_batch(&self, batch: Vec<Path>) -> Vec<Result<Path>> {
        let at = batch.first().cloned().unwrap_or_default();
        let chosen = match self.begin(Request::Delete, &at, false).await {
            Ok(chosen) => chosen,
            // One answer for the whole request.
            Err(error) => return vec![Err(error)],
        };
        let asked = |keys: Vec<Path>| stream::iter(keys.into_iter().map(Ok)).boxed();
        match chosen {
            Some(chosen) if matches!(chosen.fault, Fault::LostAnswer | Fault::Truncated) => {
                let _: Vec<_> = self.inner.delete_stream(asked(batch)).collect().await;
                vec![Err(lost(chosen))]
            }
            Some(chosen) if chosen.fault == Fault::Partial => {
                let half = batch[..batch.len() / 2].to_vec();
                let mut done: Vec<_> = self.inner.delete_stream(asked(half)).collect().await;
                done.push(Err(lost(chosen)));
                done
            }
            Some(chosen) if chosen.fault == Fault::Duplicate => {
                let _: Vec<_> = self
                    .inner
                    .delete_stream(asked(batch.clone()))
                    .collect()
                    .await;
                self.inner.delete_stream(asked(batch)).collect().await
            }
            _ => self.inner.delete_stream(asked(batch)).collect().await,
        }
    }
}

fn lost(chosen: Chosen) -> Error {
    Error::Generic {
        store: "faults",
        source: Box::new(chosen),
    }
}

fn denied(at: &Path, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::PermissionDenied {
        path: at.to_string(),
        source: why.into(),
    }
}

/// A status as the clients of S3 and Azure show it.
fn refused(status: u16, at: &Path, conditional: bool, chosen: Chosen) -> Error {
    let (path, source) = (at.to_string(), Box::new(chosen));
    match status {
        401 => Error::Unauthenticated { path, source },
        403 => Error::PermissionDenied { path, source },
        404 => Error::NotFound { path, source },
        409 => Error::AlreadyExists { path, source },
        412 if conditional => Error::AlreadyExists { path, source },
        412 => Error::Precondition { path, source },
        501 => Error::NotImplemented {
            operation: format!("a request on {path}"),
            implementer: source.to_string(),
        },
        _ => lost(chosen),
    }
}

/// The content up to its middle, and then an error.
fn truncated(found: GetResult, chosen: Chosen) -> GetResult {
    let half = (found.range.end - found.range.start) / 2;
    let (meta, range, attributes) = (
        found.meta.clone(),
        found.range.clone(),
        found.attributes.clone(),
    );
    let content = stream::once(found.bytes()).map_ok(move |bytes| bytes.slice(..half as usize));
    GetResult {
        payload: GetResultPayload::Stream(content.chain(stream::iter([Err(lost(chosen))])).boxed()),
        meta,
        range,
        attributes,
    }
}

impl fmt::Debug for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FaultStore({:?} over {:?})",
            self.shared.schedule, self.inner
        )
    }
}

impl fmt::Display for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultStore({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultStore {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let conditional = options.mode != PutMode::Overwrite;
        let chosen = self.begin(Request::Put, at, conditional).await?;
        let done = self
            .inner
            .put_opts(at, payload.clone(), options.clone())
            .await?;
        self.written(at);
        match chosen {
            Some(chosen) if chosen.fault == Fault::LostAnswer => Err(lost(chosen)),
            Some(chosen) if chosen.fault == Fault::Duplicate => {
                self.inner.put_opts(at, payload, options).await
            }
            _ => Ok(done),
        }
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let chosen = self.begin(Request::Put, at, false).await?;
        let upload = self.inner.put_multipart_opts(at, options).await?;
        match chosen {
            Some(chosen) if chosen.fault == Fault::LostAnswer => Err(lost(chosen)),
            _ => Ok(upload),
        }
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        let request = if options.head {
            Request::Head
        } else {
            Request::Get
        };
        let chosen = self.begin(request, at, false).await?;
        let mut found = self.inner.get_opts(at, options).await?;
        found.meta = self.skewed(found.meta);
        match chosen {
            Some(chosen) if matches!(chosen.fault, Fault::LostAnswer) => Err(lost(chosen)),
            Some(chosen)
                if request == Request::Get
                    && matches!(chosen.fault, Fault::Truncated | Fault::Partial) =>
            {
                Ok(truncated(found, chosen))
            }
            _ => Ok(found),
        }
    }

    async fn get_ranges(&self, at: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let chosen = self.begin(Request::Get, at, false).await?;
        let parts = self.inner.get_ranges(at, ranges).await?;
        match chosen {
            Some(chosen) if chosen.fault != Fault::Duplicate => Err(lost(chosen)),
            _ => Ok(parts),
        }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        locations
            .try_chunks(BATCH)
            .then(move |batch| {
                let store = store.clone();
                async move {
                    match batch {
                        Ok(batch) => store.delete_batch(batch).await,
                        Err(error) => vec![Err(error.1)],
                    }
                }
            })
            .flat_map(stream::iter)
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let below = prefix.cloned();
        self.listed(prefix, move |inner| inner.list(below.as_ref()))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let (below, offset) = (prefix.cloned(), offset.clone());
        self.listed(prefix, move |inner| {
            inner.list_with_offset(below.as_ref(), &offset)
        })
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let chosen = self
            .begin(Request::List, &prefix.cloned().unwrap_or_default(), false)
            .await?;
        let mut found = self.inner.list_with_delimiter(prefix).await?;
        found.objects = found
            .objects
            .into_iter()
            .map(|meta| self.skewed(meta))
            .collect();
        match chosen.map(|chosen| (chosen.fault, chosen)) {
            Some((Fault::Duplicate, _)) | None => Ok(found),
            Some((Fault::Stale(writes), _)) => {
                let hidden: Vec<Path> = self.fresh().iter().rev().take(writes).cloned().collect();
                found
                    .objects
                    .retain(|meta| !hidden.contains(&meta.location));
                Ok(found)
            }
            Some((_, chosen)) => Err(lost(chosen)),
        }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let chosen = self.begin(Request::Copy, to, true).await?;
        self.inner.copy_opts(from, to, options).await?;
        self.written(to);
        match chosen {
            Some(chosen) if chosen.fault == Fault::LostAnswer => Err(lost(chosen)),
            _ => Ok(()),
        }
    }
}
