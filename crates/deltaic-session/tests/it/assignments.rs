//! What settings and subqueries make of the values of INSERT and UPDATE, and changes through views.

use serde_json::json;

use crate::helpers::Warehouse;

const POLICY: &str = "SET spark.sql.storeAssignmentPolicy = ";

#[tokio::test]
async fn the_policy_says_what_becomes_of_a_value_of_another_type() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (i INT, s STRING, d DATE, b BOOLEAN)",
        "INSERT INTO t VALUES (0, 'z', NULL, NULL)",
    ])
    .await;
    let insert = |values: &str| format!("INSERT INTO t SELECT {values}");
    let update = |value: &str| format!("UPDATE t SET i = {value}");
    // ANSI: what does not fit is an error.
    for (statement, class) in [
        (insert("'x', 's', NULL, NULL"), "CAST_INVALID_INPUT"),
        (
            insert("5000000000, 's', NULL, NULL"),
            "CAST_OVERFLOW_IN_TABLE_INSERT",
        ),
        (update("5000000000"), "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"),
        (
            insert("DATE'2020-01-01', 's', NULL, NULL"),
            "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION",
        ),
    ] {
        let error = w.fails(&statement).await;
        let class_of = error.class().unwrap_or_default();
        assert!(
            class_of == class || class_of.starts_with("DATATYPE_MISMATCH.CAST_WITH"),
            "{statement}: {error}"
        );
    }
    // LEGACY: what is no value is NULL, what is too long is cut.
    w.ok(&format!("{POLICY}LEGACY")).await;
    w.ok(&insert("'x', 5, 'no date', 'no truth'")).await;
    w.ok(&insert("5000000000, true, '2020-02-03', 1")).await;
    w.ok(&insert("DATE'2020-01-01', DATE'2020-01-01', TIMESTAMP'2020-01-01 10:00:00', TIMESTAMP'1970-01-01 00:00:00'")).await;
    assert_eq!(
        w.rows("SELECT * FROM t WHERE s <> 'z' ORDER BY s").await,
        json!([
            [null, "2020-01-01", "2020-01-01", false],
            [null, "5", null, null],
            [705032704, "true", "2020-02-03", true]
        ])
    );
    w.ok("UPDATE t SET i = '12' WHERE s = '5'").await;
    w.ok("UPDATE t SET i = 'twelve' WHERE s = 'true'").await;
    assert_eq!(
        w.rows("SELECT s, i FROM t WHERE s IN ('5', 'true') ORDER BY s")
            .await,
        json!([["5", 12], ["true", null]])
    );
    // STRICT: only what loses nothing.
    w.ok(&format!("{POLICY}STRICT")).await;
    let rows = w.rows("SELECT * FROM t ORDER BY s").await;
    for statement in [
        insert("'1', 's', NULL, NULL"),
        insert("1L, 's', NULL, NULL"),
        insert("1.0, 's', NULL, NULL"),
        insert("1, 's', TIMESTAMP'2020-01-01 00:00:00', NULL"),
        insert("1, 's', NULL, 1"),
        update("1L"),
    ] {
        assert_eq!(
            w.class(&statement).await,
            "CANNOT_UP_CAST_DATATYPE",
            "{statement}"
        );
    }
    assert_eq!(w.rows("SELECT * FROM t ORDER BY s").await, rows);
    let error = w.fails(&update("1L")).await;
    assert_eq!(
        error.text(),
        "Cannot up cast 1 from \"BIGINT\" to \"INT\".\nThe type path of the target object is:\n\nYou can either add an explicit cast to \
         the input data or choose a higher precision type of the field in the target object"
    );
    w.ok(&insert("1S, 7, NULL, NULL")).await;
    w.ok(&update("CAST(3 AS TINYINT)")).await;
    w.all(&[
        "CREATE TABLE n (d DECIMAL(12, 2), f DOUBLE, l BIGINT)",
        "INSERT INTO n SELECT 1, 2.5F, 3",
    ])
    .await;
    assert_eq!(
        w.class("INSERT INTO n SELECT 1L, 2.5F, 3").await,
        "CANNOT_UP_CAST_DATATYPE"
    );
    assert_eq!(
        w.class(&format!("{POLICY}SOMETIMES")).await,
        "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS"
    );
}

#[tokio::test]
async fn update_may_follow_the_ansi_mode_of_the_session() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (i INT)",
        "INSERT INTO t VALUES (1)",
        "SET spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag = true",
    ])
    .await;
    assert_eq!(
        w.class("UPDATE t SET i = 5000000000").await,
        "CAST_OVERFLOW"
    );
    w.all(&[
        "SET spark.sql.ansi.enabled = false",
        "UPDATE t SET i = 5000000000",
    ])
    .await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[705032704]]));
}

#[tokio::test]
async fn a_subquery_of_many_rows_is_no_failure_of_a_task() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v INT)",
        "INSERT INTO t VALUES (1, 1)",
        "CREATE TABLE two (id INT)",
        "INSERT INTO two VALUES (1), (2)",
    ])
    .await;
    let class = "SCALAR_SUBQUERY_TOO_MANY_ROWS";
    for statement in [
        "UPDATE t SET v = (SELECT id FROM two)",
        "UPDATE t SET v = v + (SELECT id FROM two) WHERE id = 1",
        "UPDATE t SET v = 1 WHERE id = (SELECT id FROM two)",
        "DELETE FROM t WHERE id = (SELECT id FROM two)",
        "INSERT INTO t SELECT id, (SELECT id FROM two) FROM t",
        "INSERT OVERWRITE t SELECT 1, (SELECT id FROM two)",
        "CREATE TABLE n AS SELECT (SELECT id FROM two) AS id",
    ] {
        assert_eq!(w.class(statement).await, class, "{statement}");
    }
    // An error of a row is.
    assert_eq!(
        w.class("INSERT INTO t SELECT 1 / (id - id), 1 FROM two")
            .await,
        "TASK_WRITE_FAILED"
    );
    assert_eq!(
        w.class("INSERT INTO t VALUES (1, (SELECT max(id) FROM two))")
            .await,
        "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE"
    );
    w.ok("UPDATE t SET v = (SELECT max(id) FROM two)").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1, 2]]));
}

#[tokio::test]
async fn rows_are_changed_through_a_temporary_view_that_shows_a_table_as_it_is() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE SCHEMA other",
        "CREATE TABLE t (id INT, v STRING)",
        "INSERT INTO t SELECT id, 'old' FROM range(10)",
        "CREATE TEMP VIEW whole AS SELECT * FROM t",
        "CREATE TEMP VIEW aliased AS SELECT * FROM t AS x",
        "CREATE TEMP VIEW named AS SELECT id, v FROM t",
        "CREATE GLOBAL TEMP VIEW everywhere AS TABLE t",
        "CREATE GLOBAL TEMP VIEW g AS SELECT * FROM t",
        "USE other",
    ])
    .await;
    assert_eq!(
        w.rows("DELETE FROM whole WHERE whole.id = 1").await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("UPDATE aliased SET v = 'new' WHERE aliased.id = 2")
            .await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("UPDATE whole AS w SET w.v = 'newer' WHERE w.id = 3")
            .await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("DELETE FROM named WHERE id > (SELECT max(id) - 1 FROM named)")
            .await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("DELETE FROM global_temp.g WHERE id = 0").await,
        json!([[1]])
    );
    assert_eq!(
        w.rows("SELECT id FROM default.t WHERE v <> 'old' OR id < 4 ORDER BY id")
            .await,
        json!([[2], [3]])
    );
    w.ok("USE default").await;
    w.all(&[
        "CREATE TEMP VIEW filtered AS SELECT * FROM t WHERE id > 2",
        "CREATE TEMP VIEW fewer AS SELECT id FROM t",
        "CREATE TEMP VIEW turned AS SELECT v, id FROM t",
        "CREATE TEMP VIEW renamed (a, b) AS SELECT * FROM t",
        "CREATE TEMP VIEW limited AS SELECT * FROM t LIMIT 100",
        "CREATE TEMP VIEW distinct_rows AS SELECT DISTINCT * FROM t",
        "CREATE TEMP VIEW earlier AS SELECT * FROM t VERSION AS OF 1",
        "CREATE TEMP VIEW above AS SELECT * FROM whole",
        "CREATE TEMP VIEW within AS SELECT * FROM (SELECT * FROM t)",
        "CREATE TEMP VIEW joined AS SELECT x.* FROM t x JOIN t y ON x.id = y.id",
        "CREATE VIEW kept AS SELECT * FROM t",
    ])
    .await;
    let rows = w.rows("SELECT * FROM t ORDER BY id").await;
    for view in [
        "filtered",
        "fewer",
        "turned",
        "renamed",
        "limited",
        "distinct_rows",
        "earlier",
        "above",
        "within",
        "joined",
        "kept",
    ] {
        assert_eq!(
            w.class(&format!("DELETE FROM {view}")).await,
            "DELTA_UNSUPPORTED_SOURCE",
            "{view}"
        );
        let column = if view == "renamed" { "a" } else { "id" };
        let update = format!("UPDATE {view} SET {column} = 1");
        assert_eq!(w.class(&update).await, "DELTA_UNSUPPORTED_SOURCE", "{view}");
    }
    assert_eq!(w.rows("SELECT * FROM t ORDER BY id").await, rows);
    // The view shows the columns that the table had.
    w.ok("ALTER TABLE t ADD COLUMN w INT").await;
    assert_eq!(
        w.class("DELETE FROM whole").await,
        "DELTA_UNSUPPORTED_SOURCE"
    );
}
