//! The fault hook: what the caller sees, and what has happened.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_storage::hook::{FaultMode, FaultPlan};
use deltaic_storage::{StorageFactory, TableStore};
use object_store::ObjectStoreExt;

fn table(at: u64, mode: FaultMode) -> (TableStore, TableStore, Arc<FaultPlan>) {
    let factory = StorageFactory::default();
    let plain = factory.open("memory:/t").unwrap();
    let plan = Arc::new(FaultPlan::mutations(at, mode));
    (plain.hooked(plan.clone()), plain, plan)
}

async fn write_three(table: &TableStore) -> [bool; 3] {
    let mut done = [false; 3];
    for (number, done) in done.iter_mut().enumerate() {
        *done = table
            .log()
            .create(&format!("{number}.json"), Bytes::new())
            .await
            .is_ok();
    }
    done
}

async fn stored_three(table: &TableStore) -> [bool; 3] {
    let mut stored = [false; 3];
    for (number, stored) in stored.iter_mut().enumerate() {
        *stored = table
            .log()
            .stat(&format!("{number}.json"))
            .await
            .unwrap()
            .is_some();
    }
    stored
}

#[tokio::test]
async fn every_mode_fails_where_it_says() {
    for (mode, seen, stored) in [
        (FaultMode::Fail, [true, false, true], [true, false, true]),
        (
            FaultMode::FailAfter,
            [true, false, true],
            [true, true, true],
        ),
        (FaultMode::Stop, [true, false, false], [true, false, false]),
        (
            FaultMode::StopAfter,
            [true, false, false],
            [true, true, false],
        ),
    ] {
        let (hooked, plain, plan) = table(1, mode);
        assert_eq!(write_three(&hooked).await, seen, "{mode:?}");
        assert_eq!(stored_three(&plain).await, stored, "{mode:?}");
        assert!(plan.reached());
    }
}

#[tokio::test]
async fn a_stopped_caller_cannot_read_either() {
    let (hooked, _, _) = table(0, FaultMode::Stop);
    assert!(hooked.log().stat("0.json").await.unwrap().is_none());
    hooked
        .log()
        .create("0.json", Bytes::new())
        .await
        .unwrap_err();
    hooked.log().stat("0.json").await.unwrap_err();
    let place = hooked.data_path("a").unwrap().object_path();
    hooked.object_store().get(&place).await.unwrap_err();
}

#[tokio::test]
async fn a_filter_chooses_the_operations_that_count() {
    let plain = StorageFactory::default().open("memory:/t").unwrap();
    let plan = Arc::new(FaultPlan::filtered(0, FaultMode::Fail, |op| {
        op.path == "1.json"
    }));
    assert_eq!(write_three(&plain.hooked(plan)).await, [true, false, true]);
}
