//! VACUUM with the inventory of a bucket in place of a listing.

use std::io::Write;
use std::sync::Arc;

use deltaic_session::SessionBuilder;
use deltaic_storage::StorageFactory;
use deltaic_storage::cloud::CloudBackend;
use flate2::Compression;
use flate2::write::GzEncoder;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::helpers::run;

const VACUUM: &str =
    "VACUUM delta.`s3://b/w/t` USING INVENTORY s3_inventory.`s3://b/inv/manifest.json`";

async fn has(bucket: &InMemory, key: &str) -> bool {
    bucket.head(&Path::from(key)).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_of_s3_inventory_names_what_may_go() {
    let bucket = Arc::new(InMemory::new());
    let folder = tempfile::tempdir().unwrap();
    let mut builder = SessionBuilder::new(folder.path().to_str().unwrap());
    builder.storage = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(bucket.clone(), "s3://b"));
    let session = builder.build().unwrap();
    run(
        &session,
        "CREATE TABLE delta.`s3://b/w/t` (id BIGINT) USING delta",
    )
    .await;
    run(&session, "INSERT INTO delta.`s3://b/w/t` VALUES (1)").await;
    let files = bucket
        .list_with_delimiter(Some(&Path::from("w/t")))
        .await
        .unwrap();
    let live = files.objects[0].location.to_string();
    for stray in ["w/t/old.parquet", "w/t/unlisted.parquet", "w/other.parquet"] {
        bucket.put(&Path::from(stray), "junk".into()).await.unwrap();
    }
    let old = "2020-01-02T03:04:05.000Z";
    let lines: String = ["w/t/old.parquet", &live, "w/other.parquet"]
        .iter()
        .map(|key| format!("\"b\",\"{key}\",\"4\",\"{old}\"\n"))
        .collect();
    let mut zip = GzEncoder::new(Vec::new(), Compression::default());
    zip.write_all(lines.as_bytes()).unwrap();
    let data = zip.finish().unwrap();
    let manifest = serde_json::json!({
        "sourceBucket": "b",
        "destinationBucket": "arn:aws:s3:::b",
        "version": "2016-11-30",
        "creationTimestamp": "1478476800000",
        "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, Size, LastModifiedDate",
        "files": [{"key": "inv/data/1.csv.gz", "size": data.len(), "MD5checksum": ""}],
    });
    bucket
        .put(&Path::from("inv/data/1.csv.gz"), data.into())
        .await
        .unwrap();
    bucket
        .put(
            &Path::from("inv/manifest.json"),
            manifest.to_string().into(),
        )
        .await
        .unwrap();

    let dry = run(&session, &format!("{VACUUM} DRY RUN"))
        .await
        .to_json_pipe();
    assert_eq!(dry["rows"], serde_json::json!([["s3://b/w/t/old.parquet"]]));
    assert!(has(&bucket, "w/t/old.parquet").await);
    run(&session, VACUUM).await;
    assert!(!has(&bucket, "w/t/old.parquet").await);
    for kept in [live.as_str(), "w/t/unlisted.parquet", "w/other.parquet"] {
        assert!(has(&bucket, kept).await, "{kept}");
    }
    let rows = run(&session, "SELECT id FROM delta.`s3://b/w/t`")
        .await
        .to_json_pipe();
    assert_eq!(rows["rows"], serde_json::json!([[1]]));
}
