//! CONVERT TO DELTA stopped at every operation of the store: the files are as they were, and the log is there whole or not at
//! all.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use bytes::Bytes;
use deltaic_command::Convert;
use deltaic_log::{CommitContext, Snapshot};
use deltaic_maintenance::convert;
use deltaic_maintenance::parquet_files::{self, FilesOptions};
use deltaic_protocol::error::Result;
use deltaic_protocol::properties::PropertyChanges;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::hook::{FaultMode, FaultPlan};
use deltaic_storage::memory::MemoryBackend;
use deltaic_storage::{StorageFactory, TableStore};
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;

fn file(rows: Vec<i64>) -> Bytes {
    let column = Arc::new(Int64Array::from(rows)) as _;
    let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    out.into()
}

async fn folder() -> TableStore {
    let store = StorageFactory::default()
        .with_memory(MemoryBackend::default())
        .open("memory:/w/p")
        .unwrap();
    for n in 0..5 {
        let path = format!("p=a%2F{n}/part {n}.parquet");
        store.data().create(&path, file(vec![n])).await.unwrap();
    }
    store
}

async fn content(store: &TableStore) -> BTreeMap<String, Bytes> {
    let listed: Vec<_> = store.data().list("", None).try_collect().await.unwrap();
    let mut out = BTreeMap::new();
    for entry in listed {
        if !entry.is_dir && !entry.path.starts_with("_delta_log") {
            let bytes = store.data().read(&entry.path).await.unwrap();
            out.insert(entry.path, bytes);
        }
    }
    out
}

async fn converted(store: &TableStore) -> Result<()> {
    let context = CommitContext::default();
    let options = FilesOptions {
        partitions: StructType::new([StructField::nullable("p", DataType::String)]),
        ..FilesOptions::new("/w/p")
    };
    let files = parquet_files::read(store, &options).await?;
    let defined = convert::define(&files, &PropertyChanges::default(), None, &context)?;
    convert::run(store, &Convert::default(), defined, files.files, &context)
        .await
        .map(|_| ())
}

#[tokio::test]
async fn a_conversion_stopped_anywhere_leaves_the_files_and_a_whole_log_or_none() {
    let modes = [
        FaultMode::Fail,
        FaultMode::FailAfter,
        FaultMode::Stop,
        FaultMode::StopAfter,
    ];
    for mode in modes {
        for at in 0.. {
            let store = folder().await;
            let before = content(&store).await;
            let plan = Arc::new(FaultPlan::new(at, mode));
            let outcome = converted(&store.hooked(plan.clone())).await;
            assert_eq!(content(&store).await, before, "{mode:?} at {at}");
            let there = Snapshot::try_load(&store).await.unwrap();
            if let Some(snapshot) = &there {
                assert_eq!(snapshot.files().await.unwrap().len(), 5);
            }
            if !plan.reached() {
                outcome.unwrap();
                assert!(at > 10, "only {at} operations");
                break;
            }
            match (outcome, there) {
                (Ok(()), None) => panic!("{mode:?} at {at}: told, not there"),
                (Err(_), None) => converted(&store).await.unwrap(),
                _ => {}
            }
        }
    }
}
