//! Queries: rows, names and types of every clause.

use super::support::Host;

macro_rules! rows {
    ($host:expr, $sql:expr, $want:expr) => {{
        let answer = $host
            .run($sql)
            .await
            .unwrap_or_else(|e| panic!("{}: {e}", $sql));
        let want: Vec<&str> = $want.to_vec();
        assert_eq!(answer.rows, want, "{}", $sql);
        answer
    }};
}

#[tokio::test]
async fn a_list_has_sparks_names_types_and_nullability() {
    let h = Host::with_tables().await;
    let a = rows!(h, "SELECT count(*), count(v), sum(id) FROM t", ["5|4|15"]);
    assert_eq!(
        a.columns,
        ["count(1):bigint!", "count(v):bigint!", "sum(id):bigint"]
    );
    let a = rows!(
        h,
        "SELECT ID, t.V, id + 1, upper(v) AS up FROM t WHERE id = 1",
        ["1|a|2|A"]
    );
    assert_eq!(
        a.columns,
        ["ID:bigint", "V:string", "(id + 1):bigint", "up:string"]
    );
    let a = rows!(
        h,
        "SELECT 1, 'x', NULL, 1.50, 1e3, true",
        ["1|x|null|1.50|1000.0|true"]
    );
    assert_eq!(
        a.columns,
        [
            "1:int!",
            "x:string!",
            "NULL:void",
            "1.50:decimal(3,2)!",
            "1000.0:double!",
            "true:boolean!"
        ]
    );
    let a = rows!(
        h,
        "SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id - 1 WHERE a.id = 1",
        ["1|2"]
    );
    assert_eq!(a.columns, ["id:bigint", "id:bigint"]);
}

#[tokio::test]
async fn stars_expand_with_qualifiers_and_exceptions() {
    let h = Host::with_tables().await;
    rows!(h, "SELECT * FROM t WHERE id = 2", ["2|b|20"]);
    rows!(
        h,
        "SELECT past.* FROM t AS past WHERE past.id = 2",
        ["2|b|20"]
    );
    rows!(
        h,
        "SELECT t.*, w FROM t JOIN u USING (id) ORDER BY 1",
        ["1|a|10|1.5", "3|c|30|2.5"]
    );
    rows!(h, "SELECT * EXCEPT (v) FROM t WHERE id = 1", ["1|10"]);
    rows!(h, "SELECT st.* FROM s WHERE id = 1", ["7|x"]);
    let a = rows!(
        h,
        "SELECT st.a, st.B, arr[0], m['k'], m.k FROM s WHERE id = 1",
        ["7|x|1|5|5"]
    );
    assert_eq!(
        a.columns,
        ["a:int", "B:string", "arr[0]:int", "m[k]:int", "m[k]:int"]
    );
}

#[tokio::test]
async fn order_is_nulls_first_ascending_and_last_descending() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT v FROM t ORDER BY v, id",
        ["null", "a", "b", "b", "c"]
    );
    rows!(
        h,
        "SELECT v FROM t ORDER BY v DESC, id",
        ["c", "b", "b", "a", "null"]
    );
    rows!(
        h,
        "SELECT v FROM t ORDER BY v ASC NULLS LAST",
        ["a", "b", "b", "c", "null"]
    );
    rows!(h, "SELECT v FROM t ORDER BY id DESC LIMIT 2", ["b", "null"]);
    rows!(
        h,
        "SELECT id AS x, -id AS y FROM t ORDER BY y LIMIT 2 OFFSET 1",
        ["4|-4", "3|-3"]
    );
    rows!(
        h,
        "SELECT v, count(*) AS c FROM t GROUP BY v ORDER BY count(*) DESC, v LIMIT 1",
        ["b|2"]
    );
    rows!(h, "SELECT v FROM t ORDER BY 1 DESC LIMIT 1", ["c"]);
    rows!(h, "SELECT * FROM t ORDER BY ALL LIMIT 1", ["1|a|10"]);
    rows!(
        h,
        "SELECT id FROM VALUES (CAST('NaN' AS DOUBLE)), (1.0D), (CAST('Infinity' AS DOUBLE)) AS x(id) ORDER BY id",
        ["1.0", "Infinity", "NaN"]
    );
}

#[tokio::test]
async fn groups_come_by_column_alias_position_and_all() {
    let h = Host::with_tables().await;
    let want = ["null|1", "a|1", "b|2", "c|1"];
    rows!(h, "SELECT v, count(*) FROM t GROUP BY v ORDER BY v", want);
    rows!(
        h,
        "SELECT v AS k, count(*) FROM t GROUP BY k ORDER BY k",
        want
    );
    rows!(h, "SELECT v, count(*) FROM t GROUP BY 1 ORDER BY 1", want);
    rows!(h, "SELECT v, count(*) FROM t GROUP BY ALL ORDER BY 1", want);
    rows!(
        h,
        "SELECT id % 2 AS odd, sum(n) FROM t GROUP BY id % 2 ORDER BY odd",
        ["0|20", "1|90"]
    );
    rows!(
        h,
        "SELECT v, sum(n) AS s FROM t GROUP BY v HAVING s > 20 ORDER BY v",
        ["b|70", "c|30"]
    );
    rows!(
        h,
        "SELECT v, max(id) - min(id) FROM t GROUP BY v HAVING count(*) > 1",
        ["b|3"]
    );
    let a = rows!(
        h,
        "SELECT upper(v), count(*) FROM t WHERE v = 'a' GROUP BY upper(v)",
        ["A|1"]
    );
    assert_eq!(a.columns, ["upper(v):string", "count(1):bigint!"]);
    rows!(h, "SELECT count(*) FROM t HAVING count(*) > 100", []);
    rows!(h, "SELECT sum(id) FROM e", ["null"]);
}

#[tokio::test]
async fn rollup_cube_and_grouping_sets() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT v, count(*), grouping(v), grouping_id() FROM t WHERE id < 3 GROUP BY ROLLUP (v) ORDER BY v NULLS LAST",
        ["a|1|0|0", "b|1|0|0", "null|2|1|1"]
    );
    rows!(
        h,
        "SELECT v, n, count(*) FROM t WHERE id = 1 GROUP BY CUBE (v, n) ORDER BY 1, 2",
        ["null|null|1", "null|10|1", "a|null|1", "a|10|1"]
    );
    rows!(
        h,
        "SELECT v, n, count(*) FROM t WHERE id = 1 GROUP BY GROUPING SETS ((v), (n)) ORDER BY 1",
        ["null|10|1", "a|null|1"]
    );
}

#[tokio::test]
async fn joins_of_every_kind() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT t.id, w FROM t LEFT JOIN u ON t.id = u.id ORDER BY 1",
        ["1|1.5", "2|null", "3|2.5", "4|null", "5|null"]
    );
    rows!(
        h,
        "SELECT t.id, u.id FROM t RIGHT JOIN u ON t.id = u.id ORDER BY 2",
        ["1|1", "3|3", "null|9"]
    );
    rows!(
        h,
        "SELECT count(*) FROM t FULL JOIN u ON t.id = u.id",
        ["6"]
    );
    rows!(
        h,
        "SELECT id FROM t FULL JOIN u USING (id) ORDER BY id DESC LIMIT 1",
        ["9"]
    );
    rows!(
        h,
        "SELECT id FROM t LEFT SEMI JOIN u ON t.id = u.id ORDER BY id",
        ["1", "3"]
    );
    rows!(
        h,
        "SELECT id FROM t LEFT ANTI JOIN u ON t.id = u.id ORDER BY id",
        ["2", "4", "5"]
    );
    rows!(h, "SELECT count(*) FROM t, u", ["15"]);
    rows!(h, "SELECT count(*) FROM t CROSS JOIN u", ["15"]);
    rows!(
        h,
        "SELECT id, w FROM t NATURAL JOIN u ORDER BY id",
        ["1|1.5", "3|2.5"]
    );
    rows!(h, "SELECT count(*) FROM t JOIN u ON t.id < u.id", ["7"]);
}

#[tokio::test]
async fn subqueries_keep_sqls_three_values() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT id FROM t WHERE id IN (SELECT id FROM u) ORDER BY id",
        ["1", "3"]
    );
    rows!(
        h,
        "SELECT id FROM t WHERE id NOT IN (SELECT id FROM u) ORDER BY id",
        ["2", "4", "5"]
    );
    rows!(
        h,
        "SELECT id FROM t WHERE v NOT IN (SELECT v FROM t WHERE id > 3)",
        []
    );
    rows!(
        h,
        "SELECT id FROM t WHERE v NOT IN (SELECT v FROM t WHERE id = 2) ORDER BY id",
        ["1", "3"]
    );
    rows!(
        h,
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id) ORDER BY id",
        ["1", "3"]
    );
    rows!(
        h,
        "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id) ORDER BY id",
        ["2", "4", "5"]
    );
    rows!(
        h,
        "SELECT id, (SELECT max(w) FROM u WHERE u.id = t.id) AS w FROM t ORDER BY id LIMIT 2",
        ["1|1.5", "2|null"]
    );
    let a = rows!(h, "SELECT (SELECT max(id) FROM t)", ["5"]);
    assert_eq!(a.columns, ["scalarsubquery():bigint"]);
    rows!(
        h,
        "SELECT id FROM t WHERE id = (SELECT max(id) FROM t)",
        ["5"]
    );
    rows!(
        h,
        "SELECT past.id FROM t VERSION AS OF 1 AS past WHERE past.id NOT IN (SELECT id FROM t WHERE id > 1)",
        ["1"]
    );
    rows!(
        h,
        "SELECT x.id FROM (SELECT id FROM t WHERE id > 3) x ORDER BY id",
        ["4", "5"]
    );
}

#[tokio::test]
async fn versions_are_never_ignored() {
    let h = Host::with_tables().await;
    rows!(h, "SELECT count(*) FROM t VERSION AS OF 1", ["3"]);
    rows!(h, "SELECT count(*) FROM t VERSION AS OF '1'", ["3"]);
    rows!(
        h,
        "SELECT a.id, b.id FROM t VERSION AS OF 1 AS a LEFT JOIN t VERSION AS OF 2 AS b ON a.id = b.id - 2 ORDER BY 1",
        ["1|3", "2|4", "3|5"]
    );
    rows!(
        h,
        "SELECT * FROM t VERSION AS OF 2 EXCEPT SELECT * FROM t VERSION AS OF 1 ORDER BY id",
        ["4|null|null", "5|b|50"]
    );
}

#[tokio::test]
async fn set_operations() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT id FROM u UNION SELECT id FROM u ORDER BY id",
        ["1", "3", "9"]
    );
    rows!(
        h,
        "SELECT count(*) FROM (SELECT id FROM u UNION ALL SELECT id FROM u)",
        ["6"]
    );
    rows!(
        h,
        "SELECT id FROM t INTERSECT SELECT id FROM u ORDER BY id",
        ["1", "3"]
    );
    rows!(
        h,
        "SELECT v FROM t EXCEPT SELECT 'b' ORDER BY v",
        ["null", "a", "c"]
    );
    rows!(
        h,
        "SELECT v FROM t EXCEPT ALL SELECT 'b' ORDER BY v",
        ["null", "a", "b", "c"]
    );
    rows!(
        h,
        "SELECT v FROM t INTERSECT ALL SELECT v FROM (VALUES ('b'), ('b'), ('b')) AS x(v)",
        ["b", "b"]
    );
    let a = rows!(
        h,
        "SELECT 1 AS a UNION ALL SELECT 2.5 ORDER BY a",
        ["1.0", "2.5"]
    );
    assert_eq!(a.columns, ["a:decimal(11,1)!"]);
    let a = rows!(
        h,
        "SELECT 1 AS id, 'x' AS v UNION ALL SELECT NULL, 'y' ORDER BY v",
        ["1|x", "null|y"]
    );
    assert_eq!(a.columns, ["id:int", "v:string!"]);
}

#[tokio::test]
async fn ctes_and_views_are_bound_in_place() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "WITH a AS (SELECT id FROM t), b(x) AS (SELECT max(id) FROM a) SELECT x FROM b",
        ["5"]
    );
    rows!(
        h,
        "WITH t AS (SELECT id FROM t WHERE id = 1) SELECT * FROM t",
        ["1"]
    );
    h.view("w", "SELECT id, v FROM t WHERE id < 3");
    rows!(
        h,
        "SELECT w.id, default.w.v FROM w ORDER BY id",
        ["1|a", "2|b"]
    );
    h.view("ww", "SELECT count(*) AS c FROM w");
    rows!(h, "SELECT c FROM ww", ["2"]);
    let e = h.error("SELECT * FROM w VERSION AS OF 1").await;
    assert_eq!(
        e,
        "[UNSUPPORTED_FEATURE.TIME_TRAVEL] The feature is not supported: Time travel on the relation: `spark_catalog`.`default`.`w`. SQLSTATE: 0A000"
    );
}

#[tokio::test]
async fn values_range_and_their_partitions() {
    let h = Host::with_tables().await;
    let a = rows!(h, "VALUES (1, 'a'), (2.5, NULL)", ["1.0|a", "2.5|null"]);
    assert_eq!(a.columns, ["col1:decimal(11,1)!", "col2:string"]);
    assert_eq!(a.partitions, 1);
    rows!(h, "SELECT x + 1 FROM VALUES (1), (2) AS v(x)", ["2", "3"]);
    let a = rows!(
        h,
        "SELECT count(*), sum(id) FROM range(0, 100, 1, 4)",
        ["100|4950"]
    );
    assert_eq!(a.partitions, 1);
    assert_eq!(
        h.run("SELECT id FROM range(0, 20, 1, 2) WHERE id > 3")
            .await
            .unwrap()
            .partitions,
        2
    );
    assert_eq!(
        h.run("SELECT id FROM range(0, 10, 1, 2) UNION ALL SELECT id FROM range(3)")
            .await
            .unwrap()
            .partitions,
        3
    );
    assert_eq!(
        h.run("SELECT /*+ COALESCE(1) */ id FROM range(0, 20, 1, 4)")
            .await
            .unwrap()
            .partitions,
        1
    );
    assert_eq!(
        h.run("SELECT /*+ REPARTITION(3) */ id FROM range(0, 20, 1, 1)")
            .await
            .unwrap()
            .partitions,
        3
    );
    rows!(h, "SELECT * FROM range(10, 0, -4)", ["10", "6", "2"]);
    rows!(h, "SELECT * FROM range(3)", ["0", "1", "2"]);
}

#[tokio::test]
async fn generators_in_the_list_in_lateral_views_and_in_from() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT id, explode(arr) FROM s ORDER BY 1, 2",
        ["1|1", "1|2", "1|3"]
    );
    rows!(
        h,
        "SELECT id, explode_outer(arr) AS x FROM s ORDER BY 1, 2",
        ["1|1", "1|2", "1|3", "2|null"]
    );
    let a = rows!(h, "SELECT posexplode(array('x', 'y'))", ["0|x", "1|y"]);
    assert_eq!(a.columns, ["pos:int!", "col:string!"]);
    rows!(
        h,
        "SELECT id, k, x FROM s LATERAL VIEW explode(m) q AS k, x",
        ["1|k|5"]
    );
    rows!(
        h,
        "SELECT id, q.x FROM s LATERAL VIEW OUTER explode(arr) q AS x WHERE id = 2",
        ["2|null"]
    );
    rows!(
        h,
        "SELECT inline(array(struct(1, 'a'), struct(2, 'b')))",
        ["1|a", "2|b"]
    );
    rows!(h, "SELECT stack(2, 1, 'a', 2, 'b')", ["1|a", "2|b"]);
    rows!(h, "SELECT * FROM explode(array(1, 2)) AS x(n)", ["1", "2"]);
}

#[tokio::test]
async fn window_functions() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT id, row_number() OVER (PARTITION BY v ORDER BY id) AS r FROM t WHERE v = 'b' ORDER BY id",
        ["2|1", "5|2"]
    );
    rows!(
        h,
        "SELECT id, sum(n) OVER (ORDER BY id) FROM t ORDER BY id",
        ["1|10", "2|30", "3|60", "4|60", "5|110"]
    );
    rows!(
        h,
        "SELECT id, lag(id) OVER (ORDER BY id), lead(id, 1, -1L) OVER (ORDER BY id) FROM t ORDER BY id LIMIT 2",
        ["1|null|2", "2|1|3"]
    );
    rows!(
        h,
        "SELECT max(id) OVER (), rank() OVER (ORDER BY v) FROM t WHERE id > 3 ORDER BY 2",
        ["5|1", "5|2"]
    );
    let a = h
        .run("SELECT ntile(2) OVER (ORDER BY id), first_value(v) OVER (ORDER BY id) FROM t")
        .await
        .unwrap();
    assert_eq!(
        a.columns[0],
        "ntile(2) OVER (ORDER BY id ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW):int!"
    );
    rows!(
        h,
        "SELECT v, sum(count(*)) OVER (ORDER BY v) FROM t GROUP BY v ORDER BY v",
        ["null|1", "a|2", "b|4", "c|5"]
    );
    rows!(
        h,
        "SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY id LIMIT 3",
        ["1|1", "2|3", "3|5"]
    );
    rows!(
        h,
        "SELECT sum(id) OVER w FROM t WINDOW w AS (PARTITION BY v) ORDER BY 1 LIMIT 1",
        ["1"]
    );
}

#[tokio::test]
async fn distinct_and_lateral_aliases() {
    let h = Host::with_tables().await;
    rows!(
        h,
        "SELECT DISTINCT v FROM t ORDER BY v",
        ["null", "a", "b", "c"]
    );
    rows!(h, "SELECT count(DISTINCT v) FROM t", ["3"]);
    let a = rows!(h, "SELECT 1 AS a, a + 1", ["1|2"]);
    assert_eq!(a.columns[1], "(lateralAliasReference(a) + 1):int!");
}

#[tokio::test]
async fn subqueries_answer_where_no_filter_stands() {
    let h = Host::with_tables().await;
    let a = rows!(
        h,
        "SELECT EXISTS (SELECT 1 FROM range(0)) AS e, NOT EXISTS (SELECT 1 FROM range(0)) AS n, 1 IN (SELECT id FROM range(3)) AS i",
        ["false|true|true"]
    );
    assert_eq!(a.columns, ["e:boolean!", "n:boolean!", "i:boolean!"]);
    rows!(
        h,
        "SELECT id, EXISTS (SELECT 1 FROM u WHERE u.id = t.id) AS e, id IN (SELECT u.id FROM u WHERE u.id = t.id) AS i FROM t ORDER BY id",
        [
            "1|true|true",
            "2|false|false",
            "3|true|true",
            "4|false|false",
            "5|false|false"
        ]
    );
    rows!(
        h,
        "SELECT id, v IN (SELECT v FROM t WHERE id < 3) AS e, v NOT IN (SELECT v FROM t) AS n FROM t ORDER BY id",
        [
            "1|true|false",
            "2|true|false",
            "3|false|false",
            "4|null|null",
            "5|true|false"
        ]
    );
    rows!(
        h,
        "SELECT NULL IN (SELECT id FROM range(0)), CAST(NULL AS INT) IN (SELECT id FROM range(2)), 5 NOT IN (SELECT id FROM range(2))",
        ["false|null|true"]
    );
    rows!(
        h,
        "SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM range(1)) THEN id ELSE 0 END) FROM t",
        ["15"]
    );
    rows!(
        h,
        "SELECT id FROM t ORDER BY id IN (SELECT id FROM u), id",
        ["2", "4", "5", "1", "3"]
    );
}
