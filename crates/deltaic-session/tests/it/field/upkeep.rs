//! VACUUM and RESTORE.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::kit::{actions, files, set_time};
use crate::helpers::Warehouse;

const UNCHECKED: &str = "SET spark.databricks.delta.retentionDurationCheck.enabled = false";
const DAY: u64 = 86_400_000;

fn now() -> u64 {
    u64::try_from(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_millis(),
    )
    .unwrap()
}

#[tokio::test]
async fn b046_escapes_of_paths_are_undone_once() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, p TIMESTAMP) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, TIMESTAMP '2024-12-13 00:00:00'), (2, TIMESTAMP '2024-12-13 01:02:03.000004')",
        UNCHECKED,
    ])
    .await;
    let path = actions(&w, "t", 1, "add")[0]["path"].to_string();
    assert!(path.contains("%253A"), "{path}");
    let before = files(&w.folder.path().join("t"));
    assert!(before[0].contains("%3A"), "{before:?}");
    w.ok("VACUUM t RETAIN 0 HOURS").await;
    assert_eq!(files(&w.folder.path().join("t")), before);
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[2]]));
}

#[tokio::test]
async fn b048_hidden_names_stay_but_for_those_of_partitions_and_of_delta() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, _group INT, _date DATE) PARTITIONED BY (_group, _date) \
         TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1, 1, DATE '2024-01-01'), (2, 2, DATE '2024-01-02')",
        "DELETE FROM t WHERE _group = 2",
        UNCHECKED,
    ])
    .await;
    let table = w.folder.path().join("t");
    for foreign in [
        "_dates_backup/keep.parquet",
        ".hidden/keep",
        "_group/keep",
        "_date_/keep",
        "_delta_index/go",
        "_change_data/go",
        "stray/go",
        "_group=1/go",
        "_group=1/.hidden",
        "_group=1/_hidden",
    ] {
        let path = table.join(foreign);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
    }
    w.ok("VACUUM t RETAIN 0 HOURS").await;
    let left = files(&table);
    let of = |name: &str| left.iter().any(|path| path == name);
    for name in [
        "_dates_backup/keep.parquet",
        ".hidden/keep",
        "_group/keep",
        "_date_/keep",
        "_group=1/.hidden",
        "_group=1/_hidden",
    ] {
        assert!(of(name), "{name}: {left:?}");
    }
    for name in [
        "_delta_index/go",
        "_change_data/go",
        "stray/go",
        "_group=1/go",
    ] {
        assert!(!of(name), "{name}: {left:?}");
    }
    assert!(
        !left.iter().any(|path| path.starts_with("_group=2")),
        "{left:?}"
    );
    assert_eq!(w.rows("SELECT v FROM t").await, json!([[1]]));
}

#[tokio::test]
async fn b052_a_retention_below_the_dial_is_refused_or_ignored() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1)",
        "DELETE FROM t",
        "SET deltaic.profile = delta-4.0",
    ])
    .await;
    let before = files(&w.folder.path().join("t"));
    let text = w.fails("VACUUM t RETAIN 0 HOURS").await.text().to_owned();
    assert!(text.contains("168"), "{text}");
    w.fails("VACUUM t RETAIN -1 HOURS").await;
    w.ok("SET deltaic.profile = delta-4.3").await;
    w.fails("VACUUM t RETAIN 0 HOURS").await;
    for ignored in [-1, 1] {
        w.ok(&format!("VACUUM t RETAIN {ignored} HOURS")).await;
    }
    assert_eq!(files(&w.folder.path().join("t")), before);
}

#[tokio::test]
async fn b053_the_clock_of_a_file_starts_when_it_is_removed() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1)",
    ])
    .await;
    let table = w.folder.path().join("t");
    let before = files(&table);
    set_time(&table.join(&before[0]), now() - 30 * DAY);
    w.ok("DELETE FROM t").await;
    assert_eq!(w.rows("VACUUM t DRY RUN").await, json!([]));
    w.ok("VACUUM t").await;
    assert_eq!(files(&table), before);
    assert_eq!(
        w.rows("SELECT count(*) FROM t VERSION AS OF 1").await,
        json!([[1]])
    );
}

#[tokio::test]
async fn b058_vacuum_stands_in_the_history_and_a_dry_run_does_not() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "INSERT INTO t VALUES (1)",
        "VACUUM t DRY RUN",
        "VACUUM t",
    ])
    .await;
    let history = w.ok("DESCRIBE HISTORY t").await.to_json_pipe();
    let operations: Vec<&Value> = history["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row[4])
        .collect();
    assert_eq!(
        operations,
        ["VACUUM END", "VACUUM START", "WRITE", "CREATE TABLE"]
    );
}

#[tokio::test]
async fn b061_restore_tells_files_apart_by_their_vectors() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO t SELECT id FROM range(0, 10, 1, 1)",
        "DELETE FROM t WHERE id IN (3, 7)",
    ])
    .await;
    let answer = w.ok("RESTORE t TO VERSION AS OF 1").await.to_json_pipe();
    // table_size_after_restore, num_of_files_after_restore, num_removed_files, num_restored_files, …
    assert_eq!(answer["rows"][0][2], 1);
    assert_eq!(answer["rows"][0][3], 1);
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[10]]));
    let (add, remove) = (actions(&w, "t", 3, "add"), actions(&w, "t", 3, "remove"));
    assert_eq!(add[0]["dataChange"], true);
    assert_eq!(add[0].get("deletionVector"), None);
    assert_eq!(
        remove[0]["deletionVector"],
        actions(&w, "t", 2, "add")[0]["deletionVector"]
    );
}

#[tokio::test]
async fn b063_restore_lowers_no_protocol() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false', \
         'delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '2')",
        "INSERT INTO t VALUES (1), (2)",
        "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "DELETE FROM t WHERE id = 1",
        "RESTORE t TO VERSION AS OF 1",
    ])
    .await;
    for protocol in actions(&w, "t", 4, "protocol") {
        assert_eq!(protocol["minReaderVersion"], 3);
        assert!(
            protocol["readerFeatures"]
                .to_string()
                .contains("deletionVectors")
        );
    }
    let detail = w.ok("DESCRIBE DETAIL t").await.to_json_pipe().to_string();
    assert!(detail.contains("deletionVectors"), "{detail}");
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[2]]));
}

#[tokio::test]
async fn b064_restore_looks_whether_its_files_are_there() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1)",
        "DELETE FROM t",
        UNCHECKED,
        "VACUUM t RETAIN 0 HOURS",
    ])
    .await;
    let error = w.fails("RESTORE t TO VERSION AS OF 1").await;
    assert!(error.text().contains(".parquet"), "{error}");
    assert!(
        error.text().contains("version 1") || error.text().contains("1"),
        "{error}"
    );
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
    w.all(&[
        "SET spark.sql.files.ignoreMissingFiles = true",
        "RESTORE t TO VERSION AS OF 1",
    ])
    .await;
}

#[tokio::test]
async fn b145_a_row_is_changed_only_where_the_condition_is_true() {
    for vectors in ["true", "false"] {
        let w = Warehouse::new();
        let create = |name: &str| {
            format!(
                "CREATE TABLE {name} (x INT) TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')"
            )
        };
        for name in ["a", "b", "c"] {
            w.ok(&create(name)).await;
            w.ok(&format!("INSERT INTO {name} VALUES (1), (2), (NULL)"))
                .await;
        }
        w.ok("DELETE FROM a WHERE x = 1").await;
        assert_eq!(
            w.rows("SELECT x FROM a ORDER BY x").await,
            json!([[null], [2]])
        );
        w.ok("DELETE FROM b WHERE NOT (x = 1)").await;
        assert_eq!(
            w.rows("SELECT x FROM b ORDER BY x").await,
            json!([[null], [1]])
        );
        w.ok("UPDATE c SET x = 9 WHERE x <> 1").await;
        assert_eq!(
            w.rows("SELECT x FROM c ORDER BY x").await,
            json!([[null], [1], [9]])
        );
    }
}

#[tokio::test]
async fn b153_of_two_overwrites_of_one_snapshot_the_second_loses_or_sees_the_first() {
    use deltaic_log::{CommitContext, Operation, Snapshot, Transaction};
    use deltaic_protocol::action::Remove;
    use deltaic_storage::StorageFactory;

    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    ])
    .await;
    let store = StorageFactory::default().open(&w.path("t")).unwrap();
    let old = Snapshot::load(&store, None).await.unwrap();
    w.ok("INSERT INTO t REPLACE WHERE p = 'a' VALUES (10, 'a')")
        .await;
    // A second handle that read the same version removes the file that the first has replaced.
    let mut late = Transaction::begin(&old, Operation::new("WRITE"));
    let files = old.files().await.unwrap();
    let file = files
        .iter()
        .find(|add| {
            add.partition_values
                .get("p")
                .is_some_and(|v| v.as_deref() == Some("a"))
        })
        .unwrap();
    late.read_files([file.as_ref()]);
    late.remove(Remove {
        path: file.path.clone(),
        data_change: true,
        ..Remove::default()
    });
    let outcome = late.commit(&CommitContext::default()).await.unwrap();
    assert!(outcome.into_result().is_err());
    assert_eq!(
        w.rows("SELECT v FROM t ORDER BY v").await,
        json!([[2], [10]])
    );
}
