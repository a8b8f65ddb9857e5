//! Expressions: literals, coercion, names and values of operators.

use super::support::Host;

async fn check(cases: &[(&str, &str)]) {
    let h = Host::with_tables().await;
    for (expression, want) in cases {
        assert_eq!(h.column(expression).await, *want, "{expression}");
    }
}

#[tokio::test]
async fn literals_have_sparks_types() {
    check(&[
        ("3000000000", "3000000000:bigint! = 3000000000"),
        ("5L", "5:bigint! = 5"),
        ("5S", "5:smallint! = 5"),
        ("5Y", "5:tinyint! = 5"),
        ("1.5F", "1.5:float! = 1.5"),
        ("1.5D", "1.5:double! = 1.5"),
        ("1.5BD", "1.5:decimal(2,1)! = 1.5"),
        (".5", "0.5:decimal(1,1)! = 0.5"),
        ("-2147483648", "-2147483648:int! = -2147483648"),
        ("DATE '2026-05-01'", "DATE '2026-05-01':date! = 2026-05-01"),
        (
            "TIMESTAMP '2026-05-01 10:00:00'",
            "TIMESTAMP '2026-05-01 10:00:00':timestamp! = 2026-05-01 10:00:00",
        ),
        ("X'1F'", "X'1F':binary! = \u{1F}"),
        (
            "INTERVAL 12 HOURS",
            "INTERVAL '12' HOUR:interval hour! = INTERVAL '12' HOUR",
        ),
        (
            "INTERVAL '1-2' YEAR TO MONTH",
            "INTERVAL '1-2' YEAR TO MONTH:interval year to month! = INTERVAL '1-2' YEAR TO MONTH",
        ),
    ])
    .await;
}

#[tokio::test]
async fn arithmetic_has_sparks_result_types() {
    check(&[
        ("3 / 2", "(3 / 2):double! = 1.5"),
        ("3 div 2", "(3 div 2):bigint! = 1"),
        ("2 % 1.8", "(2 % 1.8):decimal(2,1)! = 0.2"),
        ("1.1 + 2", "(1.1 + 2):decimal(3,1)! = 3.1"),
        ("1.5 * 2.5", "(1.5 * 2.5):decimal(5,2)! = 3.75"),
        ("1.0 / 3", "(1.0 / 3):decimal(7,6)! = 0.333333"),
        ("1 + 2L", "(1 + 2):bigint! = 3"),
        ("'5' + 1", "(5 + 1):bigint! = 6"),
        ("'5' * 2.0", "(5 * 2.0):double! = 10.0"),
        ("-(-3)", "(- -3):int! = 3"),
        ("1 + NULL", "(1 + NULL):int = null"),
        ("5 & 3", "(5 & 3):int! = 1"),
        ("~ 0", "~0:int! = -1"),
        ("'a' || 'b'", "concat(a, b):string! = ab"),
    ])
    .await;
}

#[tokio::test]
async fn comparisons_meet_in_one_type() {
    check(&[
        ("1 = 1.0", "(1 = 1.0):boolean! = true"),
        ("'5' = 5", "(5 = 5):boolean! = true"),
        ("1 <> 2", "(NOT (1 = 2)):boolean! = true"),
        ("NULL <=> NULL", "(NULL <=> NULL):boolean! = true"),
        (
            "DATE '2026-05-01' = '2026-05-01'",
            "(DATE '2026-05-01' = 2026-05-01):boolean! = true",
        ),
        (
            "TIMESTAMP '2026-05-01 00:00:00' = DATE '2026-05-01'",
            "(TIMESTAMP '2026-05-01 00:00:00' = DATE '2026-05-01'):boolean! = true",
        ),
        ("2 BETWEEN 1 AND 3", "between(2, 1, 3):boolean! = true"),
        ("1 IN (1, 2L)", "(1 IN (1, 2)):boolean! = true"),
        ("1 NOT IN (2)", "(NOT (1 IN (2))):boolean! = true"),
        (
            "CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)",
            "(CAST(NaN AS DOUBLE) = CAST(NaN AS DOUBLE)):boolean! = true",
        ),
        ("-0.0D = 0.0D", "(-0.0 = 0.0):boolean! = true"),
        ("'a' < 'B'", "(a < B):boolean! = false"),
        ("'abc' LIKE 'a%'", "abc LIKE a%:boolean! = true"),
        (
            "'a_c' LIKE 'a/_c' ESCAPE '/'",
            "a_c LIKE a/_c ESCAPE '/':boolean! = true",
        ),
        ("'ABC' ILIKE 'a%'", "ilike(ABC, a%):boolean! = true"),
        ("'abc' RLIKE '^a.c$'", "RLIKE(abc, ^a.c$):boolean! = true"),
        ("NULL IS NULL", "(NULL IS NULL):boolean! = true"),
        ("true AND NULL", "(true AND NULL):boolean = null"),
        ("NOT true", "(NOT true):boolean! = false"),
    ])
    .await;
}

#[tokio::test]
async fn conditionals_take_the_widest_type() {
    check(&[
        (
            "CASE WHEN 1 > 0 THEN 1 WHEN 2 > 0 THEN 2.0 ELSE 1.2 END",
            "CASE WHEN (1 > 0) THEN 1 WHEN (2 > 0) THEN 2.0 ELSE 1.2 END:decimal(11,1)! = 1.0",
        ),
        (
            "CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END",
            "CASE WHEN (2 = 1) THEN a WHEN (2 = 2) THEN b END:string = b",
        ),
        ("if(1 < 2, 'a', 'b')", "(IF((1 < 2), a, b)):string! = a"),
        (
            "coalesce(NULL, 1, NULL)",
            "coalesce(NULL, 1, NULL):int! = 1",
        ),
        ("nvl(NULL, 'x')", "nvl(NULL, x):string! = x"),
        ("nullif(2, 2)", "nullif(2, 2):int = null"),
        (
            "greatest(1, 2.5, NULL)",
            "greatest(1, 2.5, NULL):decimal(11,1)! = 2.5",
        ),
        (
            "CASE WHEN false THEN 1/0 ELSE 1 END",
            "CASE WHEN false THEN (1 / 0) ELSE 1 END:double! = 1.0",
        ),
    ])
    .await;
}

#[tokio::test]
async fn casts_follow_spark() {
    check(&[
        ("CAST('10' AS INT)", "CAST(10 AS INT):int! = 10"),
        (
            "CAST(1.55 AS DECIMAL(3,1))",
            "CAST(1.55 AS DECIMAL(3,1)):decimal(3,1)! = 1.6",
        ),
        ("CAST(2.9D AS INT)", "CAST(2.9 AS INT):int! = 2"),
        ("CAST(true AS INT)", "CAST(true AS INT):int! = 1"),
        (
            "CAST('yes' AS BOOLEAN)",
            "CAST(yes AS BOOLEAN):boolean! = true",
        ),
        (
            "CAST('2026-05-01 10:00:00+02:00' AS TIMESTAMP)",
            "CAST(2026-05-01 10:00:00+02:00 AS TIMESTAMP):timestamp! = 2026-05-01 08:00:00",
        ),
        (
            "CAST(TIMESTAMP '2026-05-01 10:00:00' AS DATE)",
            "CAST(TIMESTAMP '2026-05-01 10:00:00' AS DATE):date! = 2026-05-01",
        ),
        (
            "CAST(array(1, NULL) AS STRING)",
            "CAST(array(1, NULL) AS STRING):string! = [1, null]",
        ),
        (
            "CAST(map('a', 1) AS STRING)",
            "CAST(map(a, 1) AS STRING):string! = {a -> 1}",
        ),
        (
            "CAST(struct(1, 'x') AS STRING)",
            "CAST(struct(1, x) AS STRING):string! = {1, x}",
        ),
        ("TRY_CAST('x' AS INT)", "TRY_CAST(x AS INT):int = null"),
        (
            "CAST(1e10 AS STRING)",
            "CAST(1.0E10 AS STRING):string! = 1.0E10",
        ),
        ("int('5') + 1", "(5 + 1):int! = 6"),
        ("CAST(NULL AS INT)", "CAST(NULL AS INT):int = null"),
        (
            "CAST(array('1') AS ARRAY<INT>)",
            "CAST(array(1) AS ARRAY<INT>):array<int>! = [1]",
        ),
        ("'1' :: INT", "CAST(1 AS INT):int! = 1"),
        (
            "CAST(INTERVAL 90 MINUTES AS STRING)",
            "CAST(INTERVAL '90' MINUTE AS STRING):string! = INTERVAL '90' MINUTE",
        ),
    ])
    .await;
}

#[tokio::test]
async fn dates_and_intervals_add_up() {
    let h = Host::with_tables().await;
    for (expression, want) in [
        ("DATE '2026-01-31' + INTERVAL 1 MONTH", "2026-02-28"),
        ("DATE '2026-05-01' + INTERVAL 1 DAY", "2026-05-02"),
        ("DATE '2026-05-01' - DATE '2026-04-30'", "INTERVAL '1' DAY"),
        (
            "'2026-01-04 00:00:00' - INTERVAL 12 HOURS",
            "2026-01-03 12:00:00",
        ),
        (
            "TIMESTAMP '2026-05-01 10:00:00' + INTERVAL '1 02:00:00' DAY TO SECOND",
            "2026-05-02 12:00:00",
        ),
        (
            "TIMESTAMP '2026-05-02 00:00:00' - TIMESTAMP '2026-05-01 00:00:00'",
            "INTERVAL '1 00:00:00' DAY TO SECOND",
        ),
        ("DATE '2026-05-01' + 3", "2026-05-04"),
        ("INTERVAL 1 DAY * 2", "INTERVAL '2 00:00:00' DAY TO SECOND"),
        (
            "INTERVAL 1 YEAR + INTERVAL 2 MONTHS",
            "INTERVAL '1-2' YEAR TO MONTH",
        ),
        (
            "DATE '2026-05-01' + INTERVAL 6 HOURS",
            "2026-05-01 06:00:00",
        ),
    ] {
        assert_eq!(h.value(expression).await, want, "{expression}");
    }
}

#[tokio::test]
async fn the_zone_of_the_session_counts() {
    let mut h = Host::default();
    h.options.zone = "America/Los_Angeles".parse().unwrap();
    assert_eq!(
        h.value("CAST(TIMESTAMP '2026-03-08 03:30:00' AS STRING)")
            .await,
        "2026-03-08 03:30:00"
    );
    assert_eq!(
        h.value("CAST(TIMESTAMP '2026-05-01 10:00:00Z' AS STRING)")
            .await,
        "2026-05-01 03:00:00"
    );
    assert_eq!(h.value("hour(TIMESTAMP '2026-05-01 10:00:00Z')").await, "3");
    assert_eq!(
        h.value("CAST(DATE '2026-05-01' AS TIMESTAMP) = TIMESTAMP '2026-05-01 07:00:00Z'")
            .await,
        "true"
    );
    assert_eq!(
        h.value("date_trunc('DAY', TIMESTAMP '2026-05-01 03:00:00Z')")
            .await,
        "2026-04-30 00:00:00"
    );
}

#[tokio::test]
async fn what_fails_is_kept_behind_its_guard() {
    let h = Host::with_tables().await;
    h.table("z", "a INT, b INT", &["(10, 0), (10, 2)"]).await;
    let a = h
        .run("SELECT a / b FROM z WHERE b <> 0 AND a / b > 1")
        .await
        .unwrap();
    assert_eq!(a.rows, ["5.0"]);
    let a = h
        .run("SELECT CASE WHEN b = 0 THEN false ELSE a / b > 1 END FROM z ORDER BY b")
        .await
        .unwrap();
    assert_eq!(a.rows, ["false", "true"]);
    let a = h.run("SELECT b = 0 OR a / b > 1 FROM z").await.unwrap();
    assert_eq!(a.rows, ["true", "true"]);
    let a = h
        .run("SELECT coalesce(nullif(b, 0), 1 / nullif(b, 0)) FROM z ORDER BY b")
        .await
        .unwrap();
    assert_eq!(a.rows, ["null", "2.0"]);
}
