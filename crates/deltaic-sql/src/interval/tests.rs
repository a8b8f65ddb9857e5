//! Interval literals in all their forms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn literal(sql: &str) -> Result<IntervalValue> {
    match crate::parse_expr(sql)? {
        Expr::Interval(interval) => value(&interval),
        other => panic!("{sql} is {other:?}"),
    }
}

const HOUR: i64 = 3_600_000_000;

#[test]
fn every_form_has_its_value_and_type() {
    let day_time = |micros, start, end| IntervalValue::DayTime { micros, start, end };
    let year_month = |months, start, end| IntervalValue::YearMonth { months, start, end };
    for (sql, expected) in [
        ("INTERVAL 12 HOURS", day_time(12 * HOUR, 1, 1)),
        ("INTERVAL '1' DAY", day_time(24 * HOUR, 0, 0)),
        ("interval -1 day", day_time(-24 * HOUR, 0, 0)),
        ("INTERVAL - '2' HOUR", day_time(-2 * HOUR, 1, 1)),
        ("INTERVAL 1 WEEK", day_time(7 * 24 * HOUR, 0, 0)),
        ("INTERVAL 1 DAY 2 HOURS", day_time(26 * HOUR, 0, 1)),
        (
            "INTERVAL '1' DAY '2' HOURS -3 SECONDS",
            day_time(26 * HOUR - 3_000_000, 0, 3),
        ),
        ("INTERVAL '1 day 2 hours'", day_time(26 * HOUR, 0, 1)),
        ("INTERVAL 'interval 1 day'", day_time(24 * HOUR, 0, 0)),
        ("INTERVAL 1.5 SECONDS", day_time(1_500_000, 3, 3)),
        ("INTERVAL 250 MILLISECONDS", day_time(250_000, 3, 3)),
        (
            "INTERVAL '1 2:03:04.5' DAY TO SECOND",
            day_time(26 * HOUR + 184_500_000, 0, 3),
        ),
        ("INTERVAL '-1 2' DAY TO HOUR", day_time(-26 * HOUR, 0, 1)),
        (
            "INTERVAL '2:30' HOUR TO MINUTE",
            day_time(2 * HOUR + HOUR / 2, 1, 2),
        ),
        ("INTERVAL 3 MONTHS", year_month(3, 1, 1)),
        ("INTERVAL '1-2' YEAR TO MONTH", year_month(14, 0, 1)),
        ("INTERVAL 1 YEAR -1 MONTH", year_month(11, 0, 1)),
    ] {
        assert_eq!(literal(sql).unwrap(), expected, "{sql}");
    }
}

#[test]
fn bad_intervals_are_refused_with_their_class() {
    let class = |sql: &str| {
        literal(sql)
            .unwrap_err()
            .class()
            .map(str::to_owned)
            .unwrap()
    };
    assert_eq!(class("INTERVAL 1 MONTH 2 DAYS"), "_LEGACY_ERROR_TEMP_0029");
    assert_eq!(
        class("INTERVAL 1.5 HOURS"),
        "INVALID_INTERVAL_FORMAT.INVALID_FRACTION"
    );
    assert_eq!(
        class("INTERVAL 'x' DAY"),
        "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER"
    );
    assert_eq!(
        class("INTERVAL '1 parsec'"),
        "INVALID_INTERVAL_FORMAT.INVALID_UNIT"
    );
    assert_eq!(
        class("INTERVAL '1'"),
        "INVALID_INTERVAL_FORMAT.MISSING_UNIT"
    );
    assert_eq!(
        class("INTERVAL '9999999999999' DAY"),
        "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION"
    );
}
