//! VACUUM: deletes the files below a table's folder that no protected version needs (spec of the statement: delta,
//! section 2).
//!
//! The order keeps every protected file safe against writers at work at the same time:
//! candidates are found first, completely (a listing that fails ends the command with nothing deleted); then the start is
//! committed; then the log is read again, and before every further batch of deletions once more, and whatever the newest
//! version needs drops out of the candidates. New files of commits still under way are protected by their age.

mod candidates;
mod commits;
mod delete;
mod hidden;
mod inventory;
pub(crate) mod keep;
mod last_info;
mod lite;
mod retention;
mod versions;

#[cfg(test)]
mod tests;

use deltaic_command::{InventoryRow, Profile, Vacuum, VacuumMode, VacuumReport};
use deltaic_log::{CommitContext, Snapshot};
use deltaic_protocol::error::Result;
use deltaic_storage::TableStore;
use futures::stream::BoxStream;

pub(crate) use candidates::nested_table_of;
pub use candidates::{Candidate, Candidates, Found};
pub use hidden::HiddenNames;
pub use keep::Keep;
pub use retention::{Retention, resolve as resolve_retention};

const DAY_MS: i64 = 24 * 3_600_000;

/// A stream of inventory rows.
pub type InventoryStream = BoxStream<'static, Result<InventoryRow>>;

/// What the session decides about VACUUM.
#[derive(Debug, Clone)]
pub struct VacuumOptions {
    /// The release whose rules and texts count.
    pub profile: Profile,
    /// `spark.databricks.delta.retentionDurationCheck.enabled`.
    pub retention_check: bool,
    /// `spark.databricks.delta.vacuum.retentionWindowIgnore.enabled`: a RETAIN other than 0 has no effect. Only in releases
    /// that know it.
    pub ignore_retention_window: bool,
    /// `spark.databricks.delta.vacuum.logging.enabled`: write the START and END commits. Unset: where the backend's scheme
    /// is one that the reference logs on.
    pub logging: Option<bool>,
    /// `spark.databricks.delta.vacuum.lite.enabled`: the mode where the statement names none.
    pub lite_by_default: bool,
    /// Deletions under way at the same time.
    pub parallelism: usize,
    /// Deletions between two looks at the log.
    pub batch: usize,
}

impl Default for VacuumOptions {
    fn default() -> Self {
        VacuumOptions {
            profile: Profile::default(),
            retention_check: true,
            ignore_retention_window: true,
            logging: None,
            lite_by_default: false,
            parallelism: 8,
            batch: 1000,
        }
    }
}

/// Told about progress: files deleted so far, and of how many.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);

/// Runs a VACUUM on the newest version of a table.
///
/// # Errors
/// A retention that is too short or negative, a log that LITE cannot use, a listing that fails (nothing is deleted then), a
/// table that may not be written, a store that fails.
pub async fn run(
    table: &TableStore,
    request: &Vacuum,
    inventory: Option<InventoryStream>,
    options: &VacuumOptions,
    context: &CommitContext,
    progress: Option<Progress<'_>>,
) -> Result<VacuumReport> {
    let snapshot = Snapshot::load(table, None).await?;
    snapshot
        .config()
        .check_writable(table.root().path(), deltaic_log::REFERENCE_VERSION)?;
    let mode = request.mode.unwrap_or(if options.lite_by_default {
        VacuumMode::Lite
    } else {
        VacuumMode::Full
    });
    let now = context.clock.now_ms();
    let configured = snapshot.config().deleted_file_retention()?.to_millis();
    let mut retention = retention::resolve(request.retain_hours, configured, now, options)?;

    let keep = Keep::of(&snapshot, retention.cutoff_ms).await?;
    let hidden = HiddenNames::of(&snapshot);
    let mut lite_end = None;
    let candidates = match (mode, inventory) {
        (_, Some(rows)) => {
            inventory::find(table, rows, &hidden, retention.cutoff_ms, &keep).await?
        }
        (VacuumMode::Full, None) => {
            candidates::list(table, &hidden, retention.cutoff_ms, &keep).await?
        }
        (VacuumMode::Lite, None) => {
            let found = lite::find(&snapshot, retention.cutoff_ms, &keep).await?;
            lite_end = found.end;
            found.candidates
        }
    };

    let mut report = VacuumReport {
        table: table.root().to_string(),
        mode,
        dry_run: request.dry_run,
        paths: Vec::new(),
        candidates: candidates.found.len() as u64,
        candidate_bytes: candidates.bytes(),
        deleted: 0,
        directories: candidates.directories + 1,
        failed: Vec::new(),
        cutoff_ms: retention.cutoff_ms,
        kept_removed: keep.removed,
        next_expiry_ms: keep
            .oldest_removed_ms
            .map(|oldest| oldest.saturating_add(now.saturating_sub(retention.cutoff_ms))),
        end_version: None,
        notes: std::mem::take(&mut retention.notes),
    };
    for nested in &candidates.nested_tables {
        report.notes.push(format!(
            "{} is a table of its own and was left alone",
            table.root().display(nested)
        ));
    }
    report.notes.extend(note_of_unnameable(table, &candidates));
    if request.dry_run {
        report.paths = candidates
            .found
            .iter()
            .map(|found| table.root().display(&found.path))
            .collect();
        report.paths.sort();
        return Ok(report);
    }

    let logged = options
        .logging
        .unwrap_or_else(|| commits::logs_by_default(table.root().scheme()));
    let started = if logged {
        commits::start(&snapshot, &retention, &report, options, context).await?
    } else {
        snapshot.update().await?
    };
    // Nobody else has committed in between: what was to be kept is still known.
    let unchanged = started.version() == snapshot.version() + i64::from(logged);
    let keep = if unchanged { Some(keep) } else { None };
    let outcome = delete::run(&started, keep, candidates, &retention, options, progress).await;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            if logged {
                // The deletions have failed already; that error is what the user must see.
                let _ = commits::end(&started, None, context).await;
            }
            return Err(error);
        }
    };
    report.deleted = outcome.deleted;
    report.failed = outcome.failed;
    if outcome.kept > 0 {
        report.notes.push(format!(
            "{} files came back into use while VACUUM ran and were left alone",
            outcome.kept
        ));
    }
    if logged {
        report.end_version = Some(commits::end(&outcome.snapshot, Some(&report), context).await?);
    }
    if report.failed.is_empty() {
        last_info::write(table, mode, lite_end).await;
    }
    report
        .notes
        .extend(versions::note(&outcome.snapshot, &report).await);
    // What writers that died a day ago have left in the log folder; it is in nobody's way, so a failure does not matter.
    let _ = table
        .log()
        .remove_unfinished(now.saturating_sub(DAY_MS))
        .await;
    Ok(report)
}

/// What is said of objects that were passed over.
fn note_of_unnameable(table: &TableStore, found: &Found) -> Option<String> {
    let first = found.unnameable.first()?;
    Some(format!(
        "{} objects have keys that no path can name and were left alone, such as {}/{first}",
        found.unnameable.len(),
        table.root()
    ))
}
