//! The deletions, in batches, with a look at the log before each (spec: delta, section 2.4, step 5).

use deltaic_log::Snapshot;
use deltaic_protocol::error::Result;
use deltaic_storage::{DeleteOutcome, DirOutcome};
use futures::StreamExt;

use super::candidates::{Candidate, Found};
use super::{Keep, Progress, Retention, VacuumOptions};

/// What was deleted.
#[derive(Debug)]
pub(super) struct Deleted {
    /// Files and directories that are gone; one that was gone before counts.
    pub(super) deleted: u64,
    /// Candidates that are in use again.
    pub(super) kept: u64,
    /// Files that could not be deleted, with the reason.
    pub(super) failed: Vec<(String, String)>,
    /// The newest version seen.
    pub(super) snapshot: Snapshot,
}

/// Deletes the candidates that still may go. `started` is the newest version, `keep` what it needs where that is known.
///
/// # Errors
/// The log cannot be read any more; then no further file is deleted.
pub(super) async fn run(
    started: &Snapshot,
    keep: Option<Keep>,
    candidates: Found,
    retention: &Retention,
    options: &VacuumOptions,
    progress: Option<Progress<'_>>,
) -> Result<Deleted> {
    let table = started.store();
    let total = candidates.found.len() as u64;
    let (directories, files): (Vec<_>, Vec<_>) =
        candidates.found.into_iter().partition(|found| found.is_dir);
    let mut outcome = Deleted {
        deleted: 0,
        kept: 0,
        failed: Vec::new(),
        snapshot: started.clone(),
    };
    let mut guard = match keep {
        Some(keep) => Guard {
            snapshot: started.clone(),
            keep,
            cutoff_ms: retention.cutoff_ms,
        },
        None => Guard::new(started, retention).await?,
    };
    for (number, batch) in files.chunks(options.batch.max(1)).enumerate() {
        if number > 0 {
            guard.refresh(retention).await?;
        }
        // Owned paths, so that the future can be sent between threads.
        let going: Vec<String> = batch
            .iter()
            .filter(|file| guard.may_go(file))
            .map(|file| file.path.clone())
            .collect();
        outcome.kept += (batch.len() - going.len()) as u64;
        let mut results = table.data().delete_files(going, options.parallelism.max(1));
        while let Some((path, result)) = results.next().await {
            match result {
                Ok(DeleteOutcome::Deleted | DeleteOutcome::Missing) => outcome.deleted += 1,
                Err(error) => outcome
                    .failed
                    .push((table.root().display(&path), error.text())),
            }
            if let Some(progress) = progress {
                progress(outcome.deleted, total);
            }
        }
    }
    // From the top down, so that a directory whose only content is an empty directory stays for the next run, as in the
    // reference. A directory that is not empty is no failure.
    for directory in directories {
        match table.data().delete_empty_dir(&directory.path).await {
            Ok(DirOutcome::Deleted | DirOutcome::Missing) => outcome.deleted += 1,
            Ok(DirOutcome::NotEmpty) => {}
            Err(error) => outcome
                .failed
                .push((table.root().display(&directory.path), error.text())),
        }
    }
    outcome.failed.sort();
    outcome.snapshot = guard.snapshot;
    Ok(outcome)
}

/// What the newest version needs.
struct Guard {
    snapshot: Snapshot,
    keep: Keep,
    cutoff_ms: i64,
}

impl Guard {
    async fn new(snapshot: &Snapshot, retention: &Retention) -> Result<Guard> {
        let cutoff_ms =
            retention.cutoff_with(snapshot.config().deleted_file_retention()?.to_millis());
        let keep = Keep::of(snapshot, cutoff_ms).await?;
        Ok(Guard {
            snapshot: snapshot.clone(),
            keep,
            cutoff_ms,
        })
    }

    async fn refresh(&mut self, retention: &Retention) -> Result<()> {
        let newest = self.snapshot.update().await?;
        if newest.version() != self.snapshot.version() {
            *self = Guard::new(&newest, retention).await?;
        }
        Ok(())
    }

    fn may_go(&self, file: &Candidate) -> bool {
        file.time_ms < self.cutoff_ms && !self.keep.has_file(&file.path)
    }
}
