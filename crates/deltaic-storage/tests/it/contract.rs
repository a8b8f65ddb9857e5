//! The contract suite on the backends, and on stores that break it.

use std::sync::Arc;

use deltaic_storage::hook::{FaultMode, FaultPlan, OpKind, RequestCounter};
use deltaic_storage::{StorageFactory, contract};

fn assert_kept(broken: &[(&str, contract::Violation)]) {
    assert!(broken.is_empty(), "{broken:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_local_disk_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let factory = StorageFactory::default();
    let open = |number| {
        factory
            .open(&format!("{}/t {number}", folder.path().display()))
            .unwrap()
    };
    assert_kept(&contract::run(open).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_the_contract() {
    let factory = StorageFactory::default();
    assert_kept(
        &contract::run(|number| factory.open(&format!("memory:/t{number}")).unwrap()).await,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counted_store_keeps_the_contract_and_counts() {
    let counter = Arc::new(RequestCounter::new());
    let factory = StorageFactory::default().with_hook(counter.clone());
    assert_kept(
        &contract::run(|number| factory.open(&format!("memory:/t{number}")).unwrap()).await,
    );
    for kind in [
        OpKind::Read,
        OpKind::List,
        OpKind::Stat,
        OpKind::Write,
        OpKind::WritePart,
        OpKind::WriteEnd,
        OpKind::Delete,
    ] {
        assert!(counter.of_kind(kind) > 0, "{kind:?}");
    }
    assert_eq!(counter.total(), counter.snapshot().values().sum::<u64>());
    counter.reset();
    assert_eq!(counter.total(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_whose_third_write_is_lost_breaks_the_contract() {
    let open = |number| {
        let plan = Arc::new(FaultPlan::mutations(2, FaultMode::FailAfter));
        StorageFactory::default()
            .with_hook(plan)
            .open(&format!("memory:/t{number}"))
            .unwrap()
    };
    assert!(!contract::run(open).await.is_empty());
}
