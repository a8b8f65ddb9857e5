//! Partition columns: texts that have no form in a log, and tables in which nothing else is left.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn an_empty_partition_text_is_null_to_constraints_too() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, p STRING NOT NULL) PARTITIONED BY (p)",
        "CREATE TABLE c (id INT, p STRING) PARTITIONED BY (p)",
        "ALTER TABLE c ADD CONSTRAINT short CHECK (length(p) < 3)",
        "INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO c VALUES (1, 'a')",
    ])
    .await;
    for sql in [
        "INSERT INTO t VALUES (2, '')",
        "UPDATE t SET p = ''",
        "INSERT INTO t REPLACE USING (id) SELECT 1 AS id, '' AS p",
    ] {
        let class = w.class(sql).await;
        assert_eq!(class, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "{sql}");
    }
    assert_eq!(
        w.class("INSERT INTO c VALUES (2, '')").await,
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    );
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1, "a"]]));
    assert_eq!(w.rows("SELECT * FROM c").await, json!([[1, "a"]]));
}

#[tokio::test]
async fn rows_of_partition_columns_alone_are_kept_by_what_cannot_write_them() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', \
         'delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b')",
        "ALTER TABLE t DROP COLUMN id",
    ])
    .await;
    for sql in [
        "ALTER TABLE t DROP FEATURE columnMapping",
        "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
        "INSERT INTO t VALUES ('c')",
        "UPDATE t SET p = 'c' WHERE p = 'a'",
    ] {
        let class = w.class(sql).await;
        assert_eq!(
            class, "DELTA_NON_PARTITION_COLUMN_ABSENT.ALL_PARTITION_COLUMNS",
            "{sql}"
        );
    }
    assert_eq!(
        w.rows("SELECT p FROM t ORDER BY p").await,
        json!([["a"], ["a"], ["b"]])
    );
    w.all(&[
        "DELETE FROM t WHERE p = 'b'",
        "ALTER TABLE t ADD COLUMNS (id INT)",
        "UPDATE t SET id = 7",
        "ALTER TABLE t DROP FEATURE columnMapping",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT p, id FROM t").await,
        json!([["a", 7], ["a", 7]])
    );
}
