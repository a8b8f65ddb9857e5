//! A table whose log is written by hand, on files that the session has written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::helpers::Warehouse;

/// A table in a folder of the warehouse.
pub struct Raw {
    pub w: Warehouse,
    folder: PathBuf,
    version: u64,
}

/// The name by which statements reach the table.
pub const T: &str = "delta.`@`";

impl Raw {
    /// A table with these columns (`name type` of Delta's schema), at version 0.
    pub fn new(columns: &[(&str, &str)], partition_columns: &[&str]) -> Raw {
        let fields: Vec<Value> = columns
            .iter()
            .map(|(name, kind)| json!({"name": name, "type": kind, "nullable": true, "metadata": {}}))
            .collect();
        let schema = json!({"type": "struct", "fields": fields}).to_string();
        let mut raw = Raw::empty();
        raw.commit(&[
            json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
            json!({"metaData": {
                "id": "5f1c2a3e-0000-4000-8000-000000000001",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": partition_columns,
                "configuration": {},
                "createdTime": 0,
            }}),
        ]);
        raw
    }

    /// A folder without a log.
    pub fn empty() -> Raw {
        let w = Warehouse::new();
        let folder = w.folder.path().join("raw");
        fs::create_dir_all(folder.join("_delta_log")).unwrap();
        Raw {
            w,
            folder,
            version: 0,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file of the log.
    pub fn log(&self, name: &str) -> PathBuf {
        self.folder.join("_delta_log").join(name)
    }

    /// Writes the next commit.
    pub fn commit(&mut self, actions: &[Value]) {
        let text: String = actions.iter().map(|action| format!("{action}\n")).collect();
        fs::write(self.log(&format!("{:020}.json", self.version)), text).unwrap();
        self.version += 1;
        self.w.session.refresh();
    }

    /// Writes the rows of a query as a Parquet file of the table, under this name on disk, and returns its size.
    pub async fn file(&self, name: &str, query: &str) -> u64 {
        let scratch = format!("scratch_{}", uuid::Uuid::new_v4().simple());
        self.w
            .ok(&format!(
                "CREATE TABLE {scratch} USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'false') AS {query}"
            ))
            .await;
        let source = self.w.folder.path().join(&scratch);
        let files: Vec<PathBuf> = fs::read_dir(&source)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "parquet"))
            .collect();
        assert_eq!(files.len(), 1, "{query}");
        let target = self.folder.join(name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&files[0], &target).unwrap();
        self.w.ok(&format!("DROP TABLE {scratch}")).await;
        fs::metadata(&target).unwrap().len()
    }

    /// Runs a statement, `@` in it the folder of the table.
    pub fn sql(&self, statement: &str) -> String {
        statement.replace('@', self.folder.to_str().unwrap())
    }

    pub async fn rows(&self, statement: &str) -> Value {
        self.w.rows(&self.sql(statement)).await
    }

    pub async fn ok(&self, statement: &str) {
        self.w.ok(&self.sql(statement)).await;
    }

    /// Sets the time of a commit's file.
    pub fn date(&self, version: u64, millis: u64) {
        set_time(&self.log(&format!("{version:020}.json")), millis);
        self.w.session.refresh();
    }
}

/// Sets the modification time of a file, in milliseconds since 1970.
pub fn set_time(path: &Path, millis: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_millis(millis))
        .unwrap();
}

/// An add without statistics.
pub fn add(path: &str, size: u64, partition_values: Value) -> Value {
    json!({"add": {
        "path": path,
        "partitionValues": partition_values,
        "size": size,
        "modificationTime": 0,
        "dataChange": true,
    }})
}

/// The same with statistics.
pub fn add_with(path: &str, size: u64, stats: &str) -> Value {
    let mut action = add(path, size, json!({}));
    action["add"]["stats"] = json!(stats);
    action
}

/// Files below a folder, relative, in order; without the log.
pub fn files(folder: &Path) -> Vec<String> {
    fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().unwrap() != "_delta_log" {
                    walk(&path, root, found);
                }
            } else {
                found.push(
                    path.strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}

/// The actions of a kind in a commit of a table of the warehouse.
pub fn actions(w: &Warehouse, table: &str, version: u64, kind: &str) -> Vec<Value> {
    let path = w
        .folder
        .path()
        .join(table)
        .join("_delta_log")
        .join(format!("{version:020}.json"));
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter_map(|line| {
            let mut action: Value = serde_json::from_str(line).unwrap();
            let found = action.get_mut(kind)?.take();
            Some(found)
        })
        .collect()
}
