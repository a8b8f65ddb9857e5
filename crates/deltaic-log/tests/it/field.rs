//! Cases that users of Delta tables have met, each named by its number in the list of field cases (`conformance/field-cases.toml`).

mod checkpoint;
mod history;
mod replay;
mod skipping;
mod upkeep;
mod writers;

use bytes::Bytes;
use deltaic_log::{Snapshot, Version};
use deltaic_protocol::file_name;
use deltaic_storage::{LOG_DIR, TableStore};

use crate::memory_store;

/// The first commit of a table (id BIGINT).
const BEGIN: &str = r#"{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}
{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
"#;

/// The same with features and properties.
fn begin(features: &str, properties: &str) -> String {
    BEGIN
        .replace(r#""configuration":{}"#, &format!(r#""configuration":{{{properties}}}"#))
        .replace(
            r#"{"minReaderVersion":1,"minWriterVersion":2}"#,
            &format!(
                r#"{{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[{features}],"writerFeatures":[{features}]}}"#
            ),
        )
}

/// An `add` without statistics.
fn add(path: &str) -> String {
    format!(
        r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":10,"modificationTime":1,"dataChange":true}}}}"#
    )
}

/// An `add` with this after its size.
fn add_with(path: &str, more: &str) -> String {
    add(path).replace(r#""size":10"#, &format!(r#""size":10,{more}"#))
}

fn remove(path: &str) -> String {
    format!(r#"{{"remove":{{"path":"{path}","deletionTimestamp":1,"dataChange":true,"size":10}}}}"#)
}

/// A table in memory with these commits.
async fn table(commits: &[&str]) -> TableStore {
    let store = memory_store();
    for (version, text) in commits.iter().enumerate() {
        put(&store, &file_name::commit(version as Version), text).await;
    }
    store
}

/// Writes a file of the log, in place of one that is there.
async fn put(store: &TableStore, name: &str, text: &str) {
    store
        .log()
        .overwrite(name, Bytes::copy_from_slice(text.as_bytes()))
        .await
        .unwrap();
}

async fn gone(store: &TableStore, name: &str) {
    store.log().delete(name).await.unwrap();
}

async fn modified(store: &TableStore, name: &str, at: i64) {
    let path = format!("{LOG_DIR}/{name}");
    store.data().set_modified(&path, at).await.unwrap();
}

async fn load(store: &TableStore) -> Snapshot {
    Snapshot::load(store, None).await.unwrap()
}

/// Path and deletion vector of each live file, sorted.
async fn live(snapshot: &Snapshot) -> Vec<String> {
    let mut out: Vec<String> = snapshot
        .files()
        .await
        .unwrap()
        .iter()
        .map(|add| match &add.deletion_vector {
            Some(vector) => format!("{} {}", add.path, vector.path_or_inline_dv),
            None => add.path.clone(),
        })
        .collect();
    out.sort();
    out
}
