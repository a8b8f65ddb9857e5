//! CHAR and VARCHAR: in new columns, inside other types, and through changes of the table.

use serde_json::json;

use crate::helpers::Warehouse;

const TOO_LONG: &str = "EXCEED_LIMIT_LENGTH";

/// The type that the schema keeps for a column.
async fn declared(w: &Warehouse, table: &str, column: &str) -> String {
    let rows = w.rows(&format!("DESCRIBE {table}")).await;
    let row = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row[0] == column)
        .unwrap();
    row[1].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn lengths_inside_of_other_types_hold_on_every_way_in() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, a ARRAY<VARCHAR(3)>, m MAP<CHAR(2), VARCHAR(3)>, s STRUCT<x: VARCHAR(3), y: INT>)",
        "INSERT INTO t VALUES (1, array('abc', NULL), map('a', 'b'), named_struct('x', 'xyz', 'y', 1))",
        "INSERT INTO t VALUES (2, array('ab   '), NULL, NULL)",
    ])
    .await;
    assert_eq!(declared(&w, "t", "a").await, "array<varchar(3)>");
    assert_eq!(declared(&w, "t", "m").await, "map<char(2),varchar(3)>");
    assert_eq!(declared(&w, "t", "s").await, "struct<x:varchar(3),y:int>");
    let shown = w.rows("SHOW CREATE TABLE t").await.to_string();
    assert!(shown.contains("s STRUCT<x: VARCHAR(3), y: INT>"), "{shown}");
    for row in [
        "3, array('long'), NULL, NULL",
        "3, NULL, map('a', 'long'), NULL",
        "3, NULL, map('abc', 'a'), NULL",
        "3, NULL, NULL, named_struct('x', 'long', 'y', 1)",
    ] {
        assert_eq!(
            w.class(&format!("INSERT INTO t VALUES ({row})")).await,
            TOO_LONG
        );
        assert_eq!(
            w.class(&format!("INSERT INTO t SELECT {row}")).await,
            TOO_LONG
        );
    }
    // A row that is there is looked at by the task that writes it.
    for change in ["a = array('long')", "s.x = 'long'", "m = map('abc', 'x')"] {
        let error = w.fails(&format!("UPDATE t SET {change}")).await;
        assert_eq!(error.class(), Some("TASK_WRITE_FAILED"), "{change}");
        assert!(format!("{error:?}").contains(TOO_LONG), "{error:?}");
    }
    assert_eq!(
        w.rows("SELECT id, a, map_keys(m)[0] || '|', s.x FROM t ORDER BY id")
            .await,
        json!([[1, ["abc", null], "a |", "xyz"], [2, ["ab "], null, null]])
    );
}

#[tokio::test]
async fn new_columns_and_fields_keep_their_lengths() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, s STRUCT<a: INT>) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "ALTER TABLE t ADD COLUMNS (v VARCHAR(3), c CHAR(3), s.x VARCHAR(2))",
        "INSERT INTO t VALUES (1, named_struct('a', 1, 'x', 'ab'), 'abc', 'c')",
    ])
    .await;
    assert_eq!(declared(&w, "t", "v").await, "varchar(3)");
    assert_eq!(declared(&w, "t", "c").await, "char(3)");
    assert_eq!(declared(&w, "t", "s").await, "struct<a:int,x:varchar(2)>");
    for row in [
        "1, NULL, 'long', 'c'",
        "1, NULL, 'v', 'long'",
        "1, named_struct('a', 1, 'x', 'abc'), 'v', 'c'",
    ] {
        assert_eq!(
            w.class(&format!("INSERT INTO t VALUES ({row})")).await,
            TOO_LONG
        );
    }
    assert_eq!(
        w.rows("SELECT v, c || '|' FROM t").await,
        json!([["abc", "c  |"]])
    );
    // The lengths of a field follow its name, and go with it.
    w.ok("ALTER TABLE t RENAME COLUMN s.x TO z").await;
    assert_eq!(declared(&w, "t", "s").await, "struct<a:int,z:varchar(2)>");
    let row = "INSERT INTO t VALUES (2, named_struct('a', 1, 'z', 'abc'), 'v', 'c')";
    assert_eq!(w.class(row).await, TOO_LONG);
    w.ok("ALTER TABLE t DROP COLUMN s.z").await;
    assert_eq!(declared(&w, "t", "s").await, "struct<a:int>");
    w.ok("ALTER TABLE t RENAME COLUMN v TO w").await;
    assert_eq!(declared(&w, "t", "w").await, "varchar(3)");
}

#[tokio::test]
async fn a_length_may_grow_and_go_but_not_shrink_or_come() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (v VARCHAR(3), c CHAR(3), s STRING, n INT, d DOUBLE, e DECIMAL(5, 2), r STRUCT<x: VARCHAR(3)>)",
    ])
    .await;
    for change in [
        "v TYPE VARCHAR(2)",
        "v TYPE CHAR(5)",
        "c TYPE CHAR(4)",
        "c TYPE VARCHAR(2)",
        "s TYPE VARCHAR(9)",
        "n TYPE TINYINT",
        "d TYPE FLOAT",
        "d TYPE DECIMAL(10, 2)",
        "e TYPE DECIMAL(5, 1)",
        "n TYPE VARCHAR(3)",
        "r.x TYPE VARCHAR(1)",
    ] {
        let class = w
            .class(&format!("ALTER TABLE t ALTER COLUMN {change}"))
            .await;
        assert_eq!(class, "NOT_SUPPORTED_CHANGE_COLUMN", "{change}");
    }
    let error = w
        .fails("ALTER TABLE t ALTER COLUMN v TYPE VARCHAR(2)")
        .await;
    assert!(
        error
            .text()
            .contains("type \"VARCHAR(3)\" to `v` with type \"VARCHAR(2)\""),
        "{error}"
    );
    w.all(&[
        "ALTER TABLE t ALTER COLUMN v TYPE VARCHAR(5)",
        "ALTER TABLE t ALTER COLUMN c TYPE VARCHAR(3)",
        "ALTER TABLE t ALTER COLUMN r.x TYPE VARCHAR(4)",
        "INSERT INTO t VALUES ('12345', 'c', 's', 1, 1, 1, named_struct('x', 'abcd'))",
    ])
    .await;
    assert_eq!(declared(&w, "t", "v").await, "varchar(5)");
    assert_eq!(declared(&w, "t", "c").await, "varchar(3)");
    assert_eq!(declared(&w, "t", "r").await, "struct<x:varchar(4)>");
    assert_eq!(
        w.class("INSERT INTO t (v) VALUES ('123456')").await,
        TOO_LONG
    );
    w.ok("ALTER TABLE t ALTER COLUMN v TYPE STRING").await;
    w.ok("INSERT INTO t (v) VALUES ('1234567890')").await;
    assert_eq!(declared(&w, "t", "v").await, "string");
    assert_eq!(
        w.rows("SELECT v, c FROM t ORDER BY v").await,
        json!([["12345", "c"], ["1234567890", null]])
    );
}

#[tokio::test]
async fn statements_that_say_what_tables_cannot_do() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, s STRUCT<x: INT NOT NULL>, p STRING) PARTITIONED BY (p)",
        "CREATE TABLE plain (a INT, b INT)",
    ])
    .await;
    for (statement, class) in [
        (
            "INSERT INTO t VALUES (1, named_struct('x', NULL), 'a')",
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        ),
        (
            "INSERT INTO t PARTITION (p = 'y', p = 'z') SELECT 1, named_struct('x', 1)",
            "DUPLICATE_KEY",
        ),
        (
            "INSERT INTO plain BY NAME REPLACE WHERE a = 1 SELECT 1 AS a, 2 AS b",
            "PARSE_SYNTAX_ERROR",
        ),
        (
            "ALTER TABLE plain ADD CONSTRAINT k CHECK (a > 0) NOT ENFORCED",
            "UNSUPPORTED_CONSTRAINT_CHARACTERISTIC",
        ),
        (
            "TRUNCATE TABLE t PARTITION (p = 'a')",
            "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
        ),
        (
            "ALTER TABLE t RECOVER PARTITIONS",
            "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE",
        ),
        (
            "ALTER TABLE t SET LOCATION '/no/table/here'",
            "DELTA_MISSING_DELTA_TABLE",
        ),
    ] {
        assert_eq!(w.class(statement).await, class, "{statement}");
    }
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
}
