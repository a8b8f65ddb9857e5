//! The store behind all writers. It keeps a journal of the log of its own and holds every write and deletion against it at
//! the moment in which it takes effect.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deltaic_protocol::error::Result;
use deltaic_protocol::{Clock, ManualClock};
use deltaic_storage::memory::MemoryBackend;
use deltaic_storage::{DeleteOutcome, PutOutcome, StorageFactory, TableStore};
use serde_json::Value;

use crate::checkpoint_rows::{is_checkpoint, version_of};
use crate::reading::{self, State, number, text};
use crate::{checkpoint_rows, world};

/// A version, as it was committed.
#[derive(Debug, Clone)]
pub struct Version {
    /// The actions.
    pub lines: Vec<Value>,
    /// When the store made the file.
    pub at_ms: i64,
    /// What the table says since.
    pub state: State,
}

/// What the store has seen.
#[derive(Default)]
pub struct Journal {
    /// The versions from 0 on.
    pub versions: Vec<Version>,
    /// Files of the log that are there, commits aside, with their content.
    pub files: BTreeMap<String, Bytes>,
    /// Versions whose commits are there.
    pub commits: BTreeSet<i64>,
    /// For each checkpoint, the sidecars that it names.
    sidecars: BTreeMap<String, Vec<String>>,
    /// What was done and must not be.
    pub wrong: Vec<String>,
    /// Checkpoints that were looked at.
    pub checkpoints: u64,
    /// Files that VACUUM deleted.
    pub vacuumed: u64,
    /// Files of the log that a cleanup deleted.
    pub cleaned: u64,
}

/// The store.
pub struct Server {
    table: TableStore,
    clock: ManualClock,
    journal: Mutex<Journal>,
}

impl Server {
    /// An empty store.
    pub fn new(clock: &ManualClock) -> Arc<Server> {
        let memory = MemoryBackend::with_clock(Arc::new(clock.clone()));
        let factory = StorageFactory::default().with_memory(memory);
        Arc::new(Server {
            table: factory.open("memory:/w/t").unwrap(),
            clock: clock.clone(),
            journal: Mutex::default(),
        })
    }

    /// The table itself, past the journal: for reading.
    pub fn table(&self) -> &TableStore {
        &self.table
    }

    /// What was seen.
    pub fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn create_log(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        let outcome = self.table.log().create(name, content.clone()).await?;
        if outcome == PutOutcome::Created {
            self.journal().write(name, content, self.clock.now_ms());
        }
        Ok(outcome)
    }

    pub async fn overwrite_log(&self, name: &str, content: Bytes) -> Result<()> {
        self.table.log().overwrite(name, content.clone()).await?;
        self.journal().write(name, content, self.clock.now_ms());
        Ok(())
    }

    pub async fn delete_log(&self, name: &str) -> Result<DeleteOutcome> {
        let outcome = self.table.log().delete(name).await?;
        if outcome == DeleteOutcome::Deleted {
            self.journal().remove(name, self.clock.now_ms());
        }
        Ok(outcome)
    }

    pub async fn delete_data(&self, path: &str) -> Result<DeleteOutcome> {
        let outcome = self.table.data().delete_file(path).await?;
        if outcome == DeleteOutcome::Deleted {
            self.journal().vacuum(path, self.clock.now_ms());
        }
        Ok(outcome)
    }
}

impl Journal {
    /// The newest state.
    pub fn newest(&self) -> State {
        self.versions
            .last()
            .map(|v| v.state.clone())
            .unwrap_or_default()
    }

    fn write(&mut self, name: &str, content: Bytes, now_ms: i64) {
        match name.strip_suffix(".json").map(str::parse::<i64>) {
            Some(Ok(version)) => self.commit(version, &content, now_ms),
            _ => {
                self.files.insert(name.to_owned(), content.clone());
                if is_checkpoint(name) {
                    self.checkpoints += 1;
                    let found = checkpoint_rows::differences(self, name, now_ms);
                    self.sidecars.insert(name.to_owned(), found.sidecars);
                    self.wrong.extend(found.wrong);
                } else if name.ends_with(".crc") {
                    self.checksum(name, &content);
                } else if name == "_last_checkpoint" {
                    self.hint(&content);
                }
            }
        }
    }

    fn commit(&mut self, version: i64, content: &[u8], now_ms: i64) {
        if version != self.versions.len() as i64 {
            self.wrong
                .push(format!("version {version} follows {}", self.versions.len()));
            return;
        }
        let lines = reading::lines(content);
        let (state, wrong) = self.newest().after(&lines);
        self.wrong
            .extend(wrong.into_iter().map(|w| format!("version {version}: {w}")));
        self.commits.insert(version);
        self.versions.push(Version {
            lines,
            at_ms: now_ms,
            state,
        });
    }

    fn checksum(&mut self, name: &str, content: &[u8]) {
        let Ok(checksum) = serde_json::from_slice::<Value>(content) else {
            self.wrong.push(format!("{name} is no JSON"));
            return;
        };
        let Some(version) = self.versions.get(version_of(name) as usize) else {
            self.wrong.push(format!("{name} is of no version"));
            return;
        };
        let state = &version.state;
        let bytes: i64 = state.live.values().map(|add| number(&add["size"])).sum();
        let vectors = state.live.keys().filter(|(_, id)| id.is_some()).count();
        let info = version.lines.iter().find_map(|l| l.get("commitInfo"));
        let mut same = vec![
            number(&checksum["numFiles"]) == state.live.len() as i64,
            number(&checksum["tableSizeBytes"]) == bytes,
            number(&checksum["numDeletionVectorsOpt"]) == vectors as i64,
            info.is_some_and(|info| info["txnId"] == checksum["txnId"]),
            checksum["metadata"]["configuration"] == state.metadata["configuration"],
        ];
        if let Some(files) = checksum["allFiles"].as_array() {
            let listed: BTreeSet<_> = files.iter().map(reading::key).collect();
            same.push(listed == state.live.keys().cloned().collect());
        }
        if let Some(txns) = checksum["setTransactions"].as_array() {
            let listed: BTreeMap<String, i64> = txns
                .iter()
                .map(|t| (text(&t["appId"]), number(&t["version"])))
                .collect();
            same.push(listed == state.txns);
        }
        if same.contains(&false) {
            self.wrong
                .push(format!("{name} is wrong ({same:?}): {checksum}"));
        }
    }

    fn hint(&mut self, content: &[u8]) {
        let hint: Value = serde_json::from_slice(content).unwrap_or_default();
        let there = hint["version"]
            .as_i64()
            .is_some_and(|v| v >= 0 && (v as usize) < self.versions.len());
        if !there {
            self.wrong
                .push(format!("_last_checkpoint is wrong: {hint}"));
        }
    }

    fn remove(&mut self, name: &str, now_ms: i64) {
        self.cleaned += 1;
        match name.strip_suffix(".json").map(str::parse::<i64>) {
            Some(Ok(version)) => {
                self.commits.remove(&version);
            }
            _ => {
                self.files.remove(name);
            }
        }
        let lost: Vec<i64> = self
            .protected_versions(now_ms)
            .filter(|version| !self.can_be_read(*version))
            .collect();
        if !lost.is_empty() {
            self.wrong
                .push(format!("without {name} versions {lost:?} cannot be read"));
        }
    }

    /// The versions that the retention of the log protects, the newest in any case.
    pub fn protected_versions(&self, now_ms: i64) -> impl Iterator<Item = i64> + '_ {
        let newest = self.versions.len() as i64 - 1;
        let since = now_ms - world::LOG_RETENTION_MS;
        (0..=newest).filter(move |v| *v == newest || self.versions[*v as usize].at_ms >= since)
    }

    /// Whether the files that are there make up a version: a whole checkpoint at or before it and all commits after that.
    fn can_be_read(&self, version: i64) -> bool {
        let from_the_start = (0..=version).all(|v| self.commits.contains(&v));
        from_the_start
            || self
                .files
                .keys()
                .filter(|name| is_checkpoint(name) && version_of(name) <= version)
                .filter(|name| {
                    let mut sidecars = self.sidecars[*name].iter();
                    sidecars.all(|sidecar| self.files.contains_key(sidecar))
                })
                .any(|name| (version_of(name) + 1..=version).all(|v| self.commits.contains(&v)))
    }

    fn vacuum(&mut self, path: &str, now_ms: i64) {
        self.vacuumed += 1;
        let needed = self.newest().needed(now_ms - world::FILE_RETENTION_MS);
        if needed.contains(path) {
            self.wrong.push(format!(
                "{path} was deleted and version {} needs it",
                self.versions.len() - 1
            ));
        }
    }
}
