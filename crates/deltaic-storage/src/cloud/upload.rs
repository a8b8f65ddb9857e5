//! Uploads in parts whose end is unclear. Azure refuses a list of blocks that it has taken already (`InvalidBlockList`), so
//! the repetition of a request whose answer was lost fails though the object is there; servers that speak S3's protocol may
//! do the same with `CompleteMultipartUpload`. What is there tells: an object of the length and with the end that was sent.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{
    MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload, PutResult, Result,
    UploadPart,
};

/// How much of the end is compared.
const END: usize = 64 * 1024;

/// An upload after whose failure the object is looked at.
pub(super) struct Settled {
    inner: Box<dyn MultipartUpload>,
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
    ) -> Settled {
        Settled {
            inner,
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
        self.inner.put_part(part)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        match self.inner.complete().await {
            Ok(done) => Ok(done),
            Err(error) => match self.there().await {
                Some(meta) => Ok(PutResult {
                    e_tag: meta.e_tag,
                    version: meta.version,
                }),
                None => Err(error),
            },
        }
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use object_store::Error;
    use object_store::memory::InMemory;

    /// An upload whose last request fails, after it took effect or not.
    #[derive(Debug)]
    struct Unclear {
        inner: Box<dyn MultipartUpload>,
        done: bool,
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
            Ok(())
        }
    }

    async fn upload(
        store: &Arc<InMemory>,
        done: bool,
        parts: &[&'static str],
    ) -> Result<PutResult> {
        let key = Path::from("a");
        let inner = store.put_multipart(&key).await?;
        let unclear = Box::new(Unclear { inner, done });
        let mut settled = Settled::new(unclear, store.clone(), key);
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
