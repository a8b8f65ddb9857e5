//! What an object store is asked, and how often one must wait for it. Every request takes a second of a clock that moves only
//! when all wait, so that the time that has passed is the number of round trips that follow one another.

use std::sync::Arc;
use std::time::Duration;

use deltaic_log::{CommitContext, Later, Operation, Snapshot, Transaction};
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::file_name;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::hook::{OpKind, RequestCounter};
use deltaic_storage::{StorageFactory, TableStore};
use object_store::memory::InMemory;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use tokio::time::Instant;

use crate::{append, create};

const TRIP: Duration = Duration::from_secs(1);

fn bucket() -> (TableStore, Arc<RequestCounter>) {
    let slow = ThrottledStore::new(
        InMemory::new(),
        ThrottleConfig {
            wait_delete_per_call: TRIP,
            wait_get_per_call: TRIP,
            wait_list_per_call: TRIP,
            wait_list_with_delimiter_per_call: TRIP,
            wait_put_per_call: TRIP,
            ..ThrottleConfig::default()
        },
    );
    let counter = Arc::new(RequestCounter::new());
    let store = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(Arc::new(slow), "s3://b"))
        .with_hook(counter.clone())
        .open("s3://b/t")
        .unwrap();
    (store, counter)
}

/// A table of so many appends, with the checkpoints that its interval asks for.
async fn table(appends: usize) -> (Snapshot, Arc<RequestCounter>) {
    let (store, counter) = bucket();
    let context = CommitContext::default();
    let mut snapshot = create(&store, &[], &context).await.unwrap().snapshot;
    for number in 0..appends {
        let done = append(&snapshot, &format!("f{number}.parquet"), &context).await;
        snapshot = done.unwrap().snapshot;
    }
    (snapshot, counter)
}

/// The look for newer commits spares the one at the commit for a second. After that a table that has taken the place of the
/// one that was read is seen, and keeps its next version free.
#[tokio::test]
async fn a_table_that_was_made_anew_after_the_look_is_not_committed_to() {
    let store = StorageFactory::default()
        .with_bucket(
            "s3://b",
            CloudBackend::new(Arc::new(InMemory::new()), "s3://b"),
        )
        .open("s3://b/t")
        .unwrap();
    let context = CommitContext::default();
    let read = create(&store, &[], &context).await.unwrap().snapshot;
    let read = read.update().await.unwrap();
    for name in ["00000000000000000000.json", "00000000000000000000.crc"] {
        store.log().delete(name).await.unwrap();
    }
    let mut anew = Transaction::create(&store, Operation::new("CREATE TABLE"));
    anew.set_metadata(Metadata {
        id: "another".to_owned(),
        ..read.metadata().as_ref().clone()
    });
    anew.set_protocol(Protocol::legacy(1, 2));
    anew.commit(&context).await.unwrap().into_result().unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert!(append(&read, "lost.parquet", &context).await.is_err());
    let next = store.log().stat("00000000000000000001.json").await.unwrap();
    assert_eq!(next, None);
}

/// A snapshot that is far behind does not list what it will not read one by one.
#[tokio::test]
async fn a_look_from_far_behind_comes_to_the_newest_version() {
    let (newest, _) = {
        tokio::time::pause();
        table(150).await
    };
    let old = Snapshot::load(newest.store(), Some(1)).await.unwrap();
    assert_eq!(old.update().await.unwrap().version(), 150);
    let near = Snapshot::load(newest.store(), Some(140)).await.unwrap();
    assert_eq!(near.update().await.unwrap().version(), 150);
}

fn trips(start: Instant) -> u64 {
    start.elapsed().as_secs()
}

#[tokio::test(start_paused = true)]
async fn a_table_with_a_checkpoint_is_open_after_three_round_trips() {
    let (written, counter) = table(25).await;
    counter.reset();
    let start = Instant::now();
    let opened = Snapshot::load(written.store(), None).await.unwrap();
    let waited = trips(start);
    assert_eq!(opened.version(), 25);
    assert!(
        waited <= 3,
        "{waited} round trips: {:?}",
        counter.snapshot()
    );
    assert_eq!(counter.of_kind(OpKind::List), 1, "{:?}", counter.snapshot());
    assert_eq!(counter.of_kind(OpKind::Stat), 0, "{:?}", counter.snapshot());
}

/// The files of a small checkpoint stand in what was read for the protocol and the metadata.
#[tokio::test(start_paused = true)]
async fn a_small_checkpoint_is_fetched_once() {
    let (written, counter) = table(20).await;
    counter.reset();
    let start = Instant::now();
    let opened = Snapshot::load(written.store(), None).await.unwrap();
    assert_eq!(opened.files().await.unwrap().len(), 20);
    let waited = trips(start);
    // The pointer and the checkpoint.
    assert_eq!(counter.of_kind(OpKind::Read), 2, "{:?}", counter.snapshot());
    assert!(
        waited <= 3,
        "{waited} round trips: {:?}",
        counter.snapshot()
    );
}

#[tokio::test(start_paused = true)]
async fn an_append_to_a_held_table_is_one_look_for_newer_commits_and_one_put() {
    let (written, counter) = table(3).await;
    counter.reset();
    let start = Instant::now();
    let newest = written.update().await.unwrap();
    append(&newest, "new.parquet", &CommitContext::default())
        .await
        .unwrap();
    let waited = trips(start);
    let counts = counter.snapshot();
    // A listing, the commit, and its checksum; the data file is not this crate's.
    assert!(waited <= 3, "{waited} round trips: {counts:?}");
    assert_eq!(counter.of_kind(OpKind::List), 1, "{counts:?}");
    assert_eq!(counter.of_kind(OpKind::Write), 2, "{counts:?}");
    assert_eq!(counter.total(), 3, "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn the_checksum_is_not_waited_for() {
    let (written, counter) = table(3).await;
    let context = CommitContext {
        later: Some(Later::default()),
        ..CommitContext::default()
    };
    let checksum = |version: i64| format!("{version:020}.crc");
    counter.reset();
    let start = Instant::now();
    let newest = written.update().await.unwrap();
    let done = append(&newest, "new.parquet", &context).await.unwrap();
    assert_eq!(trips(start), 2, "{:?}", counter.snapshot());
    let log = newest.store().log();
    assert_eq!(log.stat(&checksum(4)).await.unwrap(), None);
    // A second commit does not wait for the first one's either, and has the totals at hand.
    let start = Instant::now();
    append(&done.snapshot, "next.parquet", &context)
        .await
        .unwrap();
    assert_eq!(trips(start), 1, "{:?}", counter.snapshot());
    let warnings = context.later.unwrap().finish().await;
    assert_eq!(warnings, Vec::<String>::new());
    for version in [4, 5] {
        let there = log.stat(&checksum(version)).await.unwrap();
        assert!(there.is_some(), "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_compacted_file_is_one_request_in_place_of_many() {
    let (written, counter) = table(9).await;
    let log = written.store().log();
    let mut sum = Vec::new();
    for version in 1..=8 {
        let commit = log.read(&file_name::commit(version)).await.unwrap();
        sum.extend_from_slice(&commit);
    }
    let name = file_name::compacted(1, 8);
    log.create(&name, sum.into()).await.unwrap();
    counter.reset();
    let start = Instant::now();
    let opened = Snapshot::load(written.store(), None).await.unwrap();
    let waited = trips(start);
    assert_eq!(opened.files().await.unwrap().len(), 9);
    // The pointer, version 0, the compacted file, and version 9.
    assert_eq!(counter.of_kind(OpKind::Read), 4, "{:?}", counter.snapshot());
    assert!(
        waited <= 3,
        "{waited} round trips: {:?}",
        counter.snapshot()
    );
}
