//! Types, schemas that have changed, and names.

use serde_json::json;

use super::kit::{Raw, T, add};
use crate::helpers::Warehouse;

#[tokio::test]
async fn b128_dates_and_times_at_the_ends_of_the_calendar() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (d DATE, ts TIMESTAMP, n TIMESTAMP_NTZ)",
        "INSERT INTO t VALUES (DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00.000001', TIMESTAMP_NTZ '0001-01-01 00:00:00'), \
         (DATE '9999-12-31', TIMESTAMP '9999-12-31 23:59:59.999999', TIMESTAMP_NTZ '9999-12-31 23:59:59.999999')",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT CAST(d AS STRING), CAST(ts AS STRING), CAST(n AS STRING) FROM t ORDER BY d")
            .await,
        json!([
            [
                "0001-01-01",
                "0001-01-01 00:00:00.000001",
                "0001-01-01 00:00:00"
            ],
            [
                "9999-12-31",
                "9999-12-31 23:59:59.999999",
                "9999-12-31 23:59:59.999999"
            ]
        ])
    );
    for condition in [
        "ts = TIMESTAMP '9999-12-31 23:59:59.999999'",
        "ts < TIMESTAMP '0001-01-01 00:00:00.000002'",
        "d = DATE '9999-12-31'",
        "n > TIMESTAMP_NTZ '9999-12-31 23:59:59.999998'",
    ] {
        let sql = format!("SELECT count(*) FROM t WHERE {condition}");
        assert_eq!(w.rows(&sql).await, json!([[1]]), "{condition}");
    }
}

#[tokio::test]
async fn b129_columns_without_a_type() {
    let mut raw = Raw::new(&[("v", "integer"), ("nothing", "void")], &[]);
    let size = raw.file("f.parquet", "SELECT 1 AS v").await;
    raw.commit(&[add("f.parquet", size, json!({}))]);
    assert_eq!(
        raw.rows(&format!("SELECT * FROM {T}")).await,
        json!([[1, null]])
    );
    raw.ok(&format!("DESCRIBE HISTORY {T}")).await;
    raw.ok(&format!("VACUUM {T} DRY RUN")).await;
}

#[tokio::test]
async fn b136_fields_that_came_later_are_null_at_any_depth() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (s STRUCT<a: INT, b: INT>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<y: INT>>)",
        "INSERT INTO t VALUES (named_struct('a', 1, 'b', 2), array(named_struct('x', 3)), map('k', named_struct('y', 4)))",
        "ALTER TABLE t ADD COLUMNS (s.c INT, l.element.z INT, m.value.w INT)",
        "INSERT INTO t VALUES (named_struct('a', 5, 'b', 6, 'c', 7), array(named_struct('x', 8, 'z', 9)), map('k', named_struct('y', 10, 'w', 11)))",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT s.a, s.b, s.c, l[0].x, l[0].z, m['k'].y, m['k'].w FROM t ORDER BY s.a")
            .await,
        json!([[1, 2, null, 3, null, 4, null], [5, 6, 7, 8, 9, 10, 11]])
    );
    assert_eq!(
        w.rows("SELECT s.a FROM t WHERE s.c IS NULL").await,
        json!([[1]])
    );
}

#[tokio::test]
async fn b136_fields_are_found_by_name_not_by_place() {
    let mut raw = Raw::empty();
    let schema = json!({"type": "struct", "fields": [{"name": "s", "nullable": true, "metadata": {},
        "type": {"type": "struct", "fields": [
            {"name": "c", "type": "integer", "nullable": true, "metadata": {}},
            {"name": "b", "type": "integer", "nullable": true, "metadata": {}},
            {"name": "a", "type": "integer", "nullable": true, "metadata": {}}]}}]});
    raw.commit(&[
        json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        json!({"metaData": {"id": "5f1c2a3e-0000-4000-8000-000000000002", "format": {"provider": "parquet", "options": {}},
            "schemaString": schema.to_string(), "partitionColumns": [], "configuration": {}}}),
    ]);
    let size = raw
        .file("f.parquet", "SELECT named_struct('a', 1, 'b', 2) AS s")
        .await;
    raw.commit(&[add("f.parquet", size, json!({}))]);
    assert_eq!(
        raw.rows(&format!("SELECT s.a, s.b, s.c FROM {T}")).await,
        json!([[1, 2, null]])
    );
}

#[tokio::test]
async fn b139_names_keep_their_case_and_are_found_in_any() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (Y INT, hogeNo INT NOT NULL, submittedAt TIMESTAMP)",
        "ALTER TABLE t ADD CONSTRAINT some CHECK (HOGENO > 0)",
        "INSERT INTO t (y, HOGENO) VALUES (1, 2)",
        "UPDATE t SET Hogeno = y + hogeno WHERE y = 1",
    ])
    .await;
    assert_eq!(w.rows("SELECT hogeno FROM t").await, json!([[3]]));
    let columns = w.ok("SELECT * FROM t").await.to_json_pipe()["columns"].to_string();
    assert!(
        columns.contains("hogeNo") && columns.contains("submittedAt"),
        "{columns}"
    );
    w.fails("INSERT INTO t (y, hogeno) VALUES (1, -2)").await;
    w.fails("INSERT INTO t (y) VALUES (1)").await;
    w.fails("CREATE TABLE u (a INT, A INT)").await;
    w.fails("ALTER TABLE t ADD COLUMN HOGENO INT").await;
}
