//! Scenarios of VACUUM.

use std::sync::Arc;

use deltaic_command::{TableRef, Vacuum, VacuumMode};
use deltaic_log::CommitContext;
use deltaic_maintenance::vacuum::{self, VacuumOptions};
use deltaic_protocol::clock::{Clock as _, ManualClock, SystemClock};

use crate::log::store;
use crate::outcome::{Clock, Measured, Outcome};

/// The clock stands so far ahead: the tables are made just before, and LITE goes by the age of commits.
const AHEAD_MS: i64 = 8 * 24 * 3_600_000;

/// VACUUM with the default retention; the answer is the number of files that go, or would.
pub async fn vacuum(table: &str, lite: bool, dry_run: bool) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let store = store(table)?;
    let request = Vacuum {
        target: TableRef::Path(store.root().to_string()),
        inventory: None,
        retain_hours: Some(168.0),
        dry_run,
        mode: Some(if lite {
            VacuumMode::Lite
        } else {
            VacuumMode::Full
        }),
    };
    let context = CommitContext {
        clock: Arc::new(ManualClock::at(SystemClock.now_ms() + AHEAD_MS)),
        ..CommitContext::default()
    };
    let report = vacuum::run(
        &store,
        &request,
        None,
        &VacuumOptions::default(),
        &context,
        None,
    )
    .await?;
    clock.mark("vacuum");
    Ok(clock.done(if dry_run {
        report.candidates
    } else {
        report.deleted
    }))
}
