//! A small text language for logs, for tests.
//!
//! `//- 3` begins the commit of version 3; each further line is an action, as JSON or in short:
//!
//! ```text
//! P 1 2                      protocol
//! P 3 7 deletionVectors      protocol with reader-writer features
//! M key=value …              metadata of a table (id BIGINT, p INT) with properties
//! M/p key=value …            the same, partitioned by p
//! + a.parquet 10 dv=x p=1    add (size, deletion vector, partition value; `quiet` for dataChange=false)
//! - a.parquet 10 dv=x @5     remove (size, deletion vector, deletion time)
//! txn app 3                  application transaction
//! domain name text           domain
//! info OPERATION blind       commitInfo
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::{
    Add, CommitInfo, DomainMetadata, Metadata, Protocol, Remove, SetTransaction,
};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::file_name;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::{StorageFactory, StorageOptions, TableStore};

use crate::Version;
use crate::commit::commit_text;
use crate::snapshot::Snapshot;

/// An empty table in memory.
pub(crate) fn memory_store() -> TableStore {
    StorageFactory::new(&StorageOptions::default())
        .open("memory:/t")
        .unwrap()
}

/// A table in memory with this log.
pub(crate) async fn table(log: &str) -> TableStore {
    let store = memory_store();
    write(&store, log).await;
    store
}

/// Adds commits to a table.
pub(crate) async fn write(store: &TableStore, log: &str) {
    for (version, actions) in parse(log) {
        let text = commit_text(&actions);
        store
            .log()
            .create(&file_name::commit(version), Bytes::from(text))
            .await
            .unwrap();
    }
}

/// The commits of a text.
pub(crate) fn parse(log: &str) -> Vec<(Version, Vec<Action>)> {
    let mut out: Vec<(Version, Vec<Action>)> = Vec::new();
    for line in log.lines().map(str::trim).filter(|l| !l.is_empty()) {
        match line.strip_prefix("//- ") {
            Some(version) => out.push((version.parse().unwrap(), Vec::new())),
            None => out.last_mut().unwrap().1.push(action(line)),
        }
    }
    out
}

/// The schema of tables in this language.
pub(crate) fn schema() -> StructType {
    StructType::new([
        StructField::nullable("id", DataType::Long),
        StructField::nullable("p", DataType::Integer),
    ])
}

fn properties<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    words
        .map(|w| w.split_once('=').unwrap())
        .map(|(k, v)| (k.to_owned(), v.replace('_', " ")))
        .collect()
}

/// One action.
pub(crate) fn action(line: &str) -> Action {
    if line.starts_with('{') {
        return Action::from_json_line(line).unwrap().unwrap();
    }
    let mut words = line.split_whitespace();
    match words.next().unwrap() {
        "P" => {
            let (reader, writer) = (
                words.next().unwrap().parse().unwrap(),
                words.next().unwrap().parse().unwrap(),
            );
            let features: Vec<String> = words.map(str::to_owned).collect();
            Action::Protocol(Protocol {
                min_reader_version: reader,
                min_writer_version: writer,
                reader_features: (reader == 3).then(|| features.clone()),
                writer_features: (writer == 7).then_some(features),
            })
        }
        kind @ ("M" | "M/p") => {
            let mut metadata = Metadata::new("test-table", &schema());
            metadata.configuration = properties(words);
            if kind == "M/p" {
                metadata.partition_columns = vec!["p".to_owned()];
            }
            Action::Metadata(metadata)
        }
        "+" => {
            let mut add = Add {
                path: words.next().unwrap().to_owned(),
                size: 100,
                data_change: true,
                ..Add::default()
            };
            add.stats = Some(r#"{"numRecords":10}"#.to_owned());
            for word in words {
                match word.split_once('=') {
                    Some(("dv", id)) => add.deletion_vector = Some(vector(id)),
                    Some((column, value)) => {
                        add.partition_values
                            .insert(column.to_owned(), Some(value.to_owned()));
                    }
                    None if word == "quiet" => add.data_change = false,
                    None => add.size = word.parse().unwrap(),
                }
            }
            Action::Add(add)
        }
        "-" => {
            let mut remove = Remove {
                path: words.next().unwrap().to_owned(),
                deletion_timestamp: Some(0),
                data_change: true,
                extended_file_metadata: Some(true),
                size: Some(100),
                ..Remove::default()
            };
            for word in words {
                if let Some(at) = word.strip_prefix('@') {
                    remove.deletion_timestamp = Some(at.parse().unwrap());
                    continue;
                }
                match word.split_once('=') {
                    Some(("dv", id)) => remove.deletion_vector = Some(vector(id)),
                    Some((column, value)) => {
                        let values = remove.partition_values.get_or_insert_default();
                        values.insert(column.to_owned(), Some(value.to_owned()));
                    }
                    None if word == "quiet" => remove.data_change = false,
                    None => remove.size = Some(word.parse().unwrap()),
                }
            }
            Action::Remove(remove)
        }
        "txn" => Action::Txn(SetTransaction {
            app_id: words.next().unwrap().to_owned(),
            version: words.next().unwrap().parse().unwrap(),
            last_updated: words.next().map(|w| w.parse().unwrap()),
        }),
        "domain" => Action::DomainMetadata(DomainMetadata {
            domain: words.next().unwrap().to_owned(),
            configuration: words.next().unwrap_or_default().to_owned(),
            removed: words.next() == Some("removed"),
        }),
        "info" => Action::CommitInfo(Box::new(CommitInfo {
            operation: words.next().map(str::to_owned),
            is_blind_append: Some(words.next() == Some("blind")),
            ..CommitInfo::default()
        })),
        other => panic!("no action: {other}"),
    }
}

/// A deletion vector that is told apart by its name.
pub(crate) fn vector(id: &str) -> DeletionVectorDescriptor {
    DeletionVectorDescriptor {
        storage_type: "i".to_owned(),
        path_or_inline_dv: id.to_owned(),
        offset: None,
        size_in_bytes: 4,
        cardinality: 3,
    }
}

/// The state of a snapshot in the same short form.
pub(crate) async fn show(snapshot: &Snapshot) -> String {
    let mut out = vec![format!("version {}", snapshot.version())];
    for add in snapshot.files().await.unwrap().iter() {
        let vector = add
            .deletion_vector
            .as_ref()
            .map(|v| format!(" dv={}", v.path_or_inline_dv));
        out.push(format!("+ {}{}", add.path, vector.unwrap_or_default()));
    }
    for remove in snapshot.tombstones().await.unwrap() {
        let vector = remove
            .deletion_vector
            .as_ref()
            .map(|v| format!(" dv={}", v.path_or_inline_dv));
        out.push(format!("- {}{}", remove.path, vector.unwrap_or_default()));
    }
    out.extend(
        snapshot
            .txns()
            .values()
            .map(|t| format!("txn {} {}", t.app_id, t.version)),
    );
    out.extend(
        snapshot
            .domains()
            .values()
            .map(|d| format!("domain {} {}", d.domain, d.configuration)),
    );
    out.join("\n") + "\n"
}
