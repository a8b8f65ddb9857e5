//! Parameters and IDENTIFIER at every place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::{literal, parse};

fn named(values: &[(&str, &str)]) -> Parameters {
    let text = |value: &str| literal::string(value, Span::empty());
    Parameters::Named(
        values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), text(value)))
            .collect(),
    )
}

/// Binding the first gives what the second parses to.
fn same(sql: &str, parameters: &Parameters, expected: &str) {
    let bound =
        bind(parse(sql).unwrap(), parameters).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(bound, parse(expected).unwrap(), "{sql}");
}

#[test]
fn identifier_works_wherever_a_name_can_stand() {
    let parameters = named(&[("t", "c.s.t"), ("s", "demo"), ("u", "u")]);
    for pattern in [
        "SELECT * FROM {} AS x",
        "SELECT * FROM {} VERSION AS OF 1",
        "SELECT * FROM a JOIN {} b ON a.x = b.x WHERE EXISTS (SELECT 1 FROM {})",
        "INSERT INTO {} VALUES (1)",
        "INSERT OVERWRITE {} SELECT * FROM {}",
        "UPDATE {} SET a = 1 WHERE b IN (SELECT c FROM {})",
        "DELETE FROM {} WHERE a = 1",
        "MERGE INTO {} USING {} s ON true WHEN MATCHED THEN DELETE",
        "CREATE TABLE {} (a INT) USING delta",
        "CREATE TABLE {} SHALLOW CLONE {} VERSION AS OF 3",
        "CREATE TABLE {} LIKE {}",
        "CREATE OR REPLACE TABLE {} AS SELECT * FROM {}",
        "CREATE VIEW {} AS SELECT 1",
        "CREATE SCHEMA {}",
        "CREATE CATALOG {}",
        "ALTER TABLE {} SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE {} RENAME TO {}",
        "ALTER TABLE {} ADD CONSTRAINT c CHECK (a > 0)",
        "ALTER TABLE {} CLUSTER BY NONE",
        "ALTER VIEW {} RENAME TO {}",
        "ALTER SCHEMA {} SET DBPROPERTIES ('a' = 'b')",
        "DROP TABLE IF EXISTS {}",
        "DROP VIEW {}",
        "DROP SCHEMA {} CASCADE",
        "DROP CATALOG {}",
        "COMMENT ON TABLE {} IS 'x'",
        "USE {}",
        "USE SCHEMA {}",
        "USE CATALOG {}",
        "TRUNCATE TABLE {}",
        "REFRESH TABLE {}",
        "VACUUM {} RETAIN 0 HOURS DRY RUN",
        "VACUUM {} USING INVENTORY {}",
        "RESTORE TABLE {} TO VERSION AS OF 1",
        "RESTORE {} TIMESTAMP AS OF '2026-01-01'",
        "DESCRIBE HISTORY {} LIMIT 1",
        "DESCRIBE DETAIL {}",
        "DESCRIBE TABLE EXTENDED {}",
        "DESCRIBE {} a",
        "SHOW TABLES IN {}",
        "SHOW SCHEMAS IN {}",
        "SHOW COLUMNS IN {}",
        "SHOW TBLPROPERTIES {}",
        "SHOW CREATE TABLE {}",
        "SHOW PARTITIONS {}",
        "OPTIMIZE {} ZORDER BY (a)",
        "REORG TABLE {} APPLY (PURGE)",
        "CONVERT TO DELTA {}",
        "GENERATE symlink_format_manifest FOR TABLE {}",
        "ANALYZE TABLE {} COMPUTE STATISTICS",
        "EXPLAIN SELECT * FROM {}",
        "CACHE TABLE {}",
    ] {
        for (identifier, name) in [
            ("IDENTIFIER(:t)", "c.s.t"),
            ("identifier('c.s.' || 't')", "c.s.t"),
            ("IDENTIFIER(concat(:s, '.', lower('T')))", "demo.t"),
            ("IDENTIFIER('`a b`.c')", "`a b`.c"),
        ] {
            same(
                &pattern.replace("{}", identifier),
                &parameters,
                &pattern.replace("{}", name),
            );
        }
    }
}

#[test]
fn identifier_names_columns_and_functions_too() {
    let parameters = named(&[("c", "t.a"), ("f", "abs")]);
    same(
        "SELECT IDENTIFIER(:c), IDENTIFIER(:f)(1) FROM t",
        &parameters,
        "SELECT t.a, abs(1) FROM t",
    );
    same(
        "SELECT * FROM t WHERE IDENTIFIER('a') > 1",
        &parameters,
        "SELECT * FROM t WHERE a > 1",
    );
}

#[test]
fn parameters_become_values_wherever_a_value_can_stand() {
    let parameters = named(&[("v", "x")]);
    for pattern in [
        "SELECT {} AS c FROM t WHERE a = {} AND b IN ({}, 1)",
        "SELECT * FROM t VERSION AS OF {}",
        "SELECT * FROM t TIMESTAMP AS OF {}",
        "SELECT * FROM table_changes('t', {})",
        "INSERT INTO t VALUES ({}, {})",
        "INSERT INTO t PARTITION (p = {}) SELECT 1",
        "INSERT INTO t REPLACE WHERE a = {} SELECT 1",
        "UPDATE t SET a = {} WHERE b = {}",
        "MERGE INTO t USING s ON a = {} WHEN MATCHED AND b = {} THEN UPDATE SET c = {} WHEN NOT MATCHED THEN INSERT (a) VALUES ({})",
        "ALTER TABLE t SET TBLPROPERTIES ('k' = {})",
        "CREATE TABLE t (a INT) LOCATION {} TBLPROPERTIES ('k' = {})",
        "RESTORE TABLE t TO TIMESTAMP AS OF {}",
        "RESTORE TABLE t TO VERSION AS OF {}",
        "OPTIMIZE t WHERE p = {}",
    ] {
        let bound = bind(parse(&pattern.replace("{}", ":v")).unwrap(), &parameters).unwrap();
        let mut expected = parse(&pattern.replace("{}", "'x'")).unwrap();
        if let (Statement::Optimize(expected), Statement::Optimize(bound)) = (&mut expected, &bound)
        {
            // The text stays as it was written.
            expected.predicate.as_mut().unwrap().text =
                bound.predicate.as_ref().unwrap().text.clone();
        }
        assert_eq!(bound, expected, "{pattern}");
    }
    let hours = Parameters::Named(vec![("h".into(), literal::int(5))]);
    same(
        "VACUUM t RETAIN :h HOURS",
        &hours,
        "VACUUM t RETAIN 5 HOURS",
    );
    same(
        "DESCRIBE HISTORY t LIMIT :h",
        &hours,
        "DESCRIBE HISTORY t LIMIT 5",
    );
    same(
        "SELECT 1 LIMIT :h OFFSET :h",
        &hours,
        "SELECT 1 LIMIT 5 OFFSET 5",
    );
}

#[test]
fn positional_parameters_follow_the_text() {
    let parameters =
        Parameters::Positional(vec![literal::int(1), literal::int(2), literal::int(3)]);
    same(
        "SELECT ?, a FROM t WHERE b = ?\nLIMIT ?",
        &parameters,
        "SELECT 1, a FROM t WHERE b = 2 LIMIT 3",
    );
}

#[test]
fn a_parameter_without_value_is_named_with_its_place() {
    let unbound = |sql: &str, parameters: &Parameters| {
        bind(parse(sql).unwrap(), parameters)
            .unwrap_err()
            .to_string()
    };
    let message = |name: &str, pos: usize| {
        format!(
            "[UNBOUND_SQL_PARAMETER] Found the unbound parameter: {name}. Please, fix `args` and provide a mapping of the parameter to either a SQL literal or collection constructor functions such as `map()`, `array()`, `struct()`. SQLSTATE: 42P02; line 1 pos {pos}"
        )
    };
    assert_eq!(unbound("SELECT :a", &Parameters::None), message("a", 7));
    assert_eq!(unbound("SELECT :a", &named(&[("A", "x")])), message("a", 7));
    assert_eq!(unbound("SELECT ? + 1", &Parameters::None), message("_7", 7));
    let mixed = unbound("SELECT ?, :a", &Parameters::None);
    assert!(
        mixed.starts_with("[INVALID_QUERY_MIXED_QUERY_PARAMETERS]"),
        "{mixed}"
    );
}

#[test]
fn an_identifier_that_is_no_constant_string_is_refused() {
    let class = |sql: &str| {
        bind(parse(sql).unwrap(), &Parameters::None)
            .unwrap_err()
            .class()
            .map(str::to_owned)
    };
    assert_eq!(
        class("SELECT * FROM IDENTIFIER(a)").as_deref(),
        Some("NOT_A_CONSTANT_STRING.NOT_CONSTANT")
    );
    assert_eq!(
        class("SELECT * FROM IDENTIFIER(rand())").as_deref(),
        Some("NOT_A_CONSTANT_STRING.NOT_CONSTANT")
    );
    assert_eq!(
        class("SELECT * FROM IDENTIFIER(NULL)").as_deref(),
        Some("NOT_A_CONSTANT_STRING.NULL")
    );
    assert_eq!(
        class("VACUUM IDENTIFIER(1)").as_deref(),
        Some("NOT_A_CONSTANT_STRING.WRONG_TYPE")
    );
    assert_eq!(
        class("VACUUM IDENTIFIER('a b c')").as_deref(),
        Some("PARSE_SYNTAX_ERROR")
    );
}
