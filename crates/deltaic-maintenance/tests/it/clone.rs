//! Shallow clones: whatever is done to a clone, VACUUM of the clone leaves every file of its source, and keeps what the clone
//! needs of its own; stopped anywhere, a clone is there whole or not at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_log::{Operation, Snapshot, Transaction};
use deltaic_maintenance::clone::{self, CloneOptions, CloneSource};
use deltaic_maintenance::vacuum::VacuumOptions;
use deltaic_protocol::deletion_vector::DeletionVectorLocation;
use deltaic_storage::TableStore;
use deltaic_storage::hook::{FaultMode, FaultPlan};
use futures::TryStreamExt;
use proptest::prelude::*;

use crate::kit::{DAY, Kit};

async fn clone_at(
    kit: &Kit,
    version: i64,
    place: &TableStore,
) -> deltaic_protocol::error::Result<()> {
    let snapshot = Snapshot::load(&kit.store, Some(version)).await.unwrap();
    let source = CloneSource::of("s", &snapshot).await.unwrap();
    let options = CloneOptions::default();
    clone::run(&source, place, None, &options, &kit.context)
        .await
        .map(|_| ())
}

/// Every file below a root, log and all.
async fn everything(store: &TableStore) -> BTreeSet<String> {
    let listed: Vec<_> = store.data().list("", None).try_collect().await.unwrap();
    listed
        .into_iter()
        .filter(|meta| !meta.is_dir)
        .map(|meta| meta.path)
        .collect()
}

/// Data files and vectors of a table, none of which may be missing; those below the table's own root are told.
async fn live(store: &TableStore) -> (BTreeSet<String>, BTreeSet<String>) {
    let snapshot = Snapshot::load(store, None).await.unwrap();
    let (mut own, mut theirs) = (BTreeSet::new(), BTreeSet::new());
    for add in snapshot.files().await.unwrap().iter() {
        let mut places = vec![store.resolve(&add.path).unwrap()];
        match add.deletion_vector.as_ref().map(|v| v.location().unwrap()) {
            Some(DeletionVectorLocation::Relative(path)) => {
                places.push(store.data_path(&path).unwrap());
            }
            Some(DeletionVectorLocation::Absolute(path)) => {
                places.push(store.resolve(&path).unwrap());
            }
            _ => {}
        }
        for place in places {
            let path = place.as_str().to_owned();
            assert!(store.data().exists(&path).await.unwrap(), "{path} is gone");
            match place.relative() {
                Some(_) => own.insert(path),
                None => theirs.insert(path),
            };
        }
    }
    (own, theirs)
}

#[derive(Debug, Clone)]
enum Step {
    Append,
    /// A deletion vector for the n-th live file.
    DeleteRows(usize),
    /// The n-th live file goes.
    Remove(usize),
    Vacuum {
        dry_run: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Append),
        2 => (0usize..20).prop_map(Step::DeleteRows),
        3 => (0usize..20).prop_map(Step::Remove),
        2 => any::<bool>().prop_map(|dry_run| Step::Vacuum { dry_run }),
    ]
}

async fn act(kit: &mut Kit, step: &Step) {
    let nth = async |kit: &Kit, n: usize| {
        let files = kit.snapshot().await.files().await.unwrap();
        (!files.is_empty()).then(|| files[n % files.len()].clone())
    };
    match step {
        Step::Append => {
            kit.append(&[Some("a b"), Some("a%b")]).await;
        }
        Step::DeleteRows(n) => {
            if let Some(add) = nth(kit, *n).await {
                kit.delete_rows(&add).await;
            }
        }
        Step::Remove(n) => {
            if let Some(add) = nth(kit, *n).await {
                let snapshot = kit.snapshot().await;
                let mut transaction = Transaction::begin(&snapshot, Operation::new("DELETE"));
                transaction.remove(add.to_remove(kit.now(), true));
                kit.commit(transaction).await;
            }
        }
        Step::Vacuum { dry_run } => {
            kit.advance(8 * DAY);
            let request = kit.request(None, *dry_run);
            let report = kit
                .vacuum(&request, &VacuumOptions::default())
                .await
                .unwrap();
            let root = format!("{}/", kit.store.root());
            assert!(report.paths.iter().all(|path| path.starts_with(&root)));
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn vacuum_of_a_clone_leaves_every_file_of_its_source(
        before in prop::collection::vec(step(), 1..8),
        back in 0i64..4,
        of_clone in prop::collection::vec(step(), 1..8),
        of_second in prop::collection::vec(step(), 1..5),
    ) {
        runtime().block_on(async {
            let mut source = Kit::new(true, &[]).await;
            source.append(&[Some("a b"), Some("ä"), None]).await;
            for step in before.iter().filter(|step| !matches!(step, Step::Vacuum { .. })) {
                act(&mut source, step).await;
            }
            let version = (source.snapshot().await.version() - back).max(0);
            // A clone beside it, one in its own folder, and a clone of the clone.
            for place in ["memory:/w/clone", "memory:/w/t/_inside"] {
                let mut cloned = source.beside(place);
                clone_at(&source, version, &cloned.store).await.unwrap();
                let mut second = source.beside(&format!("{place}-second"));
                clone_at(&cloned, 0, &second.store).await.unwrap();
                let owned = everything(&source.store).await;
                for step in &of_clone {
                    act(&mut cloned, step).await;
                    live(&cloned.store).await;
                    live(&second.store).await;
                }
                for step in &of_second {
                    act(&mut second, step).await;
                    live(&second.store).await;
                }
                let left = everything(&source.store).await;
                assert!(owned.is_subset(&left), "gone: {:?}", owned.difference(&left));
                live(&source.store).await;
            }
        });
    }
}

#[tokio::test]
async fn a_clone_stopped_anywhere_is_there_whole_or_not_at_all() {
    let modes = [
        FaultMode::Fail,
        FaultMode::FailAfter,
        FaultMode::Stop,
        FaultMode::StopAfter,
    ];
    for mode in modes {
        for at in 0.. {
            let mut source = Kit::new(true, &[]).await;
            source.append(&[Some("a b"), None]).await;
            let add = source.snapshot().await.files().await.unwrap()[0].clone();
            source.delete_rows(&add).await;
            let owned = everything(&source.store).await;
            let cloned = source.beside("memory:/w/clone");
            let plan = Arc::new(FaultPlan::new(at, mode));
            let outcome = clone_at(&source, 2, &cloned.store.hooked(plan.clone())).await;
            assert_eq!(everything(&source.store).await, owned);
            let there = Snapshot::try_load(&cloned.store).await.unwrap();
            if !plan.reached() {
                outcome.unwrap();
                assert_eq!(live(&cloned.store).await.1.len(), 3);
                break;
            }
            match (outcome, there) {
                (Ok(()), None) => panic!("{mode:?} at {at}: told, not there"),
                (_, Some(_)) => assert_eq!(live(&cloned.store).await.1.len(), 3),
                (Err(_), None) => {
                    clone_at(&source, 2, &cloned.store).await.unwrap();
                    assert_eq!(live(&cloned.store).await.1.len(), 3);
                }
            }
        }
    }
}
