//! Dates, timestamps and zones as Spark reads and prints them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::civil::{date_from_days, days_from_date};
use super::*;
use proptest::prelude::*;

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

#[test]
fn texts_that_spark_casts_are_read() {
    let utc = Zone::utc();
    for (text, expected) in [
        ("2026-01-03", "2026-01-03 00:00:00"),
        (" 2026-1-3 ", "2026-01-03 00:00:00"),
        ("2026", "2026-01-01 00:00:00"),
        ("2026-02", "2026-02-01 00:00:00"),
        ("2026-01-03T10:20:30", "2026-01-03 10:20:30"),
        ("2026-01-03 1:2:3", "2026-01-03 01:02:03"),
        ("2026-01-03 10:20", "2026-01-03 10:20:00"),
        ("2026-01-03 10:20:30.5", "2026-01-03 10:20:30.5"),
        ("2026-01-03 10:20:30.1234567", "2026-01-03 10:20:30.123456"),
        ("2026-01-03T10:20:30Z", "2026-01-03 10:20:30"),
        ("2026-01-03T10:20:30.000+01:00", "2026-01-03 09:20:30"),
        (
            "2026-01-03 10:20:30 Europe/Amsterdam",
            "2026-01-03 09:20:30",
        ),
        ("2026-01-03 10:20:30 GMT+2", "2026-01-03 08:20:30"),
        ("2026-01-03 10:20:30-8", "2026-01-03 18:20:30"),
        ("2026-01-03T", "2026-01-03 00:00:00"),
        ("0001-01-01", "0001-01-01 00:00:00"),
        ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
        ("-0044-03-15", "-0044-03-15 00:00:00"),
        ("+10000-01-01", "+10000-01-01 00:00:00"),
    ] {
        let shown = parse_timestamp(text, &utc, None).map(|micros| format_timestamp(micros, &utc));
        assert_eq!(shown.as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn texts_that_spark_does_not_cast_are_refused() {
    for text in [
        "",
        "not a time",
        "2026-13-01",
        "2026-02-30",
        "26-01-01",
        "2026-01-03 25:00:00",
        "2026-01-03 10:60",
        "2026-01-03 10:20:30 Nowhere/City",
        "2026-01-03 10:20:30+19",
        "20260103",
        "2026-01-03 10",
        "2026/01/03",
        "10:20:30",
        "2026-01-03 10:20:30.5.5",
        "2026-1 10:00:00",
    ] {
        assert_eq!(parse_timestamp(text, &Zone::utc(), None), None, "{text}");
    }
}

#[test]
fn a_time_alone_is_of_today_in_its_zone() {
    let now = parse_timestamp("2026-05-01 23:30:00", &Zone::utc(), None).unwrap();
    let at = parse_timestamp("10:00", &zone("Asia/Tokyo"), Some(now)).unwrap();
    assert_eq!(format_timestamp(at, &Zone::utc()), "2026-05-02 01:00:00");
}

#[test]
fn a_skipped_time_moves_on_and_a_doubled_time_is_the_earlier() {
    let la = zone("America/Los_Angeles");
    let show =
        |text: &str| format_timestamp(parse_timestamp(text, &la, None).unwrap(), &Zone::utc());
    assert_eq!(show("2026-03-08 02:30:00"), "2026-03-08 10:30:00");
    assert_eq!(show("2026-11-01 01:30:00"), "2026-11-01 08:30:00");
}

#[test]
fn dates_ignore_what_follows_the_day() {
    assert_eq!(parse_date("2026-01-03T99:99"), Some(20456));
    assert_eq!(parse_date("2026-01-03 x"), Some(20456));
    assert_eq!(parse_date("2026-01"), Some(20454));
    assert_eq!(parse_date("2026-01 x"), None);
    assert_eq!(format_date(parse_date("0001-01-01").unwrap()), "0001-01-01");
}

#[test]
fn every_door_has_its_format() {
    let tokyo = zone("Asia/Tokyo");
    let micros = parse_timestamp("9999-12-31 00:00:00.123456", &tokyo, None).unwrap();
    assert_eq!(
        format_statistics(micros, &tokyo),
        "9999-12-31T00:00:00.123+09:00"
    );
    let old = parse_timestamp("0001-01-02 00:00:00", &tokyo, None).unwrap();
    assert_eq!(
        format_statistics(old, &tokyo),
        "0001-01-02T00:00:00.000+09:18:59"
    );
    assert_eq!(format_statistics_ntz(-1), "1969-12-31T23:59:59.999");
    assert_eq!(format_iso_utc(1_500_000), "1970-01-01T00:00:01.500000Z");
    assert_eq!(
        format_java_timestamp(0, &Zone::utc()),
        "1970-01-01 00:00:00.0"
    );
    assert_eq!(
        format_java_timestamp(1_020, &Zone::utc()),
        "1970-01-01 00:00:01.02"
    );
    assert_eq!(
        format_java_timestamp_short(1_020, &Zone::utc()),
        "1970-01-01 00:00:01"
    );
    assert_eq!(
        format_statistics(0, &Zone::utc()),
        "1970-01-01T00:00:00.000Z"
    );
}

#[test]
fn a_compact_timestamp_has_seventeen_digits() {
    assert_eq!(
        parse_compact("19700101000001002", &Zone::utc()),
        Some(1_002_000)
    );
    assert_eq!(parse_compact("1970010100000100", &Zone::utc()), None);
    assert_eq!(parse_compact("19701301000001002", &Zone::utc()), None);
}

#[test]
fn zones_are_named_in_many_ways() {
    for (name, offset) in [
        ("UTC", 0),
        ("Z", 0),
        ("+01:00", 3600),
        ("-8", -28800),
        ("GMT+1", 3600),
        ("UTC-03:30", -12600),
        ("+0530", 19800),
        ("JST", 32400),
        ("EST", -18000),
    ] {
        assert_eq!(zone(name).offset_at(0), offset, "{name}");
    }
    for name in ["", "Nowhere", "+25", "+1:99", "utc+x"] {
        assert_eq!(Zone::parse(name), None, "{name}");
    }
}

proptest! {
    #[test]
    fn days_and_dates_are_one_to_one(days in -3_000_000i64..3_000_000) {
        let (year, month, day) = date_from_days(days);
        prop_assert_eq!(days_from_date(year, month, day), Some(days));
    }

    #[test]
    fn printed_timestamps_are_read_back(micros in -62_135_596_800_000_000i64..253_402_300_799_999_999) {
        let utc = Zone::utc();
        prop_assert_eq!(parse_timestamp(&format_timestamp(micros, &utc), &utc, None), Some(micros));
        prop_assert_eq!(parse_timestamp(&format_iso_utc(micros), &zone("Asia/Tokyo"), None), Some(micros));
        prop_assert_eq!(parse_timestamp_ntz(&format_timestamp_ntz(micros)), Some(micros));
        let ms = micros.div_euclid(1000) * 1000;
        let la = zone("America/Los_Angeles");
        prop_assert_eq!(parse_timestamp(&format_statistics(micros, &la), &utc, None), Some(ms));
    }

    #[test]
    fn no_text_panics(text in ".{0,25}") {
        let _ = parse_timestamp(&text, &Zone::utc(), Some(0));
        let _ = parse_date(&text);
        let _ = Zone::parse(&text);
    }
}
