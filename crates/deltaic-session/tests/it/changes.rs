//! `table_changes`: its arguments, its refusals, and what each statement leaves in the feed.

use deltaic_session::Parameters;
use serde_json::{Value, json};

use crate::helpers::Warehouse;

const FEED: &str = "'delta.enableChangeDataFeed' = 'true'";

/// A table (id, v) with the feed, with or without deletion vectors.
async fn table(w: &Warehouse, vectors: bool) {
    w.ok(&format!(
        "CREATE TABLE t (id BIGINT, v STRING) TBLPROPERTIES ({FEED}, 'delta.enableDeletionVectors' = '{vectors}')"
    ))
    .await;
}

/// The changes of some versions, as lines.
async fn changes(w: &Warehouse, start: i64, end: i64) -> Vec<String> {
    let rows = w
        .rows(&format!(
            "SELECT * FROM table_changes('t', {start}, {end}) ORDER BY _commit_version, id, v, _change_type"
        ))
        .await;
    let cell = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let cells = row.as_array().unwrap();
            // All but the time.
            let shown: Vec<String> = cells[..cells.len() - 1].iter().map(cell).collect();
            shown.join("|")
        })
        .collect()
}

#[tokio::test]
async fn every_statement_leaves_its_changes() {
    for vectors in [false, true] {
        let w = Warehouse::new();
        table(&w, vectors).await;
        w.all(&[
            "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
            "UPDATE t SET v = 'B' WHERE id = 2",
            "DELETE FROM t WHERE id = 1",
            "INSERT OVERWRITE t VALUES (4, 'd')",
            "RESTORE TABLE t TO VERSION AS OF 2",
            "TRUNCATE TABLE t",
            "CREATE OR REPLACE TABLE t TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') \
             AS SELECT 9L AS id, 'z' AS v",
        ])
        .await;
        assert_eq!(
            changes(&w, 0, 3).await,
            [
                "1|a|insert|1",
                "2|b|insert|1",
                "3|c|insert|1",
                "2|B|update_postimage|2",
                "2|b|update_preimage|2",
                "1|a|delete|3"
            ],
            "vectors {vectors}"
        );
        assert_eq!(
            changes(&w, 4, 4).await,
            ["2|B|delete|4", "3|c|delete|4", "4|d|insert|4"]
        );
        let back = changes(&w, 5, 5).await;
        for line in ["1|a|insert|5", "4|d|delete|5"] {
            assert!(back.contains(&line.to_owned()), "{back:?}");
        }
        assert_eq!(
            changes(&w, 6, 6).await,
            ["1|a|delete|6", "2|B|delete|6", "3|c|delete|6"]
        );
        assert_eq!(changes(&w, 7, 7).await, ["9|z|insert|7"]);
    }
}

#[tokio::test]
async fn a_restored_deletion_vector_brings_back_its_rows_alone() {
    let w = Warehouse::new();
    table(&w, true).await;
    w.all(&[
        "INSERT INTO t SELECT id, 'x' FROM range(0, 6, 1, 1)",
        "DELETE FROM t WHERE id IN (1, 2)",
        "DELETE FROM t WHERE id = 3",
        "RESTORE TABLE t TO VERSION AS OF 2",
        "RESTORE TABLE t TO VERSION AS OF 1",
    ])
    .await;
    assert_eq!(
        changes(&w, 2, 5).await,
        [
            "1|x|delete|2",
            "2|x|delete|2",
            "3|x|delete|3",
            "3|x|insert|4",
            "1|x|insert|5",
            "2|x|insert|5"
        ]
    );
}

#[tokio::test]
async fn an_overwrite_under_a_condition_tells_of_new_rows_too() {
    for vectors in [false, true] {
        let w = Warehouse::new();
        table(&w, vectors).await;
        w.all(&[
            "INSERT INTO t SELECT id, 'x' FROM range(0, 3, 1, 1)",
            "INSERT INTO t REPLACE WHERE id >= 2 VALUES (2, 'y'), (7, 'z')",
        ])
        .await;
        assert_eq!(
            changes(&w, 2, 2).await,
            ["2|x|delete|2", "2|y|insert|2", "7|z|insert|2"],
            "vectors {vectors}"
        );
    }
}

#[tokio::test]
async fn values_that_vary_are_the_same_in_table_and_feed() {
    for (vectors, condition) in [
        (false, "id > 3"),
        (false, "true"),
        (true, "id > 3"),
        (true, "true"),
    ] {
        let w = Warehouse::new();
        table(&w, vectors).await;
        w.all(&[
            "INSERT INTO t SELECT id, 'x' FROM range(0, 8, 1, 1)",
            &format!("UPDATE t SET v = uuid() WHERE {condition}"),
        ])
        .await;
        let table = w
            .rows("SELECT id, v FROM t WHERE v <> 'x' ORDER BY id")
            .await;
        let feed = w
            .rows(
                "SELECT id, v FROM table_changes('t', 2) WHERE _change_type = 'update_postimage' \
                 ORDER BY id",
            )
            .await;
        assert_eq!(table, feed, "vectors {vectors}, {condition}");
        assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[8]]));
    }
}

#[tokio::test]
async fn bounds_are_versions_or_times_and_constant() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t VALUES (2, 'b')",
    ])
    .await;
    let times = w
        .rows("SELECT DISTINCT CAST(_commit_timestamp AS STRING) FROM table_changes('t', 0) ORDER BY 1")
        .await;
    let at = |n: usize| times[n][0].as_str().unwrap().to_owned();
    for (bounds, expected) in [
        ("0".to_owned(), 2),
        ("1L, 1S".to_owned(), 1),
        ("CAST(2 AS TINYINT)".to_owned(), 1),
        ("1 + 1, 7".to_owned(), 1),
        ("'2001-01-01'".to_owned(), 2),
        ("DATE '2001-01-01'".to_owned(), 2),
        ("TIMESTAMP '2001-01-01 00:00:00', 1".to_owned(), 1),
        ("current_date() - INTERVAL 400 DAYS".to_owned(), 2),
        (format!("'{}'", at(1)), 1),
        (format!("'{}', '{}'", at(0), at(0)), 1),
        (format!("CAST('{}' AS TIMESTAMP)", at(1)), 1),
    ] {
        assert_eq!(
            w.rows(&format!(
                "SELECT count(*) FROM table_changes('t', {bounds})"
            ))
            .await,
            json!([[expected]]),
            "{bounds}"
        );
    }
    for (call, class) in [
        ("'t', 3", "DELTA_CDC_START_VERSION_AFTER_LATEST"),
        ("'t', 2, 1", "DELTA_INVALID_CDC_RANGE"),
        ("'t', -1", "DELTA_VERSION_NOT_FOUND"),
        ("'t', '2999-01-01'", "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"),
        (
            "'t', 0, '2999-01-01'",
            "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
        ),
        (
            "'t', 0, '2001-01-01'",
            "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
        ),
        ("'t', 'soon'", "DELTA_TIMESTAMP_INVALID"),
        ("'t', NULL", "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"),
        (
            "'t', 0, CAST(NULL AS INT)",
            "DELTA_CDC_READ_NULL_RANGE_BOUNDARY",
        ),
        ("'t', 1.5", "DELTA_UNSUPPORTED_EXPRESSION"),
        ("'t', true", "DELTA_UNSUPPORTED_EXPRESSION"),
        ("7, 0", "DELTA_UNSUPPORTED_EXPRESSION"),
        ("concat('t', ''), 0", "DELTA_UNSUPPORTED_EXPRESSION"),
        ("'t', rand()", "DELTA_CDC_NON_CONSTANT_ARGUMENT"),
        (
            "'t', 0, (SELECT max(id) FROM t)",
            "DELTA_CDC_NON_CONSTANT_ARGUMENT",
        ),
        ("'t'", "INCORRECT_NUMBER_OF_ARGUMENTS"),
        ("'t', 0, 1, 2", "INCORRECT_NUMBER_OF_ARGUMENTS"),
        ("", "INCORRECT_NUMBER_OF_ARGUMENTS"),
        ("'missing', 0", "TABLE_OR_VIEW_NOT_FOUND"),
        ("'`t@v1`', 0", "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"),
    ] {
        let sql = format!("SELECT * FROM table_changes({call})");
        assert_eq!(w.class(&sql).await, class, "{call}");
    }
}

#[tokio::test]
async fn times_behind_the_last_commit_are_allowed_where_the_session_says_so() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t VALUES (1, 'a')",
        "SET spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled = true",
    ])
    .await;
    for (bounds, expected) in [("'2999-01-01'", 0), ("7", 0), ("0, '2999-01-01'", 1)] {
        assert_eq!(
            w.rows(&format!(
                "SELECT count(*) FROM table_changes('t', {bounds})"
            ))
            .await,
            json!([[expected]]),
            "{bounds}"
        );
    }
}

#[tokio::test]
async fn times_are_those_of_the_history() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t VALUES (2, 'b')",
        "DELETE FROM t WHERE id = 1",
    ])
    .await;
    let history = w.rows("DESCRIBE HISTORY t").await;
    let told: Vec<Value> = history
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .skip(1)
        .map(|row| json!([row[0], row[1]]))
        .collect();
    let feed = w
        .rows("SELECT _commit_version, _commit_timestamp FROM table_changes('t', 0) ORDER BY 1")
        .await;
    assert_eq!(feed, Value::Array(told));
}

#[tokio::test]
async fn parameters_reach_the_arguments() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.ok("INSERT INTO t VALUES (1, 'a')").await;
    let given = Parameters::from_json(&json!({"name": "t", "start": 1})).unwrap();
    let sql = "SELECT id FROM table_changes(:name, :start)";
    let answer = w.session.sql(sql, given).await.unwrap();
    assert_eq!(answer.to_json_pipe()["rows"], json!([[1]]));
}

#[tokio::test]
async fn a_start_behind_the_retention_of_removed_files_is_refused() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t VALUES (1, 'a')",
        "ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')",
        "INSERT INTO t VALUES (2, 'b')",
    ])
    .await;
    let class = "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION";
    assert_eq!(w.class("SELECT * FROM table_changes('t', 1)").await, class);
    assert_eq!(changes(&w, 3, 3).await, ["2|b|insert|3"]);
    w.ok(
        "SET spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration = false",
    )
    .await;
    assert_eq!(changes(&w, 1, 3).await.len(), 2);
}

#[tokio::test]
async fn only_delta_tables_have_changes() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t VALUES (1, 'a')",
        "CREATE TABLE p (id INT) USING parquet",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE VIEW vv AS SELECT * FROM v",
    ])
    .await;
    for (name, shown) in [
        ("p", "`spark_catalog`.`default`.`p`"),
        ("v", "`spark_catalog`.`default`.`t`"),
        ("vv", "`spark_catalog`.`default`.`t`"),
    ] {
        let error = w
            .fails(&format!("SELECT * FROM table_changes('{name}', 0)"))
            .await;
        assert_eq!(error.class(), Some("DELTA_TABLE_ONLY_OPERATION"));
        assert!(error.text().contains(shown), "{error}");
    }
    let path = w.path("t");
    let by_path = format!("SELECT id, _change_type FROM Table_Changes_By_Path('{path}', 0)");
    assert_eq!(w.rows(&by_path).await, json!([[1, "insert"]]));
    let by_name = format!("SELECT id FROM table_changes('delta.`{path}`', 0)");
    assert_eq!(w.rows(&by_name).await, json!([[1]]));
    let nowhere = format!("SELECT * FROM table_changes_by_path('{path}x', 0)");
    assert_eq!(w.class(&nowhere).await, "PATH_NOT_FOUND");
    assert_eq!(
        w.class("SELECT * FROM other_changes('t', 0)").await,
        "UNRESOLVABLE_TABLE_VALUED_FUNCTION"
    );
}

#[tokio::test]
async fn a_view_over_changes_means_the_table_of_its_own_schema() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t VALUES (1, 'default')",
        "CREATE SCHEMA s",
        "USE s",
        &format!("CREATE TABLE t (id BIGINT, v STRING) TBLPROPERTIES ({FEED})"),
        "INSERT INTO t VALUES (2, 's')",
        "CREATE VIEW c AS SELECT v, _change_type FROM table_changes('t', 0)",
        "USE default",
    ])
    .await;
    assert_eq!(w.rows("SELECT * FROM s.c").await, json!([["s", "insert"]]));
    assert_eq!(
        w.rows("SELECT a.v, b.v FROM s.c a CROSS JOIN table_changes('t', 0) b")
            .await,
        json!([["s", "default"]])
    );
}

#[tokio::test]
async fn added_columns_are_null_in_older_changes_and_other_changes_of_the_schema_are_refused() {
    let w = Warehouse::new();
    w.all(&[
        &format!(
            "CREATE TABLE t (id BIGINT, v STRING) TBLPROPERTIES ({FEED}, 'delta.columnMapping.mode' = 'name')"
        ),
        "INSERT INTO t VALUES (1, 'a')",
        "ALTER TABLE t ADD COLUMN n INT",
        "INSERT INTO t VALUES (2, 'b', 5)",
        "ALTER TABLE t RENAME COLUMN v TO w",
        "INSERT INTO t VALUES (3, 'c', 6)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT id, v, n, _commit_version FROM table_changes('t', 0, 3) ORDER BY id")
            .await,
        json!([[1, "a", null, 1], [2, "b", 5, 3]])
    );
    assert_eq!(
        w.rows("SELECT id, w, n FROM table_changes('t', 4) ORDER BY id")
            .await,
        json!([[3, "c", 6]])
    );
    let across = w.fails("SELECT * FROM table_changes('t', 3, 5)").await;
    assert_eq!(
        across.class(),
        Some("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA")
    );
    w.ok(
        "SET spark.databricks.delta.changeDataFeed.defaultSchemaModeForColumnMappingTable = latest",
    )
    .await;
    assert_eq!(
        w.class("SELECT * FROM table_changes('t', 0, 3)").await,
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"
    );
    w.ok(
        "SET spark.databricks.delta.changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled = true",
    )
    .await;
    assert_eq!(
        w.rows("SELECT id, w FROM table_changes('t', 0) ORDER BY id")
            .await,
        json!([[1, "a"], [2, "b"], [3, "c"]])
    );
}

#[tokio::test]
async fn names_of_the_feed_are_reserved_and_a_refusal_leaves_nothing() {
    let w = Warehouse::new();
    table(&w, false).await;
    let create = format!("CREATE TABLE z (_change_type INT) TBLPROPERTIES ({FEED})");
    let with_rows =
        format!("CREATE TABLE z TBLPROPERTIES ({FEED}) AS SELECT 1 AS _commit_timestamp");
    for sql in [create, with_rows] {
        assert_eq!(
            w.class(&sql).await,
            "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
        );
        assert!(!w.has("z/part-00000"));
        let left: Vec<_> = std::fs::read_dir(w.folder.path().join("z"))
            .map(|dir| dir.flatten().map(|e| e.file_name()).collect())
            .unwrap_or_default();
        assert!(
            left.iter()
                .all(|name| !name.to_string_lossy().ends_with(".parquet")),
            "{left:?}"
        );
    }
    assert_eq!(
        w.class("ALTER TABLE t ADD COLUMN _Commit_Version INT")
            .await,
        "RESERVED_CDC_COLUMNS_ON_WRITE"
    );
    w.ok("CREATE TABLE o (_commit_version INT)").await;
    assert_eq!(
        w.class(&format!("ALTER TABLE o SET TBLPROPERTIES ({FEED})"))
            .await,
        "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"
    );
}

#[tokio::test]
async fn vacuum_takes_files_of_changes_with_the_others() {
    let w = Warehouse::new();
    table(&w, false).await;
    w.all(&[
        "INSERT INTO t SELECT id, 'x' FROM range(0, 4, 1, 1)",
        "UPDATE t SET v = 'y' WHERE id = 1",
        "VACUUM t",
    ])
    .await;
    assert_eq!(changes(&w, 2, 2).await.len(), 2, "young files stay");
    w.all(&[
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        "VACUUM t RETAIN 0 HOURS",
    ])
    .await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[4]]));
    assert_eq!(
        w.class("SELECT * FROM table_changes('t', 2, 2)").await,
        "FAILED_READ_FILE.FILE_NOT_EXIST"
    );
}

#[tokio::test]
async fn rows_that_a_restore_takes_away_fit_the_schema_or_are_refused() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id BIGINT, q TINYINT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableTypeWidening' = 'true')",
        "INSERT INTO t VALUES (1, 1)",
        "ALTER TABLE t ALTER COLUMN q TYPE SMALLINT",
        "INSERT INTO t VALUES (2, 30000)",
        "RESTORE TABLE t TO VERSION AS OF 1",
    ])
    .await;
    for start in [3, 4] {
        assert_eq!(
            w.class(&format!("SELECT * FROM table_changes('t', {start}, 4)"))
                .await,
            "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA",
            "{start}"
        );
    }
    w.all(&[
        "CREATE TABLE m (id INT, v STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true')",
        "INSERT INTO m VALUES (1, 'a')",
        "ALTER TABLE m DROP FEATURE columnMapping",
        "INSERT INTO m VALUES (2, 'b')",
        "RESTORE TABLE m TO VERSION AS OF 1",
    ])
    .await;
    let newest = w.rows("DESCRIBE HISTORY m LIMIT 1").await[0][0].clone();
    assert_eq!(
        w.class(&format!("SELECT * FROM table_changes('m', {newest})"))
            .await,
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"
    );
}
