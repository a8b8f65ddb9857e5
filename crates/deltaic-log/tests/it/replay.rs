//! Replay equals a naive model over random histories with deletion vectors, renewed files, checkpoints, compacted log files and wrong hints.

use std::collections::BTreeMap;

use bytes::Bytes;
use deltaic_log::commit::commit_text;
use deltaic_log::{FileSummary, RandomIds, Snapshot, Version, maintain};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, DomainMetadata, Protocol, SetTransaction};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::file_name::{self, LAST_CHECKPOINT};
use deltaic_storage::TableStore;
use proptest::prelude::*;

use crate::{file, memory_store, metadata};

/// What happens in a history.
#[derive(Debug, Clone)]
enum Step {
    /// A commit with these changes.
    Commit(Vec<Change>),
    /// A checkpoint of the newest version.
    Checkpoint,
    /// `_last_checkpoint` becomes this.
    Hint(String),
    /// Commits below the newest checkpoint go.
    Truncate,
    /// A compacted file of some of the commits.
    Compact(prop::sample::Index, prop::sample::Index),
}

#[derive(Debug, Clone)]
enum Change {
    Add(u8),
    Remove(prop::sample::Index),
    Vector(prop::sample::Index, u8),
    Renew(prop::sample::Index),
    Txn(u8, i64),
    Domain(u8, bool),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => any::<u8>().prop_map(Change::Add),
        2 => any::<prop::sample::Index>().prop_map(Change::Remove),
        2 => (any::<prop::sample::Index>(), 0..3u8).prop_map(|(i, v)| Change::Vector(i, v)),
        1 => any::<prop::sample::Index>().prop_map(Change::Renew),
        1 => (0..3u8, any::<i64>()).prop_map(|(a, v)| Change::Txn(a, v)),
        1 => (0..3u8, any::<bool>()).prop_map(|(d, r)| Change::Domain(d, r)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => prop::collection::vec(change(), 0..5).prop_map(Step::Commit),
        2 => Just(Step::Checkpoint),
        1 => (-5..30i64).prop_map(|v| Step::Hint(format!("{{\"version\":{v},\"size\":1}}"))),
        1 => "[ -~]{0,12}".prop_map(Step::Hint),
        1 => Just(Step::Truncate),
        2 => any::<(prop::sample::Index, prop::sample::Index)>()
            .prop_map(|(start, end)| Step::Compact(start, end)),
    ]
}

type Key = (String, Option<String>);

/// The state of one version, kept in the most obvious way.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    live: BTreeMap<Key, i64>,
    gone: BTreeMap<Key, ()>,
    txns: BTreeMap<String, i64>,
    domains: BTreeMap<String, String>,
}

impl Model {
    fn apply(&mut self, action: &Action) {
        match action {
            Action::Add(add) => {
                self.gone.remove(&add.key());
                self.live.insert(add.key(), add.size);
            }
            Action::Remove(remove) => {
                self.live.remove(&remove.key());
                self.gone.insert(remove.key(), ());
            }
            Action::Txn(txn) => {
                self.txns.insert(txn.app_id.clone(), txn.version);
            }
            Action::DomainMetadata(domain) if domain.removed => {
                self.domains.remove(&domain.domain);
            }
            Action::DomainMetadata(domain) => {
                self.domains
                    .insert(domain.domain.clone(), domain.configuration.clone());
            }
            _ => {}
        }
    }

    async fn of(snapshot: &Snapshot) -> Self {
        Self {
            live: snapshot
                .files()
                .await
                .unwrap()
                .iter()
                .map(|a| (a.key(), a.size))
                .collect(),
            gone: snapshot
                .tombstones()
                .await
                .unwrap()
                .iter()
                .map(|r| (r.key(), ()))
                .collect(),
            txns: snapshot
                .txns()
                .values()
                .map(|t| (t.app_id.clone(), t.version))
                .collect(),
            domains: snapshot
                .domains()
                .values()
                .map(|d| (d.domain.clone(), d.configuration.clone()))
                .collect(),
        }
    }
}

fn vector(id: u8) -> DeletionVectorDescriptor {
    DeletionVectorDescriptor {
        storage_type: "u".to_owned(),
        path_or_inline_dv: format!("vector-{id}"),
        offset: (id > 0).then_some(i32::from(id)),
        size_in_bytes: 4,
        cardinality: i64::from(id) + 1,
    }
}

/// The actions of a commit; each file is touched at most once, as the protocol demands.
fn actions(changes: &[Change], model: &Model, version: Version) -> Vec<Action> {
    let mut out = Vec::new();
    let mut touched = std::collections::BTreeSet::new();
    let live: Vec<&Key> = model.live.keys().collect();
    for change in changes {
        let picked =
            |index: &prop::sample::Index| (!live.is_empty()).then(|| (*index.get(&live)).clone());
        let old = |key: &Key| {
            let mut add = file(&key.0);
            add.size = model.live[key];
            add.deletion_vector = key.1.as_ref().map(|id| {
                let number = id.split('@').nth(1).map_or(0, |n| n.parse().unwrap());
                vector(number)
            });
            add
        };
        match change {
            Change::Add(n) => {
                let add = Add {
                    size: i64::from(*n) * 1000,
                    ..file(&format!("f{version}-{n}.parquet"))
                };
                if touched.insert(add.path.clone()) {
                    out.push(Action::Add(add));
                }
            }
            Change::Remove(index) => {
                if let Some(key) = picked(index).filter(|k| touched.insert(k.0.clone())) {
                    out.push(Action::Remove(old(&key).to_remove(i64::MAX, true)));
                }
            }
            Change::Vector(index, id) => {
                if let Some(key) = picked(index)
                    .filter(|k| k.1 != Some(vector(*id).unique_id()) && touched.insert(k.0.clone()))
                {
                    let before = old(&key);
                    out.push(Action::Remove(before.to_remove(i64::MAX, true)));
                    out.push(Action::Add(Add {
                        deletion_vector: Some(vector(*id)),
                        ..before
                    }));
                }
            }
            Change::Renew(index) => {
                if let Some(key) = picked(index).filter(|k| touched.insert(k.0.clone())) {
                    out.push(Action::Add(Add {
                        data_change: false,
                        ..old(&key)
                    }));
                }
            }
            Change::Txn(app, v) => {
                out.push(Action::Txn(SetTransaction {
                    app_id: format!("app{app}"),
                    version: *v,
                    last_updated: None,
                }));
            }
            Change::Domain(d, removed) => out.push(Action::DomainMetadata(DomainMetadata {
                domain: format!("d{d}"),
                configuration: format!("v{version}"),
                removed: *removed,
            })),
        }
    }
    out
}

async fn put(store: &TableStore, version: Version, actions: &[Action]) {
    store
        .log()
        .create(
            &file_name::commit(version),
            Bytes::from(commit_text(actions)),
        )
        .await
        .unwrap();
}

/// The newest word of these commits about each thing, as compaction writes it.
fn compacted(commits: &[Vec<Action>]) -> Vec<Action> {
    let (mut out, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
    for action in commits
        .iter()
        .rev()
        .flat_map(|actions| actions.iter().rev())
    {
        let what = match action {
            Action::Txn(txn) => format!("txn {}", txn.app_id),
            Action::DomainMetadata(domain) => format!("domain {}", domain.domain),
            Action::CommitInfo(_) => continue,
            other => other
                .key()
                .map_or_else(|| other.name().to_owned(), |key| format!("{key:?}")),
        };
        if seen.insert(what) {
            out.push(action.clone());
        }
    }
    out
}

async fn check(steps: Vec<Step>, v2: bool) -> Result<(), TestCaseError> {
    let store = memory_store();
    let policy = if v2 { "v2" } else { "classic" };
    let both = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    let protocol = Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: both(&["deletionVectors", "v2Checkpoint"]),
        writer_features: both(&["deletionVectors", "v2Checkpoint", "domainMetadata"]),
    };
    let begin = vec![
        Action::Protocol(protocol),
        Action::Metadata(metadata(&[("delta.checkpointPolicy", policy)])),
    ];
    put(&store, 0, &begin).await;
    let mut commits = vec![begin];
    let mut models = vec![Model::default()];
    let mut held = Snapshot::load(&store, None).await.unwrap();
    let (mut checkpointed, mut earliest) = (0, 0);
    for step in steps {
        let newest = models.len() as Version - 1;
        match step {
            Step::Commit(changes) => {
                let mut model = models.last().unwrap().clone();
                let actions = actions(&changes, &model, newest + 1);
                actions.iter().for_each(|a| model.apply(a));
                put(&store, newest + 1, &actions).await;
                models.push(model);
                commits.push(actions);
                held = held.update().await.unwrap();
                let totals = held.summary().await.unwrap();
                prop_assert_eq!(
                    totals.as_ref(),
                    &FileSummary::of(held.files().await.unwrap().iter())
                );
            }
            Step::Checkpoint if newest > 0 => {
                // A table that was just opened passes its files on, one that is in use has them in memory.
                let opened = Snapshot::load(&store, None).await.unwrap();
                let from = if newest % 2 == 0 { &opened } else { &held };
                maintain::checkpoint(from, 0, &RandomIds).await.unwrap();
                checkpointed = newest;
            }
            Step::Checkpoint => {}
            Step::Hint(text) => store
                .log()
                .overwrite(LAST_CHECKPOINT, Bytes::from(text))
                .await
                .unwrap(),
            Step::Truncate => {
                for version in earliest..checkpointed {
                    store
                        .log()
                        .delete(&file_name::commit(version))
                        .await
                        .unwrap();
                }
                // Older checkpoints would still lead to their own versions only.
                earliest = checkpointed;
            }
            Step::Compact(start, end) => {
                let (a, b) = (start.index(commits.len()), end.index(commits.len()));
                let (a, b) = (a.min(b), a.max(b));
                if a < b {
                    let text = commit_text(&compacted(&commits[a..=b]));
                    let name = file_name::compacted(a as Version, b as Version);
                    store
                        .log()
                        .overwrite(&name, Bytes::from(text))
                        .await
                        .unwrap();
                }
            }
        }
        let newest = models.len() - 1;
        prop_assert_eq!(held.version(), newest as Version);
        prop_assert_eq!(&Model::of(&held).await, &models[newest]);
        let fresh = Snapshot::load(&store, None).await.unwrap();
        prop_assert_eq!(fresh.version(), newest as Version);
        prop_assert_eq!(&Model::of(&fresh).await, &models[newest]);
    }
    for version in earliest..models.len() as Version {
        let then = Snapshot::load(&store, Some(version)).await.unwrap();
        prop_assert_eq!(then.version(), version);
        prop_assert_eq!(&Model::of(&then).await, &models[version as usize]);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn replay_equals_the_naive_model_at_every_version(steps in prop::collection::vec(step(), 1..24), v2: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(steps, v2))?;
    }
}
