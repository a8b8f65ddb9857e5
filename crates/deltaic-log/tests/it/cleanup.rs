//! What a cleanup of the log takes along.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_log::{CommitContext, Operation, RandomIds, Snapshot, Transaction, maintain};
use deltaic_protocol::action::Protocol;
use deltaic_protocol::{Clock, ManualClock};
use deltaic_storage::memory::MemoryBackend;
use deltaic_storage::{StorageFactory, TableStore};
use futures::TryStreamExt;

use crate::{append, metadata, paths};

const DAY_MS: i64 = 86_400_000;

async fn sidecars(store: &TableStore) -> Vec<String> {
    let listed: Vec<_> = store
        .data()
        .list("_delta_log/_sidecars", None)
        .try_collect()
        .await
        .unwrap();
    listed.into_iter().map(|entry| entry.path).collect()
}

#[tokio::test]
async fn sidecars_go_with_the_checkpoints_that_name_them_and_no_sooner() {
    let clock = ManualClock::at(1_767_225_600_000);
    let memory = MemoryBackend::with_clock(Arc::new(clock.clone()));
    let factory = StorageFactory::default().with_memory(memory);
    let store = factory.open("memory:/t").unwrap();
    let context = CommitContext {
        clock: Arc::new(clock.clone()),
        ..CommitContext::default()
    };
    let features = Some(vec!["v2Checkpoint".to_owned()]);
    let mut transaction = Transaction::create(&store, Operation::new("CREATE TABLE"));
    transaction.set_metadata(metadata(&[
        ("delta.checkpointPolicy", "v2"),
        ("delta.checkpointInterval", "100"),
        ("delta.logRetentionDuration", "interval 1 days"),
    ]));
    transaction.set_protocol(Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: features.clone(),
        writer_features: features,
    });
    let created = transaction.commit(&context).await.unwrap();
    let mut snapshot = created.into_result().unwrap().snapshot;
    let mut seen = Vec::new();
    for number in 0..2 {
        let path = format!("{number}.parquet");
        snapshot = append(&snapshot, &path, &context).await.unwrap().snapshot;
        let now = clock.advance(2 * DAY_MS);
        maintain::checkpoint(&snapshot, now, &RandomIds)
            .await
            .unwrap();
        let mut there = sidecars(&store).await;
        there.retain(|path| !seen.contains(path));
        assert_eq!(there.len(), 1);
        seen.extend(there);
        clock.advance(2 * DAY_MS);
    }
    // Another writer has written the sidecar of a checkpoint whose top file is still to come.
    let under_way = "_delta_log/_sidecars/under-way.parquet";
    let put = store.data().create(under_way, Bytes::from_static(b"x"));
    put.await.unwrap();
    snapshot = append(&snapshot, "2.parquet", &context)
        .await
        .unwrap()
        .snapshot;
    maintain::clean(&snapshot, clock.now_ms()).await.unwrap();
    let mut left = sidecars(&store).await;
    left.sort();
    let mut wanted = vec![seen[1].clone(), under_way.to_owned()];
    wanted.sort();
    assert_eq!(left, wanted, "{seen:?}");
    let newest = Snapshot::load(&store, None).await.unwrap();
    assert_eq!(
        paths(&newest).await,
        ["0.parquet", "1.parquet", "2.parquet"]
    );
}
