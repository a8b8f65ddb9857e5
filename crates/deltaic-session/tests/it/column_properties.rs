//! Properties that speak of columns and of other formats: what is refused, and how they follow a change of columns.

use serde_json::json;

use crate::helpers::Warehouse;

const STATS: &str = "delta.dataSkippingStatsColumns";

async fn listed(w: &Warehouse, table: &str) -> String {
    let rows = w
        .rows(&format!("SHOW TBLPROPERTIES {table} ('{STATS}')"))
        .await;
    rows[0][1].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn columns_that_cannot_have_statistics_are_refused_wherever_they_are_named() {
    let w = Warehouse::new();
    let columns = "(id INT, p INT, b BINARY, flag BOOLEAN, a ARRAY<INT>, s STRUCT<x: INT, y: BINARY>) PARTITIONED BY (p)";
    w.ok(&format!("CREATE TABLE t {columns}")).await;
    for (list, class, text) in [
        (
            "nothing",
            "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            "Couldn't find column nothing in:",
        ),
        (
            "s.nothing",
            "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            "Couldn't find column s.nothing in:",
        ),
        (
            "id.x",
            "DELTA_COLUMN_PATH_NOT_NESTED",
            "Expected id to be a nested data type, but found IntegerType.",
        ),
        (
            "id,P",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
            "Data skipping is not supported for partition column 'P'.",
        ),
        (
            "b",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
            "column 'b' of type BinaryType.",
        ),
        (
            "flag",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
            "column 'flag' of type BooleanType.",
        ),
        (
            "a",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
            "column 'a' of type ArrayType(IntegerType,true).",
        ),
        (
            "s.y",
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
            "column 's.y' of type BinaryType.",
        ),
        (
            "id, id",
            "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
            "Duplicated data skipping columns found: id.",
        ),
    ] {
        let named = format!("('{STATS}' = '{list}')");
        for statement in [
            format!("ALTER TABLE t SET TBLPROPERTIES {named}"),
            format!("CREATE TABLE u {columns} TBLPROPERTIES {named}"),
            format!("CREATE TABLE u PARTITIONED BY (p) TBLPROPERTIES {named} AS SELECT * FROM t"),
            format!("CREATE OR REPLACE TABLE t {columns} TBLPROPERTIES {named}"),
        ] {
            let error = w.fails(&statement).await;
            assert_eq!(error.class(), Some(class), "{statement}");
            assert!(error.text().contains(text), "{statement}: {error}");
        }
    }
    let error = w
        .fails(&format!(
            "ALTER TABLE t SET TBLPROPERTIES ('{STATS}' = 'a b')"
        ))
        .await;
    assert_eq!(error.class(), None);
    assert!(
        error
            .text()
            .contains("comma-separated list of case-insensitive column"),
        "{error}"
    );
    assert_eq!(w.ok("DESCRIBE HISTORY t").await.row_count(), 1);
    assert!(!w.has("u/_delta_log"));
    // A struct that is named as a whole may hold what has no bounds.
    w.ok(&format!(
        "ALTER TABLE t SET TBLPROPERTIES ('{STATS}' = 's, ID')"
    ))
    .await;
    assert_eq!(listed(&w, "t").await, "s, ID");
}

#[tokio::test]
async fn the_list_of_columns_with_statistics_follows_the_names_of_the_columns() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v INT, s STRUCT<x: INT, y: INT>) TBLPROPERTIES \
         ('delta.columnMapping.mode' = 'name', 'delta.dataSkippingStatsColumns' = 'ID, s.x, v')",
        "INSERT INTO t VALUES (1, 2, named_struct('x', 3, 'y', 4))",
        "ALTER TABLE t RENAME COLUMN id TO `the key`",
        "ALTER TABLE t RENAME COLUMN s TO r",
        "ALTER TABLE t RENAME COLUMN r.x TO z",
    ])
    .await;
    assert_eq!(listed(&w, "t").await, "`the key`,r.z,v");
    w.all(&[
        "ALTER TABLE t DROP COLUMN v",
        "INSERT INTO t VALUES (5, named_struct('z', 6, 'y', 7))",
    ])
    .await;
    assert_eq!(listed(&w, "t").await, "`the key`,r.z");
    let stats = w
        .rows("SELECT count(*) FROM t WHERE `the key` = 5 AND r.z = 6")
        .await;
    assert_eq!(stats, json!([[1]]));
    w.all(&[
        "ALTER TABLE t DROP COLUMNS (r)",
        "ALTER TABLE t ADD COLUMN w INT",
    ])
    .await;
    assert_eq!(listed(&w, "t").await, "`the key`");
}

#[tokio::test]
async fn a_table_in_another_format_too_is_refused() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "CREATE TABLE v (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "CREATE TABLE small (id SMALLINT)",
    ])
    .await;
    let violation = "DELTA_UNIVERSAL_FORMAT_VIOLATION";
    let set = |table: &str, formats: &str| {
        format!(
            "ALTER TABLE {table} SET TBLPROPERTIES ('delta.universalFormat.enabledFormats' = '{formats}')"
        )
    };
    for (statement, text) in [
        (set("t", "iceberg"), "(iceberg) has failed: Requires IcebergCompat to be explicitly enabled"),
        (set("v", "hudi"), "(hudi) has failed: Requires delete vectors to be disabled."),
        (set("small", "hudi"), "(hudi) has failed: DataType: ShortType is not currently supported."),
        (
            "CREATE TABLE n (id INT) TBLPROPERTIES ('delta.universalFormat.enabledFormats' = 'iceberg')".to_owned(),
            "Requires IcebergCompat",
        ),
        (
            "CREATE TABLE n TBLPROPERTIES ('delta.universalFormat.enabledFormats' = 'iceberg') AS SELECT 1 AS id".to_owned(),
            "Requires IcebergCompat",
        ),
    ] {
        let error = w.fails(&statement).await;
        assert_eq!(error.class(), Some(violation), "{statement}");
        assert!(error.text().contains(text), "{statement}: {error}");
    }
    let error = w.fails(&set("t", "hudi")).await;
    assert!(error.text().contains("is not supported yet"), "{error}");
    let error = w.fails(&set("t", "paimon")).await;
    assert!(
        error.text().contains("from the list: {hudi,iceberg}"),
        "{error}"
    );
    for version in 1..=3 {
        let property = format!("('delta.enableIcebergCompatV{version}' = 'true')");
        let class = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE";
        assert_eq!(
            w.class(&format!("ALTER TABLE t SET TBLPROPERTIES {property}"))
                .await,
            class
        );
        assert_eq!(
            w.class(&format!("CREATE TABLE n (id INT) TBLPROPERTIES {property}"))
                .await,
            class
        );
    }
    for table in ["t", "v", "small"] {
        assert_eq!(
            w.ok(&format!("DESCRIBE HISTORY {table}")).await.row_count(),
            1
        );
    }
    w.all(&[&set("t", ""), "INSERT INTO t VALUES (1)"]).await;
}
