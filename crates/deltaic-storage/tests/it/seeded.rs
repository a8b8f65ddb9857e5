//! Stores that fail by chance, under many seeds: listings are whole or end with an error, and a bulk deletion says of each
//! file what is true.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_storage::cloud::CloudBackend;
use deltaic_storage::faults::{Fault, FaultStore, Request, Schedule};
use deltaic_storage::{DeleteOutcome, PutOutcome, StorageFactory, TableStore};
use futures::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use proptest::prelude::*;

/// All faults that a store may show whose listings hold what was written.
const FAULTS: &[(Request, Fault)] = &[
    (Request::Put, Fault::LostRequest),
    (Request::Put, Fault::LostAnswer),
    (Request::Put, Fault::Duplicate),
    (Request::Put, Fault::Status(409)),
    (Request::Put, Fault::Status(412)),
    (Request::Put, Fault::Status(429)),
    (Request::Put, Fault::Status(503)),
    (Request::Get, Fault::LostAnswer),
    (Request::Get, Fault::Truncated),
    (Request::Get, Fault::Status(500)),
    (Request::Head, Fault::LostRequest),
    (Request::List, Fault::LostRequest),
    (Request::List, Fault::LostAnswer),
    (Request::List, Fault::Partial),
    (Request::List, Fault::Status(429)),
    (Request::List, Fault::Status(403)),
    (Request::Delete, Fault::LostRequest),
    (Request::Delete, Fault::LostAnswer),
    (Request::Delete, Fault::Partial),
    (Request::Delete, Fault::Duplicate),
    (Request::Delete, Fault::Status(403)),
    (Request::Delete, Fault::Status(503)),
];

struct Kit {
    plain: Arc<InMemory>,
    table: TableStore,
}

fn kit(schedule: Schedule) -> Kit {
    let plain = Arc::new(InMemory::new());
    let store = FaultStore::new(plain.clone(), schedule);
    let table = StorageFactory::default()
        .with_bucket("s3://b", CloudBackend::new(Arc::new(store), "s3://b"))
        .open("s3://b/t")
        .unwrap();
    Kit { plain, table }
}

impl Kit {
    async fn fill(&self, names: impl IntoIterator<Item = String>) {
        for name in names {
            let at = Path::from(format!("t/{name}"));
            self.plain
                .put(&at, PutPayload::from_static(b"x"))
                .await
                .unwrap();
        }
    }

    async fn there(&self) -> BTreeSet<String> {
        self.plain
            .list(None)
            .map_ok(|meta| meta.location.as_ref().trim_start_matches("t/").to_owned())
            .try_collect()
            .await
            .unwrap()
    }
}

fn paused(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(test);
}

fn names(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| format!("p={}/f-{n:05}", n % 7))
        .collect()
}

async fn listing_is_whole(seed: u64, permille: u64, count: usize) {
    let kit = kit(Schedule::seeded(seed, permille, FAULTS));
    kit.fill(names(count)).await;
    for _ in 0..4 {
        let listed: Result<Vec<_>, _> = kit
            .table
            .data()
            .list("", None)
            .map_ok(|meta| meta.path)
            .try_collect()
            .await;
        match listed {
            Ok(listed) => {
                let set: BTreeSet<String> = listed.iter().cloned().collect();
                assert_eq!(
                    set.len(),
                    listed.len(),
                    "seed {seed}: a file is listed twice"
                );
                assert_eq!(set, kit.there().await, "seed {seed}");
            }
            Err(error) => assert!(error.path().is_some() && error.hint().is_some(), "{error}"),
        }
    }
}

async fn deletions_are_true(seed: u64, permille: u64, count: usize) {
    let kit = kit(Schedule::seeded(seed, permille, FAULTS));
    kit.fill(names(count)).await;
    let doomed: Vec<String> = names(count).into_iter().step_by(2).collect();
    let mut told: Vec<(String, bool)> = kit
        .table
        .data()
        .delete_files(doomed.clone(), 4)
        .map(|(path, outcome)| (path, outcome.is_ok()))
        .collect()
        .await;
    told.sort();
    let mut asked = doomed.clone();
    asked.sort();
    let paths: Vec<String> = told.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(paths, asked, "seed {seed}: each file comes back once");
    let there = kit.there().await;
    for (path, gone) in &told {
        // An error may be of a file that is gone after all; success is never told of one that is there.
        assert!(
            !(*gone && there.contains(path)),
            "seed {seed}: {path} is said to be gone"
        );
    }
    for kept in names(count).iter().filter(|name| !doomed.contains(name)) {
        assert!(
            there.contains(kept),
            "seed {seed}: {kept} was not to be deleted"
        );
    }
}

/// A loop of commits by two writers; the log holds what each was told, at the versions that it was told.
async fn commits_are_true(seed: u64, permille: u64) {
    let kit = kit(Schedule::seeded(seed, permille, FAULTS));
    let mut told = Vec::new();
    let mut unclear = BTreeSet::new();
    for round in 0..8 {
        for writer in 0..2 {
            let name = format!("{round:020}.json");
            let content = format!("writer {writer}, round {round}");
            match kit
                .table
                .log()
                .create(&name, Bytes::from(content.clone()))
                .await
            {
                Ok(PutOutcome::Created) => told.push((name, content)),
                Ok(PutOutcome::AlreadyExists) => {
                    // Then another's content is there.
                    let at = Path::from(format!("t/_delta_log/{name}"));
                    let there = kit.plain.get(&at).await.unwrap().bytes().await.unwrap();
                    assert_ne!(there, content.as_bytes(), "seed {seed}");
                }
                Err(error) => {
                    assert!(error.hint().is_some(), "{error}");
                    unclear.insert(name);
                }
            }
        }
    }
    let mut once = BTreeSet::new();
    for (name, content) in &told {
        assert!(
            once.insert(name.clone()),
            "seed {seed}: {name} was told to two writers"
        );
        let at = Path::from(format!("t/_delta_log/{name}"));
        let there = kit.plain.get(&at).await.unwrap().bytes().await.unwrap();
        assert_eq!(there, content.as_bytes(), "seed {seed}");
    }
    let there: BTreeSet<String> = kit
        .there()
        .await
        .into_iter()
        .map(|path| path.trim_start_matches("_delta_log/").to_owned())
        .collect();
    for name in there {
        assert!(
            once.contains(&name) || unclear.contains(&name),
            "seed {seed}: {name} belongs to nobody"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_listing_is_whole_or_an_error(seed: u64, permille in 0u64..600, count in 0usize..60) {
        paused(listing_is_whole(seed, permille, count));
    }

    #[test]
    fn a_bulk_deletion_says_what_is_gone(seed: u64, permille in 0u64..600, count in 0usize..60) {
        paused(deletions_are_true(seed, permille, count));
    }

    #[test]
    fn a_commit_is_told_once(seed: u64, permille in 0u64..500) {
        paused(commits_are_true(seed, permille));
    }
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_breaks_off_goes_on_after_the_last_key() {
    let faults = vec![
        Some(Fault::Partial),
        Some(Fault::LostRequest),
        Some(Fault::Partial),
    ];
    let kit = kit(Schedule::script([(Request::List, faults)]));
    kit.fill(names(50)).await;
    let listed: BTreeSet<String> = kit
        .table
        .data()
        .list("", None)
        .map_ok(|meta| meta.path)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(listed, kit.there().await);
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_keeps_failing_ends_with_an_error_and_nothing_after_it() {
    let kit = kit(Schedule::script([(
        Request::List,
        vec![Some(Fault::LostRequest); 50],
    )]));
    kit.fill(names(3)).await;
    let listed: Vec<_> = kit.table.data().list("", None).collect().await;
    assert_eq!(listed.len(), 1);
    assert!(
        listed[0]
            .as_ref()
            .unwrap_err()
            .text()
            .contains("injected fault LostRequest")
    );
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_more_than_one_request_is_deleted_whole() {
    let kit = kit(Schedule::script([(
        Request::Delete,
        vec![Some(Fault::Partial), None, Some(Fault::LostAnswer)],
    )]));
    kit.fill(names(2500)).await;
    let mut doomed = names(2500);
    doomed.push("p=0/not-there".to_owned());
    let results: Vec<_> = kit.table.data().delete_files(doomed, 2).collect().await;
    assert_eq!(results.len(), 2501);
    for (path, outcome) in &results {
        assert_eq!(*outcome.as_ref().unwrap(), DeleteOutcome::Deleted, "{path}");
    }
    assert!(kit.there().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refused_batch_names_each_file_and_is_not_repeated() {
    let kit = kit(Schedule::script([(
        Request::Delete,
        vec![Some(Fault::Status(403))],
    )]));
    kit.fill(names(5)).await;
    let results: Vec<_> = kit.table.data().delete_files(names(5), 1).collect().await;
    assert_eq!(results.len(), 5);
    for (path, outcome) in results {
        let error = outcome.unwrap_err();
        assert_eq!(error.path(), Some(format!("s3://b/t/{path}").as_str()));
        assert_eq!(error.java_class(), "java.nio.file.AccessDeniedException");
    }
    assert_eq!(kit.there().await.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_stay_expired_and_a_skewed_clock_shows() {
    let plain = Arc::new(InMemory::new());
    plain
        .put(&Path::from("a"), PutPayload::from_static(b"x"))
        .await
        .unwrap();
    let store = FaultStore::new(
        plain.clone(),
        Schedule::script([(Request::Get, vec![None, Some(Fault::Expired)])]),
    )
    .with_clock_skew(-3_600_000);
    let real = plain.head(&Path::from("a")).await.unwrap().last_modified;
    let seen = store.head(&Path::from("a")).await.unwrap().last_modified;
    assert_eq!((real - seen).num_minutes(), 60);
    store.get(&Path::from("a")).await.unwrap();
    for _ in 0..2 {
        let error = store.get(&Path::from("a")).await.unwrap_err();
        assert!(
            matches!(error, object_store::Error::PermissionDenied { .. }),
            "{error}"
        );
    }
    assert!(format!("{store:?}").contains("Get: 2"), "{store:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stale_listing_hides_the_last_writes() {
    let faults = vec![Some(Fault::Stale(1))];
    let kit = kit(Schedule::script([(Request::List, faults)]));
    for name in ["a", "b"] {
        kit.table
            .data()
            .create(name, Bytes::from_static(b"x"))
            .await
            .unwrap();
    }
    let list = || {
        kit.table
            .data()
            .list("", None)
            .map_ok(|meta| meta.path)
            .try_collect::<Vec<_>>()
    };
    assert_eq!(list().await.unwrap(), ["a"]);
    assert_eq!(list().await.unwrap(), ["a", "b"]);
}
