//! Object stores that are wrong on purpose: without the condition of a put, with a gap between looking and writing,
//! broken off, counted.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};

/// What the store makes of `If-None-Match: *`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// Keeps it.
    Kept,
    /// Does not see it.
    Ignored,
    /// Looks, and writes a moment later.
    LooksFirst,
    /// Refuses, and writes nevertheless.
    WritesAnyway,
    /// Keeps it, and sends away all who meet on one key.
    SendsAway,
}

/// A store around another.
#[derive(Debug)]
pub struct Odd {
    pub inner: Arc<dyn ObjectStore>,
    pub condition: Condition,
    /// After so many requests that change something every request fails, as if this client had died.
    pub alive: Arc<Fuse>,
    pub requests: AtomicUsize,
    pub puts: Mutex<Vec<String>>,
    /// Listings that are to begin after a key are empty, as OneLake's are.
    pub nothing_after_a_key: bool,
    /// Keys that are being created.
    busy: Mutex<HashMap<Path, usize>>,
}

impl Odd {
    pub fn new(inner: Arc<dyn ObjectStore>, condition: Condition) -> Odd {
        Odd {
            inner,
            condition,
            alive: Arc::new(Fuse::endless()),
            requests: AtomicUsize::new(0),
            puts: Mutex::default(),
            nothing_after_a_key: false,
            busy: Mutex::default(),
        }
    }

    fn count(&self) -> Result<()> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.alive.check().map_err(|()| gone())
    }

    async fn create(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let over = PutOptions {
            mode: PutMode::Overwrite,
            ..options.clone()
        };
        match self.condition {
            Condition::Kept => self.inner.put_opts(at, payload, options).await,
            Condition::Ignored => self.inner.put_opts(at, payload, over).await,
            Condition::LooksFirst => {
                if self.inner.head(at).await.is_ok() {
                    return Err(exists(at));
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
                self.inner.put_opts(at, payload, over).await
            }
            Condition::SendsAway => {
                *self.busy.lock().unwrap().entry(at.clone()).or_default() += 1;
                tokio::time::sleep(Duration::from_millis(2)).await;
                if self.busy.lock().unwrap()[at] > 1 {
                    return Err(exists(at));
                }
                self.busy.lock().unwrap().remove(at);
                self.inner.put_opts(at, payload, options).await
            }
            Condition::WritesAnyway => {
                let there = self.inner.head(at).await.is_ok();
                let done = self.inner.put_opts(at, payload, over).await?;
                if there { Err(exists(at)) } else { Ok(done) }
            }
        }
    }
}

/// Burns down by one with every step; then nothing works any more.
#[derive(Debug)]
pub struct Fuse(Mutex<(usize, bool)>);

impl Fuse {
    pub fn endless() -> Fuse {
        Fuse::after(usize::MAX, false)
    }

    /// Fails from the step of this number on; with `done` that step itself still takes effect.
    pub fn after(steps: usize, done: bool) -> Fuse {
        Fuse(Mutex::new((steps, done)))
    }

    /// Whether nothing works any more.
    pub fn is_out(&self) -> bool {
        self.check().is_err()
    }

    fn check(&self) -> std::result::Result<(), ()> {
        if self.0.lock().unwrap().0 == 0 {
            Err(())
        } else {
            Ok(())
        }
    }

    /// A step that changes something: whether it is done, and whether its answer arrives.
    pub fn step(&self) -> (bool, bool) {
        let mut state = self.0.lock().unwrap();
        match state.0 {
            0 => (false, false),
            1 => {
                state.0 = 0;
                (state.1, false)
            }
            usize::MAX => (true, true),
            _ => {
                state.0 -= 1;
                (true, true)
            }
        }
    }
}

/// The error of a store that does not answer.
pub fn gone() -> Error {
    Error::Generic {
        store: "test",
        source: "connection reset".into(),
    }
}

fn exists(path: &Path) -> Error {
    Error::AlreadyExists {
        path: path.to_string(),
        source: "412".into(),
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Odd")
    }
}

#[async_trait]
impl ObjectStore for Odd {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.count()?;
        self.puts.lock().unwrap().push(at.to_string());
        let (does, answers) = self.alive.step();
        if !does {
            return Err(gone());
        }
        let done = match options.mode {
            PutMode::Create => self.create(at, payload, options).await,
            _ => self.inner.put_opts(at, payload, options).await,
        };
        if answers { done } else { Err(gone()) }
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.count()?;
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.count()?;
        self.inner.get_opts(at, options).await
    }

    fn delete_stream(
        &self,
        places: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let (does, answers) = self.alive.step();
        match self.count() {
            Ok(()) if does && answers => self.inner.delete_stream(places),
            _ if does => {
                let inner = self.inner.delete_stream(places);
                stream::once(async move {
                    inner.try_for_each(|_| async { Ok(()) }).await?;
                    Err(gone())
                })
                .boxed()
            }
            _ => stream::iter([Err(gone())]).boxed(),
        }
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.nothing_after_a_key {
            true => stream::empty().boxed(),
            false => self.inner.list_with_offset(prefix, offset),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.count() {
            Ok(()) => self.inner.list(prefix),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.count()?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.count()?;
        self.inner.copy_opts(from, to, options).await
    }
}
