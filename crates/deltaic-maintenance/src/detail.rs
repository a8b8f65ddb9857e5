//! DESCRIBE DETAIL (spec: delta, section 4.2).

pub use crate::facts::clustering_columns;
use crate::facts::feature_names;
use deltaic_command::DetailReport;
use deltaic_log::Snapshot;
use deltaic_protocol::error::Result;

/// Describes the newest version of a table. `name` is the catalog's name of it, none for a table by path.
///
/// # Errors
/// The log cannot be read.
pub async fn report(snapshot: &Snapshot, name: Option<String>) -> Result<DetailReport> {
    let metadata = snapshot.metadata();
    let summary = snapshot.summary().await?;
    let protocol = snapshot.protocol();
    let properties = metadata
        .configuration
        .iter()
        .filter(|(key, _)| !is_protocol_key(key));
    Ok(DetailReport {
        format: "delta".to_string(),
        id: Some(metadata.id.clone()),
        name,
        description: metadata.description.clone(),
        location: snapshot.store().root().to_string(),
        created_at_ms: metadata.created_time,
        last_modified_ms: Some(snapshot.modified_ms().await?),
        partition_columns: metadata.partition_columns.clone(),
        clustering_columns: clustering_columns(snapshot),
        num_files: Some(summary.num_files),
        size_in_bytes: Some(summary.size_in_bytes),
        properties: properties
            .map(|(key, value)| (key.clone(), crate::properties::shown(key, value).to_owned()))
            .collect(),
        min_reader_version: Some(protocol.min_reader_version),
        min_writer_version: Some(protocol.min_writer_version),
        table_features: feature_names(protocol),
    })
}

/// Keys that speak of the protocol; old writers have left them among the properties.
fn is_protocol_key(key: &str) -> bool {
    key == "delta.minReaderVersion" || key == "delta.minWriterVersion"
}
