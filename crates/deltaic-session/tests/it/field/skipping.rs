//! Statistics and what may be left out by them.

use serde_json::json;

use super::kit::{Raw, T, actions, add, add_with};
use crate::helpers::Warehouse;

#[tokio::test]
async fn b083_statistics_cut_to_milliseconds_hide_no_row() {
    for kind in ["timestamp", "timestamp_ntz"] {
        let mut raw = Raw::new(&[("ts", kind)], &[]);
        if kind == "timestamp_ntz" {
            raw.commit(&[json!({"protocol": {
                "minReaderVersion": 3, "minWriterVersion": 7,
                "readerFeatures": ["timestampNtz"], "writerFeatures": ["timestampNtz"]
            }})]);
        }
        let query = format!("SELECT CAST('2024-05-05 10:00:00.123999' AS {kind}) AS ts");
        let size = raw.file("f.parquet", &query).await;
        let zone = if kind == "timestamp" { "Z" } else { "" };
        let stats = format!(
            r#"{{"numRecords":1,"minValues":{{"ts":"2024-05-05T10:00:00.123{zone}"}},"maxValues":{{"ts":"2024-05-05T10:00:00.123{zone}"}},"nullCount":{{"ts":0}}}}"#
        );
        raw.commit(&[add_with("f.parquet", size, &stats)]);
        let count = format!(
            "SELECT count(*) FROM {T} WHERE ts > CAST('2024-05-05 10:00:00.123500' AS {kind})"
        );
        assert_eq!(raw.rows(&count).await, json!([[1]]), "{kind}");
        let most = format!("SELECT CAST(max(ts) AS STRING), CAST(min(ts) AS STRING) FROM {T}");
        let exact = "2024-05-05 10:00:00.123999";
        assert_eq!(raw.rows(&most).await, json!([[exact, exact]]), "{kind}");
    }
}

#[tokio::test]
async fn b086_b088_numbers_are_exact_in_statistics_and_comparisons() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (d DECIMAL(18,0), e DECIMAL(38,6), b BIGINT)",
        "INSERT INTO t VALUES (999999999999999999, 99999999999999999999999999999999.999999, 9007199254740993)",
    ])
    .await;
    let adds = actions(&w, "t", 1, "add");
    let stats = adds[0]["stats"].as_str().unwrap();
    assert!(stats.contains(r#""d":999999999999999999"#), "{stats}");
    assert!(
        stats.contains(r#""e":99999999999999999999999999999999.999999"#),
        "{stats}"
    );
    assert!(stats.contains(r#""b":9007199254740993"#), "{stats}");
    for condition in [
        "d = 999999999999999999",
        "d > 999999999999999998",
        "e = 99999999999999999999999999999999.999999",
        "b > 9007199254740992",
    ] {
        assert_eq!(
            w.rows(&format!("SELECT count(*) FROM t WHERE {condition}"))
                .await,
            json!([[1]]),
            "{condition}"
        );
    }
    assert_eq!(
        w.rows("SELECT CAST(max(b) AS STRING), CAST(max(e) AS STRING) FROM t")
            .await,
        json!([[
            "9007199254740993",
            "99999999999999999999999999999999.999999"
        ]])
    );
}

#[tokio::test]
async fn b086_decimals_with_an_exponent_are_read() {
    let mut raw = Raw::new(&[("d", "decimal(38,6)")], &[]);
    let size = raw
        .file("f.parquet", "SELECT CAST(1500000 AS DECIMAL(38,6)) AS d")
        .await;
    raw.commit(&[add_with(
        "f.parquet",
        size,
        r#"{"numRecords":1,"minValues":{"d":1.5E+6},"maxValues":{"d":1.5E+6},"nullCount":{"d":0}}"#,
    )]);
    for (condition, count) in [
        ("d = 1500000", 1),
        ("d > 1500000", 0),
        ("d >= 1499999.5", 1),
    ] {
        let sql = format!("SELECT count(*) FROM {T} WHERE {condition}");
        assert_eq!(raw.rows(&sql).await, json!([[count]]), "{condition}");
    }
}

#[tokio::test]
async fn b091_a_maximum_may_leave_out_nan() {
    let mut raw = Raw::new(&[("x", "double")], &[]);
    let size = raw
        .file(
            "f.parquet",
            "SELECT * FROM VALUES (1.0D), (double('NaN')) AS v(x)",
        )
        .await;
    raw.commit(&[add_with(
        "f.parquet",
        size,
        r#"{"numRecords":2,"minValues":{"x":1.0},"maxValues":{"x":1.0},"nullCount":{"x":0}}"#,
    )]);
    for (condition, count) in [
        ("x > 5", 1),
        ("x = double('NaN')", 1),
        ("x <> 1", 1),
        ("x >= 1", 2),
        ("x < 1", 0),
        ("NOT (x <= 1)", 1),
    ] {
        let sql = format!("SELECT count(*) FROM {T} WHERE {condition}");
        assert_eq!(raw.rows(&sql).await, json!([[count]]), "{condition}");
    }
    let most = raw
        .rows(&format!("SELECT CAST(max(x) AS STRING) FROM {T}"))
        .await;
    assert_eq!(most, json!([["NaN"]]));
}

#[tokio::test]
async fn b012_b092_damaged_statistics_are_none() {
    for stats in [
        r#"{"numRecords":"2","minValues":{"x":"a"},"maxValues":{"x":"b"},"nullCount":{"x":"c"}}"#,
        r#"{"numRecords":2,"minVal"#,
        "null",
        "",
        "[]",
        r#"{"numRecords":2,"nullCounts":{"x":2}}"#,
        r#"{"numRecords":2,"minValues":7,"maxValues":[],"nullCount":null}"#,
    ] {
        let mut raw = Raw::new(&[("x", "integer")], &[]);
        let size = raw
            .file("f.parquet", "SELECT * FROM VALUES (1), (9) AS v(x)")
            .await;
        raw.commit(&[add_with("f.parquet", size, stats)]);
        for (condition, count) in [("x > 5", 1), ("x IS NULL", 0), ("x IS NOT NULL", 2)] {
            let sql = format!("SELECT count(*) FROM {T} WHERE {condition}");
            assert_eq!(
                raw.rows(&sql).await,
                json!([[count]]),
                "{stats}: {condition}"
            );
        }
        let all = format!("SELECT count(*), max(x) FROM {T}");
        assert_eq!(raw.rows(&all).await, json!([[2, 9]]), "{stats}");
    }
    let mut raw = Raw::new(&[("x", "integer")], &[]);
    let size = raw.file("f.parquet", "SELECT 9 AS x").await;
    let mut action = add("f.parquet", size, json!({}));
    action["add"]["stats"] = json!({"numRecords": 1, "maxValues": {"x": 1}});
    raw.commit(&[action]);
    let sql = format!("SELECT count(*) FROM {T} WHERE x > 5");
    assert_eq!(raw.rows(&sql).await, json!([[1]]));
}

#[tokio::test]
async fn b001_statistics_that_came_later_are_those_that_hold() {
    let mut raw = Raw::new(&[("x", "integer")], &[]);
    let size = raw.file("f.parquet", "SELECT 0 AS x").await;
    raw.commit(&[add("f.parquet", size, json!({}))]);
    let with = add_with(
        "f.parquet",
        size,
        r#"{"numRecords":1,"minValues":{"x":0},"maxValues":{"x":0},"nullCount":{"x":0}}"#,
    );
    raw.commit(std::slice::from_ref(&with));
    let over = format!("SELECT count(*) FROM {T} WHERE x > 5");
    let all = format!("SELECT x FROM {T}");
    assert_eq!(raw.rows(&over).await, json!([[0]]));
    assert_eq!(raw.rows(&all).await, json!([[0]]));
    let mut gone = with["add"].clone();
    gone["deletionTimestamp"] = json!(1);
    raw.commit(&[json!({"remove": gone})]);
    for sql in [over, format!("SELECT count(*) FROM {T}")] {
        assert_eq!(raw.rows(&sql).await, json!([[0]]));
    }
}

#[tokio::test]
async fn b095_columns_that_are_not_there_and_columns_that_came_later() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT)",
        "INSERT INTO t VALUES (1)",
        "ALTER TABLE t ADD COLUMN b INT",
        "INSERT INTO t VALUES (2, 2)",
    ])
    .await;
    assert_eq!(
        w.class("SELECT * FROM t WHERE c = 1").await,
        "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    );
    for (condition, rows) in [
        ("b IS NULL", json!([[1]])),
        ("b <=> NULL", json!([[1]])),
        ("b IS NOT NULL", json!([[2]])),
        ("b = 2", json!([[2]])),
        ("NOT (b = 7)", json!([[2]])),
    ] {
        let sql = format!("SELECT a FROM t WHERE {condition}");
        assert_eq!(w.rows(&sql).await, rows, "{condition}");
    }
}

#[tokio::test]
async fn b097_b099_aggregates_with_deleted_rows_filters_and_limits() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (x INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO t VALUES (1), (2), (3), (NULL)",
        "DELETE FROM t WHERE x = 3 OR x IS NULL",
    ])
    .await;
    assert_eq!(
        actions(&w, "t", 2, "add")[0]["deletionVector"]["cardinality"],
        2
    );
    assert_eq!(
        w.rows("SELECT count(*), count(x), min(x), max(x) FROM t")
            .await,
        json!([[2, 2, 1, 2]])
    );
    assert_eq!(
        w.rows("SELECT count(*) FROM t WHERE x > 1").await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("SELECT count(*) FROM (SELECT * FROM t LIMIT 1)")
            .await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("SELECT max(x) FROM t WHERE x < 2").await,
        json!([[1]])
    );
}

#[tokio::test]
async fn b101_names_of_statistics_columns_are_identifiers() {
    let w = Warehouse::new();
    w.ok(
        "CREATE TABLE t (x INT, y INT, z STRUCT<z: INT>, n INT, bin BINARY) TBLPROPERTIES \
          ('delta.dataSkippingStatsColumns' = 'x,`y`,z.`z`')",
    )
    .await;
    // Not here, but elsewhere, a column without bounds may be named too.
    let class = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE";
    let named = "('delta.dataSkippingStatsColumns' = 'x,`y`,z.`z`,bin')";
    let set = format!("ALTER TABLE t SET TBLPROPERTIES {named}");
    assert_eq!(w.class(&set).await, class);
    let first = w.path("t/_delta_log/00000000000000000000.json");
    let text = std::fs::read_to_string(&first).unwrap();
    let changed = text.replace("z.`z`", "z.`z`,bin");
    assert_ne!(text, changed);
    std::fs::write(&first, changed).unwrap();
    std::fs::remove_file(first.replace(".json", ".crc")).unwrap();
    w.session.refresh();
    w.ok("INSERT INTO t VALUES (1, 2, named_struct('z', 3), 4, X'00')")
        .await;
    let adds = actions(&w, "t", 1, "add");
    let stats: serde_json::Value =
        serde_json::from_str(adds[0]["stats"].as_str().unwrap()).unwrap();
    assert_eq!(stats["minValues"], json!({"x": 1, "y": 2, "z": {"z": 3}}));
    assert_eq!(
        stats["nullCount"],
        json!({"x": 0, "y": 0, "z": {"z": 0}, "bin": 0})
    );
}

#[tokio::test]
async fn b103_one_usable_part_of_a_condition_is_enough() {
    let mut raw = Raw::new(&[("a", "integer"), ("b", "integer")], &[]);
    let mut commit = Vec::new();
    for (name, value) in [("f.parquet", 1), ("g.parquet", -1)] {
        let size = raw
            .file(name, &format!("SELECT {value} AS a, 7 AS b"))
            .await;
        commit.push(add_with(
            name,
            size,
            &format!(
                r#"{{"numRecords":1,"minValues":{{"a":{value}}},"maxValues":{{"a":{value}}},"nullCount":{{"a":0}}}}"#
            ),
        ));
    }
    raw.commit(&commit);
    let sql = format!("SELECT a FROM {T} WHERE a > 0 AND b IS NOT NULL");
    assert_eq!(raw.rows(&sql).await, json!([[1]]));
    // The file that the condition rules out need not be there.
    std::fs::remove_file(raw.folder().join("g.parquet")).unwrap();
    assert_eq!(raw.rows(&sql).await, json!([[1]]));
    let w = &raw.w;
    w.all(&[
        "CREATE TABLE p (v INT, k INT) PARTITIONED BY (k)",
        "INSERT INTO p VALUES (1, 1), (2, 2)",
    ])
    .await;
    assert_eq!(w.rows("SELECT v FROM p WHERE k = '2'").await, json!([[2]]));
}
