//! Writers at the same time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_log::skipping::{Column, Comparison, Predicate, Value};
use deltaic_log::transaction::{Committer, ConflictKind, PutIfAbsent};
use deltaic_log::{
    Commit, CommitContext, Ids, Operation, RandomIds, Snapshot, Transaction, Version,
};
use deltaic_protocol::action::{Add, SetTransaction};
use deltaic_protocol::schema::DataType;
use deltaic_storage::{PutOutcome, TableStore};

use super::{BEGIN, add, live, load, table};
use crate::{append, context, file};

fn partitioned() -> String {
    BEGIN
        .replace(
            r#"\"fields\":["#,
            r#"\"fields\":[{\"name\":\"a\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},{\"name\":\"b\",\"type\":\"boolean\",\"nullable\":true,\"metadata\":{}},"#,
        )
        .replace(r#""partitionColumns":[]"#, r#""partitionColumns":["a","b"]"#)
}

fn in_partition(path: &str, a: &str, b: &str) -> Add {
    Add {
        partition_values: [("a", a), ("b", b)]
            .map(|(k, v)| (k.to_owned(), Some(v.to_owned())))
            .into(),
        ..file(path)
    }
}

async fn two_partitions() -> TableStore {
    let store = table(&[&partitioned()]).await;
    let mut write = Transaction::begin(&load(&store).await, Operation::new("WRITE"));
    write.add(in_partition("a1", "a", "true"));
    write.add(in_partition("b1", "b", "true"));
    write
        .commit(&context())
        .await
        .unwrap()
        .into_result()
        .unwrap();
    store
}

/// Replaces a partition on this version of the table.
async fn overwrite(
    read: &Snapshot,
    partition: &str,
    path: &str,
    context: &CommitContext,
) -> Commit {
    let mut write = Transaction::begin(read, Operation::new("WRITE"));
    let equal = |name: &str, data_type, value| {
        Predicate::Compare(Column::new(name, data_type), Comparison::Equal, value)
    };
    write.read_where(Predicate::And(vec![
        equal("a", DataType::String, Value::String(partition.to_owned())),
        equal("b", DataType::Boolean, Value::Boolean(true)),
    ]));
    let files = read.files().await.unwrap();
    let old: Vec<&Add> = files
        .iter()
        .map(AsRef::as_ref)
        .filter(|f| f.partition_values["a"].as_deref() == Some(partition))
        .collect();
    write.read_files(old.iter().copied());
    for file in old {
        write.remove(file.to_remove(1, true));
    }
    write.add(in_partition(path, partition, "true"));
    write.commit(context).await.unwrap()
}

#[tokio::test]
async fn b153_of_two_that_replace_one_partition_the_second_conflicts() {
    let store = two_partitions().await;
    let context = context();
    let (one, two) = (load(&store).await, load(&store).await);
    assert!(matches!(
        overwrite(&one, "a", "a2", &context).await,
        Commit::Committed(_)
    ));
    let Commit::Conflict(conflict) = overwrite(&two, "a", "a3", &context).await else {
        panic!("the second took files that it had not seen");
    };
    assert_eq!(conflict.kind, ConflictKind::ConcurrentAppend);
    assert_eq!(live(&load(&store).await).await, ["a2", "b1"]);
    // Another partition is another matter, and takes nothing but what it read.
    assert!(matches!(
        overwrite(&two, "b", "b2", &context).await,
        Commit::Committed(_)
    ));
    assert_eq!(live(&load(&store).await).await, ["a2", "b2"]);
}

#[tokio::test]
async fn b155_compaction_is_in_the_way_of_those_who_read_its_files_only() {
    let store = table(&[BEGIN, &add("f")]).await;
    let read = load(&store).await;
    let mut optimize = Transaction::begin(&read, Operation::new("OPTIMIZE"));
    let files = read.files().await.unwrap();
    optimize.read_files(files.iter().map(AsRef::as_ref));
    optimize.remove(files[0].to_remove(1, false));
    optimize.add(Add {
        data_change: false,
        ..file("compacted")
    });
    optimize
        .commit(&context())
        .await
        .unwrap()
        .into_result()
        .unwrap();
    let blind = append(&read, "blind", &context()).await.unwrap();
    assert_eq!(live(&blind.snapshot).await, ["blind", "compacted"]);
    let mut reader = Transaction::begin(&read, Operation::new("WRITE"));
    reader.read_whole_table();
    reader.add(file("copy"));
    assert!(matches!(
        reader.commit(&context()).await.unwrap(),
        Commit::Conflict(_)
    ));
    let mut delete = Transaction::begin(&read, Operation::new("DELETE"));
    delete.read_files(files.iter().map(AsRef::as_ref));
    delete.remove(files[0].to_remove(1, true));
    let Commit::Conflict(conflict) = delete.commit(&context()).await.unwrap() else {
        panic!("a file was removed twice");
    };
    assert_eq!(conflict.kind, ConflictKind::ConcurrentDeleteRead);
}

#[tokio::test]
async fn b158_a_commit_gives_the_handle_that_goes_on() {
    let store = table(&[BEGIN, &add("f")]).await;
    let first = load(&store).await;
    let second = append(&first, "g", &context()).await.unwrap().snapshot;
    assert_eq!(live(&second).await, ["f", "g"]);
    assert_eq!(second.update().await.unwrap().version(), 2);
    // A handle that was left behind comes to the same.
    assert_eq!(live(&first.update().await.unwrap()).await, ["f", "g"]);
    assert_eq!(live(&first).await, ["f"], "what was read stays as it was");
}

/// An append that says how far its application has got.
async fn progress(read: &Snapshot, version: i64) -> Commit {
    let mut write = Transaction::begin(read, Operation::new("STREAMING UPDATE"));
    write.txn(SetTransaction {
        app_id: "app".to_owned(),
        version,
        last_updated: None,
    });
    write.add(file(&format!("batch-{version}")));
    write.commit(&context()).await.unwrap()
}

#[tokio::test]
async fn a_batch_that_was_written_twice_is_there_once() {
    let store = table(&[BEGIN]).await;
    let (one, two) = (load(&store).await, load(&store).await);
    assert!(matches!(progress(&one, 7).await, Commit::Committed(_)));
    let Commit::Conflict(conflict) = progress(&two, 7).await else {
        panic!("the batch is there twice");
    };
    assert_eq!(conflict.kind, ConflictKind::ConcurrentTransaction);
    // Who looks again sees that the batch is done, and goes on with the next.
    let two = two.update().await.unwrap();
    assert_eq!(two.txn("app").unwrap().version, 7);
    assert!(matches!(progress(&two, 8).await, Commit::Committed(_)));
    let newest = two.update().await.unwrap();
    assert_eq!(live(&newest).await, ["batch-7", "batch-8"]);
    // What another application writes meanwhile is no conflict.
    assert!(matches!(progress(&newest, 9).await, Commit::Committed(_)));
    append(&newest, "other", &context()).await.unwrap();
}

/// Chance that remembers within which bounds it was asked.
#[derive(Debug, Default)]
struct Chance(Mutex<Vec<u64>>);

impl Ids for Chance {
    fn uuid(&self) -> String {
        RandomIds.uuid()
    }

    fn below(&self, bound: u64) -> u64 {
        self.0.lock().unwrap().push(bound);
        bound - 1
    }
}

/// A place where another writer is always first, so many times.
#[derive(Debug)]
struct Crowded(AtomicI64);

#[async_trait]
impl Committer for Crowded {
    async fn put(
        &self,
        store: &TableStore,
        version: Version,
        content: Bytes,
    ) -> deltaic_protocol::Result<PutOutcome> {
        if self.0.fetch_sub(1, Ordering::Relaxed) > 0 {
            let other = format!(
                "{{\"commitInfo\":{{\"isBlindAppend\":true}}}}\n{}",
                add(&format!("other-{version}"))
            );
            PutIfAbsent.put(store, version, Bytes::from(other)).await?;
        }
        PutIfAbsent.put(store, version, content).await
    }
}

#[tokio::test(start_paused = true)]
async fn who_loses_races_waits_longer_each_time_but_never_long() {
    let store = table(&[BEGIN]).await;
    let chance = Arc::new(Chance::default());
    let context = CommitContext {
        ids: chance.clone(),
        committer: Arc::new(Crowded(AtomicI64::new(9))),
        write_checksum: false,
        write_checkpoint: false,
        ..context()
    };
    let done = append(&load(&store).await, "ours", &context).await.unwrap();
    assert_eq!((done.version, done.attempts), (10, 10));
    assert_eq!(live(&done.snapshot).await.len(), 10);
    let bounds = chance.0.lock().unwrap().clone();
    assert_eq!(
        bounds,
        [16, 32, 64, 128, 250, 250, 250, 250],
        "the first repetition comes at once"
    );
}
