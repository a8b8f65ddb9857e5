//! Commits through a lock, on stores that do not keep two commits apart: writers that die at any step, readers and
//! writers that come after them, races.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::cloud::{CloudBackend, CommitLock, LockEntry};
use deltaic_storage::{PutOutcome, StorageFactory, TableStore};
use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::odd::{Condition, Fuse, Odd};

/// A lock in memory.
#[derive(Debug, Default)]
pub struct MemoryLock(Mutex<BTreeMap<(String, String), LockEntry>>);

#[async_trait]
impl CommitLock for MemoryLock {
    async fn entry(&self, table: &str, file: &str) -> Result<Option<LockEntry>> {
        let key = (table.to_owned(), file.to_owned());
        Ok(self.0.lock().unwrap().get(&key).cloned())
    }

    async fn latest(&self, table: &str) -> Result<Option<LockEntry>> {
        let entries = self.0.lock().unwrap();
        let mut own = entries.iter().filter(|((of, _), _)| of == table);
        Ok(own.next_back().map(|(_, entry)| entry.clone()))
    }

    async fn claim(&self, table: &str, entry: &LockEntry) -> Result<bool> {
        let key = (table.to_owned(), entry.file.clone());
        let mut entries = self.0.lock().unwrap();
        let there = entries.entry(key).or_insert_with(|| entry.clone());
        Ok(there.temp == entry.temp)
    }

    async fn complete(&self, table: &str, entry: &LockEntry) -> Result<()> {
        let key = (table.to_owned(), entry.file.clone());
        if let Some(there) = self.0.lock().unwrap().get_mut(&key)
            && there.temp == entry.temp
        {
            there.complete = true;
        }
        Ok(())
    }
}

/// A lock whose client dies with its store's.
#[derive(Debug)]
struct Mortal {
    inner: Arc<dyn CommitLock>,
    alive: Arc<Fuse>,
}

fn dead() -> DeltaError {
    DeltaError::unclassed("java.io.IOException", "no answer").with_kind(ErrorKind::Storage)
}

#[async_trait]
impl CommitLock for Mortal {
    async fn entry(&self, table: &str, file: &str) -> Result<Option<LockEntry>> {
        if self.alive.is_out() {
            return Err(dead());
        }
        self.inner.entry(table, file).await
    }

    async fn latest(&self, table: &str) -> Result<Option<LockEntry>> {
        if self.alive.is_out() {
            return Err(dead());
        }
        self.inner.latest(table).await
    }

    async fn claim(&self, table: &str, entry: &LockEntry) -> Result<bool> {
        let (does, answers) = self.alive.step();
        let done = match does {
            true => self.inner.claim(table, entry).await,
            false => Err(dead()),
        };
        if answers { done } else { Err(dead()) }
    }

    async fn complete(&self, table: &str, entry: &LockEntry) -> Result<()> {
        let (does, answers) = self.alive.step();
        let done = match does {
            true => self.inner.complete(table, entry).await,
            false => Err(dead()),
        };
        if answers { done } else { Err(dead()) }
    }
}

/// A store and a lock that outlive their clients.
#[derive(Clone)]
struct World {
    store: Arc<dyn ObjectStore>,
    lock: Arc<dyn CommitLock>,
    condition: Condition,
    place: String,
    /// `s3://bucket`
    bucket: String,
}

impl World {
    fn in_memory(condition: Condition) -> World {
        World {
            store: Arc::new(InMemory::new()),
            lock: Arc::new(MemoryLock::default()),
            condition,
            place: "s3://b/t".to_owned(),
            bucket: "s3://b".to_owned(),
        }
    }

    /// A client that dies when its fuse has burnt down.
    fn client(&self, alive: Fuse) -> TableStore {
        let alive = Arc::new(alive);
        let mut odd = Odd::new(Arc::clone(&self.store), self.condition);
        odd.alive = Arc::clone(&alive);
        let lock = Mortal {
            inner: Arc::clone(&self.lock),
            alive,
        };
        let backend = CloudBackend::new(Arc::new(odd), &self.bucket)
            .probed()
            .locked(Arc::new(lock));
        StorageFactory::default()
            .with_bucket(&self.bucket, backend)
            .open(&self.place)
            .unwrap()
    }

    fn healthy(&self) -> TableStore {
        self.client(Fuse::endless())
    }
}

fn name(version: u64) -> String {
    format!("{version:020}.json")
}

async fn commit(table: &TableStore, version: u64, text: &str) -> Result<PutOutcome> {
    let content = Bytes::from(text.to_owned());
    table.log().create(&name(version), content).await
}

/// The commits that a reader sees.
async fn log(table: &TableStore) -> Vec<String> {
    let listed: Vec<_> = table
        .log()
        .list_from("00000000000000000000")
        .try_collect()
        .await
        .unwrap();
    let mut out = Vec::new();
    for (version, file) in listed.iter().enumerate() {
        assert_eq!(file.path, name(version as u64), "{listed:?}");
        let content = table.log().read(&file.path).await.unwrap();
        out.push(String::from_utf8(content.to_vec()).unwrap());
    }
    out
}

/// Steps of a commit that change something: temporary file, entry, copy, mark, clearing up.
const STEPS: usize = 5;

/// One writer dies at a step; then comes a reader or a writer that may die as well, and then one that lives.
async fn crash(world: &World, first: (usize, bool), second: Option<(usize, bool)>, reads: bool) {
    let case = format!("{:?} {first:?} {second:?} reads: {reads}", world.condition);
    assert_eq!(
        commit(&world.healthy(), 0, "begin").await.unwrap(),
        PutOutcome::Created
    );
    let told = commit(&world.client(Fuse::after(first.0, first.1)), 1, "first").await;
    let mut second_told = None;
    if let Some((step, done)) = second {
        let client = world.client(Fuse::after(step, done));
        if reads {
            let _: Result<Vec<_>> = client.log().list_from("0").try_collect().await;
        } else {
            second_told = Some(commit(&client, 1, "second").await);
        }
    }
    let last = world.healthy();
    let seen = log(&last).await;
    assert_eq!(seen[0], "begin", "{case}");
    assert!(seen.len() <= 2, "{case}: {seen:?}");
    let there = seen.get(1).map(String::as_str);
    if let Ok(PutOutcome::Created) = told {
        assert_eq!(there, Some("first"), "{case}");
    }
    match second_told {
        Some(Ok(PutOutcome::Created)) => assert_eq!(there, Some("second"), "{case}"),
        Some(Ok(PutOutcome::AlreadyExists)) => assert_eq!(there, Some("first"), "{case}"),
        _ => {}
    }
    // The next one loses if a commit is there, and wins if none is.
    let next = commit(&last, 1, "third").await.unwrap();
    let wanted = match there {
        Some(_) => PutOutcome::AlreadyExists,
        None => PutOutcome::Created,
    };
    assert_eq!(next, wanted, "{case}");
    assert_eq!(
        commit(&last, 2, "after").await.unwrap(),
        PutOutcome::Created
    );
    let mut wanted = seen.clone();
    if there.is_none() {
        wanted.push("third".to_owned());
    }
    wanted.push("after".to_owned());
    assert_eq!(log(&last).await, wanted, "{case}");
    // What is left over goes, and takes nothing with it.
    last.log().remove_unfinished(i64::MAX).await.unwrap();
    let left: Vec<_> = last.data().list("", None).try_collect().await.unwrap();
    assert_eq!(left.len(), 3, "{case}: {left:?}");
    assert_eq!(log(&last).await, wanted, "{case}");
    let entry = world.lock.latest(&world.place).await.unwrap().unwrap();
    assert!(entry.complete && entry.temp.starts_with(&format!(".tmp/{}.", entry.file)));
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_writer_died_is_there_once_or_not_at_all() {
    for condition in [Condition::Kept, Condition::Ignored, Condition::LooksFirst] {
        for step in 1..=STEPS + 1 {
            for done in [false, true] {
                crash(&World::in_memory(condition), (step, done), None, false).await;
                for other in 1..=STEPS + 1 {
                    for reads in [false, true] {
                        let second = Some((other, !done));
                        let world = World::in_memory(condition);
                        crash(&world, (step, done), second, reads).await;
                    }
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_lives_is_told_what_is_there() {
    let world = World::in_memory(Condition::Ignored);
    let table = world.healthy();
    assert_eq!(commit(&table, 0, "a").await.unwrap(), PutOutcome::Created);
    assert_eq!(
        commit(&table, 0, "b").await.unwrap(),
        PutOutcome::AlreadyExists
    );
    // The same commit again is the one that is there.
    assert_eq!(commit(&table, 0, "a").await.unwrap(), PutOutcome::Created);
    assert_eq!(log(&table).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_writer_without_the_lock_is_seen_where_the_store_keeps_the_condition() {
    let world = World::in_memory(Condition::Kept);
    let table = world.healthy();
    commit(&table, 0, "begin").await.unwrap();
    // The entry is made, and before the copy another commits past the lock.
    let told = commit(&world.client(Fuse::after(2, true)), 1, "mine").await;
    assert!(told.is_err());
    let past = CloudBackend::new(Arc::clone(&world.store), "s3://b");
    let past = StorageFactory::default().with_bucket("s3://b", past);
    let done = commit(&past.open("s3://b/t").unwrap(), 1, "theirs").await;
    assert_eq!(done.unwrap(), PutOutcome::Created);
    assert_eq!(log(&world.healthy()).await, ["begin", "theirs"]);
    assert_eq!(
        commit(&table, 1, "mine").await.unwrap(),
        PutOutcome::AlreadyExists
    );
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_not_finished_gets_its_name_before_the_next_one() {
    let world = World::in_memory(Condition::Ignored);
    commit(&world.healthy(), 0, "begin").await.unwrap();
    assert!(
        commit(&world.client(Fuse::after(2, true)), 1, "first")
            .await
            .is_err()
    );
    // This writer knows of version 1 from elsewhere, and does not list the log.
    let told = commit(&world.healthy(), 2, "second").await;
    assert_eq!(told.unwrap(), PutOutcome::Created);
    let past = CloudBackend::new(Arc::clone(&world.store), "s3://b");
    let past = StorageFactory::default().with_bucket("s3://b", past);
    let seen = log(&past.open("s3://b/t").unwrap()).await;
    assert_eq!(seen, ["begin", "first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn entries_of_a_table_that_is_gone_are_told() {
    let world = World::in_memory(Condition::Ignored);
    let table = world.healthy();
    commit(&table, 0, "old").await.unwrap();
    table.log().delete(&name(0)).await.unwrap();
    let error = commit(&table, 0, "new").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(
        error.text().contains("Old entries for table s3://b/t"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_content_is_gone_is_told() {
    let world = World::in_memory(Condition::Ignored);
    commit(&world.healthy(), 0, "begin").await.unwrap();
    assert!(
        commit(&world.client(Fuse::after(2, true)), 1, "x")
            .await
            .is_err()
    );
    let table = world.healthy();
    let left: Vec<_> = table
        .data()
        .list("_delta_log/.tmp", None)
        .try_collect()
        .await
        .unwrap();
    table.data().delete_file(&left[0].path).await.unwrap();
    let listed: Result<Vec<_>> = table.log().list_from("0").try_collect().await;
    assert_eq!(listed.unwrap_err().kind(), ErrorKind::Corrupt);
}

/// Writers that take the next version each, as a commit loop does.
async fn race(world: &World, writers: usize, commits: usize) {
    let mut tasks = Vec::new();
    for writer in 0..writers {
        let table = world.healthy();
        tasks.push(tokio::spawn(async move {
            let mut version = 0;
            for number in 0..commits {
                let text = format!("{writer}/{number}");
                while commit(&table, version, &text).await.unwrap() != PutOutcome::Created {
                    version += 1;
                }
                version += 1;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let mut seen = log(&world.healthy()).await;
    seen.sort();
    let mut wanted: Vec<_> = (0..writers)
        .flat_map(|writer| (0..commits).map(move |number| format!("{writer}/{number}")))
        .collect();
    wanted.sort();
    assert_eq!(seen, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_on_a_store_without_the_condition_lose_no_commit() {
    race(&World::in_memory(Condition::Ignored), 8, 15).await;
    race(&World::in_memory(Condition::LooksFirst), 4, 5).await;
}

/// On servers: see [`crate::on_servers`]. The store ignores the condition, the lock is DynamoDB's.
mod on_servers {
    use super::*;
    use crate::on_servers::{IGNORES, Tables, locked};
    use deltaic_storage::TableRoot;

    fn world() -> World {
        let server = locked(IGNORES);
        let place = format!("{}/t 1%20ü", server.location);
        let root = TableRoot::parse(&place).unwrap();
        let bucket = root.prefix().to_owned();
        let backend = CloudBackend::open(&root, &server.cloud()).unwrap();
        World {
            store: backend.table(root).object_store(),
            lock: backend.lock().unwrap(),
            condition: Condition::Kept,
            place,
            bucket,
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_commit_whose_writer_died_is_there_once_or_not_at_all() {
        for step in 1..=STEPS + 1 {
            for done in [false, true] {
                crash(&world(), (step, done), None, false).await;
                crash(&world(), (step, done), Some((step, done)), step % 2 == 0).await;
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn writers_lose_no_commit() {
        let since = std::time::Instant::now();
        race(&world(), 8, 15).await;
        println!("8 writers × 15 commits: {:?}", since.elapsed());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_table_that_is_missing_or_a_wrong_place_is_told() {
        for (name, value, wanted) in [
            (
                "delta_dynamo_table_name",
                "nowhere",
                "aws dynamodb create-table",
            ),
            (
                "aws_endpoint_url_dynamodb",
                "http://127.0.0.1:9",
                "check that the DynamoDB endpoint",
            ),
        ] {
            let table = locked(IGNORES).with(&[(name, value)]).table("t");
            let error = commit(&table, 0, "x").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Storage);
            assert!(
                error.hint().unwrap().contains(wanted),
                "{error} {:?}",
                error.hint()
            );
        }
    }
}
