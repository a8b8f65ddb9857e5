//! Errors: class and text of what a user meets.

use super::support::Host;

async fn check(cases: &[(&str, &str)]) {
    let h = Host::with_tables().await;
    for (sql, want) in cases {
        assert_eq!(h.error(sql).await, *want, "{sql}");
    }
}

#[tokio::test]
async fn names_that_nothing_has() {
    check(&[
        ("SELECT nothing FROM t", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nothing` cannot be resolved. Did you mean one of the following? [`id`, `n`, `v`]. SQLSTATE: 42703"),
        ("SELECT t.nothing FROM t", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `t`.`nothing` cannot be resolved. Did you mean one of the following? [`t`.`id`, `t`.`n`, `t`.`v`]. SQLSTATE: 42703"),
        ("SELECT nothing", "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A column, variable, or function parameter with name `nothing` cannot be resolved.  SQLSTATE: 42703"),
        ("SELECT no_function(1)", "[UNRESOLVED_ROUTINE] Cannot resolve routine `no_function` on search path [`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]. SQLSTATE: 42883"),
        ("SELECT id FROM t JOIN u ON t.id = u.id", "[AMBIGUOUS_REFERENCE] Reference `id` is ambiguous, could be: [`spark_catalog`.`default`.`t`.`id`, `spark_catalog`.`default`.`u`.`id`]. SQLSTATE: 42704"),
        ("SELECT st.zz FROM s", "[FIELD_NOT_FOUND] No such struct field `zz` in `a`, `b`. SQLSTATE: 42704"),
        ("SELECT :a", "[UNBOUND_SQL_PARAMETER] Found the unbound parameter: a. Please, fix `args` and provide a mapping of the parameter to either a SQL literal or collection constructor functions such as `map()`, `array()`, `struct()`. SQLSTATE: 42P02"),
    ])
    .await;
}

#[tokio::test]
async fn values_that_fail_at_run_time() {
    check(&[
        ("SELECT 1/0", "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error. SQLSTATE: 22012"),
        ("SELECT CAST('x' AS INT)", "[CAST_INVALID_INPUT] The value 'x' of the type \"STRING\" cannot be cast to \"INT\" because it is malformed. Correct the value as per the syntax, or change its target type. Use `try_cast` to tolerate malformed input and return NULL instead. SQLSTATE: 22018"),
        ("SELECT CAST(3000000000 AS INT)", "[CAST_OVERFLOW] The value 3000000000L of the type \"BIGINT\" cannot be cast to \"INT\" due to an overflow. Use `try_cast` to tolerate overflow and return NULL instead. SQLSTATE: 22003"),
        ("SELECT 2147483647 + 1", "[ARITHMETIC_OVERFLOW] integer overflow. Use 'try_add' to tolerate overflow and return NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error. SQLSTATE: 22003"),
        ("SELECT CAST('123.456' AS DECIMAL(4,2))", "[NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION]  123.456 cannot be represented as Decimal(4, 2). If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and return NULL instead. SQLSTATE: 22003"),
        ("SELECT array(1, 2)[5]", "[INVALID_ARRAY_INDEX] The index 5 is out of bounds. The array has 2 elements. Use the SQL function `get()` to tolerate accessing element at invalid index and return NULL instead. SQLSTATE: 22003"),
        ("SELECT sum(x) FROM VALUES (9223372036854775807L), (1L) AS v(x)", "[ARITHMETIC_OVERFLOW] long overflow. Use 'try_sum' to tolerate overflow and return NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error. SQLSTATE: 22003"),
    ])
    .await;
    let h = Host::with_tables().await;
    assert!(
        h.error("SELECT id FROM t WHERE id = (SELECT id FROM u)")
            .await
            .starts_with("[SCALAR_SUBQUERY_TOO_MANY_ROWS]")
    );
    assert!(
        h.error("SELECT CAST('2026-13-01' AS DATE)")
            .await
            .starts_with("[CAST_INVALID_INPUT] The value '2026-13-01'")
    );
}

#[tokio::test]
async fn types_that_do_not_meet() {
    check(&[
        ("SELECT upper(array(1))", "[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] Cannot resolve \"upper(array(1))\" due to data type mismatch: The first parameter requires the \"STRING\" type, however \"array(1)\" has the type \"ARRAY<INT>\". SQLSTATE: 42K09"),
        ("SELECT CAST(1 AS DATE)", "[DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION] Cannot resolve \"CAST(1 AS DATE)\" due to data type mismatch: cannot cast \"INT\" to \"DATE\".\nTo convert values from \"INT\" to \"DATE\", you can use the functions `DATE_FROM_UNIX_DATE` instead. SQLSTATE: 42K09"),
        ("SELECT true + 1", "[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve \"(true + 1)\" due to data type mismatch: the left and right operands of the binary operator have incompatible types (\"BOOLEAN\" and \"INT\"). SQLSTATE: 42K09"),
        ("SELECT id FROM t WHERE id", "[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN] Cannot resolve \"id\" due to data type mismatch: Filter expression \"id\" of type \"BIGINT\" is not a boolean. SQLSTATE: 42K09"),
        ("SELECT upper('a', 'b')", "[WRONG_NUM_ARGS.WITHOUT_SUGGESTION] The `upper` requires 1 parameters but the actual number is 2. Please, refer to 'https://spark.apache.org/docs/latest/sql-ref-functions.html' for a fix. SQLSTATE: 42605"),
    ])
    .await;
}

#[tokio::test]
async fn clauses_that_do_not_fit() {
    check(&[
        ("SELECT id, count(*) FROM t", "[MISSING_GROUP_BY] The query does not include a GROUP BY clause. Add GROUP BY or turn it into the window functions using OVER clauses. SQLSTATE: 42803"),
        ("SELECT id, count(*) FROM t GROUP BY v", "[MISSING_AGGREGATION] The non-aggregating expression \"id\" is based on columns which are not participating in the GROUP BY clause.\nAdd the columns or the expression to the GROUP BY, aggregate the expression, or use \"any_value(id)\" if you do not care which of the values within a group is returned. SQLSTATE: 42803"),
        ("SELECT v FROM t GROUP BY 3", "[GROUP_BY_POS_OUT_OF_RANGE] GROUP BY position 3 is not in select list (valid range is [1, 1]). SQLSTATE: 42805"),
        ("SELECT v FROM t ORDER BY 3", "[ORDER_BY_POS_OUT_OF_RANGE] ORDER BY position 3 is not in select list (valid range is [1, 1]). SQLSTATE: 42805"),
        ("SELECT 1 UNION SELECT 1, 2", "[NUM_COLUMNS_MISMATCH] UNION can only be performed on inputs with the same number of columns, but the first input has 1 columns and the second input has 2 columns. SQLSTATE: 42826"),
        ("SELECT * FROM t LIMIT -1", "[INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE] The limit like expression \"-1\" is invalid. The limit expression must be equal to or greater than 0, but got -1. SQLSTATE: 42K0E"),
        ("SELECT id FROM t WHERE count(*) > 1", "[INVALID_WHERE_CONDITION] The WHERE condition \"(count(1) > 1)\" contains invalid expressions: count(1).\nRewrite the query to avoid window functions, aggregate functions, and generator functions in the WHERE clause. SQLSTATE: 42903"),
        ("SELECT * FROM t JOIN u USING (zz)", "[UNRESOLVED_USING_COLUMN_FOR_JOIN] USING column `zz` cannot be resolved on the left side of the join. The left-side columns: [`id`, `n`, `v`]. SQLSTATE: 42703"),
        ("SELECT * FROM nothing", "[TABLE_OR_VIEW_NOT_FOUND] The table or view `nothing` cannot be found. Verify the spelling and correctness of the schema and catalog.\nIf you did not qualify the name with a schema, verify the current_schema() output, or qualify the name with the correct schema and catalog.\nTo tolerate the error on drop use DROP VIEW IF EXISTS or DROP TABLE IF EXISTS. SQLSTATE: 42P01"),
        ("SELECT * FROM t TIMESTAMP AS OF 'not a time'", "[INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT] The time travel timestamp expression \"not a time\" is invalid. Cannot be casted to the \"TIMESTAMP\" type. SQLSTATE: 42K0E"),
        ("SELECT * FROM t TIMESTAMP AS OF NULL", "[INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT] The time travel timestamp expression \"NULL\" is invalid. Cannot be casted to the \"TIMESTAMP\" type. SQLSTATE: 42K0E"),
    ])
    .await;
}
