//! What one writer does: a few operations one after the other, each noted with what it read, what it meant to do, and what
//! it was told.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deltaic_command::{TableRef, Vacuum, VacuumMode};
use deltaic_log::skipping::{Column, Comparison, Predicate, Value};
use deltaic_log::transaction::ConflictKind;
use deltaic_log::{Commit, CommitContext, Operation, Snapshot, Transaction, maintain};
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::action::{Add, DomainMetadata, SetTransaction};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{Action, Clock, ManualClock};
use deltaic_storage::TableStore;

use crate::chance::{Chance, SeededIds};
use crate::gate::{Gate, GatedStore};
use crate::reading::Key;
use crate::rules::Intent;
use crate::server::Server;

/// What a writer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Append,
    AppendFromItself,
    Delete,
    Rewrite,
    DeleteRows,
    Overwrite,
    Compact,
    Metadata,
    Protocol,
    Txn,
    Domain,
    Alone,
    Read,
    Checkpoint,
    Clean,
    VacuumFull,
    VacuumLite,
}

/// How often writers do what.
const KINDS: [(usize, Kind); 17] = [
    (8, Kind::Append),
    (3, Kind::AppendFromItself),
    (4, Kind::Delete),
    (4, Kind::Rewrite),
    (5, Kind::DeleteRows),
    (2, Kind::Overwrite),
    (3, Kind::Compact),
    (1, Kind::Metadata),
    (1, Kind::Protocol),
    (3, Kind::Txn),
    (2, Kind::Domain),
    (1, Kind::Alone),
    (3, Kind::Read),
    (2, Kind::Checkpoint),
    (2, Kind::Clean),
    (4, Kind::VacuumFull),
    (2, Kind::VacuumLite),
];

/// What the history before a schedule is made of.
const EARLIER: [(usize, Kind); 7] = [
    (6, Kind::Append),
    (2, Kind::Delete),
    (3, Kind::DeleteRows),
    (2, Kind::Rewrite),
    (2, Kind::Overwrite),
    (1, Kind::Txn),
    (1, Kind::Checkpoint),
];

/// What became of an operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Its writer died before the end.
    Unfinished,
    /// It is done and commits nothing itself.
    Done,
    /// It was acknowledged as this version.
    Committed(i64),
    /// It was refused for a rule, against this version.
    Refused(ConflictKind, i64),
    /// An error, with its class.
    Failed(Option<String>, String),
}

/// One operation.
#[derive(Debug, Clone)]
pub struct Record {
    pub kind: Kind,
    /// The version it began on.
    pub read_version: i64,
    pub intent: Intent,
    pub outcome: Outcome,
    /// Requests of it that went wrong.
    pub faults: u64,
    /// Files of the log that anybody's cleanup removed since its snapshot was read.
    pub cleaned: bool,
}

/// What all writers share.
pub struct Shared {
    pub server: Arc<Server>,
    pub gate: Arc<Gate>,
    pub clock: ManualClock,
    pub records: Mutex<Vec<Record>>,
    /// For each writer, when the operation began that it is at.
    pub began: Mutex<Vec<Option<i64>>>,
    /// What a reader saw that is not so.
    pub wrong: Mutex<Vec<String>>,
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A writer: a process, whose memory goes with it.
pub struct Writer {
    shared: Arc<Shared>,
    number: usize,
    store: TableStore,
    chance: Chance,
    held: Option<Held>,
}

/// A snapshot in memory.
#[derive(Clone)]
struct Held {
    snapshot: Snapshot,
    cleaned: u64,
}

impl Writer {
    pub fn new(shared: &Arc<Shared>, number: usize, chance: Chance) -> Writer {
        Writer {
            shared: Arc::clone(shared),
            number,
            store: GatedStore::table(&shared.server, &shared.gate, number),
            chance,
            held: None,
        }
    }

    /// Makes the table.
    pub async fn create(&mut self, transaction: impl FnOnce(&TableStore) -> Transaction) {
        let number = self.begin(None);
        let transaction = transaction(&self.store);
        let outcome = self.commit(number, transaction).await;
        self.end(number, outcome);
    }

    /// Does so many operations.
    pub async fn work(mut self, operations: usize) {
        for _ in 0..operations {
            let kind = self.chance.weighted(&KINDS);
            self.operation(kind).await;
        }
    }

    /// Does one of those that fill a table.
    pub async fn prepare(mut self) {
        let empty = self.shared.server.journal().newest().live.is_empty();
        let kind = if empty {
            Kind::Append
        } else {
            self.chance.weighted(&EARLIER)
        };
        self.operation(kind).await;
    }

    fn begin(&mut self, kind: Option<Kind>) -> usize {
        let began = Some(self.shared.clock.now_ms());
        lock(&self.shared.began)[self.number] = began;
        let mut records = lock(&self.shared.records);
        records.push(Record {
            kind: kind.unwrap_or(Kind::Metadata),
            read_version: -1,
            intent: Intent::default(),
            outcome: Outcome::Unfinished,
            faults: self.shared.gate.faults(self.number),
            cleaned: false,
        });
        records.len() - 1
    }

    fn end(&mut self, number: usize, outcome: Result<Outcome>) {
        lock(&self.shared.began)[self.number] = None;
        let outcome = outcome.unwrap_or_else(|error| {
            let class = error.class().map(str::to_owned);
            Outcome::Failed(class, error.to_string())
        });
        let mut records = lock(&self.shared.records);
        let record = &mut records[number];
        record.faults = self.shared.gate.faults(self.number) - record.faults;
        record.outcome = outcome;
    }

    fn context(&self, number: usize) -> CommitContext {
        let ids = self.chance.clone();
        CommitContext {
            clock: Arc::new(self.shared.clock.clone()),
            ids: Arc::new(SeededIds::new(Chance::new(
                ids.clone().next(),
                number as u64,
            ))),
            user_metadata: Some(number.to_string()),
            ..CommitContext::default()
        }
    }

    /// The snapshot to work on: what is in memory, now and then as it is, else brought up to date.
    async fn snapshot(&mut self, number: usize) -> Result<Snapshot> {
        let cleaned = self.shared.server.journal().cleaned;
        self.note_cleaned(number, cleaned);
        let held = match self.held.take() {
            Some(held) if self.chance.permille(300) => {
                self.note_cleaned(number, held.cleaned);
                held
            }
            Some(held) => Held {
                snapshot: held.snapshot.update().await?,
                cleaned,
            },
            None => Held {
                snapshot: Snapshot::load(&self.store, None).await?,
                cleaned,
            },
        };
        lock(&self.shared.records)[number].read_version = held.snapshot.version();
        self.held = Some(held.clone());
        Ok(held.snapshot)
    }

    /// Remembers how far cleanups had got when the operation's state was read.
    fn note_cleaned(&mut self, number: usize, before: u64) {
        let now = self.shared.server.journal().cleaned;
        lock(&self.shared.records)[number].cleaned |= now != before;
    }

    async fn operation(&mut self, kind: Kind) {
        let number = self.begin(Some(kind));
        let before = self.shared.server.journal().cleaned;
        let outcome = self.operate(kind, number).await;
        self.note_cleaned(number, before);
        self.end(number, outcome);
    }

    async fn operate(&mut self, kind: Kind, number: usize) -> Result<Outcome> {
        match kind {
            Kind::VacuumFull => return self.vacuum(VacuumMode::Full, number).await,
            Kind::VacuumLite => return self.vacuum(VacuumMode::Lite, number).await,
            _ => {}
        }
        let snapshot = self.snapshot(number).await?;
        let now = self.shared.clock.now_ms();
        match kind {
            Kind::Read => {
                self.compare(&snapshot).await?;
                return Ok(Outcome::Done);
            }
            Kind::Checkpoint => {
                let ids = self.context(number).ids;
                maintain::checkpoint(&snapshot, now, ids.as_ref()).await?;
                return Ok(Outcome::Done);
            }
            Kind::Clean => {
                maintain::clean(&snapshot, now).await?;
                return Ok(Outcome::Done);
            }
            _ => {}
        }
        let transaction = self.stage(kind, number, &snapshot).await?;
        let outcome = self.commit(number, transaction).await?;
        if let (Outcome::Committed(_), true) = (&outcome, self.chance.permille(300))
            && let Some(held) = self.held.clone()
        {
            // The commit stands, whatever becomes of this look at it.
            let _ = self.compare(&held.snapshot).await;
        }
        Ok(outcome)
    }

    async fn vacuum(&mut self, mode: VacuumMode, number: usize) -> Result<Outcome> {
        let request = Vacuum {
            target: TableRef::Path(String::new()),
            mode: Some(mode),
            retain_hours: None,
            dry_run: false,
            inventory: None,
        };
        let options = VacuumOptions {
            batch: 2,
            parallelism: 2,
            ..VacuumOptions::default()
        };
        let context = self.context(number);
        let newest = self.shared.server.journal().versions.len() as i64 - 1;
        lock(&self.shared.records)[number].read_version = newest;
        vacuum::run(&self.store, &request, None, &options, &context, None).await?;
        Ok(Outcome::Done)
    }

    /// Holds a snapshot against the journal.
    async fn compare(&self, snapshot: &Snapshot) -> Result<()> {
        let files = snapshot.files().await?;
        let found: BTreeSet<Key> = files.iter().map(|add| add.key()).collect();
        let journal = self.shared.server.journal();
        let state = &journal.versions[snapshot.version() as usize].state;
        let expected: BTreeSet<Key> = state.live.keys().cloned().collect();
        if found != expected || found.len() != files.len() {
            let text = format!(
                "version {} is read as {found:?}, not {expected:?}",
                snapshot.version()
            );
            lock(&self.shared.wrong).push(text);
        }
        Ok(())
    }

    async fn commit(&mut self, number: usize, transaction: Transaction) -> Result<Outcome> {
        let faults = self.shared.gate.faults(self.number);
        match transaction.commit(&self.context(number)).await? {
            Commit::Committed(result) => {
                let clean = self.shared.gate.faults(self.number) == faults;
                if clean && !result.warnings.is_empty() {
                    lock(&self.shared.wrong).push(format!(
                        "operation {number} warns of {:?} though nothing went wrong",
                        result.warnings
                    ));
                }
                self.held = Some(Held {
                    snapshot: result.snapshot,
                    cleaned: self.shared.server.journal().cleaned,
                });
                Ok(Outcome::Committed(result.version))
            }
            Commit::Conflict(conflict) => Ok(Outcome::Refused(conflict.kind, conflict.version)),
        }
    }

    /// Writes what the operation needs and stages it.
    async fn stage(
        &mut self,
        kind: Kind,
        number: usize,
        snapshot: &Snapshot,
    ) -> Result<Transaction> {
        let mut operation = Operation::new(format!("{kind:?}"));
        operation.alone = kind == Kind::Alone;
        let mut transaction = Transaction::begin(snapshot, operation);
        let mut intent = Intent {
            data_change: true,
            alone: kind == Kind::Alone,
            ..Intent::default()
        };
        let live: Vec<Arc<Add>> = match kind {
            Kind::Append | Kind::Metadata | Kind::Protocol | Kind::Txn | Kind::Domain => Vec::new(),
            _ => snapshot.files().await?.to_vec(),
        };
        let chosen: Vec<Arc<Add>> = match kind {
            Kind::Overwrite => live.clone(),
            Kind::Compact => live.iter().take(3).cloned().collect(),
            Kind::Delete | Kind::Rewrite | Kind::DeleteRows if !live.is_empty() => {
                vec![live[self.chance.below(live.len())].clone()]
            }
            _ => Vec::new(),
        };
        match kind {
            Kind::AppendFromItself | Kind::Overwrite => {
                transaction.read_whole_table();
                intent.whole = true;
            }
            Kind::Delete | Kind::Rewrite | Kind::DeleteRows => {
                // A condition on the partition of the file: all of its files were looked at.
                for add in &chosen {
                    let value = add.partition_values["p"].clone().unwrap_or_default();
                    transaction.read_where(Predicate::Compare(
                        Column::new("p", DataType::String),
                        Comparison::Equal,
                        Value::String(value.clone()),
                    ));
                    intent.partitions.insert(value);
                }
            }
            Kind::Metadata => {
                let mut metadata = snapshot.metadata().as_ref().clone();
                let note = ("note".to_owned(), number.to_string());
                metadata.configuration.extend([note]);
                transaction.set_metadata(metadata);
                intent.metadata = true;
            }
            Kind::Protocol => {
                let mut protocol = snapshot.protocol().as_ref().clone();
                let feature = "changeDataFeed".to_owned();
                let features = protocol.writer_features.get_or_insert_default();
                if !features.contains(&feature) {
                    features.push(feature);
                }
                transaction.set_protocol(protocol);
                intent.protocol = true;
            }
            Kind::Txn => {
                let app = self.chance.pick(&["a", "b"]).to_owned();
                transaction.txn(SetTransaction {
                    app_id: app.clone(),
                    version: number as i64,
                    last_updated: None,
                });
                intent.apps.insert(app);
            }
            Kind::Domain => {
                let domain = self.chance.pick(&["x", "y"]).to_owned();
                transaction.domain(DomainMetadata {
                    domain: domain.clone(),
                    configuration: number.to_string(),
                    removed: false,
                });
                intent.domains.insert(domain);
            }
            _ => {}
        }
        if kind == Kind::Compact {
            intent.data_change = false;
        }
        if !matches!(kind, Kind::AppendFromItself | Kind::Append) {
            transaction.read_files(chosen.iter().map(AsRef::as_ref));
            intent
                .files
                .extend(chosen.iter().map(|add| add.path.clone()));
        }
        let adds = self.new_files(kind, number, &chosen).await?;
        let now = self.shared.clock.now_ms();
        for add in &chosen {
            transaction.remove(add.to_remove(now, intent.data_change));
            intent.removes.insert(add.path.clone());
        }
        for add in adds {
            intent.adds.insert(add.path.clone());
            transaction.stage(Action::Add(Add {
                data_change: intent.data_change,
                ..add
            }));
        }
        lock(&self.shared.records)[number].intent = intent;
        Ok(transaction)
    }

    /// The files that an operation adds, written.
    async fn new_files(
        &mut self,
        kind: Kind,
        number: usize,
        chosen: &[Arc<Add>],
    ) -> Result<Vec<Add>> {
        let count = match kind {
            Kind::Append | Kind::AppendFromItself => 1 + self.chance.below(2),
            Kind::Rewrite if !chosen.is_empty() => 1,
            Kind::Overwrite | Kind::Txn | Kind::Alone => 1,
            Kind::Compact if !chosen.is_empty() => 1,
            _ => 0,
        };
        let mut adds = Vec::new();
        for file in 0..count {
            let partition = match chosen.first() {
                Some(add) => add.partition_values["p"].clone().unwrap_or_default(),
                None => self.chance.pick(&["0", "1"]).to_owned(),
            };
            let path = format!("p={partition}/{number}-{file}.parquet");
            let add = self.write(&path).await?;
            adds.push(Add {
                partition_values: [("p".to_owned(), Some(partition))].into(),
                ..add
            });
        }
        if kind == Kind::DeleteRows {
            for add in chosen {
                let id = self.chance.uuid();
                self.write(&format!("deletion_vector_{id}.bin")).await?;
                adds.push(Add {
                    deletion_vector: Some(DeletionVectorDescriptor::on_disk("", id, 1, 36, 1)),
                    ..add.as_ref().clone()
                });
            }
        }
        Ok(adds)
    }

    async fn write(&self, path: &str) -> Result<Add> {
        let content = Bytes::from(path.as_bytes().to_vec());
        self.store.data().create(path, content).await?;
        Ok(Add {
            path: path.to_owned(),
            size: path.len() as i64,
            modification_time: self.shared.clock.now_ms(),
            stats: Some(r#"{"numRecords":3}"#.to_owned()),
            ..Add::default()
        })
    }
}
