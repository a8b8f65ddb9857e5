//! DESCRIBE DETAIL (spec: delta, section 4.2).

use deltaic_command::DetailReport;
use deltaic_log::Snapshot;
use deltaic_protocol::error::Result;
use serde_json::Value;

use crate::properties::feature_names;

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
        last_modified_ms: Some(snapshot.commit_timestamp().await?),
        partition_columns: metadata.partition_columns.clone(),
        clustering_columns: clustering_columns(snapshot),
        num_files: Some(summary.num_files),
        size_in_bytes: Some(summary.size_in_bytes),
        properties: properties
            .map(|(key, value)| (key.clone(), value.clone()))
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

/// The logical names of the clustering columns, parts of a nested name joined by dots.
pub fn clustering_columns(snapshot: &Snapshot) -> Vec<String> {
    let Some(domain) = snapshot.domain("delta.clustering") else {
        return Vec::new();
    };
    let Ok(configuration) = serde_json::from_str::<Value>(&domain.configuration) else {
        return Vec::new();
    };
    let columns = configuration
        .get("clusteringColumns")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    columns
        .iter()
        .filter_map(|column| {
            let physical: Vec<&str> = match column {
                Value::Array(path) => path.iter().filter_map(Value::as_str).collect(),
                Value::Object(map) => map
                    .get("physicalName")?
                    .as_array()?
                    .iter()
                    .filter_map(Value::as_str)
                    .collect(),
                _ => return None,
            };
            Some(logical_name(snapshot, &physical))
        })
        .collect()
}

/// The logical name of a column by its physical path.
fn logical_name(snapshot: &Snapshot, physical: &[&str]) -> String {
    let mut fields = &snapshot.schema().fields;
    let mut names = Vec::new();
    for name in physical {
        let field = fields.iter().find(|field| field.physical_name() == *name);
        names.push(field.map_or_else(|| (*name).to_string(), |field| field.name.clone()));
        match field.map(|field| &field.data_type) {
            Some(deltaic_protocol::DataType::Struct(inner)) => fields = &inner.fields,
            _ => break,
        }
    }
    names.join(".")
}
