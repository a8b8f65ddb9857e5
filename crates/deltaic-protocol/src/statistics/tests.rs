//! Statistics: JSON, bounds, cut strings, chosen columns.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::action::{Metadata, Protocol};
use crate::config::TableConfig;
use crate::schema::{StructField, StructType};
use crate::timestamp::Zone;
use proptest::prelude::*;

const SPARK: &str = r#"{"numRecords":2,"minValues":{"i64":-9223372036854775808,"f":"-Infinity","d":"NaN","dec":-1234567890123456789012345678.0123456789,"s":"a","dt":"0001-01-01","ts":"0001-01-02T00:00:00.000+09:18:59","tn":"1900-01-01T00:00:00.000","st":{"a":1,"b":{}}},"maxValues":{"tn":"9999-12-31T23:59:59.999"},"nullCount":{"s":0,"d":2,"f":1,"st":{"a":1}}}"#;

#[test]
fn what_spark_writes_comes_back_byte_for_byte() {
    assert_eq!(Statistics::from_json(SPARK).unwrap().to_json(), SPARK);
    let wide = Statistics {
        num_records: Some(3),
        ..Default::default()
    }
    .with_wide_bounds();
    assert_eq!(wide.to_json(), r#"{"numRecords":3,"tightBounds":false}"#);
}

#[test]
fn bounds_are_typed_without_a_detour_over_floating_point() {
    let stats = Statistics::from_json(SPARK).unwrap();
    assert_eq!(
        stats.min(&["i64"], &DataType::Long),
        Some(Scalar::Long(i64::MIN))
    );
    assert_eq!(
        stats.min(&["f"], &DataType::Float),
        Some(Scalar::Float(f32::NEG_INFINITY))
    );
    assert!(matches!(stats.min(&["d"], &DataType::Double), Some(Scalar::Double(d)) if d.is_nan()));
    let Some(Scalar::Decimal { unscaled, .. }) = stats.min(&["dec"], &DataType::decimal(38, 10))
    else {
        panic!()
    };
    assert_eq!(unscaled, -12345678901234567890123456780123456789);
    assert_eq!(
        stats.min(&["st", "a"], &DataType::Integer),
        Some(Scalar::Integer(1))
    );
    assert_eq!(stats.min(&["st", "b", "c"], &DataType::String), None);
    assert_eq!(stats.min(&["s"], &DataType::Long), None);
}

#[test]
fn a_maximum_of_time_is_a_millisecond_later_than_written() {
    let stats = Statistics::from_json(SPARK).unwrap();
    assert_eq!(
        stats.max(&["tn"], &DataType::TimestampNtz),
        Some(Scalar::TimestampNtz(253_402_300_800_000_000))
    );
}

#[test]
fn null_counts_say_less_without_tight_bounds() {
    let stats = Statistics::from_json(SPARK).unwrap();
    let nulls = |stats: &Statistics| {
        [
            stats.nulls(&["s"]),
            stats.nulls(&["d"]),
            stats.nulls(&["f"]),
            stats.nulls(&["x"]),
        ]
    };
    assert_eq!(
        nulls(&stats),
        [Nulls::None, Nulls::All, Nulls::Some(1), Nulls::Unknown]
    );
    assert_eq!(
        nulls(&stats.with_wide_bounds()),
        [Nulls::None, Nulls::All, Nulls::Unknown, Nulls::Unknown]
    );
}

#[test]
fn bare_words_of_other_writers_are_read() {
    let stats = Statistics::from_json(
        r#"{"numRecords":1,"minValues":{"d":-Infinity,"s":"NaN \" NaN"},"maxValues":{"d":NaN}}"#,
    )
    .unwrap();
    assert_eq!(
        stats.min(&["d"], &DataType::Double),
        Some(Scalar::Double(f64::NEG_INFINITY))
    );
    assert_eq!(
        stats.min(&["s"], &DataType::String),
        Some(Scalar::String("NaN \" NaN".into()))
    );
    assert_eq!(Statistics::from_json("{"), None);
    assert_eq!(Statistics::from_json("[]"), None);
}

#[test]
fn long_maxima_end_with_a_higher_character() {
    assert_eq!(
        cut_maximum(&"z".repeat(40), 32).unwrap(),
        format!("{}\u{7f}", "z".repeat(32))
    );
    assert_eq!(
        cut_maximum(&"é".repeat(40), 32).unwrap(),
        format!("{}\u{10ffff}", "é".repeat(32))
    );
    assert_eq!(cut_maximum("short", 32).unwrap(), "short");
    assert_eq!(
        cut_maximum("ab\u{10ffff}c", 2).unwrap(),
        "ab\u{10ffff}\u{7f}"
    );
    assert_eq!(cut_maximum(&"\u{10ffff}".repeat(100), 32), None);
    assert_eq!(cut_minimum(&"z".repeat(40), 32), "z".repeat(32));
    assert_eq!(cut_minimum("a😀b", 2), "a");
}

fn selected(properties: &[(&str, &str)]) -> Vec<String> {
    let schema = StructType::new([
        StructField::nullable("p", DataType::Long),
        StructField::nullable("a", DataType::Long),
        StructField::nullable(
            "s",
            DataType::structure([
                StructField::nullable("x", DataType::Long),
                StructField::nullable("y", DataType::Binary),
            ]),
        ),
        StructField::nullable("odd,name", DataType::String),
    ]);
    let mut metadata = Metadata::new("id", &schema);
    metadata.configuration = properties
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let config = TableConfig::new(&metadata, &Protocol::legacy(1, 2));
    let columns = StatisticsColumns::new(&config).unwrap();
    columns
        .select(&schema, &["P".into()])
        .iter()
        .map(|l| l.names().join("."))
        .collect()
}

#[test]
fn columns_are_the_first_leaves_or_the_named_ones() {
    assert_eq!(selected(&[]), ["a", "s.x", "s.y", "odd,name"]);
    assert_eq!(
        selected(&[("delta.dataSkippingNumIndexedCols", "2")]),
        ["a", "s.x"]
    );
    assert_eq!(
        selected(&[("delta.dataSkippingNumIndexedCols", "0")]),
        [""; 0]
    );
    assert_eq!(
        selected(&[("delta.dataSkippingNumIndexedCols", "-1")]).len(),
        4
    );
    assert_eq!(
        selected(&[
            ("delta.dataSkippingNumIndexedCols", "0"),
            ("delta.dataSkippingStatsColumns", "S, `odd,name`")
        ]),
        ["s.x", "s.y", "odd,name"]
    );
}

#[test]
fn lists_of_columns_are_read() {
    assert_eq!(
        crate::column_list::parse_column_list("a, b.c ,`x``,.y`.z").unwrap(),
        [vec!["a"], vec!["b", "c"], vec!["x`,.y", "z"]]
    );
    for bad in ["a,", ",a", "a..b", "`a", "a`b`", "`a`b", "a b", "a-b", "7"] {
        assert_eq!(crate::column_list::parse_column_list(bad), None, "{bad}");
    }
}

/// The class of the refusal of a list, where `p` is a partition column.
fn class_of(text: &str, schema: &StructType) -> String {
    check_stats_columns(text, schema, &["p".into()])
        .unwrap_err()
        .class()
        .unwrap_or("none")
        .to_owned()
}

#[test]
fn columns_that_cannot_have_statistics_are_refused_by_class() {
    let schema = StructType::new([
        StructField::nullable("p", DataType::Long),
        StructField::nullable("a", DataType::Long),
        StructField::nullable("b", DataType::Binary),
        StructField::nullable(
            "s",
            DataType::Struct(StructType::new([
                StructField::nullable("x", DataType::Long),
                StructField::nullable("b", DataType::Binary),
            ])),
        ),
    ]);
    let class = |text: &str| class_of(text, &schema);
    for good in ["", "A", "s", "s.x,a", "no list,", "s,s.x", "a,A"] {
        check_stats_columns(good, &schema, &["p".into()]).unwrap();
    }
    assert_eq!(class("nothing"), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA");
    assert_eq!(
        class("p"),
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"
    );
    assert_eq!(class("b"), "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE");
    assert_eq!(
        class("s.b"),
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"
    );
    assert_eq!(class("s.y"), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA");
    assert_eq!(class("a.y"), "DELTA_COLUMN_PATH_NOT_NESTED");
    for twice in ["a,b,a", "a,a", "s,s"] {
        let class = if twice.contains('b') {
            "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"
        } else {
            "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"
        };
        assert_eq!(class_of(twice, &schema), class, "{twice}");
    }
}

proptest! {
    #[test]
    fn cut_strings_are_bounds(text in "[a-c\u{7e}-\u{80}é😀\u{10ffff}]{0,12}", more in "[a-z\u{10fff0}-\u{10ffff}]{0,3}", limit in 1usize..6) {
        prop_assert!(cut_minimum(&text, limit) <= text.as_str());
        if let Some(max) = cut_maximum(&text, limit) {
            prop_assert!(max >= text);
            if cut_minimum(&text, limit) == text {
                prop_assert_eq!(max, text);
            }
        }
        let _ = more;
    }

    #[test]
    fn bounds_survive_their_json(long in any::<i64>(), double in any::<f64>(), unscaled in any::<i64>(), days in -700_000i32..2_000_000) {
        let utc = Zone::utc();
        for (value, data_type) in [
            (Scalar::Long(long), DataType::Long),
            (Scalar::Double(double), DataType::Double),
            (Scalar::Decimal { unscaled: i128::from(unscaled), precision: 38, scale: 10 }, DataType::decimal(38, 10)),
            (Scalar::Date(days), DataType::Date),
        ] {
            let json = to_json_bound(&value, &utc).unwrap();
            let back = from_json_bound(&json, &data_type).unwrap();
            prop_assert!(back == value || double.is_nan());
        }
    }

    #[test]
    fn no_text_panics(text in r#"[{}":,NaInfity\\-]{0,30}"#) {
        let _ = Statistics::from_json(&text);
        let _ = crate::column_list::parse_column_list(&text);
    }
}
