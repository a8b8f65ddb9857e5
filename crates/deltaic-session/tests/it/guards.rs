//! What a table or a statement asks for and is not given: constraints that nobody checks, files of other machines.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn a_replacement_does_not_depend_on_a_query() {
    let w = Warehouse::new();
    w.all(&["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1), (2)"])
        .await;
    for condition in [
        "id IN (SELECT 1)",
        "EXISTS (SELECT 1 FROM t)",
        "id = 2 OR id = (SELECT max(id) FROM t)",
    ] {
        assert_eq!(
            w.class(&format!(
                "INSERT INTO t REPLACE WHERE {condition} VALUES (1)"
            ))
            .await,
            "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_IN_EXISTS_SUBQUERY",
            "{condition}"
        );
    }
    assert_eq!(
        w.rows("SELECT id FROM t ORDER BY id").await,
        json!([[1], [2]])
    );
}

#[tokio::test]
async fn partitions_and_places_are_the_tables_own() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT, p INT) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 1)",
    ])
    .await;
    for (statement, class) in [
        (
            "TRUNCATE TABLE t PARTITION (p = 1)",
            "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
        ),
        (
            "ALTER TABLE t RECOVER PARTITIONS",
            "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE",
        ),
        (
            "MSCK REPAIR TABLE t SYNC PARTITIONS",
            "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE",
        ),
        (
            "ALTER TABLE t SET LOCATION '/no/table/is/here'",
            "DELTA_MISSING_DELTA_TABLE",
        ),
        (
            "ALTER TABLE t SET TBLPROPERTIES ('delta.rowTracking.materializedRowCommitVersionColumnName' = 'x')",
            "DELTA_UNKNOWN_CONFIGURATION",
        ),
    ] {
        assert_eq!(w.class(statement).await, class, "{statement}");
    }
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1, 1]]));
}

#[tokio::test]
async fn not_null_in_arrays_and_maps_is_refused_or_dropped() {
    let w = Warehouse::new();
    let class = "DELTA_NESTED_NOT_NULL_CONSTRAINT";
    for columns in [
        "a ARRAY<STRUCT<x: INT NOT NULL>>",
        "s STRUCT<a: MAP<STRING, STRUCT<x: INT NOT NULL>>>",
    ] {
        assert_eq!(w.class(&format!("CREATE TABLE t ({columns})")).await, class);
        assert_eq!(
            w.class(&format!("CREATE OR REPLACE TABLE t ({columns})"))
                .await,
            class
        );
        assert!(!w.has("t"), "{columns}");
    }
    w.all(&[
        "SET spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled = true",
        "CREATE TABLE t (a ARRAY<STRUCT<x: INT NOT NULL>>, s STRUCT<y: INT NOT NULL>)",
        "RESET spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled",
        "INSERT INTO t VALUES (array(named_struct('x', CAST(NULL AS INT))), named_struct('y', 1))",
        "ALTER TABLE t ADD COLUMN b ARRAY<STRUCT<x: INT>>",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT a[0].x, s.y FROM t").await,
        json!([[null, 1]])
    );
    let refused = "INSERT INTO t VALUES (NULL, named_struct('y', CAST(NULL AS INT)), NULL)";
    assert!(w.class(refused).await.starts_with("DELTA_NOT_NULL"));
    // A table that another engine made so, and whose schema changes.
    let log = w.folder.path().join("t/_delta_log");
    let newest = std::fs::read_to_string(log.join("00000000000000000002.json")).unwrap();
    let made = newest.replace(
        r#"{\"name\":\"x\",\"type\":\"integer\",\"nullable\":true"#,
        r#"{\"name\":\"x\",\"type\":\"integer\",\"nullable\":false"#,
    );
    assert_ne!(made, newest);
    std::fs::write(log.join("00000000000000000003.json"), made).unwrap();
    assert_eq!(w.class("ALTER TABLE t ADD COLUMN c INT").await, class);
    w.ok("ALTER TABLE t SET TBLPROPERTIES ('k' = 'v')").await;
}

#[tokio::test]
async fn compacted_log_files_are_passed_over_where_the_session_says_so() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (2)",
    ])
    .await;
    // It sums the commits up wrongly, to tell whether it was read.
    let log = w.folder.path().join("t/_delta_log");
    let first = std::fs::read_to_string(log.join("00000000000000000001.json")).unwrap();
    let name = "00000000000000000001.00000000000000000002.compacted.json";
    std::fs::write(log.join(name), first).unwrap();
    let other = crate::helpers::open(w.folder.path());
    let count = "SELECT count(*) FROM t";
    let rows = |answer: deltaic_session::SqlResult| answer.to_json_pipe()["rows"].clone();
    assert_eq!(rows(crate::helpers::run(&other, count).await), json!([[1]]));
    let setting = "spark.databricks.delta.deltaLog.minorCompaction.useForReads";
    crate::helpers::run(&other, &format!("SET {setting} = false")).await;
    assert_eq!(rows(crate::helpers::run(&other, count).await), json!([[2]]));
    crate::helpers::run(&other, &format!("SET {setting} = true")).await;
    assert_eq!(rows(crate::helpers::run(&other, count).await), json!([[1]]));
}

#[tokio::test]
async fn a_file_of_another_machine_is_neither_read_nor_vacuumed() {
    let w = Warehouse::new();
    w.all(&["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"])
        .await;
    let folder = w.folder.path().join("t");
    let commit = folder.join("_delta_log/00000000000000000001.json");
    let text = std::fs::read_to_string(&commit).unwrap();
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.ends_with(".parquet"))
        .unwrap();
    let there = |host: &str| format!("file://{host}{}/{file}", folder.display());
    let put = |path: &str| {
        let _ = std::fs::remove_file(folder.join("_delta_log/00000000000000000001.crc"));
        std::fs::write(&commit, text.replace(&file, path)).unwrap();
    };
    put(&there("other"));
    let session = crate::helpers::open(w.folder.path());
    for sql in [
        "SELECT * FROM t",
        "DELETE FROM t WHERE id = 1",
        "VACUUM t",
        "VACUUM t DRY RUN",
        "FSCK REPAIR TABLE t",
        "INSERT OVERWRITE t REPLACE WHERE id = 1 VALUES (1)",
    ] {
        let Err(error) = session.sql(sql, deltaic_session::Parameters::None).await else {
            panic!("{sql}");
        };
        if !sql.starts_with("INSERT") {
            let expected = format!("Wrong FS: {}, expected: file:///", there("other"));
            assert_eq!(error.text(), expected, "{sql}");
        }
    }
    assert!(folder.join(&file).exists());
    assert!(
        w.class("CREATE TABLE u (id INT) LOCATION 'file://other/tmp/u'")
            .await
            == "none"
    );
    put(&there("localhost"));
    let session = crate::helpers::open(w.folder.path());
    let answer = crate::helpers::run(&session, "SELECT * FROM t").await;
    assert_eq!(answer.to_json_pipe()["rows"], json!([[1]]));
}

#[tokio::test]
async fn what_was_append_only_until_now_is_not_replaced() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT) TBLPROPERTIES (delta.appendOnly = true)",
        "INSERT INTO t VALUES (1), (2)",
    ])
    .await;
    for sql in [
        "CREATE OR REPLACE TABLE t (id INT)",
        "REPLACE TABLE t AS SELECT 9 AS id",
        "INSERT OVERWRITE t VALUES (3)",
        "RESTORE TABLE t TO VERSION AS OF 0",
    ] {
        assert_eq!(
            w.class(sql).await,
            "DELTA_CANNOT_MODIFY_APPEND_ONLY",
            "{sql}"
        );
    }
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[2]]));
    w.all(&[
        "ALTER TABLE t SET TBLPROPERTIES (delta.appendOnly = false)",
        "CREATE OR REPLACE TABLE t (id INT) TBLPROPERTIES (delta.appendOnly = true)",
    ])
    .await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
}

#[tokio::test]
async fn collations_that_are_not_known_are_refused() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (s STRING COLLATE UTF8_BINARY)",
        "INSERT INTO t VALUES ('a')",
    ])
    .await;
    for sql in [
        "CREATE TABLE u (s STRING COLLATE UNICODE_CI)",
        "ALTER TABLE t ADD COLUMN z STRING COLLATE UTF8_LCASE",
        "SELECT 'a' COLLATE UTF8_LCASE = 'A'",
        "DELETE FROM t WHERE s COLLATE UNICODE_CI = 'A'",
    ] {
        let error = w.fails(sql).await.to_string();
        assert!(error.contains("collation"), "{sql}: {error}");
    }
    assert!(!w.has("u"));
    assert_eq!(
        w.rows("SELECT s FROM t WHERE s COLLATE UTF8_BINARY = 'a'")
            .await,
        json!([["a"]])
    );
}

#[tokio::test]
async fn an_update_finds_the_fields_of_structs_by_name() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, s STRUCT<a: STRING, b: STRING>, n STRUCT<t: STRUCT<x: INT, y: BIGINT>>, l ARRAY<STRUCT<x: INT, y: INT>>)",
        "INSERT INTO t VALUES (1, named_struct('a', 'A', 'b', 'B'), named_struct('t', named_struct('x', 1, 'y', 2L)), array(named_struct('x', 1, 'y', 2)))",
        "UPDATE t SET s = named_struct('b', s.b, 'a', s.a)",
        "UPDATE t SET n.t = named_struct('Y', 4, 'X', 3), l = array(named_struct('y', 6, 'x', 5), NULL)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT s.a, s.b, n.t.x, n.t.y, l[0].x, l[0].y, l[1] FROM t")
            .await,
        json!([["A", "B", 3, 4, 5, 6, null]])
    );
    w.ok("UPDATE t SET s = NULL, n = named_struct('t', NULL)")
        .await;
    assert_eq!(
        w.rows("SELECT s IS NULL, n.t IS NULL FROM t").await,
        json!([[true, true]])
    );
    for value in [
        "named_struct('x', '1', 'y', '2')",
        "named_struct('a', '1')",
        "named_struct('a', '1', 'b', '2', 'c', '3')",
        "named_struct('a', '1', 'a', '2')",
    ] {
        assert_eq!(
            w.class(&format!("UPDATE t SET s = {value}")).await,
            "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION",
            "{value}"
        );
    }
}
