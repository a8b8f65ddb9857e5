//! Buckets that keep old versions are known by what they answer, and VACUUM says so.

use std::sync::Arc;

use aws_sdk_s3::types::BucketVersioningStatus;
use bytes::Bytes;
use deltaic_storage::cloud::{Versioning, versioning};

use deltaic_command::{TableRef, Vacuum, VacuumReport};
use deltaic_log::CommitContext;
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::{Clock, ManualClock, SystemClock};
use deltaic_storage::TableStore;

use super::aws::Aws;
use super::azure::Azure;
use super::checks::{Vendor, create};
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

/// Writes a file that no version needs, and vacuums a month later.
async fn vacuum_a_stray(table: &TableStore) -> VacuumReport {
    let content = Bytes::from_static(b"rows");
    table.data().create("stray", content).await.unwrap();
    let month = 30 * 24 * 3_600_000;
    let context = CommitContext {
        clock: Arc::new(ManualClock::at(SystemClock.now_ms() + month)),
        ..CommitContext::default()
    };
    let request = Vacuum {
        target: TableRef::Path(table.root().to_string()),
        mode: None,
        retain_hours: None,
        dry_run: false,
        inventory: None,
    };
    let options = VacuumOptions::default();
    let report = vacuum::run(table, &request, None, &options, &context, None).await;
    report.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn vacuum_notes_that_deleted_files_stay_as_versions() {
    let server = Server::named("DELTAIC_TEST_S3");
    let vendor = Aws::new(&server);
    let bucket = format!("vacuum-{}", uuid::Uuid::new_v4());
    vendor.create_bucket(&bucket).await;
    let table = server.table_in(&bucket);
    create(&table).await;
    let report = vacuum_a_stray(&table).await;
    assert_eq!((report.deleted, report.notes), (1, Vec::new()));

    let on = BucketVersioningStatus::Enabled;
    vendor.set_versioning(&bucket, on).await;
    let table = server.table_in(&bucket);
    create(&table).await;
    let before = vendor.versions(&bucket).await;
    let report = vacuum_a_stray(&table).await;
    assert_eq!((report.deleted, report.notes.len()), (1, 1), "{report:?}");
    let note = &report.notes[0];
    assert!(
        note.starts_with(&format!("s3://{bucket} keeps deleted files")),
        "{note}"
    );
    assert!(vendor.versions(&bucket).await > before);
}
