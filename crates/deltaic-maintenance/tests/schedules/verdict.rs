//! Whether a schedule ended well.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::transaction::ConflictKind;
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_protocol::Clock;
use deltaic_protocol::action::Add;
use futures::TryStreamExt;
use serde_json::Value;

use crate::reading::{Key, number, text};
use crate::rules::forbidden;
use crate::server::Journal;
use crate::world::{FILE_RETENTION_MS, World};
use crate::writer::{Kind, Outcome, Record, lock};

/// What happened in schedules, for tests that ask whether anything happened at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub commits: u64,
    pub refusals: u64,
    pub failures: u64,
    pub crashes: u64,
    pub checkpoints: u64,
    pub cleaned: u64,
    pub vacuumed: u64,
    pub faults: u64,
    /// Failures for which nothing is to blame but a cleanup of what was being read.
    pub cut_short: u64,
}

impl Counts {
    pub fn include(&mut self, other: Counts) {
        self.commits += other.commits;
        self.refusals += other.refusals;
        self.failures += other.failures;
        self.crashes += other.crashes;
        self.checkpoints += other.checkpoints;
        self.cleaned += other.cleaned;
        self.vacuumed += other.vacuumed;
        self.faults += other.faults;
        self.cut_short += other.cut_short;
    }
}

/// The judgement.
pub async fn of(world: &World) -> Result<Counts, String> {
    let mut wrong = lock(&world.shared.wrong).clone();
    let records = lock(&world.shared.records).clone();
    let counts = {
        let journal = world.shared.server.journal();
        wrong.extend(journal.wrong.iter().cloned());
        let commits = commits_of(&journal, &records, &mut wrong);
        for (at, record) in records.iter().enumerate() {
            if let Err(error) = judge(world, &journal, record, commits.get(&at)) {
                wrong.push(format!("operation {at} ({record:?}): {error}"));
            }
        }
        wrong.extend(row_ids(&journal));
        wrong.extend(timestamps(&journal));
        count(&journal, &records)
    };
    if wrong.is_empty() {
        readers(world).await.unwrap_or_else(|e| wrong.push(e));
    }
    if wrong.is_empty() {
        Ok(counts)
    } else {
        Err(wrong.join("\n"))
    }
}

fn count(journal: &Journal, records: &[Record]) -> Counts {
    let of = |wanted: fn(&Outcome) -> bool| {
        records
            .iter()
            .filter(|record| wanted(&record.outcome))
            .count() as u64
    };
    Counts {
        commits: journal.versions.len() as u64,
        refusals: of(|o| matches!(o, Outcome::Refused(..))),
        failures: of(|o| matches!(o, Outcome::Failed(..))),
        crashes: of(|o| *o == Outcome::Unfinished),
        checkpoints: journal.checkpoints,
        cleaned: journal.cleaned,
        vacuumed: journal.vacuumed,
        faults: records.iter().map(|record| record.faults).sum(),
        cut_short: records
            .iter()
            .filter(|r| matches!(r.outcome, Outcome::Failed(..)) && r.faults == 0 && r.cleaned)
            .count() as u64,
    }
}

/// For each operation, the versions that it committed (those of VACUUM aside, which tell of it in two commits).
fn commits_of(
    journal: &Journal,
    records: &[Record],
    wrong: &mut Vec<String>,
) -> BTreeMap<usize, Vec<i64>> {
    let mut out: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for (version, commit) in journal.versions.iter().enumerate() {
        let info = commit.lines.iter().find_map(|line| line.get("commitInfo"));
        let info = info.cloned().unwrap_or_default();
        let operation: Option<usize> = text(&info["userMetadata"]).parse().ok();
        match operation.filter(|at| *at < records.len()) {
            Some(_) if text(&info["operation"]).starts_with("VACUUM") => {}
            Some(at) => out.entry(at).or_default().push(version as i64),
            None => wrong.push(format!("nobody committed version {version}")),
        }
    }
    out
}

/// An acknowledged commit is there once and whole, a refused one is not, one whose end is not known may be either.
fn judge(
    world: &World,
    journal: &Journal,
    record: &Record,
    commits: Option<&Vec<i64>>,
) -> Result<(), String> {
    let commits = commits.map(Vec::as_slice).unwrap_or_default();
    if commits.len() > 1 {
        return Err(format!("is there more than once: {commits:?}"));
    }
    if let Some(version) = commits.first() {
        whole(journal, record, *version)?;
        against_none(world, journal, record, *version)?;
    }
    match &record.outcome {
        Outcome::Committed(version) if commits != [*version] => {
            Err(format!("was acknowledged and is {commits:?}"))
        }
        Outcome::Refused(kind, version) => {
            if !commits.is_empty() {
                return Err("was refused and is there".to_owned());
            }
            refusal_holds(world, journal, record, *kind, *version)
        }
        Outcome::Done if !commits.is_empty() => Err("was no commit and is there".to_owned()),
        Outcome::Failed(class, error) => failure_is_known(journal, record, class.as_deref(), error),
        _ => Ok(()),
    }
}

/// The commit has all that was staged and nothing else.
fn whole(journal: &Journal, record: &Record, version: i64) -> Result<(), String> {
    let lines = &journal.versions[version as usize].lines;
    let paths = |kind: &str| -> BTreeSet<String> {
        let actions = lines.iter().filter_map(|line| line.get(kind));
        actions.map(|action| text(&action["path"])).collect()
    };
    let has = |kind: &str| lines.iter().any(|line| line.get(kind).is_some());
    let intent = &record.intent;
    // Version 0 is the table's creation.
    let first = version == 0;
    let same = paths("add") == intent.adds
        && paths("remove") == intent.removes
        && has("metaData") == (intent.metadata || first)
        && has("protocol") == (intent.protocol || first)
        && has("txn") != intent.apps.is_empty();
    if same {
        Ok(())
    } else {
        Err(format!("version {version} is not what was staged"))
    }
}

/// No commit between the version that was read and its own forbade it.
fn against_none(
    world: &World,
    journal: &Journal,
    record: &Record,
    version: i64,
) -> Result<(), String> {
    for other in record.read_version + 1..version {
        let winner = &journal.versions[other as usize].lines;
        if let Some(kind) = forbidden(&record.intent, winner, world.plan.serializable) {
            return Err(format!(
                "version {version} was committed against {kind:?} with {other}"
            ));
        }
    }
    Ok(())
}

/// The winner breaks the rule that was named, and none before it broke any.
fn refusal_holds(
    world: &World,
    journal: &Journal,
    record: &Record,
    kind: ConflictKind,
    version: i64,
) -> Result<(), String> {
    let rule = |other: i64| {
        let winner = &journal.versions.get(other as usize)?.lines;
        forbidden(&record.intent, winner, world.plan.serializable)
    };
    // What was read is no longer in the log: nobody can say what came after it.
    let gone = !journal.commits.contains(&record.read_version);
    if gone && kind == ConflictKind::ConcurrentWrite {
        return Ok(());
    }
    if version <= record.read_version || rule(version) != Some(kind) {
        return Err(format!(
            "was refused for {kind:?} by {version}, where {:?} holds",
            rule(version)
        ));
    }
    match (record.read_version + 1..version).find(|other| rule(*other).is_some()) {
        Some(other) => Err(format!("was refused by {version}, not by {other} before")),
        None => Ok(()),
    }
}

/// Where nothing went wrong, few errors are right.
fn failure_is_known(
    journal: &Journal,
    record: &Record,
    class: Option<&str>,
    error: &str,
) -> Result<(), String> {
    let others = journal.versions.get((record.read_version + 1) as usize..);
    let changed = |kind: &str| {
        let mut lines = others.unwrap_or_default().iter().flat_map(|v| &v.lines);
        lines.any(|line| line.get(kind).is_some())
    };
    let vacuum = matches!(record.kind, Kind::VacuumFull | Kind::VacuumLite);
    let known = match class {
        _ if record.faults > 0 => true,
        Some("DELTA_CANNOT_VACUUM_LITE") => record.kind == Kind::VacuumLite && journal.cleaned > 0,
        Some("DELTA_METADATA_CHANGED") => vacuum && changed("metaData"),
        Some("DELTA_PROTOCOL_CHANGED") => vacuum && changed("protocol"),
        _ => record.cleaned,
    };
    if known {
        Ok(())
    } else {
        Err(format!("failed though nothing went wrong: {error}"))
    }
}

/// No row id is given twice, and each file says in which version its rows came.
fn row_ids(journal: &Journal) -> Vec<String> {
    let mut given: BTreeMap<i64, (i64, Key)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (version, commit) in journal.versions.iter().enumerate() {
        for add in commit.lines.iter().filter_map(|line| line.get("add")) {
            let Some(first) = add["baseRowId"].as_i64() else {
                continue;
            };
            let path = text(&add["path"]);
            let fresh = !given.values().any(|(_, key)| key.0 == path);
            if fresh && number(&add["defaultRowCommitVersion"]) != version as i64 {
                wrong.push(format!("{path} of version {version} came when? {add}"));
            }
            let overlaps =
                |(other, (_, key)): (&i64, &(i64, Key))| key.0 != path && (first - other).abs() < 3;
            if given.iter().any(overlaps) {
                wrong.push(format!(
                    "row ids from {first} on are given twice: {given:?}"
                ));
            }
            given.insert(first, (version as i64, (path, None)));
        }
    }
    wrong
}

/// In-commit timestamps grow.
fn timestamps(journal: &Journal) -> Option<String> {
    let times: Vec<i64> = journal
        .versions
        .iter()
        .filter_map(|version| version.lines.iter().find_map(|line| line.get("commitInfo")))
        .filter_map(|info| info["inCommitTimestamp"].as_i64())
        .collect();
    let grow = times.windows(2).all(|pair| pair[0] < pair[1]);
    (!grow).then(|| format!("in-commit timestamps do not grow: {times:?}"))
}

/// New readers see each version that is protected as the journal has it, all needed files are there, and the next writer is
/// not hindered by what the others left.
async fn readers(world: &World) -> Result<(), String> {
    let server = &world.shared.server;
    let (store, now) = (server.table(), world.shared.clock.now_ms());
    let (states, needed) = {
        let journal = server.journal();
        let newest = journal.versions.len() as i64 - 1;
        let mut versions: Vec<i64> = journal.protected_versions(now).collect();
        // Each is read anew, which takes its time: the newest, and of the others the oldest or one between.
        let other = versions[[0, versions.len() / 2][versions.len() % 2]];
        versions.retain(|v| *v == other || *v == newest);
        let states: Vec<_> = versions
            .into_iter()
            .map(|v| (v, journal.versions[v as usize].state.clone()))
            .collect();
        (states, journal.newest().needed(now - FILE_RETENTION_MS))
    };
    let entries: Vec<_> = store
        .data()
        .list("", None)
        .try_collect()
        .await
        .map_err(|e| e.to_string())?;
    let there: BTreeSet<String> = entries.into_iter().map(|entry| entry.path).collect();
    let lost: Vec<&String> = needed.difference(&there).collect();
    if !lost.is_empty() {
        return Err(format!("{lost:?} are needed and gone"));
    }
    for (version, state) in &states {
        let snapshot = Snapshot::load(store, Some(*version))
            .await
            .map_err(|e| format!("version {version} cannot be read: {e}"))?;
        let files = snapshot.files().await.map_err(|e| e.to_string())?;
        let found: BTreeSet<Key> = files.iter().map(|add| add.key()).collect();
        let txns: BTreeMap<String, i64> = snapshot
            .txns()
            .iter()
            .map(|(app, txn)| (app.clone(), txn.version))
            .collect();
        let note = snapshot.metadata().configuration.get("note").cloned();
        let same = found.iter().eq(state.live.keys())
            && found.len() == files.len()
            && txns == state.txns
            && note.map(Value::from).unwrap_or_default() == state.metadata["configuration"]["note"]
            && snapshot.domains().len() == state.domains.len();
        if !same {
            return Err(format!(
                "version {version} is read as {found:?} with {txns:?}, and is {:?} with {:?}",
                state.live.keys(),
                state.txns
            ));
        }
    }
    let newest = Snapshot::load(store, None)
        .await
        .map_err(|e| e.to_string())?;
    if Some(newest.version()) != states.last().map(|(version, _)| *version) {
        return Err(format!("version {} is the newest", newest.version()));
    }
    let mut transaction = Transaction::begin(&newest, Operation::new("WRITE"));
    transaction.add(Add {
        path: "next.parquet".to_owned(),
        partition_values: [("p".to_owned(), Some("0".to_owned()))].into(),
        stats: Some(r#"{"numRecords":3}"#.to_owned()),
        data_change: true,
        ..Add::default()
    });
    let context = CommitContext {
        clock: std::sync::Arc::new(world.shared.clock.clone()),
        ..CommitContext::default()
    };
    let next = transaction.commit(&context).await;
    let next = next.and_then(|commit| commit.into_result());
    match next {
        Ok(next) if next.warnings.is_empty() => Ok(()),
        Ok(next) => Err(format!("the next writer is warned: {:?}", next.warnings)),
        Err(error) => Err(format!("the next writer fails: {error}")),
    }
}
