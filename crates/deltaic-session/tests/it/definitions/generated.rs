//! Generated columns.

use serde_json::json;

use crate::helpers::Warehouse;

use super::texts;

#[tokio::test]
async fn generated_columns_follow_from_the_other_columns_of_their_row_alone() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE source (id INT)").await;
    let table = |columns: &str| format!("CREATE TABLE t (id INT, {columns})");
    let references = "[DELTA_INVALID_GENERATED_COLUMN_REFERENCES] A generated column cannot use a non-existent column or another \
                      generated column";
    texts(
        &w,
        &[
            (table("g INT GENERATED ALWAYS AS (nope + 1)"), references),
            (table("g INT GENERATED ALWAYS AS (g + 1)"), references),
            (
                table("g INT GENERATED ALWAYS AS (id + 1), h INT GENERATED ALWAYS AS (G)"),
                references,
            ),
            (
                table("g BIGINT GENERATED ALWAYS AS (id + max(id))"),
                "[DELTA_AGGREGATE_IN_GENERATED_COLUMN] Found max(id). A generated column cannot use an aggregate expression",
            ),
            (
                table("g DOUBLE GENERATED ALWAYS AS (id + rand())"),
                "[DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN] Found (CAST(id AS DOUBLE) + rand()). A generated \
                 column cannot use a non deterministic expression.",
            ),
            (
                table("g STRING GENERATED ALWAYS AS (upper(uuid()))"),
                "[DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN] Found upper(uuid()). A generated column cannot use a \
                 non deterministic expression.",
            ),
            (
                table("g INT GENERATED ALWAYS AS (year(current_date()))"),
                "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN] current_date() cannot be used in a generated column",
            ),
            (
                table("g BIGINT GENERATED ALWAYS AS (unix_timestamp())"),
                "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN] current_timestamp() cannot be used in a generated column",
            ),
            (
                table("g BOOLEAN GENERATED ALWAYS AS (id IN (SELECT id FROM source))"),
                "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN] (id IN (listquery())) cannot be used in a generated column",
            ),
            (
                table("d DATE, g DATE GENERATED ALWAYS AS (d + INTERVAL 1 DAY)"),
                "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN] d + INTERVAL '1' DAY cannot be used in a generated column",
            ),
            (
                table("g STRING GENERATED ALWAYS AS (concat('x', split_part('a-b', '-', id)))"),
                "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN] split_part('a-b', '-', id) cannot be used in a generated column",
            ),
            (
                table("g ARRAY<INT> GENERATED ALWAYS AS (transform(array(id), x -> x * 2))"),
                "[DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN] lambdafunction((namedlambdavariable() * 2), \
                 namedlambdavariable()) cannot be used in a generated column",
            ),
            (
                table("g BIGINT GENERATED ALWAYS AS (id * 2)"),
                "[DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH] The expression type of the generated column g is INT, but the \
                 column type is BIGINT",
            ),
            (
                table("g VARIANT GENERATED ALWAYS AS (parse_json('1'))"),
                "[DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN] VARIANT cannot be the result of a generated column",
            ),
        ],
    )
    .await;
    for (columns, class) in [
        (
            "g INT GENERATED ALWAYS AS (row_number() OVER (ORDER BY id))",
            "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
        ),
        (
            "g INT GENERATED ALWAYS AS (explode(array(id)))",
            "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
        ),
        (
            "g BIGINT GENERATED ALWAYS AS (monotonically_increasing_id())",
            "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN",
        ),
        (
            "g STRING GENERATED ALWAYS AS (input_file_name())",
            "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN",
        ),
        (
            "g INT GENERATED ALWAYS AS (nothing_of_this_name(id))",
            "UNRESOLVED_ROUTINE",
        ),
    ] {
        assert_eq!(w.class(&table(columns)).await, class, "{columns}");
    }
    assert_eq!(
        w.class("CREATE TABLE t (id INT, g INT GENERATED ALWAYS AS (id)) USING parquet")
            .await,
        "UNSUPPORTED_FEATURE.TABLE_OPERATION"
    );
    assert_eq!(w.rows("SHOW TABLES LIKE 't'").await, json!([]));
    w.ok(&table("g INT GENERATED ALWAYS AS (id * 2)")).await;
    let replaced = "CREATE OR REPLACE TABLE t (id INT, g INT GENERATED ALWAYS AS (rand()))";
    assert_eq!(
        w.class(replaced).await,
        "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN"
    );
    w.ok("INSERT INTO t (id) VALUES (4)").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[4, 8]]));
}

#[tokio::test]
async fn generated_columns_of_many_shapes_are_made_and_filled() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (ts TIMESTAMP, v STRING, s STRUCT<a: INT, b: ARRAY<INT>>, \
         d DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), y INT GENERATED ALWAYS AS (YEAR(ts)), \
         m TIMESTAMP GENERATED ALWAYS AS (date_trunc('MONTH', ts)), f STRING GENERATED ALWAYS AS (date_format(ts, 'yyyy-MM')), \
         x INT GENERATED ALWAYS AS (EXTRACT(DAY FROM ts)), p STRING GENERATED ALWAYS AS (substring(v, 1, 2) || upper(v)), \
         n INT GENERATED ALWAYS AS (-s.a * 2 + s.b[0]), c VARCHAR(9) GENERATED ALWAYS AS (CASE WHEN v LIKE 'a%' THEN 'A' ELSE trim(v) END), \
         k BOOLEAN GENERATED ALWAYS AS (s.a BETWEEN 1 AND 3), r STRUCT<z: INT> GENERATED ALWAYS AS (named_struct('z', s.a)))",
        "INSERT INTO t (ts, v, s) VALUES (TIMESTAMP '2026-05-17 10:00:00', 'abc', named_struct('a', 2, 'b', array(7)))",
    ])
    .await;
    w.all(&[
        "CREATE TABLE u (id BIGINT, d DATE, a DATE GENERATED ALWAYS AS (d + 1), b DATE GENERATED ALWAYS AS (date_sub(d, 1)), \
         c BIGINT GENERATED ALWAYS AS (nvl2(id, id % 3, -1)), e BOOLEAN GENERATED ALWAYS AS (id IN (1, 2) OR NOT (id <=> 5)), \
         f STRING GENERATED ALWAYS AS (concat_ws('-', lpad(CAST(id AS STRING), 3, '0'), md5('x'))), \
         g STRING GENERATED ALWAYS AS (TRIM(BOTH 'x' FROM 'xax')), h BIGINT GENERATED ALWAYS AS (CEIL(id / 2)), \
         i INT GENERATED ALWAYS AS (position('a' IN 'ba')), j BOOLEAN GENERATED ALWAYS AS (id IS DISTINCT FROM 5), \
         k BOOLEAN GENERATED ALWAYS AS ('ab' NOT LIKE ALL ('b%', 'c%') AND 'a' RLIKE 'a'), \
         l BIGINT GENERATED ALWAYS AS (greatest(id DIV 2, ~id & 3, +id - 2)), m INT GENERATED ALWAYS AS (date_part('YEAR', d)))",
        "INSERT INTO u (id, d) VALUES (7, DATE '2026-05-17')",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT a, b, c, e, substring(f, 1, 4), g, h, i, j, k, l, m FROM u")
            .await,
        json!([[
            "2026-05-18",
            "2026-05-16",
            1,
            true,
            "007-",
            "a",
            4,
            2,
            true,
            true,
            5,
            2026
        ]])
    );
    assert_eq!(
        w.rows("SELECT d, y, CAST(m AS DATE), f, x, p, n, c, k, r.z FROM t")
            .await,
        json!([[
            "2026-05-17",
            2026,
            "2026-05-01",
            "2026-05",
            17,
            "abABC",
            3,
            "A",
            true,
            2
        ]])
    );
}

#[tokio::test]
async fn what_a_generated_column_reads_keeps_its_name_and_type() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT, b INT, g INT GENERATED ALWAYS AS (a + 1)) TBLPROPERTIES \
         ('delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name')",
        "INSERT INTO t (a, b) VALUES (1, 2)",
        "CREATE TABLE s (a STRUCT<x: TINYINT, y: TINYINT>, g INT GENERATED ALWAYS AS (hash(a.x))) TBLPROPERTIES \
         ('delta.enableTypeWidening' = 'true')",
        "ALTER TABLE s ADD CONSTRAINT ck CHECK (hash(a.y) < 0 OR true)",
    ])
    .await;
    let dependent = "[DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE] Cannot alter column a because this column is referenced by \
                     the following generated column(s):\ng -> a + 1";
    texts(
        &w,
        &[
            ("ALTER TABLE t ALTER COLUMN a TYPE BIGINT".into(), dependent),
            ("ALTER TABLE t DROP COLUMN a".into(), dependent),
            ("ALTER TABLE t RENAME COLUMN a TO z".into(), dependent),
            (
                "ALTER TABLE s ALTER COLUMN a.x TYPE SMALLINT".into(),
                "[DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE] Cannot alter column a.x because this column is referenced by \
                 the following generated column(s):\ng -> hash(a.x)",
            ),
            (
                "ALTER TABLE s ALTER COLUMN a.y TYPE SMALLINT".into(),
                "[DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE] Cannot alter column a.y because this column is referenced by the \
                 following check constraint(s):\ndelta.constraints.ck -> hash ( a . y ) < 0 OR true",
            ),
            (
                "ALTER TABLE t ALTER COLUMN g TYPE BIGINT".into(),
                "[DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH] The expression type of the generated column g is INT, but the \
                 column type is BIGINT",
            ),
        ],
    )
    .await;
    w.all(&[
        "ALTER TABLE s DROP CONSTRAINT ck",
        "ALTER TABLE s ALTER COLUMN a.y TYPE SMALLINT",
        "ALTER TABLE t ALTER COLUMN b TYPE BIGINT",
        "ALTER TABLE t ADD COLUMN e INT",
        "INSERT INTO t (a, b) VALUES (5, 6)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT * FROM t ORDER BY a").await,
        json!([[1, 2, 2, null], [5, 6, 6, null]])
    );
}
