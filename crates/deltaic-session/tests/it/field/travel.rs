//! Time travel and history.

use std::fs;

use serde_json::{Value, json};

use super::kit::{Raw, T, add, set_time};
use crate::helpers::Warehouse;

/// A table of five versions whose commits have these times; version n holds the numbers up to n.
async fn dated(times: &[u64]) -> Raw {
    let mut raw = Raw::new(&[("v", "integer")], &[]);
    for version in 1..times.len() {
        let name = format!("f{version}.parquet");
        let size = raw
            .file(&name, &format!("SELECT CAST({version} AS INT) AS v"))
            .await;
        raw.commit(&[add(&name, size, json!({}))]);
    }
    far_back(&raw.w).await;
    for (version, time) in times.iter().enumerate() {
        raw.date(version as u64, *time);
    }
    raw
}

/// Lets statements go back further than removed files are kept for.
async fn far_back(w: &Warehouse) {
    w.ok("SET spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration = false")
        .await;
}

/// The newest number at a time in milliseconds.
async fn at(raw: &Raw, millis: u64) -> Value {
    let sql =
        format!("SELECT coalesce(max(v), 0) FROM {T} TIMESTAMP AS OF timestamp_millis({millis})");
    raw.rows(&sql).await[0][0].clone()
}

#[tokio::test]
async fn b068_times_of_versions_rise() {
    let raw = dated(&[1000, 5000, 3000, 3000, 9000]).await;
    for (millis, version) in [
        (1000, 0),
        (4000, 0),
        (5000, 1),
        (5001, 2),
        (5002, 3),
        (8999, 3),
        (9000, 4),
    ] {
        assert_eq!(at(&raw, millis).await, json!(version), "{millis}");
    }
    let history = raw.rows(&format!("SELECT 1 FROM {T} LIMIT 1")).await;
    assert_eq!(history, json!([[1]]));
    let shown = raw.rows(&format!("DESCRIBE HISTORY {T}")).await.to_string();
    for time in ["00:00:05.001", "00:00:05.002", "00:00:09"] {
        assert!(shown.contains(time), "{time}: {shown}");
    }
}

#[tokio::test]
async fn b069_times_outside_of_the_history() {
    let raw = dated(&[1000, 5000]).await;
    let class = |millis: u64| {
        raw.sql(&format!(
            "SELECT * FROM {T} TIMESTAMP AS OF timestamp_millis({millis})"
        ))
    };
    assert_eq!(
        raw.w.class(&class(5001)).await,
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    );
    assert!(
        raw.w
            .class(&class(999))
            .await
            .starts_with("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT"),
    );
    assert_eq!(at(&raw, 5000).await, json!(1));
}

#[tokio::test]
async fn b067_the_time_of_a_version_is_that_of_its_file() {
    let mut raw = Raw::new(&[("v", "integer")], &[]);
    let size = raw.file("f.parquet", "SELECT 1 AS v").await;
    raw.commit(&[
        json!({"commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {}}}),
        add("f.parquet", size, json!({})),
    ]);
    far_back(&raw.w).await;
    raw.date(0, 10_000);
    raw.date(1, 20_000);
    assert_eq!(at(&raw, 15_000).await, json!(0));
    assert_eq!(at(&raw, 20_000).await, json!(1));
}

#[tokio::test]
async fn b074_in_commit_timestamps_count_from_where_they_are_on() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT)",
        "INSERT INTO t VALUES (1)",
        "ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
        "INSERT INTO t VALUES (3)",
    ])
    .await;
    far_back(&w).await;
    let log = w.folder.path().join("t/_delta_log");
    let file = |version: u64| log.join(format!("{version:020}.json"));
    let enabled_at = |version: u64| -> u64 {
        let first = fs::read_to_string(file(version)).unwrap();
        let action: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
        action["commitInfo"]["inCommitTimestamp"].as_u64().unwrap()
    };
    let (second, third) = (enabled_at(2), enabled_at(3));
    assert!(third > second);
    // Files of a copied table: before the switch their times count, after it they do not.
    set_time(&file(0), 1_000);
    set_time(&file(1), 2_000);
    set_time(&file(2), 3_000);
    set_time(&file(3), 1_500);
    w.session.refresh();
    for (millis, rows) in [
        (1_999, 0),
        (2_000, 1),
        (second - 1, 1),
        (second, 1),
        (third, 2),
    ] {
        let sql = format!("SELECT count(*) FROM t TIMESTAMP AS OF timestamp_millis({millis})");
        assert_eq!(w.rows(&sql).await, json!([[rows]]), "{millis}");
    }
}

#[tokio::test]
async fn b071_a_log_that_begins_with_a_checkpoint() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE t (v INT) TBLPROPERTIES ('delta.checkpointInterval' = '2')")
        .await;
    for n in 1..=4 {
        w.ok(&format!("INSERT INTO t VALUES ({n})")).await;
    }
    let log = w.folder.path().join("t/_delta_log");
    assert!(log.join(format!("{:020}.checkpoint.parquet", 2)).exists());
    for version in 0..=2 {
        fs::remove_file(log.join(format!("{version:020}.json"))).unwrap();
    }
    w.session.refresh();
    for (version, rows) in [(2, 2), (3, 3), (4, 4)] {
        let sql = format!("SELECT count(*) FROM t VERSION AS OF {version}");
        assert_eq!(w.rows(&sql).await, json!([[rows]]), "{version}");
    }
    w.fails("SELECT * FROM t VERSION AS OF 1").await;
    // History ends where the commits end.
    let history = w.rows("DESCRIBE HISTORY t").await;
    let versions: Vec<&Value> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row[0])
        .collect();
    assert_eq!(versions, [4, 3]);
    assert_eq!(w.rows("DESCRIBE HISTORY t LIMIT 1").await[0][0], json!(4));
}

#[tokio::test]
async fn b075_times_without_a_zone_are_in_that_of_the_session() {
    let raw = dated(&[1000, 5000, 3_600_000]).await;
    raw.w
        .ok("SET spark.sql.session.timeZone = Asia/Tokyo")
        .await;
    for (text, version) in [
        ("1970-01-01 09:00:05", 1),
        ("1970-01-01 10:00:00", 2),
        ("1970-01-01T00:00:05Z", 1),
        ("1970-01-01 01:00:05+01:00", 1),
    ] {
        let sql = format!("SELECT max(v) FROM {T} TIMESTAMP AS OF '{text}'");
        assert_eq!(raw.rows(&sql).await, json!([[version]]), "{text}");
    }
    raw.ok(&format!(
        "RESTORE {T} TO TIMESTAMP AS OF '1970-01-01 09:00:05'"
    ))
    .await;
    assert_eq!(
        raw.rows(&format!("SELECT max(v) FROM {T}")).await,
        json!([[1]])
    );
}

#[tokio::test]
async fn b078_commit_infos_are_free_in_form() {
    let mut raw = Raw::new(&[("v", "integer")], &[]);
    for info in [
        json!({"operation": "ODD", "operationParameters": {"n": 1, "o": {"a": [1, null]}, "z": null}, "operationMetrics": {"rows": 5, "more": {"x": 1}}}),
        json!({"timestamp": 5, "operation": "WRITE"}),
        json!({}),
        json!({"timestamp": 5.0, "operation": "X", "operationParameters": {}, "isBlindAppend": true, "unknown": {"a": 1}}),
    ] {
        raw.commit(&[json!({"commitInfo": info})]);
    }
    let history = raw.rows(&format!("DESCRIBE HISTORY {T}")).await;
    assert_eq!(history.as_array().unwrap().len(), 5);
    let text = history.to_string();
    for part in [r#"{\"a\":[1,null]}"#, r#""rows":"5""#, "ODD"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn b170_restore_and_vacuum_in_their_many_forms() {
    let w = Warehouse::new();
    w.all(&["CREATE TABLE t (v INT)", "INSERT INTO t VALUES (1)"])
        .await;
    let place = w.path("t");
    for statement in [
        "RESTORE TABLE t TO VERSION AS OF 1".to_owned(),
        "RESTORE t TO VERSION AS OF '1'".to_owned(),
        "RESTORE t TO VERSION AS OF 1;".to_owned(),
        format!("RESTORE TABLE delta.`{place}` TO VERSION AS OF 1"),
        format!("RESTORE delta.`{place}` TO VERSION AS OF 1"),
        "SELECT * FROM t FOR VERSION AS OF 1".to_owned(),
        "SELECT * FROM t FOR SYSTEM_VERSION AS OF 1".to_owned(),
        "VACUUM t RETAIN 168 HOURS DRY RUN".to_owned(),
        "VACUUM t DRY RUN RETAIN 168 HOURS".to_owned(),
        "VACUUM t FULL".to_owned(),
        format!("VACUUM '{place}' RETAIN 168 HOURS"),
        format!("DESCRIBE HISTORY '{place}' LIMIT 3"),
        format!("DESCRIBE HISTORY delta.`{place}`"),
    ] {
        w.ok(&statement).await;
    }
    // Rounded to whole hours this would be 0.
    w.fails("VACUUM t RETAIN 0.4 HOURS").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1]]));
}
