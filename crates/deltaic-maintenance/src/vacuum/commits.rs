//! The commits that tell of a VACUUM in the history (spec: delta, section 2.9).

use deltaic_command::VacuumReport;
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_protocol::error::Result;
use deltaic_storage::Scheme;

use super::{Retention, VacuumOptions};

/// Whether the reference writes these commits on a backend unless told otherwise. The in-process store stands for a local
/// disk.
pub(super) fn logs_by_default(scheme: Scheme) -> bool {
    scheme != Scheme::S3
}

/// Commits that the deletions begin; the newest version after that, commits of others in between included.
///
/// # Errors
/// The commit fails.
pub(super) async fn start(
    snapshot: &Snapshot,
    retention: &Retention,
    report: &VacuumReport,
    options: &VacuumOptions,
    context: &CommitContext,
) -> Result<Snapshot> {
    let mut operation = Operation::new("VACUUM START")
        .parameter("retentionCheckEnabled", options.retention_check)
        .parameter("defaultRetentionMillis", retention.configured_ms);
    if let Some(specified) = retention.specified_ms {
        operation = operation.parameter("specifiedRetentionMillis", specified);
    }
    let operation = operation
        .metric("numFilesToDelete", report.candidates)
        .metric("sizeOfDataToDelete", report.candidate_bytes);
    Ok(Transaction::begin(snapshot, operation)
        .commit(context)
        .await?
        .into_result()?
        .snapshot)
}

/// Commits that the deletions are over, with their numbers where there are any; failed, where a file that had to go is still there.
/// Answers the version.
///
/// # Errors
/// The commit fails.
pub(super) async fn end(
    snapshot: &Snapshot,
    report: Option<&VacuumReport>,
    context: &CommitContext,
) -> Result<i64> {
    let status = match report {
        Some(report) if report.failed.is_empty() => "COMPLETED",
        _ => "FAILED",
    };
    let mut operation = Operation::new("VACUUM END").text_parameter("status", status);
    if let Some(report) = report {
        operation = operation
            .metric("numDeletedFiles", report.deleted)
            .metric("numVacuumedDirectories", report.directories);
    }
    Ok(Transaction::begin(snapshot, operation)
        .commit(context)
        .await?
        .into_result()?
        .version)
}
