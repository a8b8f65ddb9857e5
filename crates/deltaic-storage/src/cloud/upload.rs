//! Uploads in parts whose end is unclear. Azure refuses a list of blocks that it has taken already (`InvalidBlockList`), so
//! the repetition of a request whose answer was lost fails though the object is there; servers that speak S3's protocol may
//! do the same with `CompleteMultipartUpload`. What is there tells: an object of the length and with the end that was sent. An upload that is given up is taken back: S3 keeps, and bills, the parts of one that
//! was neither completed nor aborted.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{
    Error, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload, PutResult, Result,
    UploadPart,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// How much of the end is compared.
const END: usize = 64 * 1024;

/// How long is waited for uploads that are taken back.
const PATIENCE: Duration = Duration::from_secs(10);

/// Uploads that are being taken back.
#[derive(Debug, Clone, Default)]
pub(super) struct GivenUp(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl GivenUp {
    /// Takes back an upload behind its owner's back. Without a runtime it stays, as it does where a process is killed.
    fn take_back(&self, mut upload: Box<dyn MultipartUpload>) {
        if let Ok(runtime) = Handle::try_current() {
            let task = runtime.spawn(async move {
                // Whoever gave it up has an error already.
                let _ = upload.abort().await;
            });
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|task| !task.is_finished());
            all.push(task);
        }
    }

    /// Waits for those that are under way, for a while.
    pub(super) fn wait(&self) -> BoxFuture<'static, ()> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        async move {
            if !all.is_empty() {
                let _ = tokio::time::timeout(PATIENCE, futures::future::join_all(all)).await;
            }
        }
        .boxed()
    }
}

/// An upload after whose failure the object is looked at.
pub(super) struct Settled {
    /// None when it is over.
    inner: Option<Box<dyn MultipartUpload>>,
    given_up: GivenUp,
    store: Arc<dyn ObjectStore>,
    location: Path,
    /// Bytes of all parts.
    length: u64,
    /// The last part; it has no copy of its own.
    last: PutPayload,
}

impl Settled {
    pub(super) fn new(
        inner: Box<dyn MultipartUpload>,
        store: Arc<dyn ObjectStore>,
        location: Path,
        given_up: GivenUp,
    ) -> Settled {
        Settled {
            inner: Some(inner),
            given_up,
            store,
            location,
            length: 0,
            last: PutPayload::new(),
        }
    }

    /// The object, if it is what was sent.
    fn there(&self) -> BoxFuture<'static, Option<ObjectMeta>> {
        let (store, location) = (Arc::clone(&self.store), self.location.clone());
        let (length, end) = (self.length, end_of(&self.last));
        let look = async move {
            let meta = store.head(&location).await.ok()?;
            if meta.size != length || end.is_empty() {
                return None;
            }
            let range = length - end.len() as u64..length;
            let found = store.get_range(&location, range).await.ok()?;
            (found == end).then_some(meta)
        };
        look.boxed()
    }
}

/// The last bytes of a part.
fn end_of(part: &PutPayload) -> Bytes {
    let mut left = END;
    let mut chunks = Vec::new();
    for chunk in part.as_ref().iter().rev() {
        let from = chunk.len().saturating_sub(left);
        chunks.push(chunk.slice(from..));
        left -= chunk.len() - from;
        if left == 0 {
            break;
        }
    }
    chunks.reverse();
    Bytes::from(chunks.concat())
}

impl fmt::Debug for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Settled({}, {} bytes)", self.location, self.length)
    }
}

#[async_trait]
impl MultipartUpload for Settled {
    fn put_part(&mut self, part: PutPayload) -> UploadPart {
        self.length += part.content_length() as u64;
        self.last = part.clone();
        match &mut self.inner {
            Some(inner) => inner.put_part(part),
            None => async { Err(over()) }.boxed(),
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let done = match &mut self.inner {
            Some(inner) => inner.complete().await,
            None => return Err(over()),
        };
        let done = match done {
            Ok(done) => done,
            Err(error) => match self.there().await {
                Some(meta) => PutResult {
                    e_tag: meta.e_tag,
                    version: meta.version,
                },
                None => return Err(error),
            },
        };
        self.inner = None;
        Ok(done)
    }

    async fn abort(&mut self) -> Result<()> {
        match self.inner.take() {
            Some(mut inner) => inner.abort().await,
            None => Ok(()),
        }
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take() {
            self.given_up.take_back(inner);
        }
    }
}

fn over() -> Error {
    Error::Generic {
        store: "upload",
        source: "the upload is over".into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use object_store::memory::InMemory;

    /// An upload whose last request fails, after it took effect or not.
    #[derive(Debug)]
    struct Unclear {
        inner: Box<dyn MultipartUpload>,
        done: bool,
        aborted: Arc<AtomicUsize>,
    }

    #[async_trait]
    impl MultipartUpload for Unclear {
        fn put_part(&mut self, part: PutPayload) -> UploadPart {
            self.inner.put_part(part)
        }

        async fn complete(&mut self) -> Result<PutResult> {
            if self.done {
                self.inner.complete().await?;
            }
            Err(Error::Generic {
                store: "test",
                source: "400 InvalidBlockList".into(),
            })
        }

        async fn abort(&mut self) -> Result<()> {
            self.aborted.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    #[tokio::test]
    async fn an_upload_that_is_given_up_is_taken_back_once() {
        for (done, aborts) in [(true, 0), (false, 1)] {
            for how in ["dropped", "aborted", "completed"] {
                let store = Arc::new(InMemory::new());
                let key = Path::from("a");
                let aborted = Arc::<AtomicUsize>::default();
                let unclear = Box::new(Unclear {
                    inner: store.put_multipart(&key).await.unwrap(),
                    done,
                    aborted: Arc::clone(&aborted),
                });
                let given_up = GivenUp::default();
                let mut settled = Settled::new(unclear, store, key, given_up.clone());
                settled.put_part("part".into()).await.unwrap();
                match how {
                    "aborted" => settled.abort().await.unwrap(),
                    "completed" => assert_eq!(settled.complete().await.is_ok(), done),
                    _ => {}
                }
                drop(settled);
                given_up.wait().await;
                let expected = if how == "completed" { aborts } else { 1 };
                assert_eq!(aborted.load(Ordering::Relaxed), expected, "{how} {done}");
            }
        }
    }

    async fn upload(
        store: &Arc<InMemory>,
        done: bool,
        parts: &[&'static str],
    ) -> Result<PutResult> {
        let key = Path::from("a");
        let inner = store.put_multipart(&key).await?;
        let unclear = Box::new(Unclear {
            inner,
            done,
            aborted: Arc::default(),
        });
        let mut settled = Settled::new(unclear, store.clone(), key, GivenUp::default());
        for part in parts {
            settled.put_part((*part).into()).boxed().await?;
        }
        settled.complete().await
    }

    #[tokio::test]
    async fn an_upload_that_is_there_as_it_was_sent_is_done() {
        let store = Arc::new(InMemory::new());
        let done = upload(&store, true, &["first ", "last"]).await.unwrap();
        let meta = store.head(&Path::from("a")).await.unwrap();
        assert_eq!((meta.size, meta.e_tag), (10, done.e_tag));
    }

    #[tokio::test]
    async fn an_upload_that_is_not_there_is_an_error() {
        let store = Arc::new(InMemory::new());
        let error = upload(&store, false, &["first ", "last"])
            .await
            .unwrap_err();
        assert!(error.to_string().contains("InvalidBlockList"), "{error}");
        // Another object, of another length or with another end.
        for other in ["shorter", "first LAST"] {
            store.put(&Path::from("a"), other.into()).await.unwrap();
            upload(&store, false, &["first ", "last"])
                .await
                .unwrap_err();
        }
    }

    #[test]
    fn the_end_of_a_part_goes_over_its_chunks() {
        let payload: PutPayload = [Bytes::from(vec![b'a'; END]), Bytes::from_static(b"bc")]
            .into_iter()
            .collect();
        let end = end_of(&payload);
        assert_eq!(end.len(), END);
        assert!(end.ends_with(b"aabc"));
        assert_eq!(end_of(&"short".into()), "short");
    }
}
