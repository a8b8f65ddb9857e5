//! Expressions are found again in their text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

/// The text that is underlined for the whole expression of `SELECT <expr> AS x FROM t`.
fn underlined(expr: &str) -> String {
    let sql = format!("SELECT 1,\n {expr} AS x FROM t");
    let crate::Statement::Query(query) = crate::parse(&sql).unwrap() else {
        panic!()
    };
    let sqlparser::ast::SetExpr::Select(select) = *query.body else {
        panic!()
    };
    let sqlparser::ast::SelectItem::ExprWithAlias { expr, .. } = &select.projection[1] else {
        panic!()
    };
    match locate(&sql, expr) {
        Some(SqlContext::Fragment { line, pos, len, .. }) => {
            assert_eq!((line, pos), (2, 1), "{sql}");
            sql.lines()
                .nth(1)
                .unwrap()
                .chars()
                .skip(pos)
                .take(len)
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_whole_expression_is_underlined() {
    for expr in [
        "1/0",
        "a.b + c",
        "CAST('x' AS INT)",
        "CAST((a + 1) AS INT)",
        "CAST(f(a) AS INT)",
        "trim(BOTH 'x' FROM a)",
        "try_cast(a AS DECIMAL(10, 2))",
        "'x' 'y'::INT",
        "a::map<string, int>",
        "f(a, g(b))",
        "current_date",
        "count(DISTINCT a) FILTER (WHERE b > 0) OVER (PARTITION BY c)",
        "-5 + a",
        "- a",
        "NOT a",
        "a IS NOT NULL",
        "a NOT BETWEEN 1 AND b * 2",
        "a IN (1, 2)",
        "a LIKE 'x%' ESCAPE '!'",
        "CASE WHEN a THEN 1 ELSE 2 END",
        "m['k'].f",
        "arr[i + 1]",
        "DATE '2020-01-01'",
        "TIMESTAMP '2020-01-01' - INTERVAL 12 HOURS",
        "a % INTERVAL '1 2:3:4' DAY TO SECOND",
        "X'00' || a",
        "extract(YEAR FROM a)",
        "substring(a FROM 2 FOR 3)",
        ":p + 1",
        "(a + 1) * (b - 2)",
    ] {
        assert_eq!(underlined(expr), expr);
    }
}
