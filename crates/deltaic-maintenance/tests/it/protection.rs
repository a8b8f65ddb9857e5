//! VACUUM never deletes a file of a version that the retention protects, and deletes what has expired: over random
//! histories with deletion vectors, RESTOREs, partitions with strange values, clocks that go back, and commits that arrive
//! while VACUUM runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_command::{Vacuum, VacuumMode};
use deltaic_log::transaction::{Committer, PutIfAbsent};
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_maintenance::restore::RestoreOptions;
use deltaic_maintenance::travel::TravelOptions;
use deltaic_maintenance::vacuum::VacuumOptions;
use deltaic_protocol::Action;
use deltaic_protocol::action::Add;
use deltaic_protocol::deletion_vector::{DeletionVectorDescriptor, DeletionVectorLocation};
use deltaic_protocol::error::Result;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{PutOutcome, TableStore};
use proptest::prelude::*;

use crate::kit::{DAY, HOUR, Kit};
use crate::restore::restore;

const STRANGE: [&str; 10] = [
    "a b", "a%b", "ä/ö", "a=b", "", "%20", "#?", "..", "_x", "日本",
];

#[derive(Debug, Clone)]
enum Step {
    /// Files in these partitions.
    Append(Vec<usize>),
    /// A deletion vector for the n-th live file.
    DeleteRows(usize),
    /// Every file whose number leaves this remainder goes.
    Remove(usize),
    /// Back to the version so many behind.
    Restore(usize),
    /// The clock moves, also back.
    Clock(i64),
    /// A stray file.
    Stray(usize),
    /// VACUUM, with what happens between its steps.
    Vacuum { lite: bool, during: Vec<Meanwhile> },
}

/// What another writer does while VACUUM is about to commit.
#[derive(Debug, Clone)]
enum Meanwhile {
    Append,
    Remove,
    /// Brings files of an old version back, without looking whether they are there.
    Revive(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(0..STRANGE.len(), 1..4).prop_map(Step::Append),
        3 => any::<prop::sample::Index>().prop_map(|at| Step::DeleteRows(at.index(1000))),
        3 => (0usize..3).prop_map(Step::Remove),
        2 => (1usize..5).prop_map(Step::Restore),
        5 => prop_oneof![Just(HOUR), Just(DAY), Just(3 * DAY), Just(8 * DAY), Just(-2 * HOUR), Just(-2 * DAY)].prop_map(Step::Clock),
        1 => (0..STRANGE.len()).prop_map(Step::Stray),
        4 => (any::<bool>(), prop::collection::vec(meanwhile(), 0..3)).prop_map(|(lite, during)| Step::Vacuum { lite, during }),
    ]
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    prop_oneof![
        Just(Meanwhile::Append),
        Just(Meanwhile::Remove),
        (1usize..4).prop_map(Meanwhile::Revive)
    ]
}

/// Lets another writer commit before each of our commits.
#[derive(Debug)]
struct Interleaved {
    waiting: Mutex<Vec<Meanwhile>>,
    other: CommitContext,
}

#[async_trait]
impl Committer for Interleaved {
    async fn put(&self, store: &TableStore, version: i64, content: Bytes) -> Result<PutOutcome> {
        let next = self.waiting.lock().unwrap().pop();
        if let Some(what) = next {
            act(store, &what, &self.other).await?;
        }
        PutIfAbsent.put(store, version, content).await
    }
}

async fn act(store: &TableStore, what: &Meanwhile, context: &CommitContext) -> Result<()> {
    let snapshot = Snapshot::load(store, None).await?;
    let mut transaction = Transaction::begin(&snapshot, Operation::new("WRITE"));
    let now = context.clock.now_ms();
    match what {
        Meanwhile::Append => {
            let path = format!("part-other-{}.parquet", snapshot.version());
            store
                .data()
                .create(&path, Bytes::from(path.clone().into_bytes()))
                .await?;
            let stats = Some(r#"{"numRecords":1}"#.to_string());
            let add = Add {
                path,
                size: 1,
                modification_time: now,
                data_change: true,
                stats,
                ..Add::default()
            };
            transaction.add(Add {
                partition_values: [("p".to_string(), None)].into(),
                ..add
            });
        }
        Meanwhile::Remove => {
            let first = snapshot.files().await?.first().cloned();
            transaction.stage_all(first.map(|add| Action::Remove(add.to_remove(now, true))));
        }
        Meanwhile::Revive(back) => {
            let live: BTreeSet<String> = snapshot
                .files()
                .await?
                .iter()
                .map(|add| add.key().0)
                .collect();
            let version = (snapshot.version() - i64::try_from(*back).unwrap()).max(0);
            let old = Snapshot::load(store, Some(version))
                .await?
                .files()
                .await?
                .to_vec();
            for add in old {
                if !live.contains(&add.key().0) && present(store, &add).await {
                    transaction.add(add.as_ref().clone());
                }
            }
        }
    }
    transaction.commit(context).await?.into_result()?;
    Ok(())
}

fn vector_path(vector: &DeletionVectorDescriptor) -> Option<String> {
    match vector.location().unwrap() {
        DeletionVectorLocation::Relative(path) => Some(path),
        _ => None,
    }
}

fn paths_of(path: &str, vector: Option<&DeletionVectorDescriptor>) -> Vec<String> {
    let data = deltaic_storage::decode_uri_path(path).unwrap();
    std::iter::once(data)
        .chain(vector.and_then(vector_path))
        .collect()
}

async fn present(store: &TableStore, add: &Add) -> bool {
    for path in paths_of(&add.path, add.deletion_vector.as_ref()) {
        if !store.data().exists(&path).await.unwrap() {
            return false;
        }
    }
    true
}

/// Everything that the log says, read naively.
struct History {
    /// For each version, the files of it with their vectors.
    versions: Vec<BTreeSet<String>>,
    /// For each version, when it was committed by the clock of its writer.
    committed: Vec<i64>,
    /// For each file, the latest time that a tombstone of it tells. Clocks go back, and a file has one tombstone for each
    /// vector it has been removed with, so this need not be the last removal's.
    removed: BTreeMap<String, i64>,
    /// For each file, in which version it was last removed.
    removed_in: BTreeMap<String, usize>,
}

async fn read_history(store: &TableStore) -> History {
    let mut live: BTreeMap<(String, Option<String>), Vec<String>> = BTreeMap::new();
    let mut history = History {
        versions: Vec::new(),
        committed: Vec::new(),
        removed: BTreeMap::new(),
        removed_in: BTreeMap::new(),
    };
    for version in 0.. {
        let Ok(text) = store.log().read(&format!("{version:020}.json")).await else {
            break;
        };
        let mut committed = 0;
        for line in std::str::from_utf8(&text).unwrap().lines() {
            match Action::from_json_line(line).unwrap() {
                Some(Action::CommitInfo(info)) => committed = info.timestamp.unwrap(),
                Some(Action::Add(add)) => {
                    live.insert(add.key(), paths_of(&add.path, add.deletion_vector.as_ref()));
                }
                Some(Action::Remove(remove)) => {
                    live.remove(&remove.key());
                    for path in paths_of(&remove.path, remove.deletion_vector.as_ref()) {
                        let removed = remove.deletion_timestamp.unwrap();
                        let latest = history.removed.entry(path.clone()).or_insert(removed);
                        *latest = removed.max(*latest);
                        history.removed_in.insert(path, version);
                    }
                }
                _ => {}
            }
        }
        history
            .versions
            .push(live.values().flatten().cloned().collect());
        history.committed.push(committed);
    }
    history
}

/// The files that must be there: those of the newest version, and of every version that has been followed only by commits
/// not older than the cutoff.
fn protected(history: &History, cutoff: i64) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for version in (0..history.versions.len()).rev() {
        files.extend(history.versions[version].iter().cloned());
        if history.committed[version] < cutoff {
            break;
        }
    }
    files
}

async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    // The whole log stays, so that it can be read naively.
    let properties = [
        ("delta.checkpointInterval", "7"),
        ("delta.enableExpiredLogCleanup", "false"),
    ];
    let mut kit = Kit::new(true, &properties).await;
    // What has expired once may be gone for good, even if the clock goes back afterwards.
    let mut newest = kit.now();
    for step in steps {
        match step {
            Step::Append(partitions) => {
                let partitions: Vec<_> = partitions.iter().map(|at| Some(STRANGE[*at])).collect();
                kit.append(&partitions).await;
            }
            Step::DeleteRows(at) => {
                let files = kit.snapshot().await.files().await.unwrap();
                if !files.is_empty() {
                    kit.delete_rows(&files[at % files.len()].clone()).await;
                }
            }
            Step::Remove(rest) => {
                kit.remove(|path| path.bytes().map(usize::from).sum::<usize>() % 3 == rest)
                    .await;
            }
            Step::Restore(back) => {
                let version =
                    (kit.snapshot().await.version() - i64::try_from(back).unwrap()).max(0);
                let travel = TravelOptions {
                    zone: Zone::utc(),
                    wall: true,
                    now_ms: kit.now(),
                };
                // Refused where files are gone or the wall stands before it; both are right.
                let _ = restore(&kit, version, &RestoreOptions::new(travel)).await;
            }
            Step::Clock(ms) => {
                kit.advance(ms);
                newest = newest.max(kit.now());
            }
            Step::Stray(at) => {
                let path = kit.name(Some(STRANGE[at]));
                kit.write(&path).await;
            }
            Step::Vacuum { lite, during } => {
                let before = read_history(&kit.store).await;
                let now = kit.now();
                let mode = if lite {
                    VacuumMode::Lite
                } else {
                    VacuumMode::Full
                };
                let request = Vacuum {
                    mode: Some(mode),
                    ..kit.request(None, false)
                };
                let quiet = during.is_empty();
                let options = VacuumOptions {
                    batch: 2,
                    parallelism: 2,
                    ..VacuumOptions::default()
                };
                let context = kit.context.clone();
                kit.context.committer = Arc::new(Interleaved {
                    waiting: Mutex::new(during),
                    other: context.clone(),
                });
                let report = kit.vacuum(&request, &options).await;
                kit.context = context;
                let report = match report {
                    Ok(report) => report,
                    Err(error) => {
                        return Err(TestCaseError::fail(format!("VACUUM failed: {error}")));
                    }
                };
                prop_assert!(report.failed.is_empty(), "{:?}", report.failed);
                let cutoff = now - 7 * DAY;
                check_protected(&kit, newest - 7 * DAY).await?;
                if quiet {
                    check_expired(&kit, &before, cutoff, lite).await?;
                }
            }
        }
    }
    check_protected(&kit, newest - 7 * DAY).await
}

async fn check_protected(kit: &Kit, cutoff: i64) -> Result<(), TestCaseError> {
    let left: BTreeSet<String> = kit.files().await.into_iter().collect();
    let history = read_history(&kit.store).await;
    for path in protected(&history, cutoff) {
        prop_assert!(left.contains(&path), "a protected file is gone: {path}");
    }
    Ok(())
}

async fn check_expired(
    kit: &Kit,
    before: &History,
    cutoff: i64,
    lite: bool,
) -> Result<(), TestCaseError> {
    let latest = before.versions.last().unwrap();
    let monotone = before.committed.is_sorted();
    for path in kit.files().await {
        let modified = kit
            .store
            .data()
            .stat(&path)
            .await
            .unwrap()
            .unwrap()
            .modified_ms;
        let removed = before.removed.get(&path).copied();
        let expired = !latest.contains(&path) && modified < cutoff && removed.unwrap_or(0) < cutoff;
        // LITE knows only what the log removed, and goes by the time of commits.
        let known = !lite
            || (removed.is_some()
                && monotone
                && before.committed[before.removed_in[&path]] < cutoff);
        // A vector that is removed with one file may still belong to a younger tombstone of another key.
        prop_assert!(
            !(expired && known),
            "an expired file is still there: {path}"
        );
    }
    Ok(())
}

/// A file whose tombstone without a vector is younger than the one of its last removal: the clock has gone back between.
#[tokio::test]
async fn the_youngest_tombstone_of_a_file_counts() {
    let appended = vec![Meanwhile::Append];
    let quiet = || Step::Vacuum {
        lite: false,
        during: vec![],
    };
    run(vec![
        Step::Vacuum {
            lite: false,
            during: appended,
        },
        Step::Clock(3 * DAY),
        Step::DeleteRows(0),
        Step::Clock(-2 * DAY),
        Step::Vacuum {
            lite: false,
            during: vec![Meanwhile::Remove],
        },
        Step::Clock(8 * DAY),
        quiet(),
        Step::Clock(2 * DAY),
        quiet(),
    ])
    .await
    .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn vacuum_keeps_what_is_protected_and_deletes_what_has_expired(steps in prop::collection::vec(step(), 5..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps))?;
    }
}
