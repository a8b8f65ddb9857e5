//! RESTORE: a new version with the files, schema and properties of an old one (spec: delta, section 5).

mod plan;

#[cfg(test)]
mod tests;

use deltaic_command::{Restore, RestoreReport, TimeTravel};
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::action::Add;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::TableStore;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

pub use plan::{RestorePlan, plan};

use crate::travel::{self, TravelForm, TravelOptions};
use crate::vacuum::keep::vector_path;

/// What the session decides about RESTORE.
#[derive(Debug, Clone)]
pub struct RestoreOptions {
    /// How the target is found.
    pub travel: TravelOptions,
    /// `spark.sql.files.ignoreMissingFiles`: files that come back need not be there.
    pub ignore_missing_files: bool,
    /// `spark.databricks.delta.restore.protocolDowngradeAllowed`.
    pub protocol_downgrade: bool,
    /// Looks for files under way at the same time.
    pub parallelism: usize,
}

impl RestoreOptions {
    /// The defaults of a session.
    pub fn new(travel: TravelOptions) -> RestoreOptions {
        RestoreOptions {
            travel,
            ignore_missing_files: false,
            protocol_downgrade: false,
            parallelism: 16,
        }
    }
}

/// Restores a table.
///
/// # Errors
/// A target that does not exist or lies beyond the retention wall; files that are gone; a commit of somebody else
/// meanwhile (RESTORE is never tried again on top of one).
pub async fn run(
    table: &TableStore,
    request: &Restore,
    options: &RestoreOptions,
    context: &CommitContext,
) -> Result<RestoreReport> {
    let latest = Snapshot::load(table, None).await?;
    let version =
        travel::resolve(&latest, &request.to, TravelForm::Restore, &options.travel).await?;
    if version == latest.version() {
        return Ok(RestoreReport {
            restored_version: version,
            ..RestoreReport::default()
        });
    }
    let target = latest.at_version(version).await?;
    let state = plan::RestoreState::read(&latest, &target).await?;
    let plan = plan(&state, context.clock.now_ms(), options.protocol_downgrade)?;
    if !options.ignore_missing_files {
        check_files(table, version, &plan.adds, options.parallelism).await?;
    }

    let mut transaction = Transaction::begin(&latest, operation(&request.to, &plan.report));
    transaction.read_whole_table();
    transaction.set_metadata(plan.metadata);
    transaction.stage_all(plan.adds.into_iter().map(Action::Add));
    transaction.stage_all(plan.removes.into_iter().map(Action::Remove));
    transaction.stage_all(plan.domains.into_iter().map(Action::DomainMetadata));
    transaction.set_protocol(plan.protocol);
    let committed = transaction.commit(context).await?.into_result()?;
    Ok(RestoreReport {
        version: Some(committed.version),
        restored_version: version,
        ..plan.report
    })
}

fn operation(to: &TimeTravel, report: &RestoreReport) -> Operation {
    let (version, timestamp) = match to {
        TimeTravel::Version(version) => (Value::from(*version), Value::Null),
        TimeTravel::Timestamp { text, .. } => (Value::Null, Value::from(text.as_str())),
    };
    let mut operation = Operation::new("RESTORE")
        .parameter("version", version)
        .parameter("timestamp", timestamp)
        .metric("tableSizeAfterRestore", report.table_size_after_restore)
        .metric("numOfFilesAfterRestore", report.num_of_files_after_restore)
        .metric("numRemovedFiles", report.num_removed_files)
        .metric("numRestoredFiles", report.num_restored_files)
        .metric("removedFilesSize", report.removed_files_size)
        .metric("restoredFilesSize", report.restored_files_size);
    operation.large = true;
    operation
}

/// Fails unless all files that come back are there. Files that never left are not looked for.
async fn check_files(
    table: &TableStore,
    version: i64,
    adds: &[Add],
    parallelism: usize,
) -> Result<()> {
    // Data files, and the deletion vectors without which their rows would come back or not be read at all.
    let mut wanted: Vec<(String, String)> = Vec::new();
    for add in adds {
        let place = table.resolve(&add.path)?.as_str().to_owned();
        wanted.push((add.path.clone(), place));
        if let Some(vector) = &add.deletion_vector
            && let Some(place) = vector_path(table, vector)?
        {
            wanted.push((place.clone(), place));
        }
    }
    let found: Vec<Option<String>> = stream::iter(wanted)
        .map(|(path, place)| async move {
            let there = table.data().exists(&place).await?;
            Ok::<_, DeltaError>((!there).then_some(path))
        })
        .buffered(parallelism.max(1))
        .try_collect()
        .await?;
    let missing: Vec<String> = found.into_iter().flatten().take(100).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!(
            "Not all files from version {version} are available in file system.\n Missed files (top 100 files): {}.\n \
             Please use more recent version or timestamp for restoring.\n To disable check update option \
             spark.sql.files.ignoreMissingFiles",
            missing.join(",")
        ),
    )
    .with_kind(ErrorKind::NotFound)
    .with_path(table.root().to_string())
    .with_version(version))
}
