//! `azure_storage_blob`, which knows no account keys: the address carries a signature made here.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use azure_core::error::ErrorKind;
use azure_core::http::headers::{HeaderName, HeaderValue, Headers};
use azure_core::http::request::Body;
use azure_core::http::{
    AsyncRawResponse, ClientOptions, HttpClient, Request, RequestContent, StatusCode, Transport,
};
use azure_storage_blob::models::{
    BlobClientDownloadOptions, BlobClientUploadOptions, BlobContainerClientListBlobsOptions,
};
use azure_storage_blob::{BlobContainerClient, BlobContainerClientOptions};
use futures::{AsyncReadExt, TryStreamExt};
use url::Url;

use super::checks::Vendor;
use super::sas::sign;
use super::server::Server;

pub struct Azure {
    container: BlobContainerClient,
}

impl Azure {
    pub fn new(server: &Server) -> Azure {
        let mut url = Url::parse(&format!(
            "{}/{}",
            server.option("azure_storage_endpoint"),
            server.bucket()
        ))
        .unwrap();
        sign(
            &mut url,
            &server.account(),
            server.option("azure_storage_account_key"),
        );
        let options = BlobContainerClientOptions {
            client_options: ClientOptions {
                transport: Some(Transport::new(Arc::new(Plain::default()))),
                ..ClientOptions::default()
            },
            ..BlobContainerClientOptions::default()
        };
        Azure {
            container: BlobContainerClient::new(url, None, Some(options)).unwrap(),
        }
    }

    async fn upload(
        &self,
        key: &str,
        content: Vec<u8>,
        options: BlobClientUploadOptions<'_>,
    ) -> azure_core::Result<()> {
        self.container
            .blob_client(key)
            .upload(RequestContent::from(content), Some(options))
            .await
            .map(|_| ())
    }
}

/// HTTP by the client that is in the tree already; the vendor's default is another release of it, with TLS.
#[derive(Debug, Default)]
struct Plain(reqwest::Client);

#[async_trait::async_trait]
impl HttpClient for Plain {
    async fn execute_request(&self, request: &Request) -> azure_core::Result<AsyncRawResponse> {
        let method = request.method().as_str().parse().unwrap();
        let mut asked = self.0.request(method, request.url().clone());
        for (name, value) in request.headers().iter() {
            asked = asked.header(name.as_str(), value.as_str());
        }
        let body = match request.body().clone() {
            Body::Bytes(bytes) => bytes,
            Body::SeekableStream(mut stream) => {
                let mut whole = Vec::new();
                stream.read_to_end(&mut whole).await?;
                whole.into()
            }
        };
        let failed = |error| azure_core::Error::new(ErrorKind::Io, error);
        let answer = asked.body(body).send().await.map_err(failed)?;
        let status = StatusCode::from(answer.status().as_u16());
        let headers: HashMap<HeaderName, HeaderValue> = answer
            .headers()
            .iter()
            .map(|(name, value)| {
                let value = value.to_str().unwrap().to_owned();
                (name.as_str().to_owned().into(), value.into())
            })
            .collect();
        let body = answer.bytes_stream().map_err(failed);
        Ok(AsyncRawResponse::new(
            status,
            Headers::from(headers),
            Box::pin(body),
        ))
    }
}

impl Vendor for Azure {
    async fn put(&self, key: &str, content: Vec<u8>) {
        self.upload(key, content, BlobClientUploadOptions::default())
            .await
            .unwrap();
    }

    async fn put_new(&self, key: &str, content: Vec<u8>) -> bool {
        let options = BlobClientUploadOptions::default().if_not_exists();
        match self.upload(key, content, options).await {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.http_status(), Some(StatusCode::Conflict), "{error:?}");
                false
            }
        }
    }

    async fn put_parts(&self, key: &str, parts: Vec<Vec<u8>>) {
        let size = parts[0].len() as u64;
        let options = BlobClientUploadOptions {
            partition_size: std::num::NonZero::new(size),
            ..BlobClientUploadOptions::default()
        };
        self.upload(key, parts.concat(), options).await.unwrap();
    }

    async fn get(&self, key: &str) -> Option<Vec<u8>> {
        match self.container.blob_client(key).download(None).await {
            Ok(found) => Some(found.body.collect().await.unwrap().to_vec()),
            Err(error) => {
                assert_eq!(error.http_status(), Some(StatusCode::NotFound), "{error:?}");
                None
            }
        }
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Vec<u8> {
        let options = BlobClientDownloadOptions {
            range: Some(range.into()),
            ..BlobClientDownloadOptions::default()
        };
        let found = self
            .container
            .blob_client(key)
            .download(Some(options))
            .await
            .unwrap();
        found.body.collect().await.unwrap().to_vec()
    }

    async fn list(&self, prefix: &str) -> BTreeMap<String, u64> {
        let options = BlobContainerClientListBlobsOptions {
            prefix: Some(prefix.to_owned()),
            ..BlobContainerClientListBlobsOptions::default()
        };
        let blobs = self.container.list_blobs(Some(options)).unwrap();
        blobs
            .map_ok(|blob| {
                let size = blob.properties.and_then(|all| all.content_length);
                (blob.name.unwrap(), size.unwrap())
            })
            .try_collect()
            .await
            .unwrap()
    }

    async fn delete(&self, key: &str) {
        self.container
            .blob_client(key)
            .delete(None)
            .await
            .map(|_| ())
            .unwrap();
    }

    /// As the drivers of Hadoop make them.
    async fn put_markers(&self, folder: &str) -> Vec<String> {
        let options = BlobClientUploadOptions {
            metadata: Some(HashMap::from([("hdi_isfolder".into(), "true".into())])),
            ..BlobClientUploadOptions::default()
        };
        self.upload(folder, Vec::new(), options).await.unwrap();
        vec![folder.to_owned()]
    }
}
