//! The actions of the log, one JSON object per line (protocol: "Actions"). Field names are the protocol's in snake case; keys are
//! written in the order that Spark writes them.

mod commit_info;
mod line;
#[cfg(test)]
mod tests;
mod text_map;

pub use commit_info::CommitInfo;
pub use text_map::TextMap;

use crate::deletion_vector::DeletionVectorDescriptor;
use crate::error::Result;
use crate::path::decode_path;
use crate::schema::StructType;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Values of partition columns by (physical) column name, in the text form of the protocol.
pub type PartitionValues = TextMap;

/// Free-form tags of an action.
pub type Tags = TextMap;

/// What identifies a logical file: its path with percent escapes decoded, and the unique id of its deletion vector.
pub type FileKey = (String, Option<String>);

/// One action of a commit or checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    CommitInfo(Box<CommitInfo>),
    Protocol(Protocol),
    Metadata(Metadata),
    Add(Add),
    Remove(Remove),
    Cdc(AddCdcFile),
    Txn(SetTransaction),
    DomainMetadata(DomainMetadata),
    CheckpointMetadata(CheckpointMetadata),
    Sidecar(Sidecar),
    /// An action that this version does not know: ignored by readers, kept as it stood.
    Unknown {
        name: String,
        value: Value,
    },
}

/// `metaData`: the table's schema, partitioning and properties. A new one replaces all of the old.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    /// GUID of the table.
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub format: Format,
    /// JSON text of the schema.
    pub schema_string: String,
    /// Logical names, in partitioning order.
    pub partition_columns: Vec<String>,
    pub configuration: BTreeMap<String, String>,
    /// Milliseconds since the epoch.
    pub created_time: Option<i64>,
    /// Fields that this version does not know; a writer that replaces the metadata carries them on.
    pub extra: Map<String, Value>,
}

/// Encoding of the data files; only `parquet` without options exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    #[serde(default = "parquet")]
    pub provider: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub options: BTreeMap<String, String>,
}

/// `protocol`: what a reader and a writer must understand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Protocol {
    pub min_reader_version: i32,
    pub min_writer_version: i32,
    /// Present exactly for reader version 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader_features: Option<Vec<String>>,
    /// Present exactly for writer version 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_features: Option<Vec<String>>,
}

/// `add`: a file joins the table, or its metadata is renewed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Add {
    /// As in the log: URI-encoded, relative to the table's root or absolute.
    pub path: String,
    #[serde(deserialize_with = "null_as_default")]
    pub partition_values: PartitionValues,
    /// Bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    pub data_change: bool,
    /// JSON text; see [`crate::statistics`].
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "text_only"
    )]
    pub stats: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<DeletionVectorDescriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clustering_provider: Option<String>,
}

/// `remove`: a file leaves the table; stays as tombstone until the retention has passed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Remove {
    /// As in the log.
    pub path: String,
    /// Milliseconds since the epoch; absent counts as 0, long expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<i64>,
    pub data_change: bool,
    /// True promises `partition_values` and `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_file_metadata: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_values: Option<PartitionValues>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<DeletionVectorDescriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "text_only"
    )]
    pub stats: Option<String>,
}

/// `cdc`: a file of changes, for the change feed only.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AddCdcFile {
    pub path: String,
    #[serde(deserialize_with = "null_as_default")]
    pub partition_values: PartitionValues,
    pub size: i64,
    /// Always false.
    pub data_change: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
}

/// `txn`: how far an application has got.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTransaction {
    pub app_id: String,
    pub version: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<i64>,
}

/// `domainMetadata`: a text that belongs to a domain. Unknown domains are carried on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainMetadata {
    pub domain: String,
    #[serde(default)]
    pub configuration: String,
    #[serde(default)]
    pub removed: bool,
}

/// `checkpointMetadata`: only in V2 checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckpointMetadata {
    pub version: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
}

/// `sidecar`: a file of file actions that belongs to a V2 checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// URI-encoded; usually a bare name inside `_sidecars`.
    pub path: String,
    #[serde(default)]
    pub size_in_bytes: i64,
    #[serde(default)]
    pub modification_time: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
}

fn parquet() -> String {
    "parquet".to_owned()
}

fn null_as_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Statistics are a text in the log; anything else in their place counts as no statistics.
fn text_only<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(Some(text)),
        _ => Ok(None),
    }
}

impl Default for Format {
    fn default() -> Self {
        Format {
            provider: parquet(),
            options: BTreeMap::new(),
        }
    }
}

impl Protocol {
    /// A protocol by version numbers, without feature lists.
    pub fn legacy(min_reader_version: i32, min_writer_version: i32) -> Self {
        Protocol {
            min_reader_version,
            min_writer_version,
            reader_features: None,
            writer_features: None,
        }
    }
}

impl Metadata {
    /// Metadata of a new table.
    pub fn new(id: impl Into<String>, schema: &StructType) -> Self {
        Metadata {
            id: id.into(),
            name: None,
            description: None,
            format: Format::default(),
            schema_string: schema.to_json(),
            partition_columns: Vec::new(),
            configuration: BTreeMap::new(),
            created_time: None,
            extra: Map::new(),
        }
    }

    /// The schema, parsed anew at each call.
    pub fn schema(&self) -> Result<StructType> {
        if self.schema_string.is_empty() {
            return Ok(StructType::default());
        }
        StructType::from_json(&self.schema_string)
    }
}

fn key(path: &str, deletion_vector: &Option<DeletionVectorDescriptor>) -> FileKey {
    let id = deletion_vector.as_ref().map(|dv| dv.unique_id());
    (decode_path(path), id)
}

impl Add {
    /// What identifies this logical file in replay.
    pub fn key(&self) -> FileKey {
        key(&self.path, &self.deletion_vector)
    }

    /// The tombstone of this file, as the reference writes it: with extended metadata, with `stats` cut to the record count.
    pub fn to_remove(&self, deletion_timestamp: i64, data_change: bool) -> Remove {
        Remove {
            path: self.path.clone(),
            deletion_timestamp: Some(deletion_timestamp),
            data_change,
            extended_file_metadata: Some(true),
            partition_values: Some(self.partition_values.clone()),
            size: Some(self.size),
            tags: self.tags.clone(),
            deletion_vector: self.deletion_vector.clone(),
            base_row_id: self.base_row_id,
            default_row_commit_version: self.default_row_commit_version,
            stats: self.stats.as_deref().and_then(count_only),
        }
    }
}

/// `{"numRecords":n}` out of a full statistics text.
fn count_only(stats: &str) -> Option<String> {
    let value: Value = serde_json::from_str(stats).ok()?;
    let records = value.get("numRecords")?.as_i64()?;
    Some(format!("{{\"numRecords\":{records}}}"))
}

impl Remove {
    /// What identifies this logical file in replay.
    pub fn key(&self) -> FileKey {
        key(&self.path, &self.deletion_vector)
    }
}

impl Action {
    /// The logical file of an `add` or `remove`.
    pub fn key(&self) -> Option<FileKey> {
        match self {
            Action::Add(add) => Some(add.key()),
            Action::Remove(remove) => Some(remove.key()),
            _ => None,
        }
    }
}
