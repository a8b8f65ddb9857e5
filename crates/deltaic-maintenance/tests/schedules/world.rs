//! One schedule: a table, writers, and a scheduler that lets one request at a time go, well or wrong, as a seed says.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use deltaic_log::{Operation, Transaction};
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Clock, ManualClock};
use deltaic_storage::TableStore;

use crate::chance::Chance;
use crate::gate::{Answer, Gate};
use crate::server::Server;
use crate::verdict::{self, Counts};
use crate::writer::{Shared, Writer, lock};

const HOUR_MS: i64 = 3_600_000;
/// Versions older than this may be cleaned away.
pub const LOG_RETENTION_MS: i64 = 24 * HOUR_MS;
/// Files that left the table longer ago may be deleted.
pub const FILE_RETENTION_MS: i64 = 48 * HOUR_MS;
/// No operation takes longer: the retentions promise nothing to one that does.
const LONGEST_MS: i64 = 20 * HOUR_MS;
/// 2026-01-01.
const START_MS: i64 = 1_767_225_600_000;
/// No schedule needs so many requests.
const MOST_STEPS: usize = 50_000;

/// What a seed decides about a schedule as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub writers: usize,
    pub operations: usize,
    pub history: usize,
    pub serializable: bool,
    interval: usize,
    v2: bool,
    row_ids: bool,
    in_commit_timestamps: bool,
    /// So many requests in a thousand go wrong.
    faults: usize,
    /// Before so many requests in a thousand a writer dies.
    crashes: usize,
    /// So many times in a thousand the same writer goes on.
    bursts: usize,
}

impl Plan {
    fn of(chance: &mut Chance) -> Plan {
        Plan {
            writers: 2 + chance.below(4),
            operations: 1 + chance.below(2),
            history: 2 + chance.below(3),
            serializable: chance.permille(500),
            interval: chance.pick(&[2, 3, 5, 10, 10, 10]),
            v2: chance.permille(200),
            row_ids: chance.permille(200),
            in_commit_timestamps: chance.permille(250),
            faults: chance.pick(&[0, 0, 10, 30, 80]),
            crashes: chance.pick(&[0, 0, 5, 15]),
            bursts: chance.pick(&[0, 300, 700, 900, 980]),
        }
    }
}

type Actor = Pin<Box<dyn Future<Output = ()>>>;

/// The scheduler's own state.
pub struct World {
    pub plan: Plan,
    pub shared: Arc<Shared>,
    pub trace: Vec<String>,
    seed: u64,
    chance: Chance,
    actors: Vec<Option<Actor>>,
    last: usize,
    lives: u64,
}

/// Runs the schedule of a seed: what happened, and whether it was right.
pub fn run(seed: u64) -> (Vec<String>, Result<Counts, String>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(tokio::task::unconstrained(async {
        let mut world = World::new(seed);
        let driven = world.play().await;
        let verdict = match driven {
            Ok(()) => verdict::of(&world).await,
            Err(error) => Err(error),
        };
        let told = verdict.map_err(|error| format!("{error}\n{:?}", world.plan));
        (world.trace, told)
    }))
}

impl World {
    fn new(seed: u64) -> World {
        let mut chance = Chance::new(seed, 0);
        let plan = Plan::of(&mut chance);
        let clock = ManualClock::at(START_MS);
        let shared = Shared {
            server: Server::new(&clock),
            gate: Arc::new(Gate::default()),
            clock,
            records: Default::default(),
            began: vec![None; plan.writers].into(),
            wrong: Default::default(),
        };
        World {
            plan,
            shared: Arc::new(shared),
            trace: Vec::new(),
            seed,
            chance,
            actors: Vec::new(),
            last: 0,
            lives: 0,
        }
    }

    async fn play(&mut self) -> Result<(), String> {
        // First a history, by one writer to whom nothing happens.
        let troubled = self.plan;
        (self.plan.faults, self.plan.crashes) = (0, 0);
        let (plan, mut founder) = (self.plan, self.writer(0));
        self.actors = vec![Some(Box::pin(async move {
            founder.create(|store| table(store, &plan)).await;
        }))];
        self.drive().await?;
        for _ in 0..self.plan.history {
            let work = self.writer(0).prepare();
            self.actors = vec![Some(Box::pin(work))];
            self.drive().await?;
            let idle = self.chance.pick(&[0, 6, 30, 60]) * HOUR_MS;
            self.shared.clock.advance(idle);
        }
        self.plan = troubled;
        self.actors = (0..self.plan.writers)
            .map(|number| {
                let work = self.writer(number).work(self.plan.operations);
                Some(Box::pin(work) as Actor)
            })
            .collect();
        self.drive().await
    }

    /// A new process.
    fn writer(&mut self, number: usize) -> Writer {
        self.lives += 1;
        Writer::new(&self.shared, number, Chance::new(self.seed, self.lives))
    }

    async fn drive(&mut self) -> Result<(), String> {
        for _ in 0..MOST_STEPS {
            self.poll_idle().await;
            let waiting: Vec<(u64, usize, bool)> = self
                .shared
                .gate
                .requests()
                .waiting
                .iter()
                .map(|w| (w.id, w.writer, w.changes))
                .collect();
            self.give_up_or_finish_late(waiting.is_empty()).await;
            if waiting.is_empty() {
                if self.actors.iter().all(Option::is_none) {
                    return Ok(());
                }
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                continue;
            }
            self.pass_time();
            let same: Vec<_> = waiting.iter().filter(|w| w.1 == self.last).collect();
            let (id, writer, changes) =
                if !same.is_empty() && self.chance.permille(self.plan.bursts) {
                    *same[self.chance.below(same.len())]
                } else {
                    waiting[self.chance.below(waiting.len())]
                };
            self.last = writer;
            if self.chance.permille(self.plan.crashes) {
                self.crash(writer, id).await;
            } else {
                let answer = self.answer(changes);
                self.step(id, writer, answer).await;
            }
        }
        Err("the schedule comes to no end".to_owned())
    }

    fn answer(&mut self, changes: bool) -> Answer {
        if !self.chance.permille(self.plan.faults) {
            return Answer::Plain;
        }
        if changes {
            self.chance.pick(&[
                Answer::LostRequest,
                Answer::Unanswered,
                Answer::Unanswered,
                Answer::Duplicate,
                Answer::Late,
            ])
        } else {
            Answer::LostRequest
        }
    }

    async fn step(&mut self, id: u64, writer: usize, answer: Answer) {
        let what = {
            let requests = self.shared.gate.requests();
            let found = requests.waiting.iter().find(|w| w.id == id);
            found.map(|w| w.what.clone()).unwrap_or_default()
        };
        let now = self.shared.clock.now_ms() - START_MS;
        self.trace
            .push(format!("{now:>10} writer {writer}: {what} {answer:?}"));
        self.shared.gate.release(id, answer);
        self.poll(writer).await;
    }

    /// A writer dies, with its request done or not, and another takes its place.
    async fn crash(&mut self, writer: usize, id: u64) {
        if self.chance.permille(500) {
            self.step(id, writer, Answer::Unanswered).await;
        }
        self.trace.push(format!("           writer {writer} dies"));
        lock(&self.shared.began)[writer] = None;
        self.actors[writer] = None;
        let work = self.writer(writer).work(1);
        self.actors[writer] = Some(Box::pin(work));
    }

    async fn poll(&mut self, writer: usize) {
        let Some(actor) = self.actors[writer].as_mut() else {
            return;
        };
        let ended = poll_fn(|context| Poll::Ready(actor.as_mut().poll(context).is_ready())).await;
        if ended {
            self.actors[writer] = None;
        }
    }

    /// Writers that wait for no request: just begun, or asleep.
    async fn poll_idle(&mut self) {
        for writer in 0..self.actors.len() {
            let idle = |world: &World| {
                let requests = world.shared.gate.requests();
                !requests.waiting.iter().any(|w| w.writer == writer)
            };
            if self.actors[writer].is_some() && idle(self) {
                self.poll(writer).await;
            }
        }
    }

    /// Now and then, and at the end, a request takes effect whose caller does not wait for it any more.
    async fn give_up_or_finish_late(&mut self, end: bool) {
        loop {
            let count = self.shared.gate.requests().late.len();
            if count == 0 || !(end || self.chance.permille(60)) {
                return;
            }
            let at = self.chance.below(count);
            let late = self.shared.gate.requests().late.remove(at);
            self.trace.push(format!(
                "           writer {}: a late request arrives",
                late.writer
            ));
            late.work.await;
        }
    }

    /// Time goes on, now and then by hours, but no operation gets older than the retentions allow.
    fn pass_time(&mut self) {
        self.shared.clock.advance(self.chance.below(2000) as i64);
        if !self.chance.permille(60) || !self.shared.gate.requests().late.is_empty() {
            return;
        }
        let jump = self.chance.pick(&[1, 6, 12, 18]) * HOUR_MS;
        let then = self.shared.clock.now_ms() + jump;
        let oldest = lock(&self.shared.began).iter().flatten().min().copied();
        if oldest.is_none_or(|began| then - began <= LONGEST_MS) {
            self.shared.clock.advance(jump);
        }
    }
}

/// The commit of a new table.
fn table(store: &TableStore, plan: &Plan) -> Transaction {
    let schema = StructType::new([
        StructField::nullable("id", DataType::Long),
        StructField::nullable("p", DataType::String),
    ]);
    let mut metadata = Metadata::new("t", &schema);
    metadata.partition_columns = vec!["p".to_owned()];
    let mut set = |key: &str, value: &str| {
        metadata
            .configuration
            .insert(key.to_owned(), value.to_owned());
    };
    let mut writer_features = vec![
        "deletionVectors",
        "appendOnly",
        "invariants",
        "domainMetadata",
    ];
    let mut reader_features = vec!["deletionVectors"];
    set("delta.deletedFileRetentionDuration", "interval 48 hours");
    set("delta.logRetentionDuration", "interval 24 hours");
    set("delta.checkpointInterval", &plan.interval.to_string());
    let level = if plan.serializable {
        "Serializable"
    } else {
        "WriteSerializable"
    };
    set("delta.isolationLevel", level);
    if plan.v2 {
        set("delta.checkpointPolicy", "v2");
        reader_features.push("v2Checkpoint");
        writer_features.push("v2Checkpoint");
    }
    if plan.row_ids {
        set("delta.enableRowTracking", "true");
        set("delta.rowTracking.materializedRowIdColumnName", "_row-id-a");
        set(
            "delta.rowTracking.materializedRowCommitVersionColumnName",
            "_row-commit-version-a",
        );
        writer_features.push("rowTracking");
    }
    if plan.in_commit_timestamps {
        set("delta.enableInCommitTimestamps", "true");
        writer_features.push("inCommitTimestamp");
    }
    let owned = |names: Vec<&str>| Some(names.into_iter().map(str::to_owned).collect());
    let mut transaction = Transaction::create(store, Operation::new("CREATE TABLE"));
    transaction.set_metadata(metadata);
    transaction.set_protocol(Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: owned(reader_features),
        writer_features: owned(writer_features),
    });
    transaction
}
