//! A folder of Parquet files as a source of a Delta table: which files there are, their partition values and their schema.
//! CONVERT TO DELTA and SHALLOW CLONE take it over; nothing is changed here.

mod footer;
mod partitions;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use deltaic_protocol::action::Add;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{FileMeta, LOG_DIR, TableStore, encode_uri_path};
use futures::{StreamExt, TryStreamExt, stream};

use crate::vacuum::nested_table_of;

pub use footer::columns;

/// What is known of the table beside its files.
#[derive(Debug, Clone)]
pub struct FilesOptions {
    /// The partition columns, in the order of the folders.
    pub partitions: StructType,
    /// The columns, partition columns included, where a catalog has them; else they come from the files.
    pub schema: Option<StructType>,
    /// The folder as messages name it.
    pub folder: String,
    /// The zone in which timestamps in folder names are read.
    pub zone: Zone,
    /// Whether partition values that are none of their type may stay (`convert.partitionValues.ignoreCastFailure`).
    pub ignore_cast_failure: bool,
    /// Whether a folder without files may be one; its columns must be known then.
    pub may_be_empty: bool,
    /// Files read at the same time.
    pub parallelism: usize,
}

impl FilesOptions {
    /// For an unpartitioned folder whose columns come from its files.
    pub fn new(folder: impl Into<String>) -> FilesOptions {
        FilesOptions {
            partitions: StructType::default(),
            schema: None,
            folder: folder.into(),
            zone: Zone::utc(),
            ignore_cast_failure: false,
            may_be_empty: false,
            parallelism: 16,
        }
    }
}

/// The files of a folder.
#[derive(Debug, Clone)]
pub struct ParquetFiles {
    /// The columns; partition columns that no file has come last.
    pub schema: StructType,
    /// Names of the partition columns.
    pub partition_columns: Vec<String>,
    /// The files without statistics, by path.
    pub files: Vec<Add>,
}

/// Reads the folder. Names that begin with `_` or `.` are passed over, unless they are those of partition folders.
///
/// # Errors
/// `DELTA_EMPTY_DIRECTORY`; files that are no Parquet files; schemas that do not go together; folders that do not name the
/// partition columns; partition values that are none of their type; another Delta table below; a listing that breaks off.
pub async fn read(store: &TableStore, options: &FilesOptions) -> Result<ParquetFiles> {
    let entries = list(store).await?;
    if entries.is_empty() && !(options.may_be_empty && options.schema.is_some()) {
        return Err(DeltaError::new("DELTA_EMPTY_DIRECTORY")
            .param("directory", &options.folder)
            .with_path(store.root().to_string()));
    }
    let inferred = schema_of(store, &entries, options.parallelism).await?;
    let schema = match &options.schema {
        Some(schema) => schema.clone(),
        None => with_partitions(inferred, &options.partitions),
    };
    check_names(&schema)?;
    let mut files = Vec::with_capacity(entries.len());
    for entry in entries {
        let uri = store.data_path(&entry.path)?.uri();
        files.push(Add {
            partition_values: partitions::values(&entry.path, &uri, options)?,
            path: encode_uri_path(&entry.path),
            size: i64::try_from(entry.size).unwrap_or(i64::MAX),
            modification_time: entry.modified_ms,
            data_change: true,
            ..Add::default()
        });
    }
    let partition_columns = options.partitions.names().map(str::to_owned).collect();
    Ok(ParquetFiles {
        schema,
        partition_columns,
        files,
    })
}

async fn list(store: &TableStore) -> Result<Vec<FileMeta>> {
    // A log is looked into, so that it shows on stores that have no folders.
    let enter = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name == LOG_DIR || !is_hidden_folder(name)
    };
    let mut listing = store.data().list_through_links("", Some(Arc::new(enter)));
    let mut files = Vec::new();
    while let Some(entry) = listing.try_next().await? {
        if let Some(nested) = nested_table_of(&entry.path) {
            return Err(nested_table(store, nested));
        }
        if !entry.is_dir && !is_hidden(&entry.path) {
            files.push(entry);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Files of another Delta table are that table's business, and which of them are live stands in its log.
fn nested_table(store: &TableStore, nested: &str) -> DeltaError {
    let place = store.root().display(nested);
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!(
            "{place} is a Delta table of its own, so the folder {} is no Parquet table",
            store.root()
        ),
    )
    .with_kind(ErrorKind::Analysis)
    .with_path(place)
}

fn is_hidden(path: &str) -> bool {
    match path.rsplit_once('/') {
        Some((folders, name)) => {
            name.starts_with(['_', '.']) || folders.split('/').any(is_hidden_folder)
        }
        None => path.starts_with(['_', '.']),
    }
}

fn is_hidden_folder(name: &str) -> bool {
    name.starts_with(['_', '.']) && !name.contains('=')
}

/// The schemas of all files in one. Footers are read some at a time, and none is kept.
async fn schema_of(
    store: &TableStore,
    entries: &[FileMeta],
    parallelism: usize,
) -> Result<StructType> {
    let mut schemas = stream::iter(entries.iter().cloned())
        .map(|entry| async move {
            let schema = footer::schema(store, &entry).await?;
            Ok::<_, DeltaError>((entry.path, schema))
        })
        .buffered(parallelism.max(1));
    let mut merged = StructType::default();
    let mut last = StructType::default();
    while let Some((path, schema)) = schemas.try_next().await? {
        // Most files are of one schema.
        if schema == last {
            continue;
        }
        merged = merged.merged_with(&schema).map_err(|error| {
            let uri = store.data_path(&path).map(|place| place.uri());
            let uri = uri.unwrap_or(path);
            DeltaError::new("DELTA_FAILED_MERGE_SCHEMA_FILE")
                .param("file", &uri)
                .param("schema", schema.tree_string())
                .with_path(uri)
                .with_source(error)
        })?;
        last = schema;
    }
    Ok(merged)
}

/// A partition column that stands in the files too keeps its place there, and has the type of the partition column.
fn with_partitions(mut schema: StructType, partitions: &StructType) -> StructType {
    for partition in partitions {
        let place = schema
            .fields
            .iter_mut()
            .find(|field| field.name.eq_ignore_ascii_case(&partition.name));
        match place {
            Some(field) => *field = partition.clone(),
            None => schema.fields.push(partition.clone()),
        }
    }
    schema
}

/// Names that a Delta table without column mapping can have.
fn check_names(schema: &StructType) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for field in schema {
        if !seen.insert(field.name.to_lowercase()) {
            return Err(DeltaError::new("DELTA_DUPLICATE_COLUMNS_FOUND")
                .param("coltype", "in the table definition")
                .param("duplicateCols", field.name.to_lowercase()));
        }
    }
    let mut invalid: Vec<String> = Vec::new();
    schema.for_each_field(&mut |field: &StructField| {
        if field
            .name
            .contains([' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '='])
        {
            invalid.push(field.name.clone());
        }
    });
    if invalid.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES")
        .param("invalidColumnNames", invalid.join(", ")))
}
