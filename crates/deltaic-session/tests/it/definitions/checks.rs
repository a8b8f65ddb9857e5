//! CHECK constraints.

use crate::helpers::Warehouse;

use super::texts;

#[tokio::test]
async fn a_constraint_that_no_write_could_keep_is_refused() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v STRING, d DATE)",
        "INSERT INTO t VALUES (1, 'a', DATE '2020-01-01')",
    ])
    .await;
    let add = |condition: &str| format!("ALTER TABLE t ADD CONSTRAINT Mine CHECK ({condition})");
    texts(
        &w,
        &[
            (
                add("id + 1"),
                "[DELTA_NON_BOOLEAN_CHECK_CONSTRAINT] CHECK constraint 'Mine' (id + 1) should be a boolean expression.",
            ),
            (
                add("id IN (SELECT id FROM t)"),
                "[DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT] Found (id IN (listquery())) in a CHECK constraint. (id IN \
                 (listquery())) cannot be used in a CHECK constraint.",
            ),
            (
                add("id < rand()"),
                "[DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT] Found (CAST(id AS DOUBLE) < rand()) in a CHECK \
                 constraint. A CHECK constraint cannot use a nondeterministic expression.",
            ),
        ],
    )
    .await;
    for (condition, class) in [
        ("nope > 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("t.id > 1", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("sum(id) > 1", "INVALID_WHERE_CONDITION"),
        (
            "(SELECT max(id) FROM t) > id",
            "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT",
        ),
    ] {
        assert_eq!(w.class(&add(condition)).await, class, "{condition}");
    }
    assert_eq!(
        w.class("ALTER TABLE t ADD CONSTRAINT __CHAR_VARCHAR_STRING_LENGTH_CHECK__ CHECK (true)")
            .await,
        "DELTA_INVALID_CONSTRAINT_NAME"
    );
    w.ok("ALTER TABLE t ADD CONSTRAINT past CHECK (d <= current_date() AND split_part(v, '-', 1) <> 'x')")
        .await;
    assert_eq!(
        w.class("INSERT INTO t VALUES (2, 'x-y', DATE '2020-01-01')")
            .await,
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    );
    w.ok("INSERT INTO t VALUES (2, 'y-x', DATE '2020-01-01')")
        .await;
    w.ok("SET spark.databricks.delta.checkConstraints.validation.enabled = ASSERT")
        .await;
    assert_eq!(
        w.class("ALTER TABLE t ADD CONSTRAINT more CHECK (split_part(v, '-', 1) <> 'z')")
            .await,
        "DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"
    );
    w.ok("ALTER TABLE t ADD CONSTRAINT more CHECK (NOT startswith(v, 'z') AND d < current_date() + INTERVAL 1 DAY)")
        .await;
}

#[tokio::test]
async fn constraints_among_the_properties_of_a_new_table_are_judged_too() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE other (id INT)").await;
    let table = |condition: &str| {
        format!("CREATE TABLE t (id INT) TBLPROPERTIES ('delta.constraints.mine' = '{condition}')")
    };
    texts(
        &w,
        &[
            (
                table("nope > 1"),
                "[DELTA_INVALID_CHECK_CONSTRAINT_REFERENCES] Found `nope` in CHECK constraint. A check constraint cannot use a \
                 non-existent column.",
            ),
            (
                table("id + 1"),
                "[DELTA_NON_BOOLEAN_CHECK_CONSTRAINT] CHECK constraint 'mine' ((id + 1)) should be a boolean expression.",
            ),
            (
                table("sum(id) > 1"),
                "[DELTA_AGGREGATE_IN_CHECK_CONSTRAINT] Found sum(id) in a CHECK constraint. Aggregate expressions are not allowed \
                 in CHECK constraints.",
            ),
            (
                table("EXISTS (SELECT 1 FROM other)"),
                "[DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT] Found exists() in a CHECK constraint. exists() cannot be used in \
                 a CHECK constraint.",
            ),
        ],
    )
    .await;
    w.ok(&table("id > 1")).await;
    assert_eq!(
        w.class("INSERT INTO t VALUES (1)").await,
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    );
}
