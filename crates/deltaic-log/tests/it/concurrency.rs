//! Many writers at the same time: every append ends up in the table, each in a version of its own.

use std::collections::BTreeSet;

use deltaic_log::history::history;
use deltaic_log::{CommitContext, Snapshot};
use deltaic_storage::{StorageFactory, StorageOptions};

use crate::{append, create, paths};

const WRITERS: usize = 8;
const APPENDS: usize = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_of_many_writers_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = StorageFactory::new(&StorageOptions {
        durable: false,
        ..StorageOptions::default()
    })
    .open(folder.path().to_str().unwrap())
    .unwrap();
    let context = CommitContext::default();
    create(&store, &[("delta.checkpointInterval", "7")], &context)
        .await
        .unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let (store, context) = (store.clone(), context.clone());
        tokio::spawn(async move {
            let mut snapshot = Snapshot::load(&store, None).await.unwrap();
            for number in 0..APPENDS {
                let result = append(&snapshot, &format!("w{writer}-{number}.parquet"), &context)
                    .await
                    .unwrap();
                assert!(result.warnings.is_empty(), "{:?}", result.warnings);
                snapshot = result.snapshot;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    assert_eq!(snapshot.version(), (WRITERS * APPENDS) as i64);
    let expected: BTreeSet<String> = (0..WRITERS)
        .flat_map(|w| (0..APPENDS).map(move |n| format!("w{w}-{n}.parquet")))
        .collect();
    assert_eq!(
        paths(&snapshot).await.into_iter().collect::<BTreeSet<_>>(),
        expected
    );
    let ids: BTreeSet<String> = history(&snapshot, None)
        .await
        .unwrap()
        .into_iter()
        .filter_map(|e| e.commit_info?.txn_id.clone())
        .collect();
    assert_eq!(ids.len(), WRITERS * APPENDS + 1);
}
