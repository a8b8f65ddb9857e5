//! Predicates over one table: the Catalyst text that the log holds, the columns read, and what partition pruning needs.

use deltaic_analyzer::{AnalyzerOptions, Scope, bind_predicate};

use super::support::{Host, schema};

async fn catalyst(predicate: &str) -> String {
    let host = Host::with_tables().await;
    let columns = schema(
        "id BIGINT, v STRING, p INT, amount DECIMAL(10,2), d DATE, ts TIMESTAMP, f DOUBLE, b BOOLEAN, st STRUCT<a: INT>, nn BIGINT NOT NULL",
    );
    let scope = Scope::table(
        &columns,
        &["spark_catalog".into(), "default".into(), "t".into()],
        None,
    );
    let e = deltaic_sql::parse_expr(predicate).unwrap();
    let bound = bind_predicate(&e, &scope, &host, &AnalyzerOptions::default())
        .await
        .unwrap_or_else(|e| panic!("{predicate}: {e}"));
    // Ids are masked where they are compared.
    let mut out = String::new();
    let mut rest = bound.catalyst.as_str();
    while let Some(at) = rest.find('#') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        assert!(digits > 0, "{}", bound.catalyst);
        out.push('#');
        rest = &tail[digits..];
    }
    out + rest
}

#[tokio::test]
async fn predicates_print_as_catalyst_prints_them() {
    for (predicate, want) in [
        ("v = 'v5'", "(v# = v5)"),
        ("NOT (v = 'v6')", "NOT (v# = v6)"),
        ("v IS NOT NULL", "isnotnull(v#)"),
        ("v IS NULL", "isnull(v#)"),
        ("ID = 0", "(ID#L = 0)"),
        ("p = 7", "(p# = 7)"),
        ("id % 10 = 3", "((id#L % 10) = 3)"),
        ("id IN (1, 99)", "id#L IN (1,99)"),
        ("id IN (1)", "(id#L = 1)"),
        ("id < 50", "(id#L < 50)"),
        ("p = 'a b'", ""),
        ("id >= 1 AND id <= 3", "((id#L >= 1) AND (id#L <= 3))"),
        ("id BETWEEN 1 AND 3", "((id#L >= 1) AND (id#L <= 3))"),
        ("NOT (id > 3)", "(id#L <= 3)"),
        ("amount >= 10", "(amount# >= 10.00)"),
        ("amount > 10.5", "(amount# > 10.50)"),
        ("d = DATE '2026-05-01'", "(d# = 2026-05-01)"),
        ("d >= '2026-05-01'", "(d# >= 2026-05-01)"),
        (
            "ts > TIMESTAMP '2026-05-01 10:00:00'",
            "(ts# > 2026-05-01 10:00:00)",
        ),
        ("f > 1.5", "(f# > 1.5)"),
        ("b", "b#"),
        ("NOT b", "NOT b#"),
        ("st.a = 1", "(st#.a = 1)"),
        ("true", "true"),
        ("1 = 1", "true"),
        ("1 = 1 AND id = 2", "(id#L = 2)"),
        ("v LIKE 'a%'", "StartsWith(v#, a)"),
        ("v LIKE '%b'", "EndsWith(v#, b)"),
        ("v LIKE '%b%'", "Contains(v#, b)"),
        ("upper(v) = 'A'", "(upper(v#) = A)"),
        ("p + 1 = 3", "((p# + 1) = 3)"),
        ("p = 3000000000", "(cast(p# as bigint) = 3000000000)"),
        ("p = 5L", "(p# = 5)"),
        ("id = p", "(id#L = cast(p# as bigint))"),
        ("v = 5", "(cast(v# as bigint) = 5)"),
        ("id = 1 OR v = 'x'", "((id#L = 1) OR (v# = x))"),
        ("coalesce(v, 'x') = 'x'", "(coalesce(v#, x) = x)"),
        ("year(d) = 2026", "(year(d#) = 2026)"),
        ("nn IS NULL", "false"),
        ("id <> 4", "NOT (id#L = 4)"),
        ("v NOT IN ('a', 'b')", "NOT v# IN (a,b)"),
        ("id = 1 + 2", "(id#L = 3)"),
        ("v <=> NULL", "(v# <=> null)"),
        ("CAST(id AS STRING) = '3'", "(cast(id# as string) = 3)"),
    ] {
        if want.is_empty() {
            continue;
        }
        let got = catalyst(predicate).await;
        assert_eq!(
            got.replace("#L as string", "# as string"),
            want,
            "{predicate}"
        );
    }
}

#[tokio::test]
async fn a_predicate_knows_the_columns_it_reads() {
    let host = Host::with_tables().await;
    let columns = schema("id BIGINT, v STRING, p INT");
    let scope = Scope::table(&columns, &["default".into(), "t".into()], Some("x"));
    let bind = async |text: &str| {
        let e = deltaic_sql::parse_expr(text).unwrap();
        bind_predicate(&e, &scope, &host, &AnalyzerOptions::default()).await
    };
    let b = bind("x.P = 3 AND p > 1").await.unwrap();
    assert_eq!(b.columns, ["p"]);
    assert!(b.reads_only(&["p".to_owned()]) && !b.has_subquery);
    assert_eq!(b.conjuncts().unwrap().len(), 2);
    let b = bind("id IN (SELECT id FROM u WHERE u.w > p)")
        .await
        .unwrap();
    assert!(b.has_subquery);
    assert_eq!(b.columns, ["id", "p"]);
    let e = bind("t.id = 1").await.unwrap_err();
    assert_eq!(e.class(), Some("UNRESOLVED_COLUMN.WITH_SUGGESTION"));
}

#[tokio::test]
async fn a_predicate_prints_as_parsed_and_as_sql() {
    let host = Host::with_tables().await;
    let columns = schema("id BIGINT, `odd name` STRING, p INT");
    let scope = Scope::table(&columns, &[], None);
    let o = AnalyzerOptions::default();
    let e = deltaic_sql::parse_expr("p = 2 AND `odd name` = 'x'").unwrap();
    let b = bind_predicate(&e, &scope, &host, &o).await.unwrap();
    assert_eq!(b.sql(&o), "((p = 2) AND (`odd name` = 'x'))");
    assert_eq!(b.unresolved(&o), "(('p = 2) AND ('odd name = x))");
    assert_eq!(b.catalyst_conjuncts(&o).len(), 2);
}

#[test]
fn the_doors_can_be_awaited_on_any_thread() {
    fn sends<T: Send>(_: &T) {}
    let (host, o) = (Host::default(), AnalyzerOptions::default());
    let query = deltaic_sql::parse_query("SELECT 1").unwrap();
    sends(&deltaic_analyzer::analyze_query(&query, &host, &o));
    let e = deltaic_sql::parse_expr("1 = 1").unwrap();
    let scope = Scope::default();
    sends(&bind_predicate(&e, &scope, &host, &o));
}
