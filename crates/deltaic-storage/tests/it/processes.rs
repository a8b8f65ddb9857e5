//! Put-if-absent between processes, and a writer that is killed.

use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use deltaic_storage::{PutOutcome, StorageFactory, TableStore};
use futures::TryStreamExt;

const COMMITS: usize = 25;

fn child(test: &str, folder: &std::path::Path, name: &str) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("DELTAIC_TEST_RACE", folder)
        .env("DELTAIC_TEST_NAME", name)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn table_of_child() -> Option<(TableStore, String)> {
    let folder = std::env::var("DELTAIC_TEST_RACE").ok()?;
    Some((
        StorageFactory::default().open(&folder).unwrap(),
        std::env::var("DELTAIC_TEST_NAME").unwrap(),
    ))
}

async fn commit(table: &TableStore, version: &mut usize, line: &str) {
    while table
        .log()
        .create(
            &format!("{version:020}.json"),
            Bytes::from(line.to_string()),
        )
        .await
        .unwrap()
        == PutOutcome::AlreadyExists
    {
        *version += 1;
    }
}

#[tokio::test]
async fn child_that_commits() {
    let Some((table, name)) = table_of_child() else {
        return;
    };
    let mut version = 0;
    for number in 0..COMMITS {
        commit(&table, &mut version, &format!("{name}/{number}")).await;
    }
}

#[tokio::test]
async fn child_that_commits_until_killed() {
    let Some((table, name)) = table_of_child() else {
        return;
    };
    let mut version = 0;
    loop {
        commit(&table, &mut version, &name.repeat(5000)).await;
    }
}

#[tokio::test]
async fn processes_that_take_the_next_number_lose_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..6)
        .map(|number| {
            child(
                "processes::child_that_commits",
                folder.path(),
                &number.to_string(),
            )
        })
        .collect();
    for mut running in children {
        assert!(running.wait().unwrap().success());
    }
    let table = StorageFactory::default()
        .open(&folder.path().to_string_lossy())
        .unwrap();
    let names: Vec<String> = table
        .log()
        .list_from("")
        .map_ok(|meta| meta.path)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(names.len(), 6 * COMMITS);
    let mut lines = Vec::new();
    for name in &names {
        lines.push(table.log().read(name).await.unwrap());
    }
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 6 * COMMITS);
}

#[tokio::test]
async fn a_killed_writer_leaves_whole_files_and_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let table = StorageFactory::default()
        .open(&folder.path().to_string_lossy())
        .unwrap();
    for round in 0..8u64 {
        let mut running = child(
            "processes::child_that_commits_until_killed",
            folder.path(),
            "x",
        );
        std::thread::sleep(Duration::from_millis(40 + 17 * round));
        running.kill().unwrap();
        running.wait().unwrap();
        let names: Vec<String> = table
            .log()
            .list_from("")
            .map_ok(|meta| meta.path)
            .try_collect()
            .await
            .unwrap();
        for name in &names {
            assert_eq!(table.log().read(name).await.unwrap().len(), 5000, "{name}");
        }
        let next = format!("{:020}.json", names.len());
        assert_eq!(
            table
                .log()
                .create(&next, Bytes::from("x".repeat(5000)))
                .await
                .unwrap(),
            PutOutcome::Created
        );
    }
}
