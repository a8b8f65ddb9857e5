//! Correlated subqueries of all shapes against loops over the rows.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::helpers::Warehouse;

type Row = (i64, Option<i64>, Option<i64>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let value = || prop::option::weighted(0.8, 0i64..4);
    prop::collection::vec((value(), value()), 0..6).prop_map(|rows| {
        let numbered = rows.into_iter().enumerate();
        numbered
            .map(|(at, (x, q))| (i64::try_from(at).unwrap(), x, q))
            .collect()
    })
}

async fn fill(w: &Warehouse, name: &str, rows: &[Row]) {
    w.ok(&format!(
        "CREATE TABLE {name} (id BIGINT, x BIGINT, s STRUCT<q: BIGINT>)"
    ))
    .await;
    let text = |value: &Option<i64>| value.map_or("NULL".to_owned(), |v| v.to_string());
    for (id, x, q) in rows {
        let (x, q) = (text(x), text(q));
        w.ok(&format!(
            "INSERT INTO {name} VALUES ({id}, {x}, named_struct('q', {q}))"
        ))
        .await;
    }
}

fn lt(a: Option<i64>, b: Option<i64>) -> Option<bool> {
    Some(a? < b?)
}

fn eq(a: Option<i64>, b: Option<i64>) -> Option<bool> {
    Some(a? == b?)
}

/// Three-valued IN over what a subquery gives.
fn is_in(sought: Option<i64>, among: &[Option<i64>]) -> Option<bool> {
    if among.iter().any(|v| eq(sought, *v) == Some(true)) {
        return Some(true);
    }
    match among.iter().any(|v| eq(sought, *v).is_none()) {
        true => None,
        false => Some(false),
    }
}

async fn check(a: Vec<Row>, b: Vec<Row>) {
    let w = Warehouse::new();
    fill(&w, "a", &a).await;
    fill(&w, "b", &b).await;
    let values = |f: &dyn Fn(&Row) -> Value| -> Value {
        a.iter().map(|row| json!([row.0, f(row)])).collect()
    };
    let having = |f: &dyn Fn(&Row) -> Option<bool>| -> Value {
        let kept = a.iter().filter(|row| f(row) == Some(true));
        kept.map(|row| json!([row.0])).collect()
    };
    let of_b =
        |f: &dyn Fn(&Row) -> bool| -> Vec<Row> { b.iter().filter(|row| f(row)).copied().collect() };
    let cases = [
        (
            "(SELECT count(*) FROM b WHERE b.x < a.x)",
            values(&|r| json!(of_b(&|o| lt(o.1, r.1) == Some(true)).len())),
        ),
        (
            "(SELECT max(b.x) + a.x FROM b WHERE b.id <> a.id)",
            values(&|r| {
                let max = of_b(&|o| o.0 != r.0).iter().filter_map(|o| o.1).max();
                json!(max.and_then(|max| Some(max + r.1?)))
            }),
        ),
        (
            "(SELECT sum(b.x) FROM b WHERE b.s.q = a.s.q AND b.x >= a.id)",
            values(&|r| {
                let kept =
                    of_b(&|o| eq(o.2, r.2) == Some(true) && lt(o.1, Some(r.0)) == Some(false));
                let sum: i64 = kept.iter().filter_map(|o| o.1).sum();
                json!((!kept.is_empty()).then_some(sum))
            }),
        ),
        (
            "(SELECT count(*) + 1 FROM (SELECT x FROM b WHERE x < a.x UNION ALL SELECT id FROM b WHERE s.q <=> a.s.q) u)",
            values(&|r| {
                let one = of_b(&|o| lt(o.1, r.1) == Some(true)).len();
                json!(one + of_b(&|o| o.2 == r.2).len() + 1)
            }),
        ),
        (
            "(SELECT count(c.id) FROM b JOIN b c ON b.id = c.x WHERE b.x < a.x OR c.s.q = a.s.q)",
            values(&|r| {
                let pairs = b.iter().flat_map(|o| b.iter().map(move |c| (o, c)));
                let met = pairs.filter(|(o, c)| {
                    c.1 == Some(o.0) && (lt(o.1, r.1) == Some(true) || eq(c.2, r.2) == Some(true))
                });
                json!(met.count())
            }),
        ),
        (
            "(SELECT count(*) FROM b WHERE b.x < a.x AND EXISTS (SELECT 1 FROM b c WHERE c.x > b.x AND c.id <> a.id))",
            values(&|r| {
                let kept = of_b(&|o| {
                    let further = b.iter().any(|c| lt(o.1, c.1) == Some(true) && c.0 != r.0);
                    lt(o.1, r.1) == Some(true) && further
                });
                json!(kept.len())
            }),
        ),
        (
            "(SELECT count(DISTINCT g) FROM (SELECT x AS g, count(*) AS n FROM b WHERE x <> a.x GROUP BY x) v WHERE n < a.id)",
            values(&|r| {
                let mut groups = std::collections::BTreeMap::new();
                for o in of_b(&|o| eq(o.1, r.1) == Some(false)) {
                    *groups.entry(o.1).or_insert(0) += 1;
                }
                json!(groups.values().filter(|n| **n < r.0).count())
            }),
        ),
        (
            "EXISTS (SELECT 1 FROM b WHERE b.s.q > a.s.q AND b.x = a.x)",
            values(&|r| {
                json!(
                    b.iter()
                        .any(|o| lt(r.2, o.2) == Some(true) && eq(o.1, r.1) == Some(true))
                )
            }),
        ),
    ];
    for (expression, expected) in cases {
        let statement = format!("SELECT id, {expression} FROM a ORDER BY id");
        assert_eq!(
            w.rows(&statement).await,
            expected,
            "{statement}\n{a:?}\n{b:?}"
        );
    }
    let among = |r: &Row| -> Vec<Option<i64>> {
        of_b(&|o| eq(o.2, r.2) == Some(true) && o.0 != r.0)
            .iter()
            .map(|o| o.1)
            .collect()
    };
    let exists = |r: &Row| Some(!among(r).is_empty());
    let found = |r: &Row| is_in(r.1, &among(r));
    let inner = "FROM b WHERE b.s.q = a.s.q AND b.id <> a.id";
    let conditions = [
        (format!("EXISTS (SELECT 1 {inner})"), having(&exists)),
        (
            format!("NOT EXISTS (SELECT 1 {inner})"),
            having(&|r| exists(r).map(|e| !e)),
        ),
        (format!("x IN (SELECT b.x {inner})"), having(&found)),
        (
            format!("x NOT IN (SELECT b.x {inner})"),
            having(&|r| found(r).map(|f| !f)),
        ),
        (
            format!("x IN (SELECT b.x {inner}) OR id = 1"),
            having(&|r| Some(found(r) == Some(true) || r.0 == 1)),
        ),
    ];
    for (condition, expected) in conditions {
        let statement = format!("SELECT id FROM a WHERE {condition} ORDER BY id");
        assert_eq!(
            w.rows(&statement).await,
            expected,
            "{statement}\n{a:?}\n{b:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 60, ..ProptestConfig::with_cases(12) })]
    #[test]
    fn subqueries_see_the_row_around_them(a in rows(), b in rows()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(check(a, b));
    }
}

#[tokio::test]
async fn rows_are_deleted_by_what_a_subquery_says_of_them() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id BIGINT, x BIGINT, s STRUCT<q: BIGINT>)",
        "INSERT INTO t VALUES (1, 1, named_struct('q', 1)), (2, 5, named_struct('q', 1)), (3, 0, named_struct('q', 2))",
        "CREATE TABLE o (x BIGINT, s STRUCT<q: BIGINT>)",
        "INSERT INTO o VALUES (3, named_struct('q', 1)), (7, named_struct('q', 3))",
    ])
    .await;
    let newest =
        "SELECT id FROM t WHERE x > (SELECT min(o.x) FROM o WHERE o.s.q = t.s.q) ORDER BY id";
    assert_eq!(w.rows(newest).await, json!([[2]]));
    w.ok("DELETE FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.s.q = t.s.q AND o.x < t.x)")
        .await;
    assert_eq!(
        w.rows("SELECT id FROM t ORDER BY id").await,
        json!([[1], [3]])
    );
}
