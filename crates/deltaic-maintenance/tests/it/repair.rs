//! FSCK REPAIR TABLE takes out what is gone, and nothing else.

use std::sync::Arc;

use deltaic_command::repair::RepairReport;
use deltaic_maintenance::repair::{self, RepairOptions};
use deltaic_protocol::error::Result;
use deltaic_storage::hook::{FaultMode, FaultPlan};

use crate::kit::Kit;

async fn repaired(kit: &Kit, dry_run: bool) -> Result<RepairReport> {
    let options = RepairOptions {
        dry_run,
        parallelism: 2,
    };
    repair::run(&kit.snapshot().await, &options, &kit.context).await
}

async fn live(kit: &Kit) -> Vec<String> {
    let files = kit.snapshot().await.files().await.unwrap();
    files.iter().map(|add| add.key().0.clone()).collect()
}

#[tokio::test]
async fn entries_of_missing_files_go_and_a_dry_run_only_tells() {
    let mut kit = Kit::new(true, &[]).await;
    let paths = kit.append(&[Some("a b"), Some("c"), None]).await;
    assert_eq!(repaired(&kit, false).await.unwrap().version, None);
    kit.store.data().delete_file(&paths[0]).await.unwrap();
    let before = live(&kit).await;
    let told = repaired(&kit, true).await.unwrap();
    assert_eq!((told.missing.len(), told.version), (1, None));
    assert!(told.missing[0].data_file_missing && !told.missing[0].deletion_vector_file_missing);
    assert_eq!(live(&kit).await, before);
    let done = repaired(&kit, false).await.unwrap();
    assert_eq!((done.missing.len(), done.version), (1, Some(2)));
    assert_eq!(done.num_files_scanned, 3);
    assert_eq!(live(&kit).await.len(), 2);
    let tombstone = kit.snapshot().await.tombstones().await.unwrap();
    assert!(!tombstone[0].data_change && tombstone[0].path.contains("a%20b"));
}

#[tokio::test]
async fn a_missing_vector_is_told_and_ends_the_repair() {
    let mut kit = Kit::new(true, &[]).await;
    let paths = kit.append(&[Some("a"), Some("b")]).await;
    let add = kit.snapshot().await.files().await.unwrap()[0].clone();
    let vector = kit.delete_rows(&add).await;
    kit.store.data().delete_file(&vector).await.unwrap();
    let told = repaired(&kit, true).await.unwrap();
    assert!(told.missing[0].deletion_vector_file_missing && !told.missing[0].data_file_missing);
    assert!(
        told.missing[0]
            .deletion_vector_path
            .as_ref()
            .unwrap()
            .ends_with(&vector)
    );
    let version = kit.snapshot().await.version();
    assert!(repaired(&kit, false).await.is_err());
    assert_eq!(kit.snapshot().await.version(), version);
    // Where the data is gone too there is nothing to lose.
    for path in &paths {
        kit.store.data().delete_file(path).await.unwrap();
    }
    assert_eq!(repaired(&kit, false).await.unwrap().missing.len(), 2);
    assert!(live(&kit).await.is_empty());
}

#[tokio::test]
async fn a_look_that_fails_takes_nothing_out() {
    for mode in [FaultMode::Fail, FaultMode::Stop] {
        for at in 0.. {
            let mut kit = Kit::new(true, &[]).await;
            let paths = kit.append(&[Some("a"), Some("b"), Some("c")]).await;
            kit.store.data().delete_file(&paths[1]).await.unwrap();
            let plan = Arc::new(FaultPlan::new(at, mode));
            let store = kit.store.hooked(plan.clone());
            let options = RepairOptions {
                dry_run: false,
                parallelism: 1,
            };
            let outcome = match deltaic_log::Snapshot::load(&store, None).await {
                Ok(snapshot) => repair::run(&snapshot, &options, &kit.context).await,
                Err(error) => Err(error),
            };
            let mut left = live(&kit).await;
            left.sort();
            if !plan.reached() {
                outcome.unwrap();
                assert_eq!(left.len(), 2);
                break;
            }
            // All entries are there, or just the one of the missing file is not.
            let whole = left.len() == 3;
            let right = left.len() == 2 && !left.contains(&paths[1]);
            assert!(whole || right, "{mode:?} at {at}: {left:?}");
        }
    }
}
