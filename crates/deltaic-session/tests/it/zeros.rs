//! The two zeros of floating-point numbers are one value wherever values are compared.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn lists_subqueries_and_distinct_counts_know_one_zero() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE d (id INT, x DOUBLE, y FLOAT)",
        "INSERT INTO d SELECT id, CAST(t AS DOUBLE), CAST(t AS FLOAT) FROM \
         VALUES (1, '0'), (2, '-0.0'), (3, 'NaN'), (4, '1.5'), (5, NULL) AS v(id, t)",
    ])
    .await;
    for column in ["x", "y"] {
        for zero in ["0.0", "-0.0"] {
            for list in [
                format!(
                    "{column} IN (CAST('{zero}' AS DOUBLE), 7D, 8D, 9D, CAST('NaN' AS DOUBLE))"
                ),
                format!("{column} IN (CAST('{zero}' AS FLOAT), CAST('NaN' AS FLOAT))"),
                format!(
                    "{column} IN (SELECT CAST(t AS DOUBLE) FROM VALUES ('{zero}'), ('NaN') AS v(t))"
                ),
                format!("NOT ({column} NOT IN ({zero}D, 7D, 8D, 9D, CAST('NaN' AS DOUBLE)))"),
            ] {
                assert_eq!(
                    w.rows(&format!("SELECT id FROM d WHERE {list} ORDER BY id"))
                        .await,
                    json!([[1], [2], [3]]),
                    "{list}"
                );
                assert_eq!(
                    w.rows(&format!("SELECT {list} FROM d ORDER BY id")).await,
                    json!([[true], [true], [true], [false], [null]]),
                    "{list}"
                );
            }
        }
        assert_eq!(
            w.rows(&format!(
                "SELECT count(DISTINCT {column}), count(DISTINCT id, {column}) FROM d"
            ))
            .await,
            json!([[3, 4]])
        );
    }
    // Files that hold the other zero are not skipped.
    assert_eq!(
        w.class("INSERT INTO d REPLACE WHERE x IN (-0.0D, 7D, 8D, 9D) VALUES (6, 0.5D, NULL)")
            .await,
        "DELTA_REPLACE_WHERE_MISMATCH"
    );
    w.ok("INSERT INTO d REPLACE WHERE x IN (-0.0D, 7D, 8D, 9D) VALUES (6, 0.0D, NULL)")
        .await;
    assert_eq!(
        w.rows("SELECT id FROM d ORDER BY id").await,
        json!([[3], [4], [5], [6]])
    );
    w.ok("DELETE FROM d WHERE x IN (-0.0D, 7D, 8D, 9D)").await;
    assert_eq!(
        w.rows("SELECT id FROM d ORDER BY id").await,
        json!([[3], [4], [5]])
    );
}
