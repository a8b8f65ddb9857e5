//! Table properties: SET, UNSET, SHOW, and the table's comment (spec: delta, sections 4.3 and 6).

#[cfg(test)]
mod tests;

use deltaic_log::Operation;
use deltaic_log::transaction::check_definition;
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{FEATURE_PREFIX, ProtocolUpgrade, upgraded_protocol};
use deltaic_protocol::properties::{
    PropertyChanges, PropertyRules, TableProperty, key, through_alter,
};
use deltaic_storage::cloud::{REDACTED, is_secret_property};
use serde_json::{Map, Value};

use crate::alter::mapping::{self, PhysicalName};
use crate::alter::{TableChange, TableState};
pub use crate::facts::feature_names;

/// SET TBLPROPERTIES. Versions and features among them raise the protocol; `comment` is the table's description.
///
/// # Errors
/// Unknown or unchangeable keys, bad values, retentions that do not go together, a column mapping that cannot be switched
/// to, features that must be switched on by hand.
pub fn set(
    state: &TableState,
    properties: &[(String, String)],
    rules: &PropertyRules,
) -> Result<TableChange> {
    let given = properties
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    let changes = PropertyChanges::for_alter(given, rules)?;
    let mut metadata = state.metadata.clone();
    metadata.configuration.extend(changes.stored.clone());
    if let Some(comment) = &changes.comment {
        metadata.description = Some(comment.clone());
    }
    crate::row_tracking::check(&metadata.configuration)?;
    enable_mapping(state, &mut metadata)?;
    // Before other commits prepare the table for what is switched on.
    check_definition(&metadata, Some(&state.metadata))?;
    let protocol = protocol_of(state, &metadata, &changes.protocol)?;
    let recorded: Map<String, Value> = changes
        .recorded
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(shown(key, value))))
        .collect();
    let operation = Operation::new("SET TBLPROPERTIES")
        .text_parameter("properties", Value::Object(recorded).to_string());
    Ok(TableChange {
        metadata,
        protocol,
        operation,
    })
}

/// The value of a property as histories and descriptions of the table have it: of one that is a secret nothing.
pub fn shown<'a>(key: &str, value: &'a str) -> &'a str {
    match is_secret_property(key, value) {
        true => REDACTED,
        false => value,
    }
}

/// UNSET TBLPROPERTIES. A key that is not there is no error (the reference's catalog says IF EXISTS for the user).
///
/// # Errors
/// Keys that cannot be changed.
pub fn unset(state: &TableState, keys: &[String]) -> Result<TableChange> {
    let mut metadata = state.metadata.clone();
    let mut recorded = Vec::new();
    for given in keys {
        let key = canonical(given);
        if key == key::COLUMN_MAPPING_MAX_ID {
            return Err(DeltaError::new("DELTA_CANNOT_MODIFY_TABLE_PROPERTY").param("prop", key));
        }
        if given.eq_ignore_ascii_case("comment") {
            metadata.description = None;
        }
        metadata.configuration.remove(&key);
        recorded.push(Value::from(key));
    }
    check_mapping_change(state, &metadata)?;
    let operation = Operation::new("UNSET TBLPROPERTIES")
        .text_parameter("properties", Value::Array(recorded).to_string())
        .parameter("ifExists", true);
    Ok(TableChange {
        metadata,
        protocol: None,
        operation,
    })
}

/// COMMENT ON TABLE; `None` takes the comment away. The history shows a change of the property `comment`.
pub fn set_comment(state: &TableState, comment: Option<&str>) -> TableChange {
    let metadata = Metadata {
        description: comment.map(ToString::to_string),
        ..state.metadata.clone()
    };
    let mut recorded = Map::new();
    recorded.insert(
        "comment".to_string(),
        Value::from(comment.unwrap_or_default()),
    );
    let operation = Operation::new("SET TBLPROPERTIES")
        .text_parameter("properties", Value::Object(recorded).to_string());
    TableChange {
        metadata,
        protocol: None,
        operation,
    }
}

/// The rows of SHOW TBLPROPERTIES: properties, protocol versions, features; sorted by key.
pub fn show(state: &TableState) -> Vec<(String, String)> {
    let protocol = &state.protocol;
    let mut rows: Vec<(String, String)> = state
        .metadata
        .configuration
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    rows.push((
        key::MIN_READER_VERSION.to_string(),
        protocol.min_reader_version.to_string(),
    ));
    rows.push((
        key::MIN_WRITER_VERSION.to_string(),
        protocol.min_writer_version.to_string(),
    ));
    if protocol.has_feature_lists() {
        rows.extend(
            feature_names(protocol)
                .into_iter()
                .map(|name| (format!("{FEATURE_PREFIX}{name}"), "supported".to_string())),
        );
    }
    if protocol.supports("clustering") {
        let columns: Vec<Vec<&str>> = state
            .clustering_columns
            .iter()
            .map(|column| column.split('.').collect())
            .collect();
        rows.push((
            "clusteringColumns".to_string(),
            serde_json::json!(columns).to_string(),
        ));
    }
    rows.sort();
    rows
}

/// The row of SHOW TBLPROPERTIES with a key; a missing one is told in the value.
pub fn show_one(state: &TableState, key: &str, table: &str) -> (String, String) {
    let value = show(state)
        .into_iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value);
    let value = value.unwrap_or_else(|| format!("Table {table} does not have property: {key}"));
    (key.to_string(), value)
}

/// The spelling under which a key is stored.
fn canonical(key: &str) -> String {
    TableProperty::find(key).map_or_else(|| key.to_string(), |property| property.key.to_string())
}

/// The protocol that the new metadata and the user ask for; none where the old one will do.
fn protocol_of(
    state: &TableState,
    metadata: &Metadata,
    upgrade: &ProtocolUpgrade,
) -> Result<Option<Protocol>> {
    upgraded_protocol(&state.protocol, metadata, upgrade).map_err(through_alter)
}

/// Where column mapping is switched on, every column gets an id and keeps its name in the files.
fn enable_mapping(state: &TableState, metadata: &mut Metadata) -> Result<()> {
    check_mapping_change(state, metadata)?;
    if mapping::is_enabled(&state.metadata.configuration)
        || !mapping::is_enabled(&metadata.configuration)
    {
        return Ok(());
    }
    if mapping::highest_id(&state.schema) > 0 {
        return Err(DeltaError::new(
            "DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS",
        ));
    }
    let mut schema = state.schema.clone();
    let highest = mapping::assign(&mut schema, 0, PhysicalName::Logical);
    metadata.schema_string = schema.to_json();
    metadata
        .configuration
        .insert(mapping::MAX_COLUMN_ID.to_string(), highest.to_string());
    Ok(())
}

/// From none to `name` is possible; back, or to or from `id`, is not.
fn check_mapping_change(state: &TableState, metadata: &Metadata) -> Result<()> {
    let mode = |metadata: &Metadata| {
        metadata
            .configuration
            .get(mapping::MODE)
            .map_or_else(|| "none".to_string(), |mode| mode.to_lowercase())
    };
    let (old, new) = (mode(&state.metadata), mode(metadata));
    if old == new || (old == "none" && new == "name") {
        return Ok(());
    }
    Err(
        DeltaError::new("DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE")
            .param("oldMode", old)
            .param("newMode", new),
    )
}
