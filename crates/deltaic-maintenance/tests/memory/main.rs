//! VACUUM over a million objects of a bucket: how much memory it takes. A program of its own, because what is measured is
//! the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use deltaic_command::{InventoryRow, TableRef, Vacuum};
use deltaic_log::{CommitContext, Operation, Transaction};
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::ManualClock;
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::StorageFactory;
use deltaic_storage::cloud::CloudBackend;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

const MIB: u64 = 1 << 20;
const DAY: i64 = 86_400_000;
/// 2026-01-01; the objects are older.
const NOW: i64 = 1_767_225_600_000;

/// A bucket whose log is real and whose data objects exist only in its listing.
#[derive(Debug)]
struct Bucket {
    log: InMemory,
    objects: u64,
    deleted: Arc<AtomicU64>,
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bucket")
    }
}

/// Names as Spark gives them, in the order of a listing.
fn object(number: u64) -> ObjectMeta {
    ObjectMeta {
        location: Path::from(format!(
            "t/day={:05}/part-{number:012}-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9.c000.snappy.parquet",
            number / 1000
        )),
        last_modified: DateTime::<Utc>::from_timestamp_millis(NOW - 30 * DAY).unwrap(),
        size: 1000,
        e_tag: None,
        version: None,
    }
}

#[async_trait]
impl ObjectStore for Bucket {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.log.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.log.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.log.get_opts(at, options).await
    }

    async fn get_ranges(&self, at: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.log.get_ranges(at, ranges).await
    }

    fn delete_stream(
        &self,
        places: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let deleted = Arc::clone(&self.deleted);
        places
            .inspect(move |place| {
                assert!(!place.as_ref().unwrap().as_ref().contains("_delta_log"));
                deleted.fetch_add(1, Ordering::Relaxed);
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let log = self.log.list(prefix);
        if prefix.is_some_and(|prefix| prefix.as_ref().ends_with("_delta_log")) {
            return log;
        }
        let data = stream::iter((0..self.objects).map(|number| Ok(object(number))));
        log.chain(data).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.log.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.log.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.log.copy_opts(from, to, options).await
    }
}

/// The most that this process has held, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kib * 1024
}

/// From here on [`peak`] tells of what comes.
fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[tokio::test]
async fn a_million_objects_need_no_more_than_300_mib() {
    vacuum_a_million(false).await;
    // What the first run has left behind is counted again.
    vacuum_a_million(true).await;
}

/// By a listing, or by an inventory.
async fn vacuum_a_million(by_inventory: bool) {
    let deleted = Arc::new(AtomicU64::new(0));
    let bucket = Bucket {
        log: InMemory::new(),
        objects: 1_000_000,
        deleted: Arc::clone(&deleted),
    };
    let table = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(Arc::new(bucket), "s3://b"))
        .open("s3://b/t")
        .unwrap();
    let context = CommitContext {
        clock: Arc::new(ManualClock::at(NOW)),
        ..CommitContext::default()
    };
    let schema = StructType::new([StructField::nullable("id", DataType::Long)]);
    let mut create = Transaction::create(&table, Operation::new("CREATE TABLE"));
    create.set_metadata(Metadata::new("t", &schema));
    create.set_protocol(Protocol {
        min_reader_version: 1,
        min_writer_version: 2,
        reader_features: None,
        writer_features: None,
    });
    create
        .commit(&context)
        .await
        .unwrap()
        .into_result()
        .unwrap();
    forget_peak();
    let before = peak();
    let inventory = by_inventory.then(|| {
        let rows = (0..1_000_000).map(|number| {
            let object = object(number);
            Ok(InventoryRow {
                path: format!("s3://b/{}", object.location),
                length: 1000,
                is_dir: false,
                modification_time: object.last_modified.timestamp_millis(),
            })
        });
        stream::iter(rows).boxed()
    });
    let request = Vacuum {
        target: TableRef::Path("s3://b/t".to_owned()),
        mode: None,
        retain_hours: None,
        dry_run: false,
        inventory: None,
    };
    let report = vacuum::run(
        &table,
        &request,
        inventory,
        &VacuumOptions::default(),
        &context,
        None,
    )
    .await
    .unwrap();
    assert_eq!((report.candidates, report.deleted), (1_000_000, 1_000_000));
    assert_eq!(deleted.load(Ordering::Relaxed), 1_000_000);
    let grown = peak().saturating_sub(before);
    println!(
        "{} MiB for 1,000,000 objects, inventory {by_inventory}",
        grown / MIB
    );
    assert!(
        grown <= 300 * MIB,
        "{} MiB, inventory {by_inventory}",
        grown / MIB
    );
}
