//! A writer that dies, or a store that fails, at any operation of a commit, a checkpoint or a cleanup leaves a table that opens with
//! every commit that was acknowledged.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_storage::hook::{FaultMode, FaultPlan};

use crate::{append, context, create, memory_store, paths};

/// Checkpoints at every second version, and cleanup that finds everything expired.
const PROPERTIES: [(&str, &str); 2] = [
    ("delta.checkpointInterval", "2"),
    ("delta.logRetentionDuration", "interval 0 days"),
];

/// A session's work on a store that fails somewhere: the paths that were acknowledged.
async fn work(store: &deltaic_storage::TableStore) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let Ok(created) = create(store, &PROPERTIES, &context()).await else {
        return acknowledged;
    };
    let mut snapshot = created.snapshot;
    for number in 0..6 {
        let path = format!("f{number}.parquet");
        match append(&snapshot, &path, &context()).await {
            Ok(result) => {
                acknowledged.push(path);
                snapshot = result.snapshot;
            }
            Err(_) => match snapshot.update().await {
                Ok(updated) => snapshot = updated,
                Err(_) => return acknowledged,
            },
        }
    }
    acknowledged
}

async fn check(mode: FaultMode) {
    let mut reached_end = false;
    for at in 0.. {
        let store = memory_store();
        let plan = Arc::new(FaultPlan::new(at, mode));
        let acknowledged = work(&store.hooked(plan.clone())).await;
        if !plan.reached() {
            reached_end = true;
            break;
        }
        let Some(snapshot) = Snapshot::try_load(&store).await.unwrap() else {
            assert!(acknowledged.is_empty(), "{mode:?} at {at}");
            continue;
        };
        let found = paths(&snapshot).await;
        for path in &acknowledged {
            assert!(found.contains(path), "{mode:?} at {at}: {path} is lost");
        }
        // What was left behind does not hinder the next writer.
        let next = append(&snapshot, "next.parquet", &context()).await.unwrap();
        assert!(
            next.warnings.is_empty(),
            "{mode:?} at {at}: {:?}",
            next.warnings
        );
        assert_eq!(
            paths(&Snapshot::load(&store, None).await.unwrap())
                .await
                .len(),
            found.len() + 1
        );
    }
    assert!(reached_end);
}

#[tokio::test]
async fn a_writer_that_dies_before_any_operation_loses_nothing() {
    check(FaultMode::Stop).await;
}

#[tokio::test]
async fn a_writer_that_dies_after_any_operation_loses_nothing() {
    check(FaultMode::StopAfter).await;
}

#[tokio::test]
async fn a_store_that_fails_once_loses_nothing() {
    check(FaultMode::Fail).await;
}

#[tokio::test]
async fn a_store_that_answers_an_error_for_what_it_did_loses_nothing() {
    check(FaultMode::FailAfter).await;
}
