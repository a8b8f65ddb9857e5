//! Texts of intervals, moments, numbers, names and paths.

use deltaic_protocol::column_list::parse_column_list;
use deltaic_protocol::file_name::LogFileName;
use deltaic_protocol::interval::CalendarInterval;
use deltaic_protocol::number::{format_decimal, parse_decimal};
use deltaic_protocol::partition::{Scalar, parse_double};
use deltaic_protocol::path::{decode_path, encode_path, is_absolute};
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::statistics::Statistics;
use deltaic_protocol::timestamp::{
    Zone, format_date, format_java_timestamp, format_statistics, format_timestamp, parse_compact,
    parse_date, parse_timestamp, parse_timestamp_ntz,
};
use proptest::prelude::*;

use crate::bytes::{edited, edits};

/// Words and numbers of which texts of intervals and moments are made, and such as break them.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(
            &[
                "interval",
                "INTERVAL",
                "day",
                "days",
                "hours",
                "week",
                "weeks",
                "month",
                "years",
                "milliseconds",
                "microseconds",
                "seconds",
                "minute",
                "-",
                "+",
                ".",
                ":",
                "T",
                "Z",
                " ",
                "  ",
                "\t",
                "UTC",
                "GMT+",
                "Europe/Berlin",
                "epoch",
                "today",
                "now",
                "0",
                "1",
                "00",
                "24",
                "30",
                "2026",
                "2026-02-29",
                "2024-02-29",
                "23:59:60",
                "99999",
                "+08:00",
                "-18:01",
                "9223372036854775807",
                "-9223372036854775808",
                "9223372036854775808",
                "1.9999999999",
                "0.0000000001",
                "é",
                "\u{0}",
            ][..]
        )
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
        "\\PC{0,3}",
    ];
    (prop::collection::vec(word, 0..8), any::<bool>())
        .prop_map(|(words, spaced)| words.join(if spaced { " " } else { "" }))
}

proptest! {
    #[test]
    fn an_interval_is_read_or_refused(text in words()) {
        for text in [text.clone(), format!("interval {text}")] {
            if let Some(interval) = CalendarInterval::parse(&text) {
                let _ = (interval.to_millis(), interval.micros_without_months(), interval.is_valid_retention());
            }
            let _ = CalendarInterval::parse_property(&text);
        }
    }

    #[test]
    fn a_moment_is_read_or_refused(text in words(), now in prop::option::of(any::<i64>())) {
        let zones = [Zone::utc(), Zone::parse("Europe/Berlin").unwrap(), Zone::parse("-18:00").unwrap()];
        let _ = (parse_date(&text), parse_timestamp_ntz(&text), Zone::parse(&text));
        for zone in &zones {
            let _ = parse_compact(&text, zone);
            if let Some(micros) = parse_timestamp(&text, zone, now) {
                let _ = format_timestamp(micros, zone);
            }
        }
    }

    #[test]
    fn any_moment_has_a_text(
        micros in prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), -1_000_000_000_000_i64..1_000_000_000_000],
        days in prop_oneof![any::<i32>(), Just(i32::MIN), Just(i32::MAX)],
    ) {
        for zone in [Zone::utc(), Zone::parse("America/New_York").unwrap(), Zone::parse("+18:00").unwrap()] {
            let _ = (format_timestamp(micros, &zone), format_statistics(micros, &zone), format_java_timestamp(micros, &zone));
            let _ = (zone.offset_at(micros), zone.to_local(micros), zone.to_instant(micros));
        }
        let _ = format_date(days);
    }

    #[test]
    fn a_name_of_the_log_is_known_or_not(
        text in prop_oneof![
            "\\PC{0,40}",
            "[0-9]{0,22}(\\.[0-9]{0,22})?\\.(json|crc|checkpoint|compacted|parquet){0,3}",
            "[0-9]{20}\\.checkpoint\\.[0-9]{0,12}\\.[0-9]{0,12}\\.parquet",
            "[0-9]{20}\\.checkpoint\\.[0-9a-f-]{0,36}\\.(json|parquet)",
        ],
    ) {
        let name = LogFileName::parse(&text);
        let _ = (name.version(), name.is_checkpoint());
    }

    #[test]
    fn a_path_comes_back_as_it_went_in(text in "\\PC{0,30}") {
        prop_assert_eq!(decode_path(&encode_path(&text)), text.clone());
        let _ = (decode_path(&text), is_absolute(&text));
    }

    #[test]
    fn a_value_of_a_partition_is_read_or_refused(text in words()) {
        let types = [
            "long", "integer", "short", "byte", "double", "float", "boolean", "date", "timestamp", "timestamp_ntz", "binary",
            "string", "decimal(38,18)", "decimal(1,0)",
        ];
        for name in types {
            let schema = format!(r#"{{"type":"struct","fields":[{{"name":"a","type":"{name}","nullable":true,"metadata":{{}}}}]}}"#);
            let schema = StructType::from_json(&schema).unwrap();
            let data_type = &schema.fields[0].data_type;
            let _ = Scalar::from_partition_text(Some(&text), data_type, &Zone::utc());
            let bound = format!(r#"{{"numRecords":1,"minValues":{{"a":{}}}}}"#, serde_json::Value::from(text.as_str()));
            let statistics = Statistics::from_json(&bound).unwrap();
            let _ = (statistics.min(&["a"], data_type), statistics.max(&["a"], data_type));
        }
        let _ = parse_double(&text);
        if let Some(unscaled) = parse_decimal(&text, 38, 38) {
            let _ = format_decimal(unscaled, 38);
        }
    }

    #[test]
    fn statistics_are_read_or_none(edits in edits()) {
        let text = r#"{"numRecords":3,"minValues":{"a":1,"b":{"c":"x"}},"maxValues":{"a":3e300,"b":{"c":"y"}},"nullCount":{"a":0,"b":{"c":-1}},"tightBounds":false}"#;
        if let Ok(text) = String::from_utf8(edited(text, &edits))
            && let Some(statistics) = Statistics::from_json(&text)
        {
            let _ = statistics.to_json();
            for data_type in [DataType::Long, DataType::String, DataType::Double] {
                let _ = (statistics.min(&["b", "c"], &data_type), statistics.max(&["a"], &data_type));
            }
            let _ = statistics.nulls(&["b", "c"]);
            let _ = statistics.with_wide_bounds();
        }
    }

    #[test]
    fn a_list_of_columns_is_read_or_refused(text in "[a`., \\PC]{0,30}") {
        let _ = parse_column_list(&text);
    }
}
