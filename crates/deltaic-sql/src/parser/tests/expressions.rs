//! Literals, operators and their precedence, functions, types.

use deltaic_protocol::schema::DataType;
use sqlparser::ast::{Expr, Value, ValueWithSpan};

use super::{expr, shown};

fn value(sql: &str) -> Value {
    match expr(sql) {
        Expr::Value(ValueWithSpan { value, .. }) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn literals_keep_what_spark_reads() {
    let text = |text: &str| Value::SingleQuotedString(text.to_owned());
    assert_eq!(value("\"double\""), text("double"));
    assert_eq!(value("'a' 'b' \"c\""), text("abc"));
    assert_eq!(value(r"'it''s \u00e4\n'"), text("it's ä\n"));
    assert_eq!(value(r"r'a\nb'"), text(r"a\nb"));
    assert_eq!(value("X'00FF'"), Value::HexStringLiteral("00FF".into()));
    assert_eq!(value("x \"1\""), Value::HexStringLiteral("1".into()));
    assert_eq!(value("1L"), Value::Number("1".into(), true));
    assert_eq!(
        value("-9223372036854775808"),
        Value::Number("-9223372036854775808".into(), false)
    );
    for number in [
        "1S", "1Y", "1.5BD", "1.5D", "2F", "1e3", "2.0", ".5", "-1.5e-3",
    ] {
        assert_eq!(value(number), Value::Number(number.into(), false));
    }
    assert_eq!(value("TRUE"), Value::Boolean(true));
    assert_eq!(value("null"), Value::Null);
    assert_eq!(value(":name"), Value::Placeholder(":name".into()));
    assert_eq!(value("?"), Value::Placeholder("?".into()));
}

#[test]
fn operators_bind_as_in_spark() {
    for (sql, same) in [
        ("a OR b AND c", "a OR (b AND c)"),
        ("NOT a = 1 AND b", "(NOT (a = 1)) AND b"),
        ("! a", "NOT a"),
        ("a = b + 1 * 2", "a = (b + (1 * 2))"),
        ("10 DIV 3 DIV 2", "(10 DIV 3) DIV 2"),
        ("a % 2 = 0", "(a % 2) = 0"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("1 | 2 ^ 3 & 4 << 1 + 2", "1 | (2 ^ (3 & (4 << (1 + 2))))"),
        ("a || b + c || d", "((a || b) + c) || d"),
        ("a == b", "a = b"),
        ("a <=> b AND c", "(a <=> b) AND c"),
        ("a !> b", "a <= b"),
        ("~ a * b", "(~ a) * b"),
        ("- a * b", "(- a) * b"),
        ("a < b = c", "(a < b) = c"),
        ("a BETWEEN 1 AND 2 AND b", "(a BETWEEN 1 AND 2) AND b"),
        (
            "a IS NULL OR NOT b IS NOT TRUE",
            "(a IS NULL) OR (NOT (b IS NOT TRUE))",
        ),
        ("a + 1 IS DISTINCT FROM b", "(a + 1) IS DISTINCT FROM b"),
        ("a::INT + 1", "(a::INT) + 1"),
    ] {
        assert_eq!(bare(expr(sql)), bare(expr(same)), "{sql}");
    }
}

/// Without the parentheses.
fn bare(mut tree: Expr) -> Expr {
    let _ = sqlparser::ast::visit_expressions_mut(&mut tree, |inner| {
        while let Expr::Nested(only) = inner {
            *inner = (**only).clone();
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    tree
}

#[test]
fn long_conditions_become_balanced_trees_as_in_spark() {
    let nested = |sql: &str| {
        fn show(expr: &Expr) -> String {
            match expr {
                Expr::BinaryOp { left, op, right } => {
                    format!("({} {op} {})", show(left), show(right))
                }
                other => other.to_string(),
            }
        }
        show(&expr(sql))
    };
    assert_eq!(nested("a OR b OR c"), "((a OR b) OR c)");
    assert_eq!(nested("a AND b AND c AND d"), "((a AND b) AND (c AND d))");
    assert_eq!(
        nested("a OR b OR c OR d OR e"),
        "(((a OR b) OR c) OR (d OR e))"
    );
    assert!(crate::parse_expr(&vec!["a = 1"; 50_000].join(" OR ")).is_ok());
}

#[test]
fn predicates_and_functions_print_as_written() {
    for sql in [
        "a NOT LIKE 'x%' ESCAPE '!'",
        "a ILIKE 'x'",
        "a RLIKE 'x'",
        "a NOT REGEXP 'x'",
        "a NOT IN (1, 2)",
        "a IN (SELECT b FROM c)",
        "EXISTS (SELECT 1)",
        "a IS NOT DISTINCT FROM NULL",
        "a IS NOT UNKNOWN",
        "CASE WHEN a THEN 1 WHEN b THEN 2 END",
        "CASE a WHEN 1 THEN 'x' ELSE 'y' END",
        "CAST(a AS DECIMAL(10,2))",
        "TRY_CAST(a AS TIMESTAMP)",
        "a::STRING",
        "count(*)",
        "count(DISTINCT a, b)",
        "sum(a) FILTER (WHERE b > 0)",
        "first(a) IGNORE NULLS",
        "row_number() OVER (PARTITION BY a ORDER BY b DESC NULLS LAST)",
        "sum(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
        "sum(a) OVER (ORDER BY b RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
        "lag(a) OVER w",
        "transform(a, x -> x + 1)",
        "aggregate(a, 0, (acc, x) -> acc + x)",
        "f(a => 1, b => 'x')",
        "m['k']",
        "a[0][1]",
        "EXTRACT(YEAR FROM a)",
        "POSITION('a' IN b)",
        "TRIM(BOTH 'x' FROM a)",
        "DATE '2020-01-01'",
        "TIMESTAMP '2020-01-01 00:00:00'",
        "INTERVAL 12 HOUR",
        "INTERVAL '1' DAY",
        "INTERVAL '1 2:3:4' DAY TO SECOND",
        "(SELECT max(a) FROM b)",
        "(a, b)",
        "a.b.c",
        "current_date",
        "left(a, 2)",
        "`odd name` + `a``b`",
        "timestamp",
        "date > timestamp",
        "version + interval",
        "values",
        "case",
        "t.from",
    ] {
        assert_eq!(shown(sql), sql);
    }
}

#[test]
fn special_syntax_becomes_the_plain_call() {
    assert_eq!(shown("substring(a FROM 2 FOR 3)"), "substring(a, 2, 3)");
    assert_eq!(shown("overlay(a PLACING 'x' FROM 2)"), "overlay(a, 'x', 2)");
    assert_eq!(shown("a LIKE ANY ('x', 'y')"), "(a LIKE 'x' OR a LIKE 'y')");
    assert_eq!(
        shown("a NOT LIKE ALL ('x', 'y')"),
        "(a NOT LIKE 'x' AND a NOT LIKE 'y')"
    );
    assert_eq!(shown("INTERVAL 1 DAY 2 HOURS"), "INTERVAL '1 day 2 hour'");
    assert_eq!(shown("named_struct('a', 1).a"), "named_struct('a', 1).a");
    assert!(matches!(expr("current_timestamp"), Expr::Function(_)));
    assert!(matches!(expr("`current_date`"), Expr::Identifier(_)));
}

#[test]
fn types_are_sparks() {
    for (text, simple) in [
        ("TINYINT", "tinyint"),
        ("byte", "tinyint"),
        ("SMALLINT", "smallint"),
        ("int", "int"),
        ("INTEGER", "int"),
        ("LONG", "bigint"),
        ("real", "float"),
        ("DOUBLE", "double"),
        ("DECIMAL", "decimal(10,0)"),
        ("dec(5)", "decimal(5,0)"),
        ("NUMERIC(38, 10)", "decimal(38,10)"),
        ("TIMESTAMP_NTZ", "timestamp_ntz"),
        ("timestamp_ltz", "timestamp"),
        ("VARCHAR(10)", "string"),
        ("void", "void"),
        ("VARIANT", "variant"),
        ("INTERVAL DAY TO SECOND", "interval day to second"),
        ("INTERVAL YEAR", "interval year"),
        ("array<struct<x:int>>", "array<struct<x:int>>"),
        (
            "MAP<STRING, MAP<INT, ARRAY<DECIMAL(5,1)>>>",
            "map<string,map<int,array<decimal(5,1)>>>",
        ),
        ("struct<>", "struct<>"),
        (
            "STRUCT<a: INT, `b c` STRING, d: STRUCT<c: STRING>>",
            "struct<a:int,b c:string,d:struct<c:string>>",
        ),
    ] {
        assert_eq!(
            crate::parse_data_type(text).unwrap().simple_string(),
            simple,
            "{text}"
        );
    }
    let DataType::Struct(fields) =
        crate::parse_data_type("struct<a: INT NOT NULL COMMENT 'x', b VARCHAR(3)>").unwrap()
    else {
        panic!()
    };
    assert!(!fields.fields[0].nullable);
    assert_eq!(fields.fields[0].comment(), Some("x"));
    // The top-level column keeps it, whole.
    assert_eq!(fields.fields[1].char_varchar(), None);
    let schema = crate::parse_schema("a INT NOT NULL, b STRING COMMENT 'x'").unwrap();
    assert_eq!(schema.simple_string(), "struct<a:int,b:string>");
}
