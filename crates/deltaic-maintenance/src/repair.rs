//! FSCK REPAIR TABLE: takes the entries of data files that are gone out of the log (documentation of the statement:
//! Databricks SQL). Nothing is taken on suspicion: a look that fails ends the command.

use deltaic_command::repair::{MissingFile, RepairReport};
use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
use deltaic_protocol::action::Add;
use deltaic_protocol::deletion_vector::DeletionVectorLocation;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::TableStore;
use futures::{StreamExt, TryStreamExt};

/// What the session decides about FSCK REPAIR TABLE.
#[derive(Debug, Clone)]
pub struct RepairOptions {
    /// Only look.
    pub dry_run: bool,
    /// Looks for files under way at the same time.
    pub parallelism: usize,
}

/// Looks for every file of the newest version, and removes the entries of data files that are not there.
///
/// # Errors
/// A look that fails; a deletion vector that is gone while its data file is there (without it, rows that were deleted would
/// come back, and with the entry others would go), unless it is a dry run; another writer that changed the same files.
pub async fn run(
    snapshot: &Snapshot,
    options: &RepairOptions,
    context: &CommitContext,
) -> Result<RepairReport> {
    let table = snapshot.store();
    let mut looks = snapshot
        .file_stream()
        .map(|add| async move {
            let add = add?;
            let missing = look(table, &add).await?;
            Ok::<_, DeltaError>((add, missing))
        })
        .buffered(options.parallelism.max(1));
    let mut report = RepairReport::default();
    let mut gone = Vec::new();
    while let Some((add, missing)) = looks.try_next().await? {
        report.num_files_scanned += 1;
        if let Some(missing) = missing {
            if missing.data_file_missing {
                gone.push(add);
            } else if !options.dry_run {
                return Err(vector_gone(&missing));
            }
            report.missing.push(missing);
        }
    }
    if options.dry_run || gone.is_empty() {
        return Ok(report);
    }
    let operation = Operation::new("FSCK")
        .parameter("numRemovedFiles", gone.len())
        .metric("numMissingFiles", gone.len())
        .metric("numFilesScanned", report.num_files_scanned);
    let mut transaction = Transaction::begin(snapshot, operation);
    transaction.read_files(gone.iter().map(|add| add.as_ref()));
    let now = context.clock.now_ms();
    for add in &gone {
        transaction.remove(add.to_remove(now, false));
    }
    let committed = transaction.commit(context).await?.into_result()?;
    report.version = Some(committed.version);
    Ok(report)
}

async fn look(table: &TableStore, add: &Add) -> Result<Option<MissingFile>> {
    let place = table.resolve(&add.path)?;
    let data_file_missing = table.data().stat(place.as_str()).await?.is_none();
    let vector = match &add.deletion_vector {
        None => None,
        Some(vector) => match vector.location()? {
            DeletionVectorLocation::Inline(_) => None,
            DeletionVectorLocation::Relative(path) => Some(table.data_path(&path)?),
            DeletionVectorLocation::Absolute(path) => Some(table.resolve(&path)?),
        },
    };
    let deletion_vector_file_missing = match &vector {
        Some(vector) => table.data().stat(vector.as_str()).await?.is_none(),
        None => false,
    };
    let missing = data_file_missing || deletion_vector_file_missing;
    Ok(missing.then(|| MissingFile {
        data_file_path: add.path.clone(),
        data_file_missing,
        deletion_vector_path: vector.map(|vector| vector.to_string()),
        deletion_vector_file_missing,
    }))
}

fn vector_gone(missing: &MissingFile) -> DeltaError {
    let vector = missing.deletion_vector_path.clone().unwrap_or_default();
    DeltaError::unclassed(
        "java.io.FileNotFoundException",
        format!(
            "File {vector} does not exist: which rows of {} are deleted is not known",
            missing.data_file_path
        ),
    )
    .with_kind(ErrorKind::NotFound)
    .with_path(vector)
    .with_hint("RESTORE goes back to a version before the rows were deleted; FSCK REPAIR TABLE … DRY RUN lists all that is missing")
}
