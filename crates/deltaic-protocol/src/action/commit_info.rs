//! `commitInfo`: provenance of a commit. Free-form by protocol; the fields that the reference writes are typed, all others survive.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Who did what to make a version.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommitInfo {
    /// Written by very old versions only.
    pub version: Option<i64>,
    /// Milliseconds since the epoch; authoritative under the `inCommitTimestamp` feature.
    pub in_commit_timestamp: Option<i64>,
    /// Milliseconds since the epoch, by the writer's clock.
    pub timestamp: Option<i64>,
    pub user_id: Option<String>,
    pub user_name: Option<String>,
    pub operation: Option<String>,
    /// Values as the reference writes them: texts, with JSON inside for lists and maps; booleans and numbers for some operations.
    pub operation_parameters: Option<Map<String, Value>>,
    pub job: Option<Value>,
    pub notebook: Option<Value>,
    pub cluster_id: Option<String>,
    pub read_version: Option<i64>,
    pub isolation_level: Option<String>,
    pub is_blind_append: Option<bool>,
    pub operation_metrics: Option<BTreeMap<String, String>>,
    pub user_metadata: Option<String>,
    pub tags: Option<BTreeMap<String, String>>,
    pub engine_info: Option<String>,
    pub txn_id: Option<String>,
    /// Everything else, in its order.
    pub extra: Map<String, Value>,
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn texts(value: Value) -> Option<BTreeMap<String, String>> {
    match value {
        Value::Object(map) => Some(
            map.into_iter()
                .filter_map(|(key, value)| Some((key, text(value)?)))
                .collect(),
        ),
        _ => None,
    }
}

impl CommitInfo {
    /// Reads the object; a field of an unexpected type is taken as absent.
    pub fn from_map(map: Map<String, Value>) -> Self {
        let mut out = CommitInfo::default();
        for (key, value) in map {
            match key.as_str() {
                "version" => out.version = number(&value),
                "inCommitTimestamp" => out.in_commit_timestamp = number(&value),
                "timestamp" => out.timestamp = number(&value),
                "userId" => out.user_id = text(value),
                "userName" => out.user_name = text(value),
                "operation" => out.operation = text(value),
                "operationParameters" => {
                    out.operation_parameters = match value {
                        Value::Object(map) => Some(map),
                        _ => None,
                    }
                }
                "job" => out.job = Some(value).filter(|value| !value.is_null()),
                "notebook" => out.notebook = Some(value).filter(|value| !value.is_null()),
                "clusterId" => out.cluster_id = text(value),
                "readVersion" => out.read_version = number(&value),
                "isolationLevel" => out.isolation_level = text(value),
                "isBlindAppend" => out.is_blind_append = value.as_bool(),
                "operationMetrics" => out.operation_metrics = texts(value),
                "userMetadata" => out.user_metadata = text(value),
                "tags" => out.tags = texts(value),
                "engineInfo" => out.engine_info = text(value),
                "txnId" => out.txn_id = text(value),
                _ => {
                    out.extra.insert(key, value);
                }
            }
        }
        out
    }

    /// The object, keys in the reference's order, unknown ones last.
    pub fn to_map(&self) -> Map<String, Value> {
        let mut out = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(key.to_owned(), value);
            }
        };
        let text = |value: &Option<String>| value.clone().map(Value::String);
        let texts = |value: &Option<BTreeMap<String, String>>| {
            value.as_ref().map(|map| {
                let entries = map
                    .iter()
                    .map(|(k, v)| (k.clone(), Value::String(v.clone())));
                Value::Object(entries.collect())
            })
        };
        put("version", self.version.map(Value::from));
        put(
            "inCommitTimestamp",
            self.in_commit_timestamp.map(Value::from),
        );
        put("timestamp", self.timestamp.map(Value::from));
        put("userId", text(&self.user_id));
        put("userName", text(&self.user_name));
        put("operation", text(&self.operation));
        put(
            "operationParameters",
            self.operation_parameters.clone().map(Value::Object),
        );
        put("job", self.job.clone());
        put("notebook", self.notebook.clone());
        put("clusterId", text(&self.cluster_id));
        put("readVersion", self.read_version.map(Value::from));
        put("isolationLevel", text(&self.isolation_level));
        put("isBlindAppend", self.is_blind_append.map(Value::from));
        put("operationMetrics", texts(&self.operation_metrics));
        put("userMetadata", text(&self.user_metadata));
        put("tags", texts(&self.tags));
        put("engineInfo", text(&self.engine_info));
        put("txnId", text(&self.txn_id));
        out.extend(self.extra.clone());
        out
    }
}
