//! Paths, partitions, column mapping and deletion vectors.

use serde_json::json;

use super::kit::{Raw, T, actions, add, files};
use crate::helpers::Warehouse;

#[tokio::test]
async fn b104_a_plus_in_a_path_is_a_plus() {
    let mut raw = Raw::new(&[("v", "integer"), ("part", "string")], &["part"]);
    let size = raw.file("part=AB1+2/f 1.parquet", "SELECT 1 AS v").await;
    raw.commit(&[add(
        "part=AB1+2/f%201.parquet",
        size,
        json!({"part": "AB1+2"}),
    )]);
    let sql = format!("SELECT v, part FROM {T} WHERE part = 'AB1+2'");
    assert_eq!(raw.rows(&sql).await, json!([[1, "AB1+2"]]));
    raw.w
        .ok("SET spark.databricks.delta.retentionDurationCheck.enabled = false")
        .await;
    raw.ok(&format!("VACUUM {T} RETAIN 0 HOURS")).await;
    assert_eq!(raw.rows(&sql).await, json!([[1, "AB1+2"]]));
}

#[tokio::test]
async fn b106_partition_values_are_verbatim_and_folders_escaped() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 'a/b'), (2, '%'), (3, NULL), (4, 'ü :=')",
    ])
    .await;
    let adds = actions(&w, "t", 1, "add");
    let mut seen: Vec<(String, String)> = adds
        .iter()
        .map(|add| {
            let path = add["path"].as_str().unwrap();
            let folder = path.split('/').next().unwrap().to_owned();
            (add["partitionValues"]["p"].to_string(), folder)
        })
        .collect();
    seen.sort();
    // Hive's escapes in the folder's name, and that name as part of a URI.
    assert_eq!(
        seen,
        [
            ("\"%\"".to_owned(), "p=%2525".to_owned()),
            ("\"a/b\"".to_owned(), "p=a%252Fb".to_owned()),
            ("\"ü :=\"".to_owned(), "p=ü%20%253A%253D".to_owned()),
            ("null".to_owned(), "p=__HIVE_DEFAULT_PARTITION__".to_owned()),
        ]
    );
    assert_eq!(
        w.rows("SELECT v, p FROM t ORDER BY v").await,
        json!([[1, "a/b"], [2, "%"], [3, null], [4, "ü :="]])
    );
}

#[tokio::test]
async fn b108_an_empty_string_is_null_in_a_partition() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, ''), (2, NULL), (3, 'x')",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT p, count(*) FROM t GROUP BY p ORDER BY p")
            .await,
        json!([[null, 2], ["x", 1]])
    );
}

#[tokio::test]
async fn b110_timestamps_in_partitions_are_moments() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, p TIMESTAMP) PARTITIONED BY (p)",
        "SET spark.sql.session.timeZone = Europe/Vilnius",
        "INSERT INTO t VALUES (1, TIMESTAMP '2020-05-05 03:00:00')",
        "SET spark.sql.session.timeZone = UTC",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT CAST(p AS STRING) FROM t WHERE p = TIMESTAMP '2020-05-05 00:00:00'")
            .await,
        json!([["2020-05-05 00:00:00"]])
    );
}

#[tokio::test]
async fn b112_decimals_in_partitions_keep_their_point() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v INT, p DECIMAL(10,2)) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 1.50)",
    ])
    .await;
    assert_eq!(
        actions(&w, "t", 1, "add")[0]["partitionValues"]["p"],
        "1.50"
    );
    assert_eq!(w.rows("SELECT v FROM t WHERE p = 1.5").await, json!([[1]]));
}

#[tokio::test]
async fn b116_the_folder_of_a_table_is_no_uri() {
    let w = Warehouse::new();
    for name in ["a b", "a%25b", "a+b", "ä#?"] {
        let place = w.path(name);
        w.ok(&format!(
            "CREATE TABLE delta.`{place}` (id INT, v INT) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        ))
        .await;
        w.ok(&format!(
            "INSERT INTO delta.`{place}` VALUES (1, 1), (2, 2), (3, 3)"
        ))
        .await;
        w.ok(&format!("DELETE FROM delta.`{place}` WHERE id = 1"))
            .await;
        w.ok(&format!("UPDATE delta.`{place}` SET v = v + 1")).await;
        assert_eq!(
            w.rows(&format!("SELECT id, v FROM delta.`{place}` ORDER BY id"))
                .await,
            json!([[2, 3], [3, 4]]),
            "{name}"
        );
        assert!(w.has(name), "{name}");
    }
}

#[tokio::test]
async fn b049_b161_one_table_under_many_spellings() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "CREATE TABLE t2 (id INT)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t2 VALUES (2)",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
    ])
    .await;
    let place = w.path("t");
    for spelling in [
        place.clone(),
        format!("{place}/"),
        format!("{}//t", w.path("")),
        format!("file:{place}"),
        format!("file://{place}"),
    ] {
        assert_eq!(
            w.rows(&format!("SELECT * FROM delta.`{spelling}`")).await,
            json!([[1]]),
            "{spelling}"
        );
        w.ok(&format!("VACUUM delta.`{spelling}` RETAIN 0 HOURS"))
            .await;
    }
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1]]));
    assert_eq!(w.rows("SELECT * FROM t2").await, json!([[2]]));
}

#[tokio::test]
async fn b117_b119_vectors_are_of_physical_rows_and_add_up() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, p INT) PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO t SELECT CAST(id AS INT), 1 FROM range(0, 10, 1, 1)",
        "DELETE FROM t WHERE id = 5",
        "DELETE FROM t WHERE id = 9",
    ])
    .await;
    let (first, second) = (actions(&w, "t", 2, "add"), actions(&w, "t", 3, "remove"));
    assert_eq!(first[0]["deletionVector"], second[0]["deletionVector"]);
    assert_eq!(
        actions(&w, "t", 3, "add")[0]["deletionVector"]["cardinality"],
        2
    );
    assert_eq!(
        w.rows("SELECT id FROM t ORDER BY id").await,
        json!([[0], [1], [2], [3], [4], [6], [7], [8]])
    );
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[8]]));
}

#[tokio::test]
async fn b121_first_and_last_rows_and_rows_beyond_a_bitmap_container() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO t SELECT id FROM range(0, 70000, 1, 1)",
        "DELETE FROM t WHERE id = 0 OR id = 69999 OR id BETWEEN 65530 AND 65540",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT count(*), min(id), max(id), count(IF(id BETWEEN 65529 AND 65541, 1, NULL)) FROM t")
            .await,
        json!([[69987, 1, 69998, 2]])
    );
    w.ok("DELETE FROM t WHERE id <> 65541").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[65541]]));
    w.ok("DELETE FROM t WHERE id = 65541").await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
}

#[tokio::test]
async fn b124_b126_everything_goes_by_physical_names() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT, p INT) PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO t VALUES (1, 10), (2, 20)",
        "ALTER TABLE t RENAME COLUMN a TO b",
        "ALTER TABLE t RENAME COLUMN p TO a",
        "INSERT INTO t VALUES (3, 30)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT b, a FROM t WHERE a >= 20 ORDER BY b").await,
        json!([[2, 20], [3, 30]])
    );
    assert_eq!(w.rows("SELECT a FROM t WHERE b = 1").await, json!([[10]]));
    let metadata = actions(&w, "t", 3, "metaData");
    assert_eq!(metadata[0]["partitionColumns"], json!(["a"]));
    let add = &actions(&w, "t", 4, "add")[0];
    let keys: Vec<&String> = add["partitionValues"].as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 1);
    assert!(keys[0].starts_with("col-"), "{keys:?}");
    assert!(add["stats"].as_str().unwrap().contains("\"col-"));
    w.ok("UPDATE t SET b = b + 100 WHERE a = 10").await;
    w.ok("DELETE FROM t WHERE a = 20").await;
    assert_eq!(
        w.rows("SELECT b, a FROM t ORDER BY b").await,
        json!([[3, 30], [101, 10]])
    );
}

#[tokio::test]
async fn b127_names_in_back_quotes_are_one_name() {
    let w = Warehouse::new();
    assert_eq!(
        w.class("CREATE TABLE t (`my col` INT) USING delta").await,
        "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"
    );
    w.all(&[
        "CREATE TABLE t (`column.name` INT, `y--1` INT, `my col` INT, `123c` INT) USING delta \
         TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO t VALUES (1, 2, 3, 4), (5, 6, 7, 8)",
        "UPDATE t SET `my col` = `column.name` + `y--1` WHERE `123c` = 4",
        "DELETE FROM t WHERE `column.name` = 5",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT `column.name`, `my col` FROM t").await,
        json!([[1, 3]])
    );
}

#[tokio::test]
async fn b059_the_log_says_the_partition_not_the_folder() {
    let mut raw = Raw::new(&[("v", "integer"), ("date", "string")], &["date"]);
    let size = raw.file("date=A/f.parquet", "SELECT 1 AS v").await;
    raw.commit(&[add("date=A/f.parquet", size, json!({"date": "B"}))]);
    assert_eq!(
        raw.rows(&format!("SELECT v, date FROM {T}")).await,
        json!([[1, "B"]])
    );
    raw.ok(&format!("DELETE FROM {T} WHERE date = 'A'")).await;
    raw.w
        .ok("SET spark.databricks.delta.retentionDurationCheck.enabled = false")
        .await;
    raw.ok(&format!("VACUUM {T} RETAIN 0 HOURS")).await;
    assert_eq!(files(raw.folder()), ["date=A/f.parquet"]);
    raw.ok(&format!("DELETE FROM {T} WHERE date = 'B'")).await;
    assert_eq!(
        raw.rows(&format!("SELECT count(*) FROM {T}")).await,
        json!([[0]])
    );
}
