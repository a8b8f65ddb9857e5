//! Queries: relations, time travel, clauses.

use sqlparser::ast::{
    Expr, GroupByExpr, LimitClause, OrderByKind, Select, SelectItem, SetExpr, SetOperator,
    TableFactor, TableVersion,
};

use super::query;
use crate::ast::{Name, Travel};
use crate::travel;

fn select(sql: &str) -> Select {
    match *query(sql).body {
        SetExpr::Select(select) => *select,
        other => panic!("{other:?}"),
    }
}

/// Name, snapshot and alias of each relation in FROM and its joins.
fn relations(sql: &str) -> Vec<(Name, Option<Travel>, Option<String>)> {
    let mut out = Vec::new();
    for table in select(sql).from {
        for factor in
            std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation))
        {
            let (name, travel) = travel::relation(factor).unwrap();
            let TableFactor::Table { alias, .. } = factor else {
                panic!()
            };
            out.push((
                name,
                travel,
                alias.as_ref().map(|alias| alias.name.value.clone()),
            ));
        }
    }
    out
}

fn version(digits: &str) -> Option<Travel> {
    Some(Travel::Version(crate::parse_expr(digits).unwrap()))
}

#[test]
fn every_form_of_time_travel_reaches_the_reader() {
    let timestamp = |text: &str| Some(Travel::Timestamp(crate::parse_expr(text).unwrap()));
    let compact = || Some(Travel::Compact("20260103000000000".into()));
    for (from, name, travel, alias) in [
        ("t", Name::of(&["t"]), None, None),
        ("t VERSION AS OF 3", Name::of(&["t"]), version("3"), None),
        (
            "t VERSION AS OF '3' past",
            Name::of(&["t"]),
            version("'3'"),
            Some("past"),
        ),
        (
            "t FOR VERSION AS OF 3 AS past",
            Name::of(&["t"]),
            version("3"),
            Some("past"),
        ),
        (
            "t FOR SYSTEM_VERSION AS OF 3",
            Name::of(&["t"]),
            version("3"),
            None,
        ),
        (
            "t system_version AS OF :v x",
            Name::of(&["t"]),
            version(":v"),
            Some("x"),
        ),
        (
            "a.b.t TIMESTAMP AS OF '2026-01-02' past",
            Name::of(&["a", "b", "t"]),
            timestamp("'2026-01-02'"),
            Some("past"),
        ),
        (
            "t FOR SYSTEM_TIME AS OF '2026-01-02'",
            Name::of(&["t"]),
            timestamp("'2026-01-02'"),
            None,
        ),
        (
            "t TIMESTAMP AS OF '2026-01-04 00:00:00' - INTERVAL 12 HOURS AS x",
            Name::of(&["t"]),
            timestamp("'2026-01-04 00:00:00' - INTERVAL 12 HOURS"),
            Some("x"),
        ),
        (
            "t TIMESTAMP AS OF current_timestamp()",
            Name::of(&["t"]),
            timestamp("current_timestamp()"),
            None,
        ),
        (
            "t TIMESTAMP AS OF DATE '2026-01-03' WHERE a",
            Name::of(&["t"]),
            timestamp("DATE '2026-01-03'"),
            None,
        ),
        ("t@v3", Name::of(&["t"]), version("3"), None),
        (
            "s.t@V3 AS x",
            Name::of(&["s", "t"]),
            version("3"),
            Some("x"),
        ),
        (
            "c.s.t@20260103000000000 x",
            Name::of(&["c", "s", "t"]),
            compact(),
            Some("x"),
        ),
        ("t version", Name::of(&["t"]), None, Some("version")),
        ("t AS timestamp", Name::of(&["t"]), None, Some("timestamp")),
    ] {
        let found = relations(&format!("SELECT * FROM {from}"));
        assert_eq!(found, [(name, travel, alias.map(str::to_owned))], "{from}");
    }
}

#[test]
fn both_sides_of_a_join_travel_on_their_own() {
    let found = relations(
        "SELECT a.id FROM t VERSION AS OF 1 AS a LEFT JOIN t@v3 b ON a.id = b.id - 1 ORDER BY 1",
    );
    assert_eq!(found[0], (Name::of(&["t"]), version("1"), Some("a".into())));
    assert_eq!(found[1], (Name::of(&["t"]), version("3"), Some("b".into())));
}

#[test]
fn a_suffix_in_backticks_stays_in_the_name() {
    let found = relations("SELECT * FROM `t@v2`, delta.`/p@v1`, t@v1 VERSION AS OF 2");
    let part = |index: usize| found[index].0.texts().unwrap().last().unwrap().to_string();
    assert_eq!(
        travel::split_suffix(&part(0)).map(|found| found.0.to_owned()),
        Some("t".into())
    );
    assert_eq!(
        travel::split_suffix(&part(1)).map(|found| found.0.to_owned()),
        Some("/p".into())
    );
    assert_eq!(found[1].0.delta_path(), Some("/p@v1"));
    // Both forms at once are left to whoever resolves the name: the pair is refused there.
    assert_eq!((part(2).as_str(), &found[2].1), ("t@v1", &version("2")));
    assert_eq!(travel::split_suffix("mail@vienna"), None);
    assert_eq!(travel::split_suffix("t@2026010300000000"), None);
    assert_eq!(
        travel::compact_timestamp("20260103040506789").as_deref(),
        Some("2026-01-03 04:05:06.789")
    );
    assert_eq!(travel::compact_timestamp("20261303040506789"), None);
}

#[test]
fn identifier_and_functions_are_told_apart() {
    let found = relations("SELECT * FROM IDENTIFIER(:s || '.t') VERSION AS OF 1 x");
    assert!(matches!(found[0].0, Name::Identifier(_)));
    assert_eq!(
        (&found[0].1, found[0].2.as_deref()),
        (&version("1"), Some("x"))
    );
    let from = select("SELECT * FROM range(0, 20, 1, 2) AS r(i), table_changes('t', 0)").from;
    for table in &from {
        assert!(
            matches!(
                &table.relation,
                TableFactor::Table {
                    args: Some(_),
                    version: None,
                    ..
                }
            ),
            "{table:?}"
        );
        assert_eq!(travel::relation(&table.relation), None);
    }
    let nested = select("SELECT * FROM (SELECT * FROM t VERSION AS OF 1) x");
    let TableFactor::Derived { subquery, .. } = &nested.from[0].relation else {
        panic!()
    };
    let SetExpr::Select(inner) = subquery.body.as_ref() else {
        panic!()
    };
    assert!(matches!(
        &inner.from[0].relation,
        TableFactor::Table {
            version: Some(TableVersion::VersionAsOf(_)),
            ..
        }
    ));
}

#[test]
fn clauses_land_where_they_belong() {
    let found = query(
        "SELECT DISTINCT a, count(*) c FROM t WHERE a > 1 GROUP BY a HAVING c > 1 ORDER BY a DESC NULLS FIRST LIMIT 10 OFFSET 5",
    );
    assert!(found.order_by.is_some());
    assert!(matches!(
        found.limit_clause,
        Some(LimitClause::LimitOffset {
            limit: Some(_),
            offset: Some(_),
            ..
        })
    ));
    assert!(matches!(
        select("SELECT a FROM t GROUP BY ALL").group_by,
        GroupByExpr::All(_)
    ));
    assert!(matches!(
        query("SELECT a FROM t ORDER BY ALL").order_by.unwrap().kind,
        OrderByKind::All(_)
    ));
    let GroupByExpr::Expressions(keys, _) =
        select("SELECT 1 FROM t GROUP BY GROUPING SETS ((a, b), a, ())").group_by
    else {
        panic!()
    };
    assert!(matches!(&keys[0], Expr::GroupingSets(sets) if sets.len() == 3 && sets[2].is_empty()));
    let GroupByExpr::Expressions(keys, _) =
        select("SELECT 1 FROM t GROUP BY a, CUBE(b, c), ROLLUP(d)").group_by
    else {
        panic!()
    };
    assert!(matches!(
        (&keys[1], &keys[2]),
        (Expr::Cube(_), Expr::Rollup(_))
    ));
    assert_eq!(select("SELECT a FROM t SORT BY a").sort_by.len(), 1);
    assert_eq!(
        select("SELECT a FROM t DISTRIBUTE BY a SORT BY b")
            .distribute_by
            .len(),
        1
    );
    assert_eq!(
        select(
            "SELECT explode(a) FROM t LATERAL VIEW OUTER explode(b) x AS y, z LATERAL VIEW f(c) q"
        )
        .lateral_views
        .len(),
        2
    );
    assert_eq!(
        select("SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b)")
            .named_window
            .len(),
        1
    );
    assert_eq!(select("FROM t SELECT a WHERE b").projection.len(), 1);
    assert_eq!(
        query("WITH a AS (SELECT 1), b(x) AS (SELECT 2) SELECT * FROM a, b")
            .with
            .unwrap()
            .cte_tables
            .len(),
        2
    );
}

#[test]
fn set_operations_group_by_precedence() {
    let SetExpr::SetOperation { op, right, .. } =
        *query("SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3").body
    else {
        panic!()
    };
    assert_eq!(op, SetOperator::Union);
    assert!(matches!(
        *right,
        SetExpr::SetOperation {
            op: SetOperator::Intersect,
            ..
        }
    ));
    let SetExpr::SetOperation { op, left, .. } =
        *query("SELECT 1 EXCEPT SELECT 2 MINUS ALL SELECT 3").body
    else {
        panic!()
    };
    assert_eq!(op, SetOperator::Minus);
    assert!(matches!(
        *left,
        SetExpr::SetOperation {
            op: SetOperator::Except,
            ..
        }
    ));
    query("(SELECT 1 UNION SELECT 2) ORDER BY 1 LIMIT 1");
    query("SELECT * FROM ((SELECT 1) UNION (SELECT 2)) x");
    query("SELECT * FROM t VERSION AS OF 3 EXCEPT SELECT * FROM t VERSION AS OF 1");
}

#[test]
fn keywords_are_names_where_no_clause_can_begin() {
    let alias = |sql: &str| match &select(sql).projection[0] {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
        _ => None,
    };
    assert_eq!(alias("SELECT 1 timestamp"), Some("timestamp".into()));
    assert_eq!(alias("SELECT 1 from"), Some("from".into()));
    assert_eq!(alias("SELECT 1 AS order FROM t"), Some("order".into()));
    assert_eq!(alias("SELECT a FROM t"), None);
    assert_eq!(
        relations("SELECT * FROM t WHERE")[0].2.as_deref(),
        Some("WHERE")
    );
    assert_eq!(relations("SELECT * FROM table AS select").len(), 1);
    for sql in [
        "SELECT timestamp, date, version, `timestamp` FROM t WHERE timestamp > date ORDER BY version",
        "SELECT max(timestamp) AS max, key, value, type FROM changes GROUP BY key, value, type",
        "SELECT t.select, t.* EXCEPT (a, b.c), * EXCEPT (x) FROM t",
        "SELECT left, right, full FROM t LEFT JOIN u USING (id) CROSS JOIN v NATURAL JOIN w LEFT ANTI JOIN x ON true",
        "SELECT * FROM a JOIN (b JOIN c ON b.x = c.x) ON a.x = b.x",
        "SELECT * FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (7) AS s, u TABLESAMPLE (5 ROWS), v TABLESAMPLE (BUCKET 1 OUT OF 4)",
        "SELECT * FROM t, LATERAL (SELECT t.a) x, LATERAL explode(t.b) AS y(c)",
        "SELECT struct(1 AS a, 'x' b, c), array(1, 2), map('a', 1)",
        "VALUES (1, 'a'), (2, 'b') AS t(x, y)",
        "VALUES 1, 2",
        "SELECT * FROM VALUES (1), (2) v(a)",
        "TABLE t",
        "SELECT 1",
        "SELECT (SELECT 1) + 1, ((1)), ((SELECT 1) UNION SELECT 2)",
        "SELECT 1; ; ",
    ] {
        query(sql);
    }
}

#[test]
fn hints_can_be_read() {
    let found = crate::hints::hints(&select(
        "SELECT /*+ COALESCE(1), REPARTITION(4, id) BROADCAST(t) */ * FROM t",
    ));
    let shown: Vec<(&str, usize)> = found
        .iter()
        .map(|hint| (hint.name.as_str(), hint.args.len()))
        .collect();
    assert_eq!(
        shown,
        [("COALESCE", 1), ("REPARTITION", 2), ("BROADCAST", 1)]
    );
}
