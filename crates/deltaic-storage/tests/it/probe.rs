//! Before the first commit a store is asked whether it keeps two commits apart; one that does not is refused.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use deltaic_protocol::error::ErrorKind;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::faults::{Fault, FaultStore, Request, Schedule};
use deltaic_storage::{PutOutcome, StorageFactory, TableStore};
use futures::TryStreamExt;
use futures::future::join_all;
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::lock::MemoryLock;
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

/// A table in a store whose puts go as the script says, probed before the first commit.
fn scripted(puts: Vec<Option<Fault>>) -> (Arc<InMemory>, TableStore) {
    let memory = Arc::new(InMemory::new());
    let schedule = Schedule::script([(Request::Put, puts)]);
    let store = Arc::new(FaultStore::new(memory.clone(), schedule));
    let table = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(store, "s3://b").probed())
        .open("s3://b/t")
        .unwrap();
    (memory, table)
}

#[tokio::test(start_paused = true)]
async fn a_request_to_try_again_is_no_verdict() {
    let busy = Some(Fault::Status(409));
    let half: Vec<_> = (0..40).map(|n| busy.filter(|_| n % 2 == 0)).collect();
    for puts in [vec![busy], vec![busy; 3], half, vec![None, busy, busy]] {
        let (memory, table) = scripted(puts.clone());
        let outcome = commit(&table, COMMIT).await;
        assert_eq!(outcome.unwrap(), PutOutcome::Created, "{puts:?}");
        assert_eq!(objects(&memory).await, [format!("t/_delta_log/{COMMIT}")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_what_is_not_there_is_told_as_that() {
    for status in [409, 412] {
        let (memory, table) = scripted(vec![Some(Fault::Status(status)); 200]);
        let error = commit(&table, COMMIT).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage, "{error}");
        assert!(error.text().contains("nothing is there"), "{error}");
        assert!(error.hint().unwrap().contains("run the statement again"));
        assert_eq!(objects(&memory).await, [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_without_conditional_puts_is_refused_with_the_way_out() {
    let none = vec![Some(Fault::Status(501)); 200];
    let (_, probed) = scripted(none.clone());
    let store = FaultStore::new(
        Arc::new(InMemory::new()),
        Schedule::script([(Request::Put, none)]),
    );
    let trusted = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(Arc::new(store), "s3://b"))
        .open("s3://b/t")
        .unwrap();
    for table in [probed, trusted] {
        let error = commit(&table, COMMIT).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("S3_LOCKING_PROVIDER=dynamodb"), "{hint}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_without_conditional_puts_takes_commits_through_a_lock() {
    let memory = Arc::new(InMemory::new());
    // The first put is that of the temporary file.
    let puts = vec![None, Some(Fault::Status(501))];
    let store = FaultStore::new(memory.clone(), Schedule::script([(Request::Put, puts)]));
    let backend = CloudBackend::new(Arc::new(store), "s3://b")
        .probed()
        .locked(Arc::new(MemoryLock::default()));
    let factory = StorageFactory::default().with_bucket("s3://b", backend);
    let table = factory.open("s3://b/t").unwrap();
    assert_eq!(commit(&table, COMMIT).await.unwrap(), PutOutcome::Created);
    assert_eq!(objects(&memory).await, [format!("t/_delta_log/{COMMIT}")]);
}

#[tokio::test(start_paused = true)]
async fn a_statement_that_is_stopped_while_the_store_is_probed_leaves_nothing() {
    for millis in 0..8 {
        let (odd, memory, factory) = backend(Condition::LooksFirst, Fuse::endless());
        let table = factory.open("s3://b/t").unwrap();
        let stopped = tokio::time::timeout(
            std::time::Duration::from_millis(millis),
            commit(&table, COMMIT),
        );
        let _ = stopped.await;
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        assert_eq!(objects(&memory).await, [""; 0], "{millis}");
        println!(
            "{millis} ms: {} requests",
            odd.requests.load(Ordering::SeqCst)
        );
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

#[tokio::test]
async fn what_a_dead_probe_left_makes_no_folder_and_goes_when_it_is_old() {
    let memory = Arc::new(InMemory::new());
    for name in [
        "t/_delta_log/.probe-0a1b2c-0",
        "t/_delta_log/.probe-0a1b2c-12",
    ] {
        let put = object_store::PutOptions::default();
        memory
            .put_opts(&name.into(), "x".into(), put)
            .await
            .unwrap();
    }
    let lock = Arc::new(MemoryLock::default());
    let plain = CloudBackend::new(memory.clone(), "s3://b");
    for backend in [plain.clone(), plain.locked(lock)] {
        let factory = StorageFactory::default().with_bucket("s3://b", backend);
        let table = factory.open("s3://b/t").unwrap();
        for folder in ["", "_delta_log"] {
            assert!(!table.data().exists(folder).await.unwrap(), "{folder}");
        }
        assert_eq!(table.log().remove_unfinished(0).await.unwrap(), 0);
        assert_eq!(table.log().remove_unfinished(i64::MAX).await.unwrap(), 2);
        assert_eq!(objects(&memory).await, [""; 0]);
        let put = object_store::PutOptions::default();
        let again = [
            "t/_delta_log/.probe-0a1b2c-0",
            "t/_delta_log/.probe-0a1b2c-12",
        ];
        for name in again {
            memory
                .put_opts(&name.into(), "x".into(), put.clone())
                .await
                .unwrap();
        }
    }
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
