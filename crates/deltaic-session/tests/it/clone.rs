//! SHALLOW CLONE: reading and changing a clone, what it leaves alone, and what may not be cloned.

use serde_json::json;

use crate::helpers::Warehouse;

/// A partitioned table with a deletion vector, whose folder names are escaped.
async fn source() -> Warehouse {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE s (id BIGINT, name STRING, p STRING) PARTITIONED BY (p) \
         TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'x' = '1')",
        "INSERT INTO s VALUES (1,'a','x y'),(2,'b','x y'),(3,'c','a/b'),(4,'d',NULL),(5,'e','%25')",
        "DELETE FROM s WHERE id = 1",
    ])
    .await;
    w
}

#[tokio::test]
async fn a_clone_is_changed_and_vacuumed_without_its_source() {
    let w = source().await;
    let before = w.rows("SELECT * FROM s ORDER BY id").await;
    let sizes = w.rows("CREATE TABLE c SHALLOW CLONE s").await;
    assert_eq!(sizes[0][1], json!(4));
    assert_eq!(w.rows("SELECT * FROM c ORDER BY id").await, before);
    w.all(&[
        "DELETE FROM c WHERE id = 2",
        "UPDATE c SET name = 'new' WHERE id = 3",
        "INSERT INTO c VALUES (9, 'n', 'x y')",
        "CREATE TABLE c2 SHALLOW CLONE c",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        "VACUUM c RETAIN 0 HOURS",
        "VACUUM c2 RETAIN 0 HOURS",
    ])
    .await;
    let changed = json!([
        [3, "new", "a/b"],
        [4, "d", null],
        [5, "e", "%25"],
        [9, "n", "x y"]
    ]);
    for clone in ["c", "c2"] {
        let rows = w.rows(&format!("SELECT * FROM {clone} ORDER BY id")).await;
        assert_eq!(rows, changed);
    }
    assert_eq!(w.rows("SELECT * FROM s ORDER BY id").await, before);
    assert_eq!(
        w.rows("SELECT * FROM c VERSION AS OF 0 ORDER BY id").await,
        before
    );
    w.all(&["RESTORE TABLE c TO VERSION AS OF 0", "DROP TABLE c2"])
        .await;
    assert_eq!(w.rows("SELECT * FROM c ORDER BY id").await, before);
}

#[tokio::test]
async fn columns_with_physical_names_keep_them() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE s (a INT, p STRING) PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO s VALUES (1, 'x')",
        "ALTER TABLE s RENAME COLUMN a TO `b c`",
        "CREATE TABLE c SHALLOW CLONE s",
        "ALTER TABLE c RENAME COLUMN `b c` TO d",
        "INSERT INTO c VALUES (2, 'y')",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT d, p FROM c ORDER BY d").await,
        json!([[1, "x"], [2, "y"]])
    );
    assert_eq!(w.rows("SELECT `b c`, p FROM s").await, json!([[1, "x"]]));
}

#[tokio::test]
async fn a_clone_has_properties_of_its_own_and_a_place_of_its_own() {
    let w = source().await;
    let place = w.path("elsewhere/c");
    w.ok(&format!(
        "CREATE TABLE c SHALLOW CLONE s VERSION AS OF 1 TBLPROPERTIES ('x' = '2', 'y' = '3') LOCATION '{place}'"
    ))
    .await;
    assert!(w.has("elsewhere/c/_delta_log/00000000000000000000.json"));
    assert_eq!(
        w.rows("SHOW TBLPROPERTIES c ('x')").await,
        json!([["x", "2"]])
    );
    assert_eq!(
        w.rows("SHOW TBLPROPERTIES s ('x')").await,
        json!([["x", "1"]])
    );
    assert_eq!(w.rows("SELECT count(*) FROM c").await, json!([[5]]));
    let again = "CREATE TABLE IF NOT EXISTS c SHALLOW CLONE s";
    assert_eq!(w.rows(again).await, json!([]));
    let by_path = w.path("elsewhere/path");
    w.ok(&format!(
        "CREATE TABLE delta.`{by_path}` SHALLOW CLONE delta.`{place}`"
    ))
    .await;
    let count = format!("SELECT count(*) FROM delta.`{by_path}`");
    assert_eq!(w.rows(&count).await, json!([[5]]));
}

#[tokio::test]
async fn an_empty_table_is_replaced_by_a_clone_and_others_are_not() {
    let w = source().await;
    w.all(&[
        "CREATE TABLE e (other INT)",
        "CREATE OR REPLACE TABLE e SHALLOW CLONE s",
    ])
    .await;
    assert_eq!(w.rows("SELECT count(*) FROM e").await, json!([[4]]));
    for (sql, class) in [
        (
            "CREATE OR REPLACE TABLE e SHALLOW CLONE s",
            "DELTA_UNSUPPORTED_NON_EMPTY_CLONE",
        ),
        (
            "CREATE OR REPLACE TABLE s SHALLOW CLONE s",
            "DELTA_UNSUPPORTED_NON_EMPTY_CLONE",
        ),
        (
            "CREATE TABLE e SHALLOW CLONE s",
            "TABLE_OR_VIEW_ALREADY_EXISTS",
        ),
        (
            "REPLACE TABLE nothing SHALLOW CLONE s",
            "DELTA_CANNOT_REPLACE_MISSING_TABLE",
        ),
        (
            "CREATE TABLE z SHALLOW CLONE nothing",
            "TABLE_OR_VIEW_NOT_FOUND",
        ),
        (
            "CREATE TABLE z SHALLOW CLONE s VERSION AS OF 77",
            "DELTA_VERSION_NOT_FOUND",
        ),
        (
            "CREATE TABLE z SHALLOW CLONE s TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
            "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
        ),
    ] {
        assert_eq!(w.class(sql).await, class, "{sql}");
    }
    assert!(!w.has("z"), "a refused clone leaves nothing");
    assert_eq!(w.rows("SELECT count(*) FROM s").await, json!([[4]]));
}
