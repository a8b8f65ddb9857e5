//! What a client takes on trust: that the body of a part of an object is as long as its head says, and that an upload whose
//! last request failed was not made.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::upload::{GivenUp, Settled};

/// A store whose answers are looked at.
#[derive(Debug)]
pub(super) struct Checked(Arc<dyn ObjectStore>, GivenUp);

impl Checked {
    pub(super) fn new(store: Arc<dyn ObjectStore>) -> Checked {
        Checked(store, GivenUp::default())
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Checked {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.0.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let upload = self.0.put_multipart_opts(location, options).await?;
        let store = Arc::clone(&self.0);
        let settled = Settled::new(upload, store, location.clone(), self.1.clone());
        Ok(Box::new(settled))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let in_part = options.range.is_some() && !options.head;
        let found = self.0.get_opts(location, options).await?;
        Ok(match in_part {
            true => whole(found),
            false => found,
        })
    }

    // Not the inner store's `get_ranges`: ranges that lie together are one request of `get_opts`, which is checked.

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        // Who removes what was begun wants the parts to be gone too.
        let given_up = stream::once(self.1.wait()).filter_map(|()| async { None });
        given_up.chain(self.0.delete_stream(locations)).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}

/// The answer with a body that ends in an error where it is not as long as its range.
fn whole(mut found: GetResult) -> GetResult {
    let wanted = found.range.end - found.range.start;
    let location = found.meta.location.clone();
    found.payload = match found.payload {
        GetResultPayload::Stream(body) => GetResultPayload::Stream(counted(body, wanted, location)),
        #[allow(unreachable_patterns)]
        other => other,
    };
    found
}

fn counted(
    body: BoxStream<'static, Result<Bytes>>,
    wanted: u64,
    location: Path,
) -> BoxStream<'static, Result<Bytes>> {
    let state = (body, 0_u64, false);
    futures::stream::unfold(state, move |(mut body, seen, done)| {
        let location = location.clone();
        async move {
            if done {
                return None;
            }
            match body.next().await {
                Some(Ok(part)) => {
                    let seen = seen + part.len() as u64;
                    match seen > wanted {
                        true => Some((Err(wrong(&location, seen, wanted)), (body, seen, true))),
                        false => Some((Ok(part), (body, seen, false))),
                    }
                }
                Some(Err(error)) => Some((Err(error), (body, seen, true))),
                None if seen != wanted => {
                    Some((Err(wrong(&location, seen, wanted)), (body, seen, true)))
                }
                None => None,
            }
        }
    })
    .boxed()
}

fn wrong(location: &Path, seen: u64, wanted: u64) -> Error {
    Error::Generic {
        store: "get",
        source: format!(
            "the server's answer for a part of {location} has {seen} bytes where its head says {wanted}"
        )
        .into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;
    use object_store::{Attributes, ObjectStoreExt};

    fn answer(parts: &'static [&'static str], range: std::ops::Range<u64>) -> GetResult {
        let parts = parts
            .iter()
            .map(|part| Ok(Bytes::from_static(part.as_bytes())));
        GetResult {
            payload: GetResultPayload::Stream(stream::iter(parts).boxed()),
            meta: ObjectMeta {
                location: Path::from("a"),
                last_modified: chrono::Utc::now(),
                size: 100,
                e_tag: None,
                version: None,
            },
            range,
            attributes: Attributes::new(),
        }
    }

    #[tokio::test]
    async fn a_body_of_another_length_than_its_head_says_is_an_error() {
        let good = whole(answer(&["ab", "c"], 4..7)).bytes().await;
        assert_eq!(good.unwrap(), "abc");
        for parts in [&["ab"][..], &[], &["ab", "cd"]] {
            let error = whole(answer(parts, 4..7)).bytes().await.unwrap_err();
            assert!(
                error.to_string().contains("where its head says 3"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn parts_and_heads_of_good_stores_pass() {
        let store = Checked::new(Arc::new(InMemory::new()));
        let key = Path::from("a");
        store.put(&key, "0123456789".into()).await.unwrap();
        assert_eq!(store.get_range(&key, 2..5).await.unwrap(), "234");
        assert_eq!(store.get_range(&key, 8..20).await.unwrap(), "89");
        let parts = store.get_ranges(&key, &[0..2, 6..9]).await.unwrap();
        assert_eq!(parts, ["01", "678"]);
        assert_eq!(store.head(&key).await.unwrap().size, 10);
        assert_eq!(
            store.get(&key).await.unwrap().bytes().await.unwrap().len(),
            10
        );
    }
}
