//! The log crate through its public interface: replay and data skipping against naive models, crashes at every store operation,
//! writers at the same time, what a commit costs, and cases from the field.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cleanup;
mod concurrency;
mod cost;
mod crash;
mod field;
mod fuzz;
mod hostile;
mod replay;
mod requests;
mod skipping;

use std::sync::Arc;

use deltaic_log::{CommitContext, CommitResult, Operation, Snapshot, Transaction};
use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::clock::ManualClock;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::{StorageFactory, StorageOptions, TableStore};

/// Ten years after the tests were written: every file is old by then.
const FAR_FUTURE_MS: i64 = 2_100_000_000_000;

fn memory_store() -> TableStore {
    StorageFactory::new(&StorageOptions::default())
        .open("memory:/t")
        .unwrap()
}

fn context() -> CommitContext {
    CommitContext {
        clock: Arc::new(ManualClock::at(FAR_FUTURE_MS)),
        ..CommitContext::default()
    }
}

fn metadata(properties: &[(&str, &str)]) -> Metadata {
    let mut metadata = Metadata::new(
        "t",
        &StructType::new([StructField::nullable("id", DataType::Long)]),
    );
    metadata.configuration = properties
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    metadata
}

fn file(path: &str) -> Add {
    Add {
        path: path.to_owned(),
        size: 10,
        data_change: true,
        stats: Some(r#"{"numRecords":1}"#.to_owned()),
        ..Add::default()
    }
}

async fn create(
    store: &TableStore,
    properties: &[(&str, &str)],
    context: &CommitContext,
) -> deltaic_protocol::Result<CommitResult> {
    let mut transaction = Transaction::create(store, Operation::new("CREATE TABLE"));
    transaction.set_metadata(metadata(properties));
    transaction.set_protocol(Protocol::legacy(1, 2));
    transaction.commit(context).await?.into_result()
}

async fn append(
    snapshot: &Snapshot,
    path: &str,
    context: &CommitContext,
) -> deltaic_protocol::Result<CommitResult> {
    let mut transaction = Transaction::begin(snapshot, Operation::new("WRITE"));
    transaction.add(file(path));
    transaction.commit(context).await?.into_result()
}

async fn paths(snapshot: &Snapshot) -> Vec<String> {
    let mut out: Vec<String> = snapshot
        .files()
        .await
        .unwrap()
        .iter()
        .map(|a| a.path.clone())
        .collect();
    out.sort();
    out
}

/// Engines move these futures between threads.
#[test]
fn the_futures_of_the_interface_can_be_sent() {
    fn sent<T: Send>(_: impl FnOnce() -> T) {}
    fn all(
        store: &'static TableStore,
        snapshot: &'static Snapshot,
        context: &'static CommitContext,
    ) {
        sent(|| Snapshot::load(store, None));
        sent(|| snapshot.update());
        sent(|| snapshot.files());
        sent(|| snapshot.tombstones());
        sent(|| snapshot.summary());
        sent(|| snapshot.commit_timestamp());
        sent(|| deltaic_log::history::history(snapshot, None));
        sent(|| deltaic_log::history::version_at_timestamp(snapshot, 0));
        sent(|| deltaic_log::history::commit_timestamp(snapshot, 0));
        sent(|| deltaic_log::maintain::checkpoint(snapshot, 0, &deltaic_log::RandomIds));
        sent(|| deltaic_log::maintain::clean(snapshot, 0));
        sent(|| Transaction::begin(snapshot, Operation::new("WRITE")).commit(context));
    }
    let _ = all;
}
