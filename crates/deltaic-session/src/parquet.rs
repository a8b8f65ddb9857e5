//! Tables of Parquet files in a folder, without a log, by name or path.

use deltaic_datafusion::context::Rows;
use deltaic_datafusion::{ParquetTable as Files, ParquetWrite, infer_schema, write_parquet};
use deltaic_protocol::action::Add;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::decode_uri_path;

use crate::context::Context;
use crate::errors;
use crate::resolve::ParquetTable;

/// The table with its columns: those of the catalog, else those of its files and folders.
pub(crate) async fn open(table: &ParquetTable, zone: Zone) -> Result<Files> {
    if let Some(record) = &table.record
        && let Some(schema) = &record.schema
    {
        return Ok(Files::new(
            table.store.clone(),
            schema.clone(),
            record.partition_columns.clone(),
            zone,
        ));
    }
    if !table.store.data().exists("").await? {
        let path = table
            .qualifier
            .last()
            .cloned()
            .unwrap_or_else(|| table.store.root().to_string());
        return Err(errors::path_not_found(&path));
    }
    let (schema, partition_columns) = infer_schema(&table.store).await?;
    Ok(Files::new(
        table.store.clone(),
        schema,
        partition_columns,
        zone,
    ))
}

/// The columns of a table.
pub(crate) async fn schema_of(table: &ParquetTable) -> Result<StructType> {
    Ok(open(table, Zone::utc()).await?.schema)
}

/// Writes the rows of a plan, whose columns are the table's in order.
pub(crate) async fn write(
    cx: &Context,
    table: &Files,
    rows: Rows,
    mode: &ParquetWrite,
) -> Result<()> {
    let commit = cx.commit_context(None);
    let state = cx.session.engine().state();
    let writer = cx.write_context(&state, &commit);
    write_parquet(&writer, table, &rows, mode).await.map(|_| ())
}

/// Paths of the data files below the table's root.
pub(crate) async fn files_of(table: &ParquetTable) -> Result<Vec<String>> {
    let files: Vec<Add> = open(table, Zone::utc()).await?.files().await?;
    files
        .iter()
        .map(|file| decode_uri_path(&file.path))
        .collect()
}

/// Removes all data files.
pub(crate) async fn truncate(table: &ParquetTable) -> Result<()> {
    for path in files_of(table).await? {
        table.store.data().delete_file(&path).await?;
    }
    Ok(())
}
