//! DEFAULT values.

use serde_json::json;

use crate::helpers::Warehouse;

use super::WITH_DEFAULTS;

#[tokio::test]
async fn defaults_are_constants_that_their_columns_can_hold() {
    let w = Warehouse::new();
    let table = |columns: &str| format!("CREATE TABLE t (a INT, {columns}) {WITH_DEFAULTS}");
    let failed = "Failed to execute CREATE TABLE command because the destination column or variable `b` has a DEFAULT value";
    for (columns, class, rest) in [
        (
            "b INT DEFAULT a",
            "UNRESOLVED_EXPRESSION",
            "a, which fails to resolve as a valid expression.",
        ),
        (
            "b INT DEFAULT abs('x', 1, array(2) + 1)",
            "UNRESOLVED_EXPRESSION",
            "abs('x', 1, array(2) + 1), which fails to resolve as a valid expression.",
        ),
        (
            "b INT DEFAULT (SELECT min(x) FROM nowhere)",
            "SUBQUERY_EXPRESSION",
            "(SELECT min(x) FROM nowhere), which contains subquery expressions.",
        ),
        (
            "b BIGINT DEFAULT false",
            "DATA_TYPE",
            "false, which requires \"BIGINT\" type, but the statement provided a value of incompatible \"BOOLEAN\" type.",
        ),
        (
            "b TINYINT DEFAULT 128",
            "DATA_TYPE",
            "128, which requires \"TINYINT\" type, but the statement provided a value of incompatible \"INT\" type.",
        ),
        (
            "b DOUBLE DEFAULT rand()",
            "NON_DETERMINISTIC",
            "rand(), which contains a non-deterministic expression.",
        ),
        (
            "b BIGINT DEFAULT count(1)",
            "NOT_CONSTANT",
            "count(1), which is not a constant expression whose equivalent value is known at query planning time.",
        ),
    ] {
        assert_eq!(
            w.fails(&table(columns)).await.to_string(),
            format!("[INVALID_DEFAULT_VALUE.{class}] {failed} {rest} SQLSTATE: 42623")
        );
    }
    for (sql, class) in [
        (
            table("b INT DEFAULT 1 GENERATED ALWAYS AS (a)"),
            "GENERATED_COLUMN_WITH_DEFAULT_VALUE",
        ),
        (
            table("b BIGINT DEFAULT 1 GENERATED ALWAYS AS IDENTITY"),
            "IDENTITY_COLUMN_WITH_DEFAULT_VALUE",
        ),
        (
            table("b INT DEFAULT nothing_of_this_name(1)"),
            "UNRESOLVED_ROUTINE",
        ),
        (table("b DOUBLE DEFAULT 1 / 0"), "DIVIDE_BY_ZERO"),
        (
            table("b VARIANT DEFAULT parse_json('1')"),
            "DELTA_OPERATION_NOT_SUPPORTED_FOR_DATATYPES",
        ),
        (
            "CREATE TABLE IF NOT EXISTS t (b INT DEFAULT c)".to_owned(),
            "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION",
        ),
        (
            "CREATE TABLE t (b INT DEFAULT 1)".to_owned(),
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        ),
    ] {
        assert_eq!(w.class(&sql).await, class, "{sql}");
    }
    let replaced = "CREATE OR REPLACE TABLE t (b INT DEFAULT true)";
    assert!(w.fails(replaced).await.text().contains("REPLACE TABLE"));
    assert_eq!(w.rows("SHOW TABLES LIKE 't'").await, json!([]));
}

#[tokio::test]
async fn defaults_of_many_types_are_made_and_used() {
    let w = Warehouse::new();
    w.all(&[
        &format!(
            "CREATE TABLE t (a INT, b INT DEFAULT '5', c DATE DEFAULT '2020-01-01', d STRING DEFAULT 5, e TINYINT DEFAULT 5, \
             f DECIMAL(5,2) DEFAULT 123.45, g BIGINT DEFAULT CAST(NULL AS INT), h ARRAY<INT> DEFAULT array(1, 2), \
             i BOOLEAN DEFAULT (current_timestamp() > '2020-01-01'), j STRING DEFAULT true, k INT DEFAULT 2 * 21) {WITH_DEFAULTS}"
        ),
        "INSERT INTO t (a) VALUES (0)",
        "ALTER TABLE t ALTER COLUMN b SET DEFAULT 6 + 1",
        "INSERT INTO t (a) VALUES (1)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT * FROM t ORDER BY a").await,
        json!([
            [
                0,
                5,
                "2020-01-01",
                "5",
                5,
                "123.45",
                null,
                [1, 2],
                true,
                "true",
                42
            ],
            [
                1,
                7,
                "2020-01-01",
                "5",
                5,
                "123.45",
                null,
                [1, 2],
                true,
                "true",
                42
            ]
        ])
    );
}

#[tokio::test]
async fn defaults_of_columns_that_are_there_or_come_are_judged() {
    let w = Warehouse::new();
    w.ok(&format!(
        "CREATE TABLE t (a INT, b INT DEFAULT 1, g INT GENERATED ALWAYS AS (a)) {WITH_DEFAULTS}"
    ))
    .await;
    w.ok("CREATE TABLE plain (a INT)").await;
    for (sql, class) in [
        (
            "ALTER TABLE t ADD COLUMN c INT DEFAULT a",
            "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION",
        ),
        (
            "ALTER TABLE t ADD COLUMN c INT DEFAULT 5",
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED",
        ),
        (
            "ALTER TABLE t ALTER COLUMN b SET DEFAULT a",
            "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION",
        ),
        (
            "ALTER TABLE t ALTER COLUMN b SET DEFAULT (SELECT 1)",
            "INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION",
        ),
        (
            "ALTER TABLE t ALTER COLUMN b SET DEFAULT 'x'",
            "INVALID_DEFAULT_VALUE.DATA_TYPE",
        ),
        (
            "ALTER TABLE t ALTER COLUMN g SET DEFAULT 1",
            "GENERATED_COLUMN_WITH_DEFAULT_VALUE",
        ),
        (
            "ALTER TABLE t ALTER COLUMN nope SET DEFAULT 1",
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        ),
        (
            "ALTER TABLE t REPLACE COLUMNS (a INT, b INT DEFAULT a)",
            "INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION",
        ),
        (
            "ALTER TABLE plain REPLACE COLUMNS (a INT DEFAULT 1)",
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        ),
        (
            "ALTER TABLE plain ALTER COLUMN a SET DEFAULT 1",
            "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
        ),
    ] {
        assert_eq!(w.class(sql).await, class, "{sql}");
    }
    w.ok("INSERT INTO t (a) VALUES (3)").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[3, 1, 3]]));
    assert!(w.has("t/_delta_log/00000000000000000001.json"));
    assert!(!w.has("t/_delta_log/00000000000000000002.json"));
}
