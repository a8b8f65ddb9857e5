//! Functions: values, names and types, one line each.

use super::support::Host;

async fn values(cases: &[(&str, &str)]) {
    let h = Host::with_tables().await;
    for (expression, want) in cases {
        assert_eq!(h.value(expression).await, *want, "{expression}");
    }
}

async fn columns(cases: &[(&str, &str)]) {
    let h = Host::with_tables().await;
    for (expression, want) in cases {
        assert_eq!(h.column(expression).await, *want, "{expression}");
    }
}

#[tokio::test]
async fn names_print_as_spark_prints_them() {
    columns(&[
        ("SUBSTR('Spark SQL', 5)", "substr(Spark SQL, 5, 2147483647):string! = k SQL"),
        ("ceiling(-0.1)", "ceiling(-0.1):decimal(1,0)! = 0"),
        ("ceil(-0.1)", "CEIL(-0.1):decimal(1,0)! = 0"),
        ("floor(2.5D)", "FLOOR(2.5):bigint! = 2"),
        ("power(2, 3)", "POWER(2, 3):double! = 8.0"),
        ("sqrt(4)", "SQRT(4):double! = 2.0"),
        ("round(2.5, 0)", "round(2.5, 0):decimal(2,0)! = 3"),
        ("bround(2.5, 0)", "bround(2.5, 0):decimal(2,0)! = 2"),
        ("round(2.567, 2)", "round(2.567, 2):decimal(4,2)! = 2.57"),
        ("dayname(DATE('2008-02-20'))", "dayname(2008-02-20):string! = Wed"),
        ("dateadd('2016-07-30', 1)", "date_add(2016-07-30, 1):date! = 2016-07-31"),
        ("extract(YEAR FROM TIMESTAMP '2019-08-12 01:00:00.123456')", "extract(YEAR FROM TIMESTAMP '2019-08-12 01:00:00.123456'):int! = 2019"),
        ("trim('  x ')", "trim(  x ):string! = x"),
        ("lpad('hi', 5, '??')", "lpad(hi, 5, ??):string! = ???hi"),
        ("locate('bar', 'foobarbar')", "locate(bar, foobarbar, 1):int! = 4"),
        ("current_database()", "current_schema():string! = default"),
        ("typeof(1)", "typeof(1):string! = int"),
        ("struct(1, 2)", "struct(1, 2):struct<col1:int,col2:int>! = {1, 2}"),
        ("named_struct('a', 1, 'b', 'x')", "named_struct(a, 1, b, x):struct<a:int,b:string>! = {1, x}"),
        ("array(1, 2L)", "array(1, 2):array<bigint>! = [1, 2]"),
        ("map(1.0, '2')", "map(1.0, 2):map<decimal(2,1),string>! = {1.0 -> 2}"),
        ("isnull(1)", "(1 IS NULL):boolean! = false"),
        ("transform(array(1, 2, 3), x -> x + 1)", "transform(array(1, 2, 3), lambdafunction((namedlambdavariable() + 1), namedlambdavariable())):array<int>! = [2, 3, 4]"),
        ("log(10, 100)", "LOG(10, 100):double = 2.0"),
    ])
    .await;
}

#[tokio::test]
async fn functions_of_text() {
    values(&[
        ("upper('aß')", "ASS"),
        ("initcap('sPark sql')", "Spark Sql"),
        ("length('äb ')", "3"),
        ("substring('Spark SQL', -3)", "SQL"),
        ("substring('Spark SQL', 0, 2)", "Sp"),
        ("concat('v', 5)", "v5"),
        ("concat_ws(',', 'a', NULL, array('b', 'c'))", "a,b,c"),
        ("replace('ABCabc', 'abc', 'DEF')", "ABCDEF"),
        ("repeat('z', 3)", "zzz"),
        ("rpad('hi', 1)", "h"),
        ("split('oneAtwoBthreeC', '[ABC]')", "[one, two, three, ]"),
        ("split('a,b,c', ',', 2)", "[a, b,c]"),
        ("regexp_replace('100-200', '(\\\\d+)', 'num')", "num-num"),
        ("regexp_extract('100-200', '(\\\\d+)-(\\\\d+)', 1)", "100"),
        ("instr('SparkSQL', 'SQL')", "6"),
        ("translate('AaBbCc', 'abc', '123')", "A1B2C3"),
        ("levenshtein('kitten', 'sitting')", "3"),
        ("reverse('abc')", "cba"),
        ("hex(17)", "11"),
        ("hex('Spark')", "537061726B"),
        ("bin(13)", "1101"),
        ("conv('100', 2, 10)", "4"),
        ("base64('Spark SQL')", "U3BhcmsgU1FM"),
        ("md5('Spark')", "8cde774d6f7333752ed72cacddb05126"),
        ("crc32('Spark')", "1557323817"),
        (
            "sha2('Spark', 256)",
            "529bc3b07127ecb7e53a4dcf1991d9152c24537d919178022b2c42657f79a26b",
        ),
        ("hash('Spark')", "228093765"),
        ("format_number(12332.123456, 4)", "12,332.1235"),
        (
            "format_string('Hello World %d %s %.2f', 100, 'days', 1.5D)",
            "Hello World 100 days 1.50",
        ),
        ("substring_index('www.apache.org', '.', 2)", "www.apache"),
        ("startswith('Spark', 'Sp')", "true"),
        ("ascii('2')", "50"),
        ("left('Spark', 2) || right('Spark', 2)", "Sprk"),
        ("TRIM(BOTH 'x' FROM 'xxaxx')", "a"),
        ("ltrim('  a') || '|'", "a|"),
        ("overlay('Spark SQL' PLACING '_' FROM 6)", "Spark_SQL"),
    ])
    .await;
}

#[tokio::test]
async fn functions_of_numbers() {
    values(&[
        ("abs(-3)", "3"),
        ("round(25, -1)", "30"),
        ("bround(25, -1)", "20"),
        ("round(2.345D, 2)", "2.35"),
        ("mod(7, 3)", "1"),
        ("pmod(-7, 3)", "2"),
        ("factorial(5)", "120"),
        ("greatest(3, 1)", "3"),
        ("isnan(CAST('NaN' AS DOUBLE))", "true"),
        ("nanvl(CAST('NaN' AS DOUBLE), 2)", "2.0"),
        ("try_divide(1, 0)", "null"),
        ("try_add(2147483647, 1)", "null"),
        ("shiftleft(2, 1)", "4"),
        ("pi()", "3.141592653589793"),
        ("signum(-5)", "-1.0"),
        ("ceil(2.1)", "3"),
        ("floor(-2.1)", "-3"),
        ("ln(1)", "0.0"),
        ("exp(0)", "1.0"),
    ])
    .await;
}

#[tokio::test]
async fn functions_of_time() {
    let mut h = Host::with_tables().await;
    h.options.now_us = 1_777_627_845_123_000;
    for (expression, want) in [
        ("current_date()", "2026-05-01"),
        ("current_timestamp()", "2026-05-01 09:30:45.123"),
        ("now() = current_timestamp", "true"),
        ("date_add('2016-07-30', 1)", "2016-07-31"),
        ("date_sub('2016-07-30', 1)", "2016-07-29"),
        ("datediff('2009-07-31', '2009-07-30')", "1"),
        (
            "datediff(HOUR, TIMESTAMP '2026-05-01 00:00:00', TIMESTAMP '2026-05-01 05:59:00')",
            "5",
        ),
        (
            "timestampdiff(day, TIMESTAMP '2026-04-01 09:30:00', now())",
            "30",
        ),
        (
            "timestampadd(MONTH, 1, TIMESTAMP '2026-01-31 00:00:00')",
            "2026-02-28 00:00:00",
        ),
        (
            "date_trunc('MONTH', '2015-03-05T09:32:05.359')",
            "2015-03-01 00:00:00",
        ),
        ("trunc('2019-08-04', 'week')", "2019-07-29"),
        (
            "date_format('2016-04-08', 'yyyy/MM/dd EEE')",
            "2016/04/08 Fri",
        ),
        ("to_date('2009-07-30 04:17:52')", "2009-07-30"),
        ("to_date('30.07.2009', 'dd.MM.yyyy')", "2009-07-30"),
        ("to_timestamp('2016-12-31 00:12:00')", "2016-12-31 00:12:00"),
        ("unix_timestamp('2016-04-08', 'yyyy-MM-dd')", "1460073600"),
        ("from_unixtime(0)", "1970-01-01 00:00:00"),
        ("year('2016-07-30') * 100 + month('2016-07-30')", "201607"),
        ("dayofweek('2009-07-30')", "5"),
        ("weekofyear('2008-02-20')", "8"),
        ("quarter('2016-08-31')", "3"),
        ("make_date(2013, 7, 15)", "2013-07-15"),
        (
            "make_timestamp(2014, 12, 28, 6, 30, 45.887)",
            "2014-12-28 06:30:45.887",
        ),
        ("last_day('2009-01-12')", "2009-01-31"),
        ("add_months('2016-08-31', 1)", "2016-09-30"),
        (
            "months_between('1997-02-28 10:30:00', '1996-10-30')",
            "3.94959677",
        ),
        ("next_day('2015-01-14', 'TU')", "2015-01-20"),
        ("second(TIMESTAMP '2026-05-01 10:00:07.5')", "7"),
        (
            "extract(SECOND FROM TIMESTAMP '2026-05-01 10:00:07.5')",
            "7.500000",
        ),
        ("extract(DAYS FROM INTERVAL 5 DAYS)", "5"),
        (
            "from_utc_timestamp('2016-08-31', 'Asia/Seoul')",
            "2016-08-31 09:00:00",
        ),
        ("unix_micros(TIMESTAMP '1970-01-01 00:00:01')", "1000000"),
        ("timestamp_seconds(1230219000)", "2008-12-25 15:30:00"),
        ("current_timezone()", "UTC"),
    ] {
        assert_eq!(h.value(expression).await, want, "{expression}");
    }
}

#[tokio::test]
async fn functions_of_collections() {
    values(&[
        ("element_at(array(1, 2, 3), -1)", "3"),
        ("element_at(map('a', 1), 'b')", "null"),
        ("array(1, 2)[1]", "2"),
        ("size(array(1, NULL))", "2"),
        ("cardinality(map('a', 1))", "1"),
        ("array_contains(array(1, 2), 2L)", "true"),
        ("array_contains(array(1, NULL), 3)", "null"),
        ("sort_array(array('b', NULL, 'a'))", "[null, a, b]"),
        ("sort_array(array('b', NULL, 'a'), false)", "[b, a, null]"),
        ("array_sort(array(5, NULL, 1))", "[1, 5, null]"),
        ("array_distinct(array(1, 2, NULL, 2, NULL))", "[1, 2, null]"),
        ("array_union(array(1, 2), array(2, 3))", "[1, 2, 3]"),
        ("array_intersect(array(1, 2), array(2, 3))", "[2]"),
        ("array_except(array(1, 2), array(2))", "[1]"),
        ("array_join(array('a', NULL, 'b'), '-', '?')", "a-?-b"),
        ("array_max(array(1, 20, NULL))", "20"),
        ("array_position(array('a', 'b'), 'b')", "2"),
        ("array_remove(array(1, 2, 1), 1)", "[2]"),
        ("array_append(array(1), 2)", "[1, 2]"),
        ("array_repeat('x', 2)", "[x, x]"),
        ("flatten(array(array(1), array(2, 3)))", "[1, 2, 3]"),
        ("slice(array(1, 2, 3, 4), 2, 2)", "[2, 3]"),
        ("sequence(1, 5, 2)", "[1, 3, 5]"),
        (
            "sequence(DATE '2026-01-01', DATE '2026-03-01', INTERVAL 1 MONTH)",
            "[2026-01-01, 2026-02-01, 2026-03-01]",
        ),
        ("arrays_zip(array(1, 2), array('a'))", "[{1, a}, {2, null}]"),
        ("map_keys(map('a', 1, 'b', 2))", "[a, b]"),
        (
            "map_from_arrays(array('a', 'b'), array(1, 2))",
            "{a -> 1, b -> 2}",
        ),
        ("map_entries(map('a', 1))", "[{a, 1}]"),
        ("str_to_map('a:1,b:2')", "{a -> 1, b -> 2}"),
        (
            "to_json(named_struct('a', 1, 'b', array(true, NULL)))",
            "{\"a\":1,\"b\":[true,null]}",
        ),
        (
            "from_json('{\"a\":1, \"b\":0.8}', 'a INT, b DOUBLE')",
            "{1, 0.8}",
        ),
        ("get_json_object('{\"a\":{\"b\":[1,2]}}', '$.a.b[1]')", "2"),
        ("filter(array(1, 2, 3), x -> x % 2 = 1)", "[1, 3]"),
        ("exists(array(1, 2), x -> x > 1)", "true"),
        ("forall(array(1, 2), x -> x > 1)", "false"),
        ("aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x)", "6"),
        (
            "aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x, acc -> acc * 10)",
            "60",
        ),
        (
            "zip_with(array(1, 2), array(10, 20), (x, y) -> x + y)",
            "[11, 22]",
        ),
        ("transform_values(map('a', 1), (k, v) -> v + 1)", "{a -> 2}"),
        ("transform(array(1, 2), (x, i) -> x * i)", "[0, 2]"),
        ("array_sort(array(3, 1, 2), (a, b) -> b - a)", "[3, 2, 1]"),
    ])
    .await;
}

#[tokio::test]
async fn lambdas_see_the_columns_around_them() {
    let h = Host::with_tables().await;
    let a = h
        .run("SELECT id, transform(arr, x -> x + id) FROM s ORDER BY id")
        .await
        .unwrap();
    assert_eq!(a.rows, ["1|[2, 3, 4]", "2|[]"]);
}

#[tokio::test]
async fn aggregate_functions() {
    let h = Host::with_tables().await;
    for (sql, want) in [
        (
            "SELECT avg(n), min(v), max(v), first(id), last(v) FROM t WHERE id <= 3",
            "20.0|a|c|1|c",
        ),
        (
            "SELECT collect_list(v), size(collect_set(v)) FROM t",
            "[a, b, c, b]|3",
        ),
        ("SELECT collect_list(id) FROM e", "[]"),
        (
            "SELECT count_if(n > 15), sum(DISTINCT length(v)), count(DISTINCT v, n) FROM t",
            "3|1|4",
        ),
        (
            "SELECT stddev(n), variance(n) FROM t WHERE id <= 3",
            "10.0|100.0",
        ),
        (
            "SELECT sum(amount), avg(amount), max(amount) FROM m",
            "12.50|12.500000|12.50",
        ),
        ("SELECT count(*) FILTER (WHERE v = 'b') FROM t", "2"),
        (
            "SELECT max_by(v, id), min_by(v, id) FROM t WHERE v IS NOT NULL",
            "b|a",
        ),
        ("SELECT approx_count_distinct(v) FROM t", "3"),
        (
            "SELECT median(n), percentile(n, 0.5), percentile_approx(n, 0.5) FROM t",
            "25.0|25.0|20",
        ),
        (
            "SELECT bool_and(id > 0), bool_or(id > 4), any_value(v) FROM t WHERE id < 5",
            "true|false|a",
        ),
        (
            "SELECT string_agg(v, '-') WITHIN GROUP (ORDER BY v DESC) FROM t",
            "c-b-b-a",
        ),
        (
            "SELECT first(v, true), first_value(v) IGNORE NULLS FROM t WHERE id > 3",
            "b|b",
        ),
    ] {
        let a = h.run(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(a.rows, [want], "{sql}");
    }
    let a = h
        .run("SELECT sum(amount), avg(amount), sum(f), avg(f) FROM m")
        .await
        .unwrap();
    assert_eq!(
        a.columns,
        [
            "sum(amount):decimal(20,2)",
            "avg(amount):decimal(14,6)",
            "sum(f):double",
            "avg(f):double"
        ]
    );
}

#[tokio::test]
async fn functions_of_variants() {
    values(&[
        (
            r#"to_json(parse_json('{"b":[true,null],"a":1.50}'))"#,
            r#"{"a":1.5,"b":[true,null]}"#,
        ),
        (r#"to_json(parse_json('{"a":null,"b":{"c":null}}'))"#, r#"{"a":null,"b":{"c":null}}"#),
        ("to_json(parse_json('1 and more'))", "1"),
        (
            "to_json(parse_json('[127, 128, 9223372036854775808, 1e2, 0.10]'))",
            "[127,128,9223372036854775808,100.0,0.1]",
        ),
        ("try_parse_json('{') IS NULL", "true"),
        ("is_variant_null(parse_json('null'))", "true"),
        ("is_variant_null(parse_json(NULL))", "false"),
        (r#"variant_get(parse_json('{"a":[1,"2"]}'), '$.a[1]', 'int')"#, "2"),
        (r#"variant_get(parse_json('{"a b":{"c":3}}'), '$["a b"].c', 'bigint')"#, "3"),
        (r#"variant_get(parse_json('{"a":1}'), '$.b', 'int') IS NULL"#, "true"),
        (r#"variant_get(parse_json('{"a":null}'), '$.a', 'int') IS NULL"#, "true"),
        (r#"try_variant_get(parse_json('{"a":"x"}'), '$.a', 'int') IS NULL"#, "true"),
        (
            r#"variant_get(parse_json('{"x":{"y":[1,2],"z":true}}'), '$.x', 'struct<y: array<int>, w: string>')"#,
            "{[1, 2], null}",
        ),
        (
            r#"variant_get(parse_json('{"x":1,"y":2}'), '$', 'map<string, double>')"#,
            "{x -> 1.0, y -> 2.0}",
        ),
        (
            r#"schema_of_variant(parse_json('{"a":1,"b":[1,2.5],"c":[{"x":1},{"y":"s"}],"d e":null}'))"#,
            "OBJECT<a: BIGINT, b: ARRAY<DECIMAL(21,1)>, c: ARRAY<OBJECT<x: BIGINT, y: STRING>>, `d e`: VOID>",
        ),
        ("to_json(CAST(DATE '2020-01-02' AS VARIANT))", "\"2020-01-02\""),
        (
            "to_json(to_variant_object(named_struct('z', 1, 'a', array('x', NULL), 'm', map('k', 1.5))))",
            r#"{"a":["x",null],"m":{"k":1.5},"z":1}"#,
        ),
        ("CAST(parse_json('\"2020-01-02\"') AS DATE)", "2020-01-02"),
        ("try_cast(CAST(DATE '2020-01-02' AS VARIANT) AS INT) IS NULL", "true"),
    ])
    .await;
}
