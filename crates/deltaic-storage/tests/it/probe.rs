//! Before the first commit a store is asked whether it keeps two commits apart; one that does not is refused.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use deltaic_protocol::error::ErrorKind;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::{PutOutcome, StorageFactory, TableStore};
use futures::TryStreamExt;
use futures::future::join_all;
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::odd::{Condition, Fuse, Odd};

const COMMIT: &str = "00000000000000000000.json";

fn backend(condition: Condition, alive: Fuse) -> (Arc<Odd>, Arc<InMemory>, StorageFactory) {
    let memory = Arc::new(InMemory::new());
    let mut odd = Odd::new(memory.clone(), condition);
    odd.alive = Arc::new(alive);
    let odd = Arc::new(odd);
    let backend = CloudBackend::new(odd.clone(), "s3://b").probed();
    let factory = StorageFactory::default().with_bucket("s3://b", backend);
    (odd, memory, factory)
}

async fn commit(table: &TableStore, name: &str) -> deltaic_protocol::error::Result<PutOutcome> {
    table.log().create(name, Bytes::from_static(b"{}")).await
}

async fn objects(store: &InMemory) -> Vec<String> {
    let found: Vec<_> = store.list(None).try_collect().await.unwrap();
    found
        .into_iter()
        .map(|meta| meta.location.to_string())
        .collect()
}

#[tokio::test]
async fn a_store_that_is_right_is_probed_once_and_left_clean() {
    for condition in [Condition::Kept, Condition::SendsAway] {
        probed_once_and_left_clean(condition).await;
    }
}

async fn probed_once_and_left_clean(condition: Condition) {
    let (odd, memory, factory) = backend(condition, Fuse::endless());
    let table = factory.open("s3://b/t").unwrap();
    assert_eq!(commit(&table, COMMIT).await.unwrap(), PutOutcome::Created);
    let probed = odd.requests.load(Ordering::SeqCst);
    assert_eq!(objects(&memory).await, [format!("t/_delta_log/{COMMIT}")]);
    let other = factory.open("s3://b/other").unwrap();
    assert_eq!(commit(&other, COMMIT).await.unwrap(), PutOutcome::Created);
    assert_eq!(odd.requests.load(Ordering::SeqCst), probed + 1);
}

#[tokio::test]
async fn first_commits_at_the_same_time_share_one_probe() {
    let (odd, _, factory) = backend(Condition::Kept, Fuse::endless());
    let tables: Vec<_> = (0..8)
        .map(|n| factory.open(&format!("s3://b/t{n}")).unwrap())
        .collect();
    let commits = join_all(tables.iter().map(|table| commit(table, COMMIT))).await;
    assert!(
        commits
            .into_iter()
            .all(|done| done.unwrap() == PutOutcome::Created)
    );
    let puts = odd.puts.lock().unwrap().clone();
    let mut folders: Vec<_> = puts
        .iter()
        .filter(|path| path.contains("/.probe-"))
        .map(|path| path.split('/').next().unwrap())
        .collect();
    folders.dedup();
    assert_eq!(folders.len(), 1, "{puts:?}");
}

#[tokio::test]
async fn stores_that_are_wrong_are_refused_and_can_be_read() {
    for condition in [
        Condition::Ignored,
        Condition::LooksFirst,
        Condition::WritesAnyway,
    ] {
        let (odd, memory, factory) = backend(condition, Fuse::endless());
        let table = factory.open("s3://b/t").unwrap();
        let error = commit(&table, COMMIT).await.unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::Unsupported,
            "{condition:?}: {error}"
        );
        assert_eq!(error.path(), Some("s3://b/t/_delta_log"));
        assert!(
            error
                .hint()
                .unwrap()
                .contains("S3_LOCKING_PROVIDER=dynamodb")
        );
        assert_eq!(objects(&memory).await, [""; 0], "{condition:?}");
        // What was found holds: nothing more is asked of the store.
        let asked = odd.requests.load(Ordering::SeqCst);
        assert_eq!(
            commit(&table, COMMIT).await.unwrap_err().text(),
            error.text()
        );
        assert_eq!(odd.requests.load(Ordering::SeqCst), asked);
        memory
            .put_opts(
                &format!("t/_delta_log/{COMMIT}").into(),
                "x".into(),
                object_store::PutOptions::default(),
            )
            .await
            .unwrap();
        assert_eq!(table.log().read(COMMIT).await.unwrap(), "x");
        let listed: Vec<_> = table.log().list_from("").try_collect().await.unwrap();
        assert_eq!(listed.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_breaks_off_says_nothing_and_is_tried_again() {
    // Every request of the probe that changes something, before and after it took effect.
    for steps in 1..12 {
        for done in [false, true] {
            let (_, memory, factory) = backend(Condition::Kept, Fuse::after(steps, done));
            let table = factory.open("s3://b/t").unwrap();
            let error = commit(&table, COMMIT).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Storage, "{steps} {done}: {error}");
            assert_eq!(
                memory.head_of(COMMIT).await,
                None,
                "nothing is committed before the probe has ended"
            );
        }
    }
}

/// Whether a commit is there.
trait HeadOf {
    async fn head_of(&self, name: &str) -> Option<u64>;
}

impl HeadOf for InMemory {
    async fn head_of(&self, name: &str) -> Option<u64> {
        use object_store::ObjectStoreExt;
        let path = format!("t/_delta_log/{name}").into();
        self.head(&path).await.ok().map(|meta| meta.size)
    }
}

#[tokio::test]
async fn objects_of_a_probe_are_no_part_of_the_log() {
    let memory = Arc::new(InMemory::new());
    for name in [".probe-0a1b2c-3", COMMIT, "_last_checkpoint"] {
        memory
            .put_opts(
                &format!("t/_delta_log/{name}").into(),
                "x".into(),
                object_store::PutOptions::default(),
            )
            .await
            .unwrap();
    }
    let table = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(memory, "s3://b"))
        .open("s3://b/t")
        .unwrap();
    let listed: Vec<_> = table.log().list_from("").try_collect().await.unwrap();
    let names: Vec<_> = listed.into_iter().map(|meta| meta.path).collect();
    assert_eq!(names, [COMMIT, "_last_checkpoint"]);
}

/// On servers: see [`crate::on_servers`].
mod on_servers {
    use super::*;
    use crate::on_servers::{IGNORES, S3, Tables, server};

    const TIMES: usize = 20;

    /// A server that takes the condition and does nothing with it.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_server_that_ignores_the_condition_is_refused_every_time() {
        refused_every_time(IGNORES, TIMES).await;
    }

    async fn refused_every_time(variable: &str, times: usize) {
        let mut refused = 0;
        for _ in 0..times {
            let table = server(variable).table("t");
            match commit(&table, COMMIT).await {
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    refused += 1;
                    assert!(table.log().stat(COMMIT).await.unwrap().is_none());
                }
                other => println!("{other:?}"),
            }
        }
        assert_eq!(refused, times);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_server_that_is_right_passes_every_time() {
        for _ in 0..TIMES {
            let table = server(S3).table("t");
            let since = std::time::Instant::now();
            assert_eq!(commit(&table, COMMIT).await.unwrap(), PutOutcome::Created);
            let first = since.elapsed();
            let since = std::time::Instant::now();
            let next = "00000000000000000001.json";
            assert_eq!(commit(&table, next).await.unwrap(), PutOutcome::Created);
            println!("first commit {first:?}, second {:?}", since.elapsed());
            let left: Vec<_> = table.data().list("", None).try_collect().await.unwrap();
            assert_eq!(left.len(), 2, "{left:?}");
        }
    }
}
