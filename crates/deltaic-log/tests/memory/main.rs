//! A checkpoint of a table that was just opened: how much memory it takes. A program of its own that runs itself again for each
//! step, because what is measured is the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use deltaic_log::{RandomIds, Snapshot, maintain};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Metadata, Protocol};
use deltaic_protocol::file_name;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::{StorageFactory, StorageOptions, TableStore};

const STEP: &str = "DELTAIC_MEMORY_STEP";
const FILES: usize = 100_000;
const MIB: u64 = 1 << 20;

fn open(folder: &str) -> TableStore {
    StorageFactory::new(&StorageOptions::default())
        .open(folder)
        .unwrap()
}

fn file(number: usize) -> Add {
    Add {
        path: format!("part-{number:012}-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9.c000.snappy.parquet"),
        size: 1000,
        modification_time: 1,
        data_change: true,
        stats: Some(format!(
            r#"{{"numRecords":10,"minValues":{{"id":{number},"name":"name-{number:060}"}},"maxValues":{{"id":{number},"name":"name-{number:060}z"}},"nullCount":{{"id":0,"name":0}}}}"#
        )),
        ..Add::default()
    }
}

async fn commit(store: &TableStore, version: i64, actions: &[Action]) {
    let text = deltaic_log::commit::commit_text(actions);
    let name = file_name::commit(version);
    store.log().create(&name, Bytes::from(text)).await.unwrap();
}

/// A table of many files in a checkpoint, and a commit after it.
async fn make(folder: &str) {
    let store = open(folder);
    let schema = StructType::new([
        StructField::nullable("id", DataType::Long),
        StructField::nullable("name", DataType::String),
    ]);
    let mut head = vec![
        Action::Protocol(Protocol::legacy(1, 2)),
        Action::Metadata(Metadata::new("t", &schema)),
    ];
    head.extend((0..FILES).map(|number| Action::Add(file(number))));
    commit(&store, 0, &head).await;
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    let removed = Action::Remove(file(0).to_remove(i64::MAX, true));
    commit(&store, 1, &[removed, Action::Add(file(FILES))]).await;
}

async fn checkpoint(folder: &str) {
    let snapshot = Snapshot::load(&open(folder), None).await.unwrap();
    let written = maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
    assert_eq!(written.hint.num_of_add_files, Some(FILES as i64));
}

async fn read(folder: &str) {
    let snapshot = Snapshot::load(&open(folder), None).await.unwrap();
    assert_eq!(snapshot.files().await.unwrap().len(), FILES);
}

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// Runs a step in a process of its own; the most memory that it took.
fn measured(step: &str, folder: &Path) -> u64 {
    let out = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "files_go_from_checkpoint_to_checkpoint_without_being_held",
            "--nocapture",
        ])
        .env(STEP, format!("{step} {}", folder.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        out.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let line = text
        .lines()
        .find_map(|line| line.split("peak ").nth(1))
        .unwrap();
    line.trim().parse().unwrap()
}

#[tokio::test]
async fn files_go_from_checkpoint_to_checkpoint_without_being_held() {
    if let Ok(step) = std::env::var(STEP) {
        let (step, folder) = step.split_once(' ').unwrap();
        match step {
            "make" => make(folder).await,
            "checkpoint" => checkpoint(folder).await,
            "read" => read(folder).await,
            _ => {}
        }
        println!("peak {}", peak());
        return;
    }
    let place = tempfile::tempdir().unwrap();
    measured("make", place.path());
    let nothing = measured("nothing", place.path());
    let held = measured("read", place.path()) - nothing;
    let passed = measured("checkpoint", place.path()) - nothing;
    println!(
        "{} MiB to hold the files, {} MiB to pass them on",
        held / MIB,
        passed / MIB
    );
    // Whoever holds the files and writes them takes a third more than `held`.
    assert!(
        passed * 4 < held * 3,
        "{passed} bytes to pass on what takes {held} to hold"
    );
}
