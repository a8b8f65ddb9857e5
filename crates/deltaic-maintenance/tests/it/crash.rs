//! VACUUM and RESTORE stopped at every single operation of the store: the table opens with all committed files, and a later
//! run finishes the job.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_maintenance::vacuum::VacuumOptions;
use deltaic_maintenance::{restore, vacuum};
use deltaic_storage::TableStore;
use deltaic_storage::hook::{FaultMode, FaultPlan};

use crate::kit::{DAY, Kit};
use crate::restore::options;

const MODES: [FaultMode; 4] = [
    FaultMode::Fail,
    FaultMode::FailAfter,
    FaultMode::Stop,
    FaultMode::StopAfter,
];

/// A table with expired, protected and live files.
async fn table() -> Kit {
    let mut kit = Kit::new(true, &[("delta.checkpointInterval", "3")]).await;
    kit.append(&[Some("a"), Some("b c")]).await;
    kit.remove(|path| path.starts_with("p=a")).await;
    kit.advance(8 * DAY);
    kit.append(&[Some("d"), Some("e")]).await;
    kit.remove(|path| path.starts_with("p=d")).await;
    kit.delete_rows(&kit.snapshot().await.files().await.unwrap()[0].clone())
        .await;
    kit.write("stray.parquet").await;
    kit.store
        .data()
        .set_modified("stray.parquet", 0)
        .await
        .unwrap();
    kit
}

async fn live(store: &TableStore) -> BTreeSet<String> {
    let snapshot = Snapshot::load(store, None).await.unwrap();
    let mut paths = BTreeSet::new();
    for add in snapshot.files().await.unwrap().iter() {
        let path = add.key().0;
        assert!(store.data().exists(&path).await.unwrap(), "{path} is gone");
        paths.insert(path);
    }
    paths
}

#[tokio::test]
async fn vacuum_stopped_anywhere_leaves_a_whole_table_and_is_finished_later() {
    for mode in MODES {
        for at in 0.. {
            let kit = table().await;
            let wanted = live(&kit.store).await;
            let plan = Arc::new(FaultPlan::new(at, mode));
            let broken = kit.store.hooked(plan.clone());
            let request = kit.request(None, false);
            let options = VacuumOptions {
                batch: 1,
                ..VacuumOptions::default()
            };
            let outcome = vacuum::run(&broken, &request, None, &options, &kit.context, None).await;
            if !plan.reached() {
                outcome.unwrap();
                assert!(at > 20, "only {at} operations");
                break;
            }
            assert_eq!(live(&kit.store).await, wanted, "{mode:?} at {at}");
            kit.vacuum(&request, &options).await.unwrap();
            let left = kit.files().await;
            assert!(
                !left
                    .iter()
                    .any(|path| path.contains("p=a/") || path.contains("stray")),
                "{mode:?} at {at}: {left:?}"
            );
            assert!(
                left.iter().any(|path| path.contains("p=d/")),
                "{mode:?} at {at}: a protected file is gone"
            );
            assert_eq!(live(&kit.store).await, wanted, "{mode:?} at {at}");
        }
    }
}

#[tokio::test]
async fn restore_stopped_anywhere_leaves_the_old_or_the_new_version() {
    for mode in MODES {
        for at in 0.. {
            let kit = table().await;
            let before = live(&kit.store).await;
            let target: BTreeSet<String> = Snapshot::load(&kit.store, Some(3))
                .await
                .unwrap()
                .files()
                .await
                .unwrap()
                .iter()
                .map(|add| add.key().0)
                .collect();
            assert_ne!(before, target);
            let plan = Arc::new(FaultPlan::new(at, mode));
            let broken = kit.store.hooked(plan.clone());
            let request = deltaic_command::Restore {
                target: deltaic_command::TableRef::Path(String::new()),
                to: deltaic_command::TimeTravel::Version(3),
            };
            let outcome = restore::run(&broken, &request, &options(&kit), &kit.context).await;
            let after = live(&kit.store).await;
            if !plan.reached() {
                outcome.unwrap();
                assert_eq!(after, target);
                break;
            }
            match outcome {
                Ok(_) => assert_eq!(after, target, "{mode:?} at {at}"),
                Err(_) => assert!(after == before || after == target, "{mode:?} at {at}"),
            }
            if after == before {
                crate::restore::restore(&kit, 3, &options(&kit))
                    .await
                    .unwrap();
            }
            assert_eq!(live(&kit.store).await, target, "{mode:?} at {at}");
        }
    }
}

/// Runs in a process of its own, which dies at the operation that the parent has chosen.
#[tokio::test]
async fn child_that_dies_in_vacuum() {
    let (Ok(folder), Ok(at)) = (
        std::env::var("DELTAIC_TEST_CRASH"),
        std::env::var("DELTAIC_TEST_AT"),
    ) else {
        return;
    };
    let store = deltaic_storage::StorageFactory::default()
        .open(&format!("{folder}/t"))
        .unwrap();
    let plan = Arc::new(FaultPlan::new(at.parse().unwrap(), FaultMode::Abort));
    let request = deltaic_command::Vacuum {
        target: deltaic_command::TableRef::Path(String::new()),
        mode: None,
        retain_hours: Some(0.0),
        dry_run: false,
        inventory: None,
    };
    let options = VacuumOptions {
        retention_check: false,
        batch: 1,
        ..VacuumOptions::default()
    };
    let context = deltaic_log::CommitContext::default();
    vacuum::run(
        &store.hooked(plan),
        &request,
        None,
        &options,
        &context,
        None,
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn a_process_that_dies_in_vacuum_leaves_a_whole_table_on_disk() {
    for at in (0..).step_by(4) {
        let folder = tempfile::tempdir().unwrap();
        let mut kit = Kit::local(folder.path(), &[("delta.checkpointInterval", "3")]).await;
        kit.append(&[Some("a"), Some("b c"), Some("d")]).await;
        kit.remove(|path| path.starts_with("p=a/")).await;
        let wanted = live(&kit.store).await;
        let finished = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child_that_dies_in_vacuum"])
            .env("DELTAIC_TEST_CRASH", folder.path())
            .env("DELTAIC_TEST_AT", at.to_string())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap()
            .success();
        assert_eq!(live(&kit.store).await, wanted, "died at {at}");
        kit.clock
            .set(deltaic_protocol::Clock::now_ms(&deltaic_protocol::SystemClock) + DAY);
        let request = kit.request(Some(0.0), false);
        let options = VacuumOptions {
            retention_check: false,
            ..VacuumOptions::default()
        };
        vacuum::run(&kit.store, &request, None, &options, &kit.context, None)
            .await
            .unwrap();
        assert_eq!(kit.files().await.len(), wanted.len(), "died at {at}");
        if finished {
            assert!(at > 16, "only {at} operations");
            break;
        }
    }
}
