//! The log read naively: the text of each commit as plain JSON, in the order of the numbers, and nothing of the code under
//! test.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Path and deletion vector of a logical file.
pub type Key = (String, Option<String>);

/// What a version says.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The live files, as their `add` has them.
    pub live: BTreeMap<Key, Value>,
    /// The tombstones.
    pub gone: BTreeMap<Key, Value>,
    /// The metadata.
    pub metadata: Value,
    /// The protocol.
    pub protocol: Value,
    /// For each application, its version.
    pub txns: BTreeMap<String, i64>,
    /// For each domain, its text.
    pub domains: BTreeMap<String, String>,
}

impl State {
    /// The state after a commit; what no commit may do comes back as a text.
    pub fn after(&self, lines: &[Value]) -> (State, Vec<String>) {
        let (mut next, mut wrong) = (self.clone(), Vec::new());
        // The protocol gives the lines of a commit no order: removes first, since a file may go and come with another vector.
        for remove in lines.iter().filter_map(|line| line.get("remove")) {
            if next.live.remove(&key(remove)).is_none() {
                wrong.push(format!("{:?} is removed and was not there", key(remove)));
            }
            next.gone.insert(key(remove), remove.clone());
        }
        for line in lines {
            if let Some(add) = line.get("add") {
                next.gone.remove(&key(add));
                if next.live.insert(key(add), add.clone()).is_some() {
                    wrong.push(format!("{:?} is added and was there", key(add)));
                }
            } else if let Some(metadata) = line.get("metaData") {
                next.metadata = metadata.clone();
            } else if let Some(protocol) = line.get("protocol") {
                next.protocol = protocol.clone();
            } else if let Some(txn) = line.get("txn") {
                next.txns
                    .insert(text(&txn["appId"]), number(&txn["version"]));
            } else if let Some(domain) = line.get("domainMetadata") {
                if domain["removed"] == Value::Bool(true) {
                    next.domains.remove(&text(&domain["domain"]));
                } else {
                    next.domains
                        .insert(text(&domain["domain"]), text(&domain["configuration"]));
                }
            }
        }
        let paths: BTreeSet<&String> = next.live.keys().map(|(path, _)| path).collect();
        if paths.len() != next.live.len() {
            wrong.push("a path is live twice".to_owned());
        }
        (next, wrong)
    }

    /// The files of the folder that this version needs, and those of tombstones from a moment on.
    pub fn needed(&self, since_ms: i64) -> BTreeSet<String> {
        let young = self
            .gone
            .values()
            .filter(|remove| number(&remove["deletionTimestamp"]) >= since_ms);
        self.live.values().chain(young).flat_map(files_of).collect()
    }
}

/// The actions of a commit.
pub fn lines(bytes: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or(Value::Null))
        .collect()
}

/// Data file and file of the deletion vector. Names in these tests need no decoding.
fn files_of(action: &Value) -> Vec<String> {
    let mut out = vec![text(&action["path"])];
    let vector = &action["deletionVector"];
    if let Some(encoded) = vector["pathOrInlineDv"].as_str() {
        out.push(vector_file(encoded));
    }
    out
}

/// The file of a relative deletion vector, whose name is a UUID in Z85.
pub fn vector_file(encoded: &str) -> String {
    const DIGITS: &str =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    let digit = |c: char| DIGITS.find(c).unwrap_or(0) as u128;
    let mut bits: u128 = 0;
    let digits: Vec<u128> = encoded.chars().map(digit).collect();
    for group in digits.chunks(5) {
        bits = bits << 32 | group.iter().fold(0, |sum, digit| sum * 85 + digit);
    }
    format!("deletion_vector_{}.bin", uuid::Uuid::from_u128(bits))
}

/// What identifies the file of an `add` or `remove`.
pub fn key(action: &Value) -> Key {
    let vector = &action["deletionVector"];
    let id = vector["storageType"].as_str().map(|kind| {
        let at = vector["offset"]
            .as_i64()
            .map(|o| format!("@{o}"))
            .unwrap_or_default();
        format!("{kind}{}{at}", text(&vector["pathOrInlineDv"]))
    });
    (text(&action["path"]), id)
}

/// A text, empty where there is none.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A whole number, 0 where there is none.
pub fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}
