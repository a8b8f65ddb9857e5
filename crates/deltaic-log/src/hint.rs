//! `_last_checkpoint`: the pointer to a recent checkpoint (protocol section "Last Checkpoint File").
//!
//! It is a hint and nothing more. Reading never fails: a torn, wrong or missing pointer reads as "no hint", and what it
//! names counts only if the listing confirms it.

mod canonical;
mod md5;

use deltaic_protocol::file_name::LAST_CHECKPOINT;
use deltaic_storage::TableStore;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Version;

/// Longest `checkpointSchema` that is written into the pointer, in characters of its JSON.
const MAX_SCHEMA_CHARS: usize = 20_000;

/// The pointer of a table, if there is a usable one.
pub async fn read_hint(store: &TableStore) -> Option<LastCheckpoint> {
    let bytes = store.log().read(LAST_CHECKPOINT).await.ok()?;
    LastCheckpoint::parse(&bytes)
}

/// The content of `_last_checkpoint`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCheckpoint {
    /// The version of the checkpoint.
    pub version: Version,
    /// How many actions it holds.
    pub size: i64,
    /// How many files a multi-part checkpoint has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u32>,
    /// Its size in bytes, sidecars included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_in_bytes: Option<i64>,
    /// How many live files it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_of_add_files: Option<i64>,
    /// The schema of the checkpoint, as Spark's JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_schema: Option<Value>,
    /// Details of a V2 checkpoint (file name, small content inlined).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub v2_checkpoint: Option<Value>,
    /// Free-form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Map<String, Value>>,
    /// MD5 over the canonical form of the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

impl LastCheckpoint {
    /// A pointer with the two fields that every reader needs.
    pub fn new(version: Version, size: i64) -> Self {
        Self {
            version,
            size,
            parts: None,
            size_in_bytes: None,
            num_of_add_files: None,
            checkpoint_schema: None,
            v2_checkpoint: None,
            tags: None,
            checksum: None,
        }
    }

    /// Reads a pointer; `None` where it is torn, is no pointer, or its checksum does not fit.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let object: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        if let Some(Value::String(stated)) = object.get("checksum")
            && *stated != canonical::checksum(&object)
        {
            return None;
        }
        let hint: Self = serde_json::from_value(Value::Object(object)).ok()?;
        (hint.version >= 0).then_some(hint)
    }

    /// The text of the pointer, with its checksum and a line feed; an overlong schema is left out.
    pub fn to_text(&self) -> String {
        let mut hint = self.clone();
        hint.checksum = None;
        if hint
            .checkpoint_schema
            .as_ref()
            .is_some_and(|s| s.to_string().len() > MAX_SCHEMA_CHARS)
        {
            hint.checkpoint_schema = None;
        }
        let Ok(Value::Object(mut object)) = serde_json::to_value(&hint) else {
            return format!("{{\"version\":{},\"size\":{}}}\n", self.version, self.size);
        };
        let sum = canonical::checksum(&object);
        object.insert("checksum".to_owned(), Value::String(sum));
        format!("{}\n", Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_written_pointer_reads_back_with_a_checksum_that_fits() {
        let mut hint = LastCheckpoint::new(10, 13);
        hint.num_of_add_files = Some(7);
        let read = LastCheckpoint::parse(hint.to_text().as_bytes()).unwrap();
        assert_eq!(
            (read.version, read.size, read.num_of_add_files),
            (10, 13, Some(7))
        );
        assert!(read.checksum.is_some());
    }

    #[test]
    fn torn_and_tampered_pointers_are_no_hint() {
        let text = LastCheckpoint::new(10, 13).to_text();
        assert_eq!(
            LastCheckpoint::parse(&text.as_bytes()[..text.len() / 2]),
            None
        );
        assert_eq!(
            LastCheckpoint::parse(text.replace("\"version\":10", "\"version\":90").as_bytes()),
            None
        );
        assert_eq!(LastCheckpoint::parse(b"{\"version\":-3,\"size\":1}"), None);
        assert!(LastCheckpoint::parse(b"{\"version\":3,\"size\":1}").is_some());
    }
}
