//! Inventories made here, read as those of S3 are.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use bytes::Bytes;
use chrono::DateTime;
use deltaic_command::{TableRef, Vacuum};
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_protocol::action::{Add, Metadata};
use deltaic_protocol::error::{DeltaError, ErrorKind};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Clock, ManualClock};
use deltaic_storage::StorageFactory;
use deltaic_storage::cloud::CloudBackend;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use parquet::arrow::ArrowWriter;

use super::rows;
use crate::vacuum::{self, VacuumOptions};

const SCHEMA: &str = "Bucket, Key, Size, LastModifiedDate";
const VERSIONS: &str =
    "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag";
const TIME: &str = "2026-01-02T03:04:05.000Z";
const TIME_MS: i64 = 1_767_323_045_000;
const MANIFEST: &str = "s3://dest/inv/src/daily/2026-11-06T21-32Z/manifest.json";

/// A bucket `src` with a table, and a bucket `dest` for inventories, both in memory.
struct Buckets {
    factory: StorageFactory,
    snapshot: Snapshot,
}

impl Buckets {
    async fn new() -> Buckets {
        let bucket = |url| CloudBackend::new(Arc::new(InMemory::new()), url);
        let factory = StorageFactory::default()
            .with_bucket("s3a://src", bucket("s3a://src"))
            .with_bucket("s3://dest", bucket("s3://dest"));
        let snapshot = create(&factory, "s3a://src/w/t").await;
        Buckets { factory, snapshot }
    }

    async fn put(&self, key: &str, content: Vec<u8>) {
        let store = self.factory.open("s3://dest/").unwrap();
        store.data().create(key, content.into()).await.unwrap();
    }

    /// Writes an inventory of these files.
    async fn publish(&self, format: &str, schema: &str, files: Vec<Vec<u8>>) {
        let mut listed = Vec::new();
        for (number, content) in files.into_iter().enumerate() {
            let key = format!("inv/src/daily/data/{number}");
            let sum = hex_md5(&content);
            listed
                .push(serde_json::json!({ "key": key, "size": content.len(), "MD5checksum": sum }));
            self.put(&key, content).await;
        }
        self.manifest("src", format, schema, listed).await;
    }

    async fn manifest(
        &self,
        bucket: &str,
        format: &str,
        schema: &str,
        files: Vec<serde_json::Value>,
    ) {
        let manifest = serde_json::json!({
            "sourceBucket": bucket,
            "destinationBucket": "arn:aws:s3:::dest",
            "version": "2016-11-30",
            "creationTimestamp": "1478476800000",
            "fileFormat": format,
            "fileSchema": schema,
            "files": files,
        });
        let key = MANIFEST.strip_prefix("s3://dest/").unwrap();
        self.put(key, manifest.to_string().into_bytes()).await;
    }

    async fn read(&self) -> Result<Vec<(String, i64, i64)>, DeltaError> {
        read(&self.factory, MANIFEST, &self.snapshot).await
    }

    async fn error(&self) -> DeltaError {
        self.read().await.unwrap_err()
    }
}

async fn create(factory: &StorageFactory, location: &str) -> Snapshot {
    let schema = StructType::new([
        StructField::nullable("id", DataType::Long),
        StructField::nullable("_p", DataType::String),
    ]);
    let table = factory.open(location).unwrap();
    let mut metadata = Metadata::new("t", &schema);
    metadata.partition_columns = vec!["_p".to_owned()];
    let mut transaction = Transaction::create(&table, Operation::new("CREATE TABLE"));
    transaction.set_metadata(metadata);
    let done = transaction.commit(&CommitContext::default()).await.unwrap();
    done.into_result().unwrap().snapshot
}

async fn read(
    factory: &StorageFactory,
    location: &str,
    snapshot: &Snapshot,
) -> Result<Vec<(String, i64, i64)>, DeltaError> {
    let rows = rows(factory, location, snapshot).await?;
    rows.map_ok(|row| {
        assert!(!row.is_dir);
        (row.path, row.length, row.modification_time)
    })
    .try_collect()
    .await
}

fn gzip(text: &str, level: Compression) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), level);
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

/// A file of rows as S3 writes them: every field in quotes.
fn csv(rows: &[&[&str]]) -> Vec<u8> {
    let text: String = rows
        .iter()
        .map(|row| format!("\"{}\"\n", row.join("\",\"")))
        .collect();
    gzip(&text, Compression::default())
}

fn row(path: &str, length: i64) -> (String, i64, i64) {
    (format!("s3a://src/{path}"), length, TIME_MS)
}

#[tokio::test]
async fn keys_of_csv_are_decoded_and_only_files_of_the_table_are_taken() {
    let buckets = Buckets::new().await;
    let one = csv(&[
        &["src", "w/t/a.parquet", "1", TIME],
        &["src", "w/t/a+b%2Bc%25d%20e.parquet", "2", TIME],
        &["src", "w/t/_p%3D%C3%BC/x.parquet", "3", TIME],
        &["src", "w/t2/a.parquet", "4", TIME],
        &["src", "w/other", "x", "y"],
        &["src", "w/t", "5", TIME],
        &["src", "w/t/", "0", TIME],
        &["src", "w/t/folder/", "0", TIME],
        &["src", "w/t/folder_$folder$", "0", TIME],
        &["src", "w/t/a//b.parquet", "6", TIME],
        &["src", "w/t/../t/c.parquet", "6", TIME],
        &["src", "w/t/%EF%A3%BF09.parquet", "6", TIME],
        &["src", "w/t/%EF%A3%BF%EF%A3%BD09.parquet", "7", TIME],
        &["src", "w/t/%EF%A3%BF%EF%A3%BD41.parquet", "7", TIME],
    ]);
    // Two members in one file, and no line break at its end.
    let mut two = csv(&[&["src", "w/t/d.parquet", "8", TIME]]);
    two.extend(gzip(
        &format!("src,w/t/e.parquet,9,{TIME}"),
        Compression::default(),
    ));
    buckets.publish("CSV", SCHEMA, vec![one, two]).await;
    assert_eq!(
        buckets.read().await.unwrap(),
        [
            row("w/t/a.parquet", 1),
            row("w/t/a b+c%d e.parquet", 2),
            row("w/t/_p=ü/x.parquet", 3),
            row("w/t/\u{f8ff}09.parquet", 6),
            row("w/t/\t.parquet", 7),
            row("w/t/d.parquet", 8),
            row("w/t/e.parquet", 9),
        ]
    );
}

fn hex_md5(content: &[u8]) -> String {
    use md5::Digest;
    let sum = md5::Md5::digest(content);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_file_that_is_not_the_one_of_the_manifest_ends_the_rows_with_an_error() {
    let buckets = Buckets::new().await;
    let file = csv(&[&["src", "w/t/a", "1", TIME]]);
    let other = csv(&[&["src", "w/t/b", "1", TIME]]);
    assert_eq!(file.len(), other.len());
    let key = "inv/src/daily/data/0";
    buckets.put(key, other.clone()).await;
    for (sum, right) in [
        (hex_md5(&other), true),
        (hex_md5(&other).to_uppercase(), true),
        (String::new(), true),
        (hex_md5(&file), false),
        ("0".to_owned(), false),
    ] {
        let listed = serde_json::json!({ "key": key, "size": other.len(), "MD5checksum": sum });
        let store = buckets.factory.open("s3://dest/").unwrap();
        store
            .data()
            .delete_file(MANIFEST.split_once("dest/").unwrap().1)
            .await
            .unwrap();
        buckets.manifest("src", "CSV", SCHEMA, vec![listed]).await;
        match right {
            true => assert_eq!(buckets.read().await.unwrap(), [row("w/t/b", 1)], "{sum}"),
            false => {
                let error = buckets.read().await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                assert!(error.text().contains("MD5"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn old_versions_and_delete_markers_are_no_files() {
    let buckets = Buckets::new().await;
    let version = |key, latest, marker, size| ["src", key, "v", latest, marker, size, TIME, "e"];
    let file = csv(&[
        &version("w/t/a", "true", "false", "1"),
        &version("w/t/a", "false", "false", "2"),
        &version("w/t/b", "true", "true", ""),
        &version("w/t/b", "false", "false", "3"),
    ]);
    buckets.publish("CSV", VERSIONS, vec![file]).await;
    assert_eq!(buckets.read().await.unwrap(), [row("w/t/a", 1)]);
}

#[tokio::test]
async fn hidden_names_are_left_out_but_not_the_logs_of_tables_below() {
    let buckets = Buckets::new().await;
    let keys = [
        "w/t/_delta_log/00000000000000000000.json",
        "w/t/x/_tmp/a",
        "w/t/x/.b",
        "w/t/x/_p=1/c",
        "w/t/n/_delta_log/00000000000000000000.json",
        "w/t/n/d",
    ];
    let rows: Vec<[&str; 4]> = keys.iter().map(|key| ["src", key, "1", TIME]).collect();
    let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
    buckets.publish("CSV", SCHEMA, vec![csv(&rows)]).await;
    let expected: Vec<_> = keys[3..].iter().map(|key| row(key, 1)).collect();
    assert_eq!(buckets.read().await.unwrap(), expected);
}

#[tokio::test]
async fn a_file_of_many_pieces_loses_no_row() {
    let buckets = Buckets::new().await;
    let text: String = (0..120_000)
        .map(|n| format!("\"src\",\"w/t/part-{n:020}.parquet\",\"{n}\",\"{TIME}\"\r\n"))
        .collect();
    // Not compressed, so that the rows lie across the pieces in which it is read.
    let file = gzip(&text, Compression::none());
    assert!(file.len() > 9 << 20);
    buckets.publish("CSV", SCHEMA, vec![file]).await;
    let rows = buckets.read().await.unwrap();
    assert_eq!(rows.len(), 120_000);
    assert!(
        (0..)
            .zip(&rows)
            .all(|(n, found)| { *found == row(&format!("w/t/part-{n:020}.parquet"), n) })
    );
}

/// Bucket, key, size, `is_latest`, `is_delete_marker`.
type Object<'a> = (&'a str, &'a str, Option<i64>, bool, bool);

/// A Parquet file of rows.
fn parquet(rows: &[Object], times: ArrayRef) -> Vec<u8> {
    let texts = |of: fn(&Object) -> String| {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of))) as ArrayRef
    };
    let flags = |of: fn(&Object) -> bool| {
        Arc::new(BooleanArray::from_iter(
            rows.iter().map(|row| Some(of(row))),
        )) as ArrayRef
    };
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("bucket", texts(|row| row.0.to_owned()), false),
        ("key", texts(|row| row.1.to_owned()), false),
        ("version_id", texts(|_| "v".to_owned()), true),
        ("is_latest", flags(|row| row.3), true),
        ("is_delete_marker", flags(|row| row.4), true),
        (
            "size",
            Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.2))) as ArrayRef,
            true,
        ),
        ("last_modified_date", times, true),
        ("e_tag", texts(|_| "e".to_owned()), true),
    ])
    .unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn times(count: usize) -> ArrayRef {
    let times = TimestampMillisecondArray::from(vec![TIME_MS; count]);
    Arc::new(times.with_timezone("UTC"))
}

#[tokio::test]
async fn keys_of_parquet_are_taken_as_they_are() {
    let buckets = Buckets::new().await;
    let rows = [
        ("src", "w/t/a+b%20c.parquet", Some(1), true, false),
        ("src", "w/t/old.parquet", Some(2), false, false),
        ("src", "w/t/gone.parquet", None, true, true),
        ("src", "w/elsewhere/x.parquet", None, true, false),
        ("src", "w/t/_p=ü/x.parquet", Some(3), true, false),
    ];
    let schema = "message s3.inventory { required binary bucket (UTF8); }";
    let files = vec![parquet(&rows, times(5)), parquet(&rows[..1], times(1))];
    buckets.publish("Parquet", schema, files).await;
    assert_eq!(
        buckets.read().await.unwrap(),
        [
            row("w/t/a+b%20c.parquet", 1),
            row("w/t/_p=ü/x.parquet", 3),
            row("w/t/a+b%20c.parquet", 1),
        ]
    );
}

#[tokio::test]
async fn a_copy_on_a_disk_is_read_where_its_folders_are_those_of_the_bucket() {
    let buckets = Buckets::new().await;
    let file = csv(&[&["src", "w/t/a", "1", TIME]]);
    let size = file.len();
    let folder = tempfile::tempdir().unwrap();
    let disk = buckets
        .factory
        .open(folder.path().to_str().unwrap())
        .unwrap();
    let write = async |path: &str, content: Vec<u8>| {
        disk.data().create(path, content.into()).await.unwrap();
    };
    write("copy/inv/src/daily/data/0", file).await;
    let manifest = serde_json::json!({
        "sourceBucket": "arn:aws:s3:::src", "fileFormat": "CSV", "fileSchema": SCHEMA,
        "files": [{ "key": "inv/src/daily/data/0", "size": size }],
    });
    let text = manifest.to_string();
    write("copy/inv/src/daily/1/manifest.json", text.clone().into()).await;
    write("alone/manifest.json", text.into()).await;
    let place = |path: &str| format!("{}/{path}", folder.path().display());
    let location = place("copy/inv/src/daily/1/manifest.json");
    let found = read(&buckets.factory, &location, &buckets.snapshot).await;
    assert_eq!(found.unwrap(), [row("w/t/a", 1)]);
    let location = place("alone/manifest.json");
    let error = read(&buckets.factory, &location, &buckets.snapshot).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn what_is_not_understood_ends_with_an_error() {
    let good: &[&str] = &["src", "w/t/a", "1", TIME];
    let whole = csv(&[good, good, good]);
    let cut = whole[..whole.len() - 12].to_vec();
    let mut changed = whole.clone();
    let at = changed.len() - 6;
    changed[at] ^= 1;
    let number: ArrayRef = Arc::new(Int64Array::from(vec![TIME_MS]));
    let none: ArrayRef =
        Arc::new(TimestampMillisecondArray::from(vec![None::<i64>]).with_timezone("UTC"));
    let file = ("src", "w/t/a", Some(1), true, false);
    let cases: [(&str, &str, &str, Vec<u8>, ErrorKind); 15] = [
        (
            "ORC; CSV and Parquet are read",
            "ORC",
            SCHEMA,
            whole.clone(),
            ErrorKind::Unsupported,
        ),
        (
            "no field LastModifiedDate",
            "CSV",
            "Bucket, Key, Size",
            whole.clone(),
            ErrorKind::Data,
        ),
        (
            "no field IsLatest",
            "CSV",
            "Bucket, Key, VersionId, Size, LastModifiedDate",
            whole.clone(),
            ErrorKind::Data,
        ),
        ("is damaged", "CSV", SCHEMA, cut, ErrorKind::Corrupt),
        ("is damaged", "CSV", SCHEMA, changed, ErrorKind::Corrupt),
        (
            "is damaged",
            "CSV",
            SCHEMA,
            b"src,w/t/a,1".to_vec(),
            ErrorKind::Corrupt,
        ),
        (
            "a row of 4 fields, where there are 8",
            "CSV",
            VERSIONS,
            whole.clone(),
            ErrorKind::Corrupt,
        ),
        (
            "the size of w/t/a is \"x\"",
            "CSV",
            SCHEMA,
            csv(&[&["src", "w/t/a", "x", TIME]]),
            ErrorKind::Corrupt,
        ),
        (
            "the time of w/t/a is \"\"",
            "CSV",
            SCHEMA,
            csv(&[&["src", "w/t/a", "1", ""]]),
            ErrorKind::Corrupt,
        ),
        (
            "a key is not UTF-8",
            "CSV",
            SCHEMA,
            csv(&[&["src", "w/t/%FF", "1", TIME]]),
            ErrorKind::Corrupt,
        ),
        (
            "an object of the bucket other",
            "CSV",
            SCHEMA,
            csv(&[good, &["other", "w/t/a", "1", TIME]]),
            ErrorKind::Data,
        ),
        (
            "an object of the bucket other",
            "Parquet",
            "",
            parquet(&[("other", "w/t/a", Some(1), true, false)], times(1)),
            ErrorKind::Data,
        ),
        (
            "its times are no timestamps",
            "Parquet",
            "",
            parquet(&[file], number),
            ErrorKind::Corrupt,
        ),
        (
            "w/t/a has no size or no time",
            "Parquet",
            "",
            parquet(&[file], none),
            ErrorKind::Corrupt,
        ),
        (
            "is damaged",
            "Parquet",
            "",
            whole.clone(),
            ErrorKind::Corrupt,
        ),
    ];
    for (reason, format, schema, file, kind) in cases {
        let buckets = Buckets::new().await;
        buckets.publish(format, schema, vec![file]).await;
        let error = buckets.error().await;
        assert!(error.text().contains(reason), "{reason}: {}", error.text());
        assert_eq!(error.kind(), kind, "{reason}");
        assert!(error.path().is_some(), "{reason}");
    }
}

#[tokio::test]
async fn a_manifest_that_does_not_fit_is_refused() {
    let key = |size: usize| serde_json::json!({ "key": "inv/data", "size": size });
    let cases = [
        (
            "other",
            9,
            "it lists the bucket other, and the table is in src",
            ErrorKind::Data,
        ),
        (
            "src",
            8,
            "it has 9 bytes, and the manifest says 8",
            ErrorKind::Corrupt,
        ),
    ];
    for (bucket, size, reason, kind) in cases {
        let buckets = Buckets::new().await;
        buckets.put("inv/data", vec![0; 9]).await;
        buckets
            .manifest(bucket, "CSV", SCHEMA, vec![key(size)])
            .await;
        let error = buckets.error().await;
        assert!(error.text().contains(reason), "{}", error.text());
        assert_eq!(error.kind(), kind);
    }
    let buckets = Buckets::new().await;
    assert_eq!(buckets.error().await.kind(), ErrorKind::NotFound);
    buckets.manifest("src", "CSV", SCHEMA, vec![key(9)]).await;
    assert_eq!(buckets.error().await.kind(), ErrorKind::NotFound);
    let local = create(&buckets.factory, "memory:/w/t").await;
    let error = read(&buckets.factory, MANIFEST, &local).await.unwrap_err();
    assert!(error.text().contains("memory:/w/t"), "{}", error.text());

    let buckets = Buckets::new().await;
    let key = MANIFEST.strip_prefix("s3://dest/").unwrap();
    buckets.put(key, b"{\"files\": []}".to_vec()).await;
    let error = buckets.error().await;
    assert!(error.text().contains("no manifest"), "{}", error.text());
}

#[tokio::test]
async fn vacuum_deletes_what_the_inventory_shows_and_nothing_else() {
    let buckets = Buckets::new().await;
    let table = buckets.snapshot.store().clone();
    let now = DateTime::parse_from_rfc3339("2026-02-02T00:00:00Z").unwrap();
    let context = CommitContext {
        clock: Arc::new(ManualClock::at(now.timestamp_millis())),
        ..CommitContext::default()
    };
    let young = "2026-02-01T23:00:00.000Z";
    let paths = [
        "live a+b.parquet",
        "stray a+b.parquet",
        "young",
        "not-listed",
        "n/x.parquet",
        "n/_delta_log/0.json",
    ];
    for path in paths {
        table
            .data()
            .create(path, Bytes::from_static(b"rows"))
            .await
            .unwrap();
    }
    let mut transaction = Transaction::begin(&buckets.snapshot, Operation::new("WRITE"));
    transaction.add(Add {
        path: "live%20a+b.parquet".to_owned(),
        partition_values: [("_p".to_owned(), None)].into(),
        size: 4,
        data_change: true,
        ..Add::default()
    });
    let done = transaction.commit(&context).await.unwrap();
    let snapshot = done.into_result().unwrap().snapshot;
    let file = csv(&[
        &["src", "w/t/live+a%2Bb.parquet", "4", TIME],
        &["src", "w/t/stray+a%2Bb.parquet", "4", TIME],
        &["src", "w/t/young", "4", young],
        &["src", "w/t/n/x.parquet", "4", TIME],
        &["src", "w/t/n/_delta_log/0.json", "4", TIME],
        &["src", "w/t/_delta_log/00000000000000000000.json", "4", TIME],
    ]);
    buckets.publish("CSV", SCHEMA, vec![file]).await;
    let request = Vacuum {
        target: TableRef::Path("s3a://src/w/t".to_owned()),
        mode: None,
        retain_hours: None,
        dry_run: false,
        inventory: None,
    };
    let rows = rows(&buckets.factory, MANIFEST, &snapshot).await.unwrap();
    let options = VacuumOptions::default();
    let report = vacuum::run(&table, &request, Some(rows), &options, &context, None).await;
    let report = report.unwrap();
    assert_eq!(
        (report.deleted, report.candidate_bytes),
        (1, 4),
        "{report:?}"
    );
    let left: Vec<String> = table
        .data()
        .list("", None)
        .map_ok(|meta| meta.path)
        .try_filter(|path| futures::future::ready(!path.starts_with("_delta_log")))
        .try_collect()
        .await
        .unwrap();
    assert_eq!(
        left,
        [
            "live a+b.parquet",
            "n/_delta_log/0.json",
            "n/x.parquet",
            "not-listed",
            "young"
        ]
    );
    assert!(Clock::now_ms(context.clock.as_ref()) > TIME_MS);
}
