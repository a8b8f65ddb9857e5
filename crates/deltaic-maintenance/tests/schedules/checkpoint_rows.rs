//! The rows of a checkpoint as plain JSON, and what they say differently from the commits.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value};

use crate::reading::{self, Key, State, number, text};
use crate::server::Journal;
use crate::world;

/// Whether a name is that of a checkpoint's top file.
pub fn is_checkpoint(name: &str) -> bool {
    name.contains(".checkpoint.") && !name.contains('/')
}

/// The version in a name.
pub fn version_of(name: &str) -> i64 {
    name.get(..20)
        .and_then(|number| number.parse().ok())
        .unwrap_or(-1)
}

/// What was found in a checkpoint.
#[derive(Debug, Default)]
pub struct Found {
    /// What it says differently from the commits.
    pub wrong: Vec<String>,
    /// The sidecars that it names.
    pub sidecars: Vec<String>,
}

/// Holds a checkpoint against the commits up to its version.
pub fn differences(journal: &Journal, name: &str, now_ms: i64) -> Found {
    let mut found = Found::default();
    let mut rows = rows(name, &journal.files[name]);
    found.sidecars = rows
        .iter()
        .filter_map(|row| row.get("sidecar"))
        .map(|sidecar| format!("_sidecars/{}", text(&sidecar["path"])))
        .collect();
    for sidecar in &found.sidecars {
        match journal.files.get(sidecar) {
            Some(content) => rows.extend(self::rows(sidecar, content)),
            None => found
                .wrong
                .push(format!("{name} names {sidecar}, which is not there")),
        }
    }
    match journal.versions.get(version_of(name) as usize) {
        Some(version) => {
            let wrong = differences_of(name, &rows, &version.state, now_ms);
            found.wrong.extend(wrong);
        }
        None => found.wrong.push(format!("{name} is of no version")),
    }
    found
}

fn rows(name: &str, content: &Bytes) -> Vec<Value> {
    if name.ends_with(".json") {
        return reading::lines(content);
    }
    let reader = SerializedFileReader::new(content.clone()).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| {
        let row = row.expect("a row");
        let fields = row.get_column_iter();
        object(fields.map(|(name, field)| (name.clone(), value(field))))
    })
    .collect()
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => (*value).into(),
        Field::Int(value) => (*value).into(),
        Field::Long(value) => (*value).into(),
        Field::Str(value) => value.clone().into(),
        Field::Group(row) => object(
            row.get_column_iter()
                .map(|(name, field)| (name.clone(), value(field))),
        ),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::MapInternal(map) => {
            let entries = map
                .entries()
                .iter()
                .map(|(k, v)| (text(&value(k)), value(v)));
            // A value of NULL is an entry all the same.
            Value::Object(entries.collect())
        }
        other => other.to_string().into(),
    }
}

fn object(fields: impl Iterator<Item = (String, Value)>) -> Value {
    let fields: Map<String, Value> = fields.filter(|(_, value)| !value.is_null()).collect();
    Value::Object(fields)
}

fn differences_of(name: &str, rows: &[Value], state: &State, now_ms: i64) -> Vec<String> {
    let mut out = Vec::new();
    let of = |kind: &str| -> Vec<Value> {
        rows.iter()
            .filter_map(|row| row.get(kind))
            .cloned()
            .collect()
    };
    let live: BTreeMap<Key, Value> = of("add")
        .iter()
        .map(|add| (reading::key(add), facts(add)))
        .collect();
    let expected: BTreeMap<Key, Value> = state
        .live
        .iter()
        .map(|(key, add)| (key.clone(), facts(add)))
        .collect();
    if live != expected || live.len() != of("add").len() {
        out.push(format!("{name} has files {live:?}, not {expected:?}"));
    }
    out.extend(tombstone_differences(name, &of("remove"), state, now_ms));
    let txns: BTreeMap<String, i64> = of("txn")
        .iter()
        .map(|txn| (text(&txn["appId"]), number(&txn["version"])))
        .collect();
    let domains: BTreeMap<String, String> = of("domainMetadata")
        .iter()
        .map(|d| (text(&d["domain"]), text(&d["configuration"])))
        .collect();
    if txns != state.txns || domains != state.domains {
        out.push(format!("{name} has {txns:?} and {domains:?}"));
    }
    let kept = ["id", "schemaString", "configuration", "partitionColumns"];
    let metadata = of("metaData");
    if metadata.len() != 1 || kept.iter().any(|k| metadata[0][k] != state.metadata[k]) {
        out.push(format!("{name} has metadata {metadata:?}"));
    }
    let protocol = of("protocol");
    if protocol.len() != 1 || sorted(&protocol[0]) != sorted(&state.protocol) {
        out.push(format!("{name} has protocol {protocol:?}"));
    }
    out
}

/// Tombstones that never were must not be there; those that still protect files must be.
fn tombstone_differences(name: &str, removes: &[Value], state: &State, now_ms: i64) -> Vec<String> {
    let found: BTreeSet<Key> = removes.iter().map(reading::key).collect();
    let since = now_ms - world::FILE_RETENTION_MS;
    let invented = found.iter().filter(|key| !state.gone.contains_key(*key));
    let lost = state
        .gone
        .iter()
        .filter(|(key, remove)| {
            number(&remove["deletionTimestamp"]) > since && !found.contains(*key)
        })
        .map(|(key, _)| key);
    invented
        .map(|key| format!("{name} has a tombstone of {key:?}, which is none"))
        .chain(lost.map(|key| format!("{name} lacks the tombstone of {key:?}")))
        .collect()
}

/// What counts of a file.
fn facts(add: &Value) -> Value {
    let fields = [
        "size",
        "modificationTime",
        "partitionValues",
        "baseRowId",
        "defaultRowCommitVersion",
    ];
    let mut out: Map<String, Value> = fields
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), add.get(*name)?.clone())))
        .collect();
    let stats = add["stats"]
        .as_str()
        .and_then(|stats| serde_json::from_str(stats).ok());
    out.insert("stats".to_owned(), stats.unwrap_or_default());
    Value::Object(out)
}

fn sorted(protocol: &Value) -> Value {
    let mut protocol = protocol.clone();
    for list in ["readerFeatures", "writerFeatures"] {
        if let Some(names) = protocol.get_mut(list).and_then(Value::as_array_mut) {
            names.sort_by_key(Value::to_string);
        }
    }
    protocol
}
