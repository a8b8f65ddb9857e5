//! Actions to and from lines of JSON.

use super::{
    Action, Add, AddCdcFile, CheckpointMetadata, CommitInfo, DomainMetadata, Format, Metadata,
    Protocol, Remove, SetTransaction, Sidecar,
};
use crate::error::{DeltaError, ErrorKind, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

impl Action {
    /// Reads one line of a commit. A blank line and an empty object hold no action. Fails with `MALFORMED_RECORD_IN_PARSING` on a
    /// torn or foreign line; the caller adds path and version.
    pub fn from_json_line(line: &str) -> Result<Option<Action>> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(None);
        }
        match serde_json::from_str::<Line>(line) {
            Ok(Line(Some(action))) if action.lacks_path() => Err(malformed(line)),
            Ok(Line(action)) => Ok(action),
            Err(cause) => Err(malformed(line).with_source(cause)),
        }
    }

    /// Key of the action's line.
    pub fn name(&self) -> &str {
        match self {
            Action::CommitInfo(_) => "commitInfo",
            Action::Protocol(_) => "protocol",
            Action::Metadata(_) => "metaData",
            Action::Add(_) => "add",
            Action::Remove(_) => "remove",
            Action::Cdc(_) => "cdc",
            Action::Txn(_) => "txn",
            Action::DomainMetadata(_) => "domainMetadata",
            Action::CheckpointMetadata(_) => "checkpointMetadata",
            Action::Sidecar(_) => "sidecar",
            Action::Unknown { name, .. } => name,
        }
    }

    /// An action about a file that names none.
    fn lacks_path(&self) -> bool {
        match self {
            Action::Add(add) => add.path.is_empty(),
            Action::Remove(remove) => remove.path.is_empty(),
            Action::Cdc(cdc) => cdc.path.is_empty(),
            Action::Sidecar(sidecar) => sidecar.path.is_empty(),
            _ => false,
        }
    }

    /// The line, without its line end.
    pub fn to_json_line(&self) -> String {
        let body = match self {
            Action::CommitInfo(info) => Ok(Value::Object(info.to_map()).to_string()),
            Action::Metadata(metadata) => Ok(Value::Object(metadata.to_map()).to_string()),
            Action::Protocol(protocol) => serde_json::to_string(protocol),
            Action::Add(add) => serde_json::to_string(add),
            Action::Remove(remove) => serde_json::to_string(remove),
            Action::Cdc(cdc) => serde_json::to_string(cdc),
            Action::Txn(txn) => serde_json::to_string(txn),
            Action::DomainMetadata(domain) => serde_json::to_string(domain),
            Action::CheckpointMetadata(metadata) => serde_json::to_string(metadata),
            Action::Sidecar(sidecar) => serde_json::to_string(sidecar),
            Action::Unknown { value, .. } => Ok(value.to_string()),
        };
        // Plain structs with text keys: there is nothing that serde_json could refuse.
        let body = body.unwrap_or_else(|_| "{}".to_owned());
        format!("{{{}:{body}}}", Value::String(self.name().to_owned()))
    }
}

fn malformed(line: &str) -> DeltaError {
    let shown: String = line.chars().take(200).collect();
    DeltaError::new("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
        .param("badRecord", shown)
        .param("failFastMode", "FAILFAST")
        .with_kind(ErrorKind::Corrupt)
}

/// One line: the first action in it that is not null.
struct Line(Option<Action>);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor).map(Line)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Option<Action>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an action of a Delta log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut known = None;
        let mut unknown = None;
        while let Some(name) = map.next_key::<String>()? {
            let action = match name.as_str() {
                "add" => map.next_value::<Option<Add>>()?.map(Action::Add),
                "remove" => map.next_value::<Option<Remove>>()?.map(Action::Remove),
                "commitInfo" => map
                    .next_value::<Option<Map<String, Value>>>()?
                    .map(|info| Action::CommitInfo(Box::new(CommitInfo::from_map(info)))),
                "metaData" => map.next_value::<Option<Metadata>>()?.map(Action::Metadata),
                "protocol" => map.next_value::<Option<Protocol>>()?.map(Action::Protocol),
                "cdc" => map.next_value::<Option<AddCdcFile>>()?.map(Action::Cdc),
                "txn" => map.next_value::<Option<SetTransaction>>()?.map(Action::Txn),
                "domainMetadata" => map
                    .next_value::<Option<DomainMetadata>>()?
                    .map(Action::DomainMetadata),
                "checkpointMetadata" => map
                    .next_value::<Option<CheckpointMetadata>>()?
                    .map(Action::CheckpointMetadata),
                "sidecar" => map.next_value::<Option<Sidecar>>()?.map(Action::Sidecar),
                _ => {
                    let value = map.next_value::<Value>()?;
                    if !value.is_null() {
                        unknown.get_or_insert(Action::Unknown { name, value });
                    }
                    None
                }
            };
            known = known.or(action);
        }
        Ok(known.or(unknown))
    }
}

impl Metadata {
    /// The object, keys in the reference's order.
    pub fn to_map(&self) -> Map<String, Value> {
        let texts = |map: &BTreeMap<String, String>| {
            let entries = map
                .iter()
                .map(|(k, v)| (k.clone(), Value::String(v.clone())));
            Value::Object(entries.collect())
        };
        let mut out = Map::new();
        out.insert("id".into(), Value::String(self.id.clone()));
        if let Some(name) = &self.name {
            out.insert("name".into(), Value::String(name.clone()));
        }
        if let Some(description) = &self.description {
            out.insert("description".into(), Value::String(description.clone()));
        }
        let mut format = Map::new();
        format.insert(
            "provider".into(),
            Value::String(self.format.provider.clone()),
        );
        format.insert("options".into(), texts(&self.format.options));
        out.insert("format".into(), Value::Object(format));
        out.insert(
            "schemaString".into(),
            Value::String(self.schema_string.clone()),
        );
        out.insert(
            "partitionColumns".into(),
            Value::from(self.partition_columns.clone()),
        );
        out.insert("configuration".into(), texts(&self.configuration));
        if let Some(created) = self.created_time {
            out.insert("createdTime".into(), Value::from(created));
        }
        out.extend(self.extra.clone());
        out
    }
}

impl serde::Serialize for Metadata {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_map().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut map = Map::<String, Value>::deserialize(deserializer)?;
        let mut text = |key: &str| match map.remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (id, name, description) = (text("id"), text("name"), text("description"));
        let schema_string = text("schemaString");
        let texts = |value: Option<Value>| match value {
            Some(Value::Object(map)) => map
                .into_iter()
                .filter_map(|(key, value)| match value {
                    Value::Null => None,
                    Value::String(text) => Some((key, text)),
                    other => Some((key, other.to_string())),
                })
                .collect(),
            _ => BTreeMap::new(),
        };
        let format = match map.remove("format") {
            Some(value @ Value::Object(_)) => {
                serde_json::from_value::<Format>(value).map_err(D::Error::custom)?
            }
            _ => Format::default(),
        };
        let partition_columns = match map.remove("partitionColumns") {
            None | Some(Value::Null) => Vec::new(),
            Some(value) => serde_json::from_value(value).map_err(D::Error::custom)?,
        };
        let configuration = texts(map.remove("configuration"));
        let created_time = map.remove("createdTime").and_then(|value| value.as_i64());
        Ok(Metadata {
            id: id.ok_or_else(|| D::Error::missing_field("id"))?,
            name,
            description,
            format,
            schema_string: schema_string.unwrap_or_default(),
            partition_columns,
            configuration,
            created_time,
            extra: map,
        })
    }
}
