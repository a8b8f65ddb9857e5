//! Files of a table written anew without a change of its rows: deletion vectors purged, widened types settled, physical
//! names given up.

mod types;

use std::sync::Arc;

use deltaic_log::transaction::{CommitResult, Operation, Transaction};
use deltaic_log::{REFERENCE_VERSION, Snapshot};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Metadata};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::schema::metadata::{
    COLUMN_MAPPING_ID, COLUMN_MAPPING_NESTED_IDS, COLUMN_MAPPING_PHYSICAL_NAME,
};

use crate::context::{Prepared, WriteContext};
use crate::dml::target::DmlTarget;
use crate::dml::tracking;
use crate::scan::build::ScanFile;
use crate::write::job::{WriteOutput, commit_written};

/// Characters that names in Parquet files cannot have.
const INVALID: [char; 10] = [' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '='];

/// Writes the files that have deletion vectors anew, without the deleted rows (operation `REORG`). `None` where no file has
/// one.
///
/// # Errors
/// Reading and writing; conflicts with other writers.
pub async fn purge_vectors(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
) -> Result<Option<CommitResult>> {
    let files = snapshot.files().await?;
    let with_vector = files.iter().filter(|add| add.deletion_vector.is_some());
    reorganize(ctx, snapshot, with_vector.cloned().collect()).await
}

/// Writes the files anew in which a column has a narrower type than in the table (operation `REORG`). `None` where there is
/// no such file.
///
/// # Errors
/// Reading and writing; conflicts with other writers.
pub async fn widen_files(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
) -> Result<Option<CommitResult>> {
    let mut narrow = Vec::new();
    for add in snapshot.files().await?.iter() {
        if types::is_narrower(snapshot, add).await? {
            narrow.push(Arc::clone(add));
        }
    }
    reorganize(ctx, snapshot, narrow).await
}

async fn reorganize(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    files: Vec<Arc<Add>>,
) -> Result<Option<CommitResult>> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut operation = Operation::new("REORG")
        .text_parameter("predicate", "[]")
        .parameter("applyPurge", true);
    tracking::tag(&mut operation, snapshot)?;
    let prepared = Prepared::copying(ctx, snapshot)?;
    let mut transaction = Transaction::begin(snapshot, operation);
    let output = copy(ctx, snapshot, &files, &prepared).await?;
    let metrics = transaction.operation_mut();
    metrics.set_metric("numRemovedFiles", files.len());
    metrics.set_metric(
        "numRemovedBytes",
        files.iter().map(|add| add.size).sum::<i64>(),
    );
    metrics.set_metric("numAddedFiles", output.files.len());
    metrics.set_metric("numAddedBytes", output.bytes());
    metrics.set_metric("numDeletionVectorsRemoved", vectors(&files));
    let mut sizes: Vec<i64> = output.files.iter().map(|file| file.add.size).collect();
    sizes.sort_unstable();
    let quantile = |of: usize| sizes.get(sizes.len() * of / 4).or(sizes.last()).copied();
    let names = [
        ("minFileSize", sizes.first().copied()),
        ("p25FileSize", quantile(1)),
        ("p50FileSize", quantile(2)),
        ("p75FileSize", quantile(3)),
        ("maxFileSize", sizes.last().copied()),
    ];
    for (name, size) in names {
        metrics.set_metric(name, size.unwrap_or(0));
    }
    transaction.read_files(files.iter().map(AsRef::as_ref));
    let written = output.paths();
    exchange(ctx, &mut transaction, &files, output);
    let result = commit_written(transaction, ctx.commit, snapshot.store(), &written).await?;
    Ok(Some(result))
}

/// Gives up column mapping: all files are written anew under the logical names, and the mapping leaves the metadata in the
/// same commit (operation `REMOVE COLUMN MAPPING`). With `says_none` the property stays, as `none`.
///
/// # Errors
/// Names that files cannot have; reading and writing; conflicts with other writers.
pub async fn remove_mapping(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    says_none: bool,
) -> Result<Option<CommitResult>> {
    let mut metadata = without_mapping(snapshot)?;
    if says_none {
        metadata
            .configuration
            .insert(key::COLUMN_MAPPING_MODE.to_owned(), "none".to_owned());
    }
    let schema = metadata.schema()?;
    check_names(&schema)?;
    let config = TableConfig::new(&metadata, snapshot.protocol());
    config.check_writable(snapshot.store().root().path(), REFERENCE_VERSION)?;
    let files: Vec<Arc<Add>> = snapshot.files().await?.to_vec();
    let mut operation = Operation::new("REMOVE COLUMN MAPPING");
    tracking::tag(&mut operation, snapshot)?;
    let mut transaction = Transaction::begin(snapshot, operation);
    // Files that come meanwhile have physical names.
    transaction.read_whole_table();
    let mut written = Vec::new();
    if !files.is_empty() {
        let prepared = Prepared::copying_as(ctx, snapshot, &config, &schema)?;
        let output = copy(ctx, snapshot, &files, &prepared).await?;
        let metrics = transaction.operation_mut();
        metrics.set_metric("numRewrittenFiles", files.len());
        metrics.set_metric("numOutputBytes", output.bytes());
        metrics.set_metric(
            "numRemovedBytes",
            files.iter().map(|add| add.size).sum::<i64>(),
        );
        metrics.set_metric("numCopiedRows", output.rows());
        metrics.set_metric("numDeletionVectorsRemoved", vectors(&files));
        written = output.paths();
        exchange(ctx, &mut transaction, &files, output);
    }
    transaction.set_metadata(metadata);
    let result = commit_written(transaction, ctx.commit, snapshot.store(), &written).await?;
    Ok(Some(result))
}

/// Copies the rows of the files.
async fn copy(
    ctx: &WriteContext<'_>,
    snapshot: &Snapshot,
    files: &[Arc<Add>],
    prepared: &Prepared,
) -> Result<WriteOutput> {
    let target = DmlTarget::new(ctx, snapshot, None)?;
    let query = target.copied(files.iter().cloned().map(ScanFile::whole).collect())?;
    prepared.write(ctx, &query.into()).await
}

/// The old files go, the new ones come, and no row has changed.
fn exchange(
    ctx: &WriteContext<'_>,
    transaction: &mut Transaction,
    files: &[Arc<Add>],
    output: WriteOutput,
) {
    for file in output.files {
        let mut add = file.add;
        add.data_change = false;
        transaction.add(add);
    }
    let now = ctx.now_ms();
    let removes = files
        .iter()
        .map(|add| Action::Remove(add.to_remove(now, false)));
    transaction.stage_all(removes);
}

fn vectors(files: &[Arc<Add>]) -> usize {
    files
        .iter()
        .filter(|add| add.deletion_vector.is_some())
        .count()
}

fn without_mapping(snapshot: &Snapshot) -> Result<Metadata> {
    let mut metadata = snapshot.metadata().as_ref().clone();
    metadata.configuration.remove(key::COLUMN_MAPPING_MODE);
    metadata.configuration.remove(key::COLUMN_MAPPING_MAX_ID);
    let mut schema = metadata.schema()?;
    schema.for_each_field_mut(&mut |field| {
        for key in [
            COLUMN_MAPPING_ID,
            COLUMN_MAPPING_PHYSICAL_NAME,
            COLUMN_MAPPING_NESTED_IDS,
        ] {
            field.metadata.remove(key);
        }
    });
    metadata.schema_string = schema.to_json();
    Ok(metadata)
}

fn check_names(schema: &StructType) -> Result<()> {
    let mut invalid = Vec::new();
    schema.for_each_field(&mut |field| {
        if field.name.contains(INVALID) {
            invalid.push(field.name.clone());
        }
    });
    if invalid.is_empty() {
        return Ok(());
    }
    Err(
        DeltaError::new("DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING")
            .param("invalidColumnNames", invalid.join(", ")),
    )
}
