//! Scenarios of the log: opening, listing, travelling, history, checkpoints.

use deltaic_datafusion::application::open::{Version, provider};
use deltaic_log::{RandomIds, Snapshot, history, maintain};
use deltaic_protocol::clock::{Clock as _, SystemClock};
use deltaic_storage::{StorageFactory, TableStore};
use futures::TryStreamExt;

use crate::outcome::{Clock, Measured, Outcome};

/// The version of `i_travel`.
const VERSION: i64 = 5000;
/// The moment of `i_travel_ts`, 2024-01-01T01:23:20Z in milliseconds.
const MOMENT: i64 = 1_704_072_200_000;

/// The table, not looked at yet.
pub fn store(table: &str) -> Outcome<TableStore> {
    Ok(StorageFactory::default().open(table)?)
}

async fn listed(snapshot: &Snapshot) -> Outcome<usize> {
    let paths: Vec<Vec<std::sync::Arc<str>>> = snapshot.file_paths().try_collect().await?;
    Ok(paths.iter().map(Vec::len).sum())
}

/// Opens the newest version and lists the paths of its files.
pub async fn open(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let snapshot = Snapshot::load(&store(table)?, None).await?;
    clock.mark("open");
    let files = listed(&snapshot).await?;
    clock.mark("list");
    Ok(clock.done(files))
}

/// All that the log says about the files.
pub async fn add_actions(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let snapshot = Snapshot::load(&store(table)?, None).await?;
    clock.mark("open");
    let files = snapshot.files().await?.len();
    clock.mark("add_actions");
    Ok(clock.done(files))
}

/// Writes a checkpoint.
pub async fn checkpoint(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let snapshot = Snapshot::load(&store(table)?, None).await?;
    clock.mark("open");
    maintain::checkpoint(&snapshot, SystemClock.now_ms(), &RandomIds).await?;
    clock.mark("checkpoint");
    Ok(clock.done(snapshot.version()))
}

/// The newest 1000 entries of the history.
pub async fn history(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let entries = history::latest_history(&store(table)?, Some(1000))
        .await?
        .len();
    clock.mark("history");
    Ok(clock.done(entries))
}

/// Opens an old version by its number.
pub async fn travel(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let snapshot = Snapshot::load(&store(table)?, Some(VERSION)).await?;
    clock.mark("open_at_version");
    let files = listed(&snapshot).await?;
    clock.mark("list");
    Ok(clock.done(files))
}

/// Opens the version of a moment. The retention of deleted files is not asked about: the peers do not ask either.
pub async fn travel_by_time(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let provider = provider(&store(table)?, Version::AsOf(MOMENT)).await?;
    clock.mark("travel");
    Ok(clock.done(provider.snapshot().version()))
}
