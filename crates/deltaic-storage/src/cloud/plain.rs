//! Deletions one request each, for servers that refuse batches: OneLake, which takes none
//! (<https://github.com/delta-io/delta-rs/issues/4401>), and gateways that lack them. object_store's clients send every
//! deletion in a batch, even that of one object. What a batch refuses is asked for once more by itself: only then does
//! the client pass on the status and the reason.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use http::{HeaderValue, Method, header};
use object_store::aws::AmazonS3;
use object_store::azure::{AzureAuthorizer, MicrosoftAzure};
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::time::Instant;
use url::Url;

use super::limits::Limits;
use super::wire::{Connector, Refusal, refusal};

/// Requests under way at the same time.
const PARALLEL: usize = 20;
/// Deletions that are tried in a batch first; what S3 takes, and more than Azure does.
const BATCH: usize = 1000;
/// How long a signature in an address holds.
const SIGNED_FOR: Duration = Duration::from_secs(300);
/// The version of Azure's interface where a request is not signed.
const AZURE_VERSION: &str = "2023-11-03";

/// The store with deletions that every server takes, whose requests go through the client that the connector has made
/// for it. `plain` where it is known that the server takes no batches.
pub(super) fn deleting(
    connector: &Connector,
    limits: Limits,
    plain: bool,
    signing: Signing,
) -> Arc<dyn ObjectStore> {
    match connector.client() {
        Some(client) => Arc::new(PlainDeletes::new(signing, client, limits, plain)),
        None => signing.into_store(),
    }
}

/// How a single request is made and signed.
#[derive(Clone)]
pub(super) enum Signing {
    /// Azure, under the address of the account.
    Azure {
        store: Arc<MicrosoftAzure>,
        service: Url,
        account: String,
        container: String,
        anonymous: bool,
    },
    /// S3, by a signature in the address.
    S3(Arc<AmazonS3>),
}

impl Signing {
    /// The store itself.
    pub(super) fn into_store(self) -> Arc<dyn ObjectStore> {
        match self {
            Signing::Azure { store, .. } => store,
            Signing::S3(store) => store,
        }
    }
}

/// A store that deletes one by one where it must.
#[derive(Clone)]
struct PlainDeletes {
    inner: Arc<dyn ObjectStore>,
    signing: Signing,
    client: HttpClient,
    limits: Limits,
    /// Batches are refused here.
    plain: Arc<AtomicBool>,
}

impl PlainDeletes {
    /// `plain` where it is known that the server takes no batches.
    fn new(signing: Signing, client: HttpClient, limits: Limits, plain: bool) -> PlainDeletes {
        PlainDeletes {
            inner: signing.clone().into_store(),
            signing,
            client,
            limits,
            plain: Arc::new(AtomicBool::new(plain)),
        }
    }

    async fn request(&self, location: &Path) -> Result<HttpRequest> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = Method::DELETE;
        match &self.signing {
            Signing::S3(store) => {
                let url = store
                    .signed_url(Method::DELETE, location, SIGNED_FOR)
                    .await?;
                set_address(&mut request, &url)?;
            }
            Signing::Azure {
                store,
                service,
                account,
                container,
                anonymous,
            } => {
                let mut url = service.clone();
                url.path_segments_mut()
                    .map_err(|()| generic("the endpoint cannot have a path"))?
                    .push(container)
                    .extend(location.parts());
                set_address(&mut request, &url)?;
                request
                    .headers_mut()
                    .insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
                if *anonymous {
                    request
                        .headers_mut()
                        .insert("x-ms-version", HeaderValue::from_static(AZURE_VERSION));
                } else {
                    let credential = store.credentials().get_credential().await?;
                    AzureAuthorizer::new(&credential, account).authorize(&mut request);
                }
            }
        }
        Ok(request)
    }

    /// Deletes one object, and tries again where that may help: a deletion can be repeated.
    async fn delete_one(&self, location: Path) -> Result<Path> {
        let began = Instant::now();
        let retry = self.limits.retry();
        let mut pause = retry.backoff.init_backoff;
        let mut tries = 0;
        loop {
            // Signed anew each time: a token may have run out.
            let request = self.request(&location).await?;
            let error = match self.client.execute(request).await {
                Ok(answer) if answer.status().is_success() => return Ok(location),
                // An earlier try has done it, and its answer was lost.
                Ok(answer) if answer.status().as_u16() == 404 && tries > 0 => return Ok(location),
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    let error = answered(&location, Refusal::read(answer).await.0);
                    if !(status >= 500 || matches!(status, 408 | 429)) {
                        return Err(error);
                    }
                    error
                }
                Err(error) => {
                    let error = generic(error);
                    if refusal(&error).is_some() {
                        return Err(error);
                    }
                    error
                }
            };
            if tries >= retry.max_retries || began.elapsed() + pause > retry.retry_timeout {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(retry.backoff.max_backoff);
            tries += 1;
        }
    }

    /// A batch, and its objects one by one where the server takes no batches.
    fn delete_many(&self, batch: Vec<Path>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        stream::once(async move {
            if !store.plain.load(Ordering::Relaxed) {
                let asked = stream::iter(batch.clone().into_iter().map(Ok)).boxed();
                let results: Vec<_> = store.inner.delete_stream(asked).collect().await;
                if !results.iter().any(refuses_batches) {
                    // A request that failed as a whole has one answer for all.
                    let is_each = results.len() == batch.len();
                    return stream::iter(results.into_iter().zip(batch))
                        .map(move |(result, location)| {
                            let store = store.clone();
                            async move {
                                match result {
                                    Err(Error::Generic { .. }) if is_each => {
                                        store.delete_one(location).await
                                    }
                                    result => result,
                                }
                            }
                        })
                        .buffered(PARALLEL)
                        .boxed();
                }
                store.plain.store(true, Ordering::Relaxed);
            }
            stream::iter(batch)
                .map(move |location| {
                    let store = store.clone();
                    async move { store.delete_one(location).await }
                })
                .buffered(PARALLEL)
                .boxed()
        })
        .flatten()
        .boxed()
    }
}

/// Whether a server has refused a batch as such, not what is in it.
fn refuses_batches(result: &Result<Path>) -> bool {
    let Err(error) = result else { return false };
    match error {
        Error::NotImplemented { .. } => true,
        // A batch of S3 that is malformed is refused so too, but then the single requests show what is wrong.
        _ => refusal(error).is_some_and(|refusal| {
            matches!(refusal.status, 400 | 404 | 405 | 501) && !names_the_reason(refusal)
        }),
    }
}

/// Refusals that a single request would meet as well.
fn names_the_reason(refusal: &Refusal) -> bool {
    matches!(
        refusal.code.as_str(),
        "AuthorizationHeaderMalformed"
            | "ExpiredToken"
            | "InvalidToken"
            | "NoSuchBucket"
            | "ContainerNotFound"
            | "ResourceNotFound"
            | "InvalidBucketName"
    )
}

fn set_address(request: &mut HttpRequest, url: &Url) -> Result<()> {
    *request.uri_mut() = url.as_str().parse().map_err(generic)?;
    Ok(())
}

fn generic(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Generic {
        store: "delete",
        source: source.into(),
    }
}

fn answered(location: &Path, refusal: Refusal) -> Error {
    let path = location.to_string();
    let status = refusal.status;
    let source = Box::new(refusal);
    match status {
        401 => Error::Unauthenticated { path, source },
        403 => Error::PermissionDenied { path, source },
        404 => Error::NotFound { path, source },
        412 => Error::Precondition { path, source },
        _ => generic(source),
    }
}

impl fmt::Debug for PlainDeletes {
    /// Without the client: among its settings are keys and addresses of proxies with passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlainDeletes({})", self.inner)
    }
}

impl fmt::Display for PlainDeletes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for PlainDeletes {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        locations
            .try_chunks(BATCH)
            .flat_map(move |batch| match batch {
                Ok(batch) => store.delete_many(batch),
                Err(error) => {
                    // What came before the error was asked for.
                    let failed = stream::once(async move { Err(error.1) });
                    store.delete_many(error.0).chain(failed).boxed()
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
