//! INSERT INTO and INSERT OVERWRITE of Parquet tables.
//!
//! There is no log, so nothing is atomic: new files are written first, then old ones are removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::action::Add;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_storage::{TableStore, decode_uri_path};

use super::listing::own_files;
use super::table::ParquetTable;
use crate::context::{Prepared, Rows, WriteContext};
use crate::write::checks::WriteChecks;
use crate::write::job::WriteOutput;
use crate::write::shape::Shaper;
use crate::write::target::WriteTarget;

/// What a write replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParquetWrite {
    /// Nothing.
    Append,
    /// Everything.
    Overwrite,
    /// The partitions in which there are new rows.
    OverwritePartitions,
}

/// Writes rows (the columns of `schema` in order) into new files below a folder, partition folders included. Nothing else is
/// touched.
///
/// # Errors
/// Those of the input and of the store.
pub async fn write_files(
    ctx: &WriteContext<'_>,
    store: &TableStore,
    schema: &StructType,
    partition_columns: &[String],
    input: Rows,
) -> Result<WriteOutput> {
    let shaper = Arc::new(Shaper::new(schema, partition_columns)?);
    let target = WriteTarget::plain(store, schema, partition_columns, shaper, ctx);
    Prepared::with_target(ctx, target, &WriteChecks::default())?
        .write(ctx, &input)
        .await
}

/// Writes rows (the table's columns in order); their number.
///
/// # Errors
/// Those of the input and of the store.
pub async fn write_parquet(
    ctx: &WriteContext<'_>,
    table: &ParquetTable,
    input: &Rows,
    mode: &ParquetWrite,
) -> Result<u64> {
    let old = match mode {
        ParquetWrite::Append => Vec::new(),
        _ => {
            let old = table.files().await?;
            check_own(&table.store, &old).await?;
            old
        }
    };
    let output = write_files(
        ctx,
        &table.store,
        &table.schema,
        &table.partition_columns,
        input.clone(),
    )
    .await?;
    let gone = |file: &Add| match mode {
        ParquetWrite::Append => false,
        ParquetWrite::Overwrite => true,
        ParquetWrite::OverwritePartitions => {
            table.partition_columns.is_empty()
                || output
                    .files
                    .iter()
                    .any(|new| new.add.partition_values == file.partition_values)
        }
    };
    for file in old.iter().filter(|file| gone(file)) {
        table
            .store
            .data()
            .delete_file(&decode_uri_path(&file.path)?)
            .await?;
    }
    // Hadoop's committer leaves this mark; other engines wait for it.
    table.store.data().delete_file("_SUCCESS").await?;
    table.store.data().create("_SUCCESS", Bytes::new()).await?;
    Ok(output.rows())
}

/// What lies behind a link to a folder may belong to somebody else: it is read, but not deleted.
async fn check_own(store: &TableStore, files: &[Add]) -> Result<()> {
    if store.root().scheme().is_cloud() {
        return Ok(());
    }
    let own: BTreeSet<String> = own_files(store)
        .await?
        .into_iter()
        .map(|file| file.path)
        .collect();
    let Some(other) = files.iter().find(|file| !own.contains(&file.path)) else {
        return Ok(());
    };
    let place = store.resolve(&other.path)?.to_string();
    Err(DeltaError::unclassed(
        "java.io.IOException",
        format!("{place} lies behind a symbolic link to a folder, and is not deleted by an INSERT OVERWRITE"),
    )
    .with_path(place)
    .with_hint("put the folder itself in the place of the link"))
}
