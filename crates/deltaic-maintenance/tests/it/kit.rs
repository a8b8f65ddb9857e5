//! A table that tests fill file by file; data files hold a few bytes, nobody reads them as Parquet.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_command::{TableRef, Vacuum, VacuumReport};
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Clock, ManualClock, SystemClock};
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::memory::MemoryBackend;
use deltaic_storage::{StorageFactory, TableStore, encode_uri_path};
use futures::TryStreamExt;
use uuid::Uuid;

pub const HOUR: i64 = 3_600_000;
pub const DAY: i64 = 24 * HOUR;
/// 2026-01-01.
pub const START: i64 = 1_767_225_600_000;

pub struct Kit {
    pub store: TableStore,
    pub clock: ManualClock,
    pub context: CommitContext,
    names: u32,
    factory: StorageFactory,
}

impl Kit {
    /// An unpartitioned or partitioned (by `p`) table in memory, at 2026-01-01.
    pub async fn new(partitioned: bool, properties: &[(&str, &str)]) -> Kit {
        let clock = ManualClock::at(START);
        let memory = MemoryBackend::with_clock(Arc::new(clock.clone()));
        let factory = StorageFactory::default().with_memory(memory);
        let store = factory.open("memory:/w/t").unwrap();
        let mut kit = Kit::create(store, clock, partitioned, properties).await;
        kit.factory = factory;
        kit
    }

    /// A place in the same store, without a table.
    pub fn beside(&self, place: &str) -> Kit {
        Kit {
            store: self.factory.open(place).unwrap(),
            clock: self.clock.clone(),
            context: self.context.clone(),
            names: 1000,
            factory: self.factory.clone(),
        }
    }

    /// The same on a local disk.
    pub async fn local(folder: &std::path::Path, properties: &[(&str, &str)]) -> Kit {
        let store = StorageFactory::default()
            .open(&format!("{}/t", folder.display()))
            .unwrap();
        Kit::create(store, ManualClock::at(START), true, properties).await
    }

    /// The same in an object store, whose objects have the times at which they are written: the clock is at today's.
    pub async fn cloud(backend: CloudBackend) -> Kit {
        Kit::cloud_at("s3://b", "/w/t", backend).await
    }

    /// The same at another place.
    pub async fn cloud_at(bucket: &str, path: &str, backend: CloudBackend) -> Kit {
        let store = StorageFactory::default()
            .with_bucket(bucket, backend)
            .open(&format!("{bucket}{path}"))
            .unwrap();
        Kit::create(store, ManualClock::at(SystemClock.now_ms()), true, &[]).await
    }

    async fn create(
        store: TableStore,
        clock: ManualClock,
        partitioned: bool,
        properties: &[(&str, &str)],
    ) -> Kit {
        let context = CommitContext {
            clock: Arc::new(clock.clone()),
            ..CommitContext::default()
        };
        let kit = Kit {
            store,
            clock,
            context,
            names: 0,
            factory: StorageFactory::default(),
        };
        let schema = StructType::new([
            StructField::nullable("id", DataType::Long),
            StructField::nullable("p", DataType::String),
        ]);
        let mut metadata = Metadata::new("t", &schema);
        if partitioned {
            metadata.partition_columns = vec!["p".to_string()];
        }
        metadata.configuration = properties
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        let mut transaction = Transaction::create(&kit.store, Operation::new("CREATE TABLE"));
        transaction.set_metadata(metadata);
        transaction.set_protocol(Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: Some(vec!["deletionVectors".to_string()]),
            writer_features: Some(vec![
                "deletionVectors".to_string(),
                "appendOnly".to_string(),
                "invariants".to_string(),
            ]),
        });
        let version = transaction
            .commit(&kit.context)
            .await
            .unwrap()
            .into_result()
            .unwrap()
            .version;
        kit.date_commit(version).await;
        kit
    }

    pub fn now(&self) -> i64 {
        self.clock.now_ms()
    }

    pub fn advance(&mut self, ms: i64) {
        self.clock.advance(ms);
    }

    pub async fn snapshot(&self) -> Snapshot {
        Snapshot::load(&self.store, None).await.unwrap()
    }

    /// Gives a commit file the clock's time (the disk has its own clock).
    pub async fn date_commit(&self, version: i64) {
        self.date(&format!("_delta_log/{version:020}.json")).await;
    }

    async fn date(&self, path: &str) {
        if !self.store.root().scheme().is_cloud() {
            self.store
                .data()
                .set_modified(path, self.now())
                .await
                .unwrap();
        }
    }

    /// A new name in a partition's folder, decoded.
    pub fn name(&mut self, partition: Option<&str>) -> String {
        self.names += 1;
        let file = format!("part-{:05}.parquet", self.names);
        match partition {
            Some(value) => format!("p={}/{file}", value.replace('/', "%2F")),
            None => file,
        }
    }

    /// Writes a data file, not yet committed, dated by the clock.
    pub async fn write(&self, path: &str) {
        self.store
            .data()
            .create(path, Bytes::from(path.as_bytes().to_vec()))
            .await
            .unwrap();
        self.date(path).await;
    }

    pub fn add_of(&self, path: &str, partition: Option<&str>) -> Add {
        let values = partition
            .map(|value| {
                (
                    "p".to_string(),
                    (!value.is_empty()).then(|| value.to_string()),
                )
            })
            .into_iter()
            .collect();
        Add {
            path: encode_uri_path(path),
            partition_values: values,
            size: path.len() as i64,
            modification_time: self.now(),
            data_change: true,
            stats: Some(r#"{"numRecords":3}"#.to_string()),
            ..Add::default()
        }
    }

    pub async fn commit(&self, transaction: Transaction) -> i64 {
        let version = transaction
            .commit(&self.context)
            .await
            .unwrap()
            .into_result()
            .unwrap()
            .version;
        self.date_commit(version).await;
        version
    }

    /// Commits new files; their paths.
    pub async fn append(&mut self, partitions: &[Option<&str>]) -> Vec<String> {
        let snapshot = self.snapshot().await;
        let mut transaction = Transaction::begin(&snapshot, Operation::new("WRITE"));
        let mut paths = Vec::new();
        for partition in partitions {
            let path = self.name(*partition);
            self.write(&path).await;
            transaction.add(self.add_of(&path, *partition));
            paths.push(path);
        }
        self.commit(transaction).await;
        paths
    }

    /// Commits the removal of live files chosen by a predicate on their decoded paths.
    pub async fn remove(&self, gone: impl Fn(&str) -> bool) -> i64 {
        let snapshot = self.snapshot().await;
        let mut transaction = Transaction::begin(&snapshot, Operation::new("DELETE"));
        for add in snapshot.files().await.unwrap().iter() {
            if gone(&add.key().0) {
                transaction.remove(add.to_remove(self.now(), true));
            }
        }
        self.commit(transaction).await
    }

    /// Commits a new deletion vector for one live file; the vector's path.
    pub async fn delete_rows(&self, add: &Add) -> String {
        let snapshot = self.snapshot().await;
        let id = Uuid::new_v4();
        let vector = DeletionVectorDescriptor::on_disk("", id, 1, 36, 1);
        let path = format!("deletion_vector_{}.bin", id.as_hyphenated());
        self.write(&path).await;
        let mut transaction = Transaction::begin(&snapshot, Operation::new("DELETE"));
        transaction.remove(add.to_remove(self.now(), true));
        transaction.add(Add {
            deletion_vector: Some(vector),
            ..add.clone()
        });
        self.commit(transaction).await;
        path
    }

    pub fn request(&self, retain_hours: Option<f64>, dry_run: bool) -> Vacuum {
        Vacuum {
            target: TableRef::Path(self.store.root().to_string()),
            mode: None,
            retain_hours,
            dry_run,
            inventory: None,
        }
    }

    pub async fn vacuum(&self, request: &Vacuum, options: &VacuumOptions) -> Result<VacuumReport> {
        let report = vacuum::run(&self.store, request, None, options, &self.context, None).await?;
        if let Some(end) = report.end_version {
            self.date_commit(end - 1).await;
            self.date_commit(end).await;
        }
        Ok(report)
    }

    /// Decoded paths of all files outside of the log, sorted.
    pub async fn files(&self) -> Vec<String> {
        let listed: Vec<_> = self
            .store
            .data()
            .list("", None)
            .try_collect()
            .await
            .unwrap();
        let mut paths: Vec<String> = listed
            .into_iter()
            .filter(|meta| !meta.is_dir && !meta.path.starts_with("_delta_log"))
            .map(|meta| meta.path)
            .collect();
        paths.sort();
        paths
    }

    pub async fn directories(&self) -> Vec<String> {
        let listed: Vec<_> = self
            .store
            .data()
            .list("", None)
            .try_collect()
            .await
            .unwrap();
        listed
            .into_iter()
            .filter(|meta| meta.is_dir && !meta.path.starts_with("_delta_log"))
            .map(|meta| meta.path)
            .collect()
    }
}
