//! `aws-sdk-s3`.

use std::collections::BTreeMap;
use std::ops::Range;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    BucketVersioningStatus, ChecksumAlgorithm, CompletedMultipartUpload, CompletedPart,
    VersioningConfiguration,
};

use super::checks::Vendor;
use super::server::Server;

pub struct Aws {
    client: Client,
    bucket: String,
}

impl Aws {
    pub fn new(server: &Server) -> Aws {
        let credentials = Credentials::new(
            server.option("aws_access_key_id"),
            server.option("aws_secret_access_key"),
            None,
            None,
            "test",
        );
        let config = aws_sdk_s3::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(server.option("aws_endpoint"))
            .region(Region::new(server.option("aws_region").to_owned()))
            .credentials_provider(credentials)
            .force_path_style(true)
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            .build();
        Aws {
            client: Client::from_conf(config),
            bucket: server.bucket(),
        }
    }
}

impl Aws {
    /// Makes a further bucket.
    pub async fn create_bucket(&self, bucket: &str) {
        self.client
            .create_bucket()
            .bucket(bucket)
            .send()
            .await
            .unwrap();
    }

    pub async fn set_versioning(&self, bucket: &str, status: BucketVersioningStatus) {
        let versioning = VersioningConfiguration::builder().status(status).build();
        self.client
            .put_bucket_versioning()
            .bucket(bucket)
            .versioning_configuration(versioning)
            .send()
            .await
            .unwrap();
    }

    /// Versions that are kept, delete markers not counted.
    pub async fn versions(&self, bucket: &str) -> usize {
        let found = self
            .client
            .list_object_versions()
            .bucket(bucket)
            .send()
            .await
            .unwrap();
        found.versions().len()
    }
}

impl Vendor for Aws {
    async fn put(&self, key: &str, content: Vec<u8>) {
        self.client
            .put_object()
            .bucket(&self.bucket)
            .key(key)
            .body(ByteStream::from(content))
            .send()
            .await
            .unwrap();
    }

    async fn put_new(&self, key: &str, content: Vec<u8>) -> bool {
        let answer = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(key)
            .if_none_match("*")
            .body(ByteStream::from(content))
            .send()
            .await;
        match answer {
            Ok(_) => true,
            Err(error) => {
                let status = error.raw_response().map(|answer| answer.status().as_u16());
                assert_eq!(status, Some(412), "{error:?}");
                false
            }
        }
    }

    async fn put_parts(&self, key: &str, parts: Vec<Vec<u8>>) {
        let begun = self
            .client
            .create_multipart_upload()
            .checksum_algorithm(ChecksumAlgorithm::Crc32)
            .bucket(&self.bucket)
            .key(key)
            .send()
            .await
            .unwrap();
        let id = begun.upload_id().unwrap();
        let mut done = CompletedMultipartUpload::builder();
        for (number, content) in (1..).zip(parts) {
            let part = self
                .client
                .upload_part()
                .checksum_algorithm(ChecksumAlgorithm::Crc32)
                .bucket(&self.bucket)
                .key(key)
                .upload_id(id)
                .part_number(number)
                .body(ByteStream::from(content))
                .send()
                .await
                .unwrap();
            done = done.parts(
                CompletedPart::builder()
                    .part_number(number)
                    .set_e_tag(part.e_tag().map(str::to_owned))
                    .set_checksum_crc32(part.checksum_crc32().map(str::to_owned))
                    .build(),
            );
        }
        self.client
            .complete_multipart_upload()
            .bucket(&self.bucket)
            .key(key)
            .upload_id(id)
            .multipart_upload(done.build())
            .send()
            .await
            .unwrap();
    }

    async fn get(&self, key: &str) -> Option<Vec<u8>> {
        let answer = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key)
            .send()
            .await;
        match answer {
            Ok(found) => Some(found.body.collect().await.unwrap().to_vec()),
            Err(error) => {
                let missing = error.as_service_error().is_some_and(|e| e.is_no_such_key());
                assert!(missing, "{error:?}");
                None
            }
        }
    }

    async fn get_range(&self, key: &str, range: Range<u64>) -> Vec<u8> {
        let found = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key)
            .range(format!("bytes={}-{}", range.start, range.end - 1))
            .send()
            .await
            .unwrap();
        found.body.collect().await.unwrap().to_vec()
    }

    async fn list(&self, prefix: &str) -> BTreeMap<String, u64> {
        let mut pages = self
            .client
            .list_objects_v2()
            .bucket(&self.bucket)
            .prefix(prefix)
            .into_paginator()
            .send();
        let mut found = BTreeMap::new();
        while let Some(page) = pages.next().await {
            for object in page.unwrap().contents() {
                let size = u64::try_from(object.size().unwrap()).unwrap();
                found.insert(object.key().unwrap().to_owned(), size);
            }
        }
        found
    }

    async fn delete(&self, key: &str) {
        self.client
            .delete_object()
            .bucket(&self.bucket)
            .key(key)
            .send()
            .await
            .unwrap();
    }

    /// As the S3 console, s3a and the old s3n make them.
    async fn put_markers(&self, folder: &str) -> Vec<String> {
        let keys = vec![format!("{folder}/"), format!("{folder}_$folder$")];
        for key in &keys {
            self.put(key, Vec::new()).await;
        }
        keys
    }
}
