//! Buckets that keep old versions are known by what they answer.

use aws_sdk_s3::types::BucketVersioningStatus;
use bytes::Bytes;
use deltaic_storage::cloud::{Versioning, versioning};

use super::aws::Aws;
use super::azure::Azure;
use super::checks::Vendor;
use super::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_of_s3_that_keeps_versions_is_known() {
    let server = Server::named("DELTAIC_TEST_S3");
    let vendor = Aws::new(&server);
    let bucket = format!("versions-{}", uuid::Uuid::new_v4());
    vendor.create_bucket(&bucket).await;
    let table = server.table_in(&bucket);
    let write = async |name: &str| {
        let content = Bytes::from_static(b"{}");
        table.log().create(name, content).await.unwrap();
    };
    write("0.json").await;
    assert_eq!(versioning(&table, "0.json").await, None);
    assert_eq!(versioning(&table, "missing.json").await, None);

    let on = BucketVersioningStatus::Enabled;
    vendor.set_versioning(&bucket, on).await;
    write("1.json").await;
    assert_eq!(versioning(&table, "1.json").await, Some(Versioning::On));
    table.log().delete("1.json").await.unwrap();
    assert_eq!(vendor.versions(&bucket).await, 2);

    let off = BucketVersioningStatus::Suspended;
    vendor.set_versioning(&bucket, off).await;
    write("2.json").await;
    let found = versioning(&table, "2.json").await;
    // MinIO and MiniStack say nothing then.
    assert!(
        matches!(found, None | Some(Versioning::Suspended)),
        "{found:?}"
    );
    assert_eq!(versioning(&table, "0.json").await, found);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_of_azure_without_versions_is_known() {
    let server = Server::named("DELTAIC_TEST_AZURE");
    let table = server.table();
    let key = deltaic_storage::to_object_path(&table.root().absolute("_delta_log/0.json"));
    Azure::new(&server).put(key.as_ref(), b"{}".to_vec()).await;
    assert_eq!(versioning(&table, "0.json").await, None);
}
