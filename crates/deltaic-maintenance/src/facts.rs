//! What several commands tell of a table: its features and its clustering columns.

use deltaic_log::Snapshot;
use deltaic_protocol::action::Protocol;
use serde_json::Value;

/// All features that a protocol supports, sorted; also those that only its versions imply.
pub fn feature_names(protocol: &Protocol) -> Vec<String> {
    let mut names = protocol.supported_features();
    names.sort();
    names.dedup();
    names
}

/// The sum of sizes as a log states them, which may be anything.
pub(crate) fn total(sizes: impl Iterator<Item = i64>) -> i64 {
    sizes.fold(0, i64::saturating_add)
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
