//! CONVERT TO DELTA: the first commit of a table whose files are there already. The files are not touched.

#[cfg(test)]
mod tests;

use deltaic_command::Convert;
use deltaic_log::{CommitContext, CommitResult, Operation, Snapshot, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::protocol_for_new_table;
use deltaic_protocol::properties::PropertyChanges;
use deltaic_storage::TableStore;
use serde_json::Value;

use crate::alter::mapping;
use crate::parquet_files::ParquetFiles;

/// Metadata and protocol of the table that a folder becomes.
///
/// # Errors
/// A column mapping, which the files cannot have.
pub fn define(
    files: &ParquetFiles,
    properties: &PropertyChanges,
    comment: Option<&str>,
    context: &CommitContext,
) -> Result<(Metadata, Protocol)> {
    let mut metadata = Metadata::new(context.ids.uuid(), &files.schema);
    metadata.description = properties
        .comment
        .clone()
        .or_else(|| comment.map(str::to_owned));
    metadata
        .partition_columns
        .clone_from(&files.partition_columns);
    metadata.configuration.clone_from(&properties.stored);
    metadata.created_time = Some(context.clock.now_ms());
    if mapping::is_enabled(&metadata.configuration) {
        let mode = metadata.configuration.get(mapping::MODE);
        return Err(
            DeltaError::new("DELTA_CONVERSION_UNSUPPORTED_COLUMN_MAPPING")
                .param("config", mapping::MODE)
                .param("mode", mode.map_or("none", String::as_str)),
        );
    }
    let protocol = protocol_for_new_table(&metadata, &properties.protocol)?;
    Ok((metadata, protocol))
}

/// Commits version 0 with all files.
///
/// # Errors
/// Row tracking without statistics; a log that has come to be meanwhile.
pub async fn run(
    store: &TableStore,
    request: &Convert,
    (metadata, protocol): (Metadata, Protocol),
    files: Vec<Add>,
    context: &CommitContext,
) -> Result<CommitResult> {
    if !request.collect_statistics && TableConfig::new(&metadata, &protocol).assigns_row_ids()? {
        return Err(
            DeltaError::new("DELTA_CONVERT_TO_DELTA_ROW_TRACKING_WITHOUT_STATS")
                .param(
                    "statisticsCollectionPropertyKey",
                    "spark.databricks.delta.stats.collect",
                )
                .param(
                    "rowTrackingTableFeatureDefaultKey",
                    "spark.databricks.delta.properties.defaults.feature.rowTracking",
                )
                .param(
                    "rowTrackingDefaultPropertyKey",
                    "spark.databricks.delta.properties.defaults.enableRowTracking",
                ),
        );
    }
    let mut transaction = Transaction::create(store, operation(request, files.len()));
    transaction.set_metadata(metadata);
    transaction.set_protocol(protocol);
    transaction.stage_all(files.into_iter().map(Action::Add));
    transaction.commit(context).await?.into_result()
}

/// Where a log is there already and the catalog still has the table as one of Parquet files: the catalog's properties go into
/// the log. None where they are in it.
///
/// # Errors
/// Properties that contradict those of the log (`metadata_check`), conflicts with other writers.
pub async fn adopt(
    snapshot: &Snapshot,
    request: &Convert,
    properties: &PropertyChanges,
    metadata_check: bool,
    context: &CommitContext,
) -> Result<Option<CommitResult>> {
    let configuration = &snapshot.metadata().configuration;
    let mut merged = configuration.clone();
    merged.extend(properties.stored.clone());
    if &merged == configuration {
        return Ok(None);
    }
    if !configuration.is_empty() && metadata_check {
        return Err(DeltaError::new("DELTA_CONVERT_METASTORE_METADATA_MISMATCH")
            .param("tableProperties", shown(&properties.stored))
            .param("configuration", shown(configuration))
            .param(
                "metadataCheckSqlConf",
                "spark.databricks.delta.convert.metadataCheck.enabled",
            )
            .with_path(snapshot.store().root().to_string()));
    }
    let request = Convert {
        collect_statistics: false,
        ..request.clone()
    };
    let mut transaction = Transaction::begin(snapshot, operation(&request, 0));
    transaction.set_metadata(Metadata {
        configuration: merged,
        ..snapshot.metadata().as_ref().clone()
    });
    transaction.commit(context).await?.into_result().map(Some)
}

fn shown(properties: &std::collections::BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = properties
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    format!("[{}]", pairs.join(", "))
}

fn operation(request: &Convert, files: usize) -> Operation {
    let columns = Value::from(request.partitioned_by.clone()).to_string();
    let mut operation = Operation::new("CONVERT")
        .parameter("numFiles", files)
        .text_parameter("partitionedBy", columns)
        .parameter("collectStats", request.collect_statistics);
    if let Some(table) = &request.catalog_table {
        operation = operation.text_parameter("catalogTable", table);
    }
    let mut operation = operation
        .text_parameter("sourceFormat", "parquet")
        .metric("numConvertedFiles", files);
    operation.large = true;
    operation
}
