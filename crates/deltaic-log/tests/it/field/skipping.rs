//! Statistics, and what they prove; partition values and paths.

use std::collections::BTreeMap;

use deltaic_log::files::canonical_path;
use deltaic_log::skipping::{
    Column, Comparison, Predicate, StatisticsFacts, Value, partition_values,
};
use deltaic_protocol::partition::partition_folder;
use deltaic_protocol::path::encode_path;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{Scheme, TableRoot};

use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual};

/// Whether a file with these statistics is kept.
fn kept(stats: &str, predicate: &Predicate) -> bool {
    predicate.may_match(&StatisticsFacts::new(Some(stats), BTreeMap::new()))
}

fn is(data_type: DataType, comparison: Comparison, value: Value) -> Predicate {
    Predicate::Compare(Column::new("x", data_type), comparison, value)
}

/// Statistics of a column `x`.
fn between(min: &str, max: &str) -> String {
    format!(
        r#"{{"numRecords":2,"minValues":{{"x":{min}}},"maxValues":{{"x":{max}}},"nullCount":{{"x":0}}}}"#
    )
}

#[test]
fn b083_a_maximum_in_milliseconds_does_not_hide_the_microseconds_after_it() {
    let stats = between(
        r#""2026-01-01T10:00:00.000Z""#,
        r#""2026-01-01T10:00:00.123Z""#,
    );
    let ntz = stats.replace('Z', "");
    let at = |micros: i64| Value::Timestamp(1_767_261_600_000_000 + micros);
    for (text, data_type) in [
        (&stats, DataType::Timestamp),
        (&ntz, DataType::TimestampNtz),
    ] {
        let may = |comparison, micros| kept(text, &is(data_type.clone(), comparison, at(micros)));
        assert!(may(Greater, 123_500) && may(GreaterOrEqual, 123_999) && may(Equal, 123_999));
        assert!(!may(Greater, 124_000) && !may(Equal, 124_001));
        assert!(!may(Less, -1_000) && may(LessOrEqual, 0));
    }
}

#[test]
fn b085_a_maximum_at_the_end_of_time_does_not_overflow() {
    let stats = between(
        r#""-290308-12-21T19:59:05.224Z""#,
        r#""+294247-01-10T04:00:54.775Z""#,
    );
    for edge in [i64::MIN, i64::MAX] {
        for comparison in [Greater, GreaterOrEqual, Equal, LessOrEqual, Less] {
            // No panic; and whatever was understood of the bounds, the value at the edge is not ruled out by its own file.
            let _ = kept(
                &stats,
                &is(DataType::Timestamp, comparison, Value::Timestamp(edge)),
            );
        }
    }
    let latest = Value::Timestamp(i64::MAX);
    assert!(kept(&stats, &is(DataType::Timestamp, Equal, latest)));
}

#[test]
fn b086_decimals_are_exact_in_plain_digits_and_bounds_in_every_other_form() {
    let data_type = DataType::decimal(38, 6);
    let plain = between(
        "-12345678901234567890123456789012.123456",
        "99999999999999999999999999999999.999999",
    );
    let largest = 10i128.pow(38) - 1;
    assert!(kept(
        &plain,
        &is(data_type.clone(), Equal, Value::Decimal(largest, 6))
    ));
    let lowest = -12_345_678_901_234_567_890_123_456_789_012_123_456;
    assert!(kept(
        &plain,
        &is(data_type.clone(), Equal, Value::Decimal(lowest, 6))
    ));
    assert!(!kept(
        &plain,
        &is(data_type.clone(), Less, Value::Decimal(lowest, 6))
    ));
    // A writer that went through a double has lost the last digits: 123456789012345678901.123456 stood here.
    let rounded = between("1.2345678901234568e20", "1.2345678901234568E+20");
    let true_value = Value::Decimal(123_456_789_012_345_678_901_123_456, 6);
    assert!(kept(&rounded, &is(data_type.clone(), Equal, true_value)));
    assert!(!kept(
        &rounded,
        &is(
            data_type.clone(),
            Greater,
            Value::Decimal(10i128.pow(30), 6)
        )
    ));
    // One that does not fit says nothing, and the other bound stays.
    let too_large = between("1", "1e40");
    assert!(kept(
        &too_large,
        &is(data_type.clone(), Greater, Value::Decimal(largest, 6))
    ));
    assert!(!kept(
        &too_large,
        &is(data_type, Less, Value::Decimal(1_000_000, 6))
    ));
}

#[test]
fn b088_whole_numbers_do_not_go_through_a_double() {
    let stats = between("9007199254740993", "9007199254740993");
    assert!(kept(
        &stats,
        &is(DataType::Long, Equal, Value::Integer(9_007_199_254_740_993))
    ));
    assert!(!kept(
        &stats,
        &is(DataType::Long, Equal, Value::Integer(9_007_199_254_740_992))
    ));
    let data_type = DataType::decimal(18, 0);
    let stats = between("999999999999999999", "999999999999999999");
    let value = Value::Decimal(999_999_999_999_999_999, 0);
    assert!(kept(&stats, &is(data_type.clone(), Equal, value.clone())));
    assert!(!kept(
        &stats,
        &is(data_type.clone(), Greater, value.clone())
    ));
    // The double of another writer says more than the value is.
    let stats = between("1e18", "1e18");
    assert!(kept(&stats, &is(data_type, Equal, value)));
    let stats = between("9.007199254740992e15", "9.007199254740992e15");
    assert!(kept(
        &stats,
        &is(DataType::Long, Equal, Value::Integer(9_007_199_254_740_993))
    ));
}

#[test]
fn b091_nan_may_be_above_every_maximum() {
    for data_type in [DataType::Double, DataType::Float] {
        for max in ["1.0", "\"NaN\"", "NaN"] {
            let stats = between("1.0", max);
            let may = |comparison, value| {
                kept(
                    &stats,
                    &is(data_type.clone(), comparison, Value::Double(value)),
                )
            };
            assert!(may(Greater, 5.0) && may(GreaterOrEqual, 5.0) && may(Equal, f64::NAN));
            assert!(may(GreaterOrEqual, f64::NAN) && may(LessOrEqual, f64::NAN));
            assert!(!may(Less, 1.0) && !may(LessOrEqual, 0.5));
        }
        let zero = between("0.0", "0.0");
        assert!(kept(
            &zero,
            &is(data_type.clone(), Equal, Value::Double(-0.0))
        ));
        assert!(kept(
            &zero,
            &is(data_type, LessOrEqual, Value::Double(-0.0))
        ));
    }
}

#[test]
fn b092_statistics_of_another_type_are_none() {
    for (data_type, stats, value) in [
        (
            DataType::Long,
            between(r#""100""#, r#""200""#),
            Value::Integer(5),
        ),
        (DataType::Long, between("1.5", "2.5"), Value::Integer(5)),
        (
            DataType::Integer,
            between("true", "false"),
            Value::Integer(5),
        ),
        (
            DataType::Integer,
            between("99999999999", "99999999999"),
            Value::Integer(5),
        ),
        (
            DataType::decimal(10, 2),
            between(r#""1.00""#, r#""2.00""#),
            Value::Decimal(500, 2),
        ),
        (
            DataType::Double,
            between(r#""1.0""#, r#""2.0""#),
            Value::Double(0.5),
        ),
        (
            DataType::String,
            between("100", "200"),
            Value::String("x".into()),
        ),
        (
            DataType::Date,
            between("20000101", "20000102"),
            Value::Date(5),
        ),
        (
            DataType::Date,
            between(r#""2000-13-45""#, r#""x""#),
            Value::Date(5),
        ),
        (DataType::Timestamp, between("1", "2"), Value::Timestamp(5)),
        (
            DataType::Long,
            between("[1]", "{\"y\":2}"),
            Value::Integer(5),
        ),
        (DataType::Long, "null".to_owned(), Value::Integer(5)),
        (DataType::Long, "\"text\"".to_owned(), Value::Integer(5)),
        (
            DataType::Long,
            between("10", "20")[..30].to_owned(),
            Value::Integer(5),
        ),
        (
            DataType::Long,
            r#"{"numRecords":"two","minValues":[],"maxValues":7,"nullCount":null}"#.to_owned(),
            Value::Integer(5),
        ),
    ] {
        for comparison in [Equal, Less, Greater] {
            assert!(
                kept(&stats, &is(data_type.clone(), comparison, value.clone())),
                "{data_type:?} {comparison:?} {stats}"
            );
        }
    }
    for nulls in ["\"2\"", "-1", "3", "1.0", "null"] {
        let stats = format!(r#"{{"numRecords":2,"nullCount":{{"x":{nulls}}}}}"#);
        let column = Column::new("x", DataType::Long);
        assert!(kept(&stats, &Predicate::IsNull(column.clone())), "{nulls}");
        let set = Predicate::Not(Box::new(Predicate::IsNull(column)));
        assert!(kept(&stats, &set), "{nulls}");
    }
}

#[test]
fn b095_a_column_that_came_later_is_null_in_older_files() {
    let stats = r#"{"numRecords":2,"minValues":{"a":1},"maxValues":{"a":2},"nullCount":{"a":0}}"#;
    let later = Column::new("x", DataType::Long);
    assert!(kept(stats, &Predicate::IsNull(later.clone())));
    assert!(kept(stats, &is(DataType::Long, Equal, Value::Integer(1))));
    let safe = Predicate::NullSafeEqual(later, Value::Integer(1));
    assert!(kept(stats, &Predicate::Not(Box::new(safe))));
}

#[test]
fn b103_the_part_that_is_known_decides() {
    let stats = r#"{"numRecords":2,"minValues":{"a":1},"maxValues":{"a":2},"nullCount":{"a":0}}"#;
    let a = |value| {
        Predicate::Compare(
            Column::new("a", DataType::Long),
            Greater,
            Value::Integer(value),
        )
    };
    let b_set = Predicate::Not(Box::new(Predicate::IsNull(Column::new(
        "b",
        DataType::Long,
    ))));
    let both = |value| Predicate::And(vec![a(value), b_set.clone(), Predicate::Unknown]);
    assert!(kept(stats, &both(0)));
    assert!(!kept(stats, &both(2)));
    assert!(kept(stats, &Predicate::Or(vec![a(2), Predicate::Unknown])));
}

/// A column that was widened from FLOAT to DOUBLE has bounds that were written as floats, which are not the doubles they look like.
#[test]
fn bounds_of_a_widened_column_hold() {
    for shown in ["0.7", "0.1", "-0.7", "16777.217"] {
        let value = f64::from(shown.parse::<f32>().unwrap());
        let near: f64 = shown.parse().unwrap();
        let stats = between(shown, shown);
        assert!(
            kept(&stats, &is(DataType::Double, Equal, Value::Double(value))),
            "{shown}"
        );
        let comparison = if value < near { Less } else { Greater };
        assert!(
            kept(
                &stats,
                &is(DataType::Double, comparison, Value::Double(near))
            ),
            "{shown}"
        );
    }
}

/// Older releases of the reference end a cut maximum with U+FFFD, which is not above every character.
#[test]
fn a_maximum_cut_by_an_older_release_does_not_hide_rare_characters() {
    let head = "a".repeat(32);
    let stats = between(&format!("\"{head}\""), &format!("\"{head}\u{fffd}\""));
    let value = |tail: &str| Value::String(format!("{head}{tail}"));
    assert!(kept(&stats, &is(DataType::String, Equal, value("😀"))));
    assert!(kept(
        &stats,
        &is(DataType::String, Greater, value("\u{fffe}"))
    ));
    assert!(!kept(
        &stats,
        &is(DataType::String, Equal, Value::String("b".into()))
    ));
}

fn typed(text: Option<&str>, data_type: DataType, zone: &str) -> Option<Value> {
    let values = BTreeMap::from([("p".to_owned(), text.map(str::to_owned))]);
    let zone = Zone::parse(zone).unwrap();
    let columns = [Column::new("p", data_type)];
    partition_values(&values.into_iter().collect(), &columns, &zone).remove("p")
}

#[test]
fn b104_a_plus_in_a_path_stays_a_plus() {
    let root = TableRoot::new(Scheme::File, "/t");
    assert_eq!(
        canonical_path(&root, "part=AB1+2/x.parquet"),
        "part=AB1+2/x.parquet"
    );
    assert_eq!(
        canonical_path(&root, "part=AB1%2B2/x%20y"),
        "part=AB1+2/x y"
    );
    assert_eq!(
        canonical_path(&root, "file:/t/part=AB1+2/x.parquet"),
        "part=AB1+2/x.parquet"
    );
}

#[test]
fn b106_folders_are_escaped_and_values_are_not() {
    for (value, in_log) in [
        (Some("a/b"), "p=a%252Fb"),
        (Some("%"), "p=%2525"),
        (None, "p=__HIVE_DEFAULT_PARTITION__"),
    ] {
        assert_eq!(encode_path(&partition_folder([("p", value)])), in_log);
    }
    assert_eq!(
        typed(Some("a%2Fb"), DataType::String, "UTC"),
        Some(Value::String("a%2Fb".into()))
    );
}

#[test]
fn b108_an_empty_partition_value_is_null_for_every_type() {
    for data_type in [
        DataType::String,
        DataType::Long,
        DataType::Date,
        DataType::Timestamp,
        DataType::Binary,
        DataType::Boolean,
        DataType::decimal(10, 2),
    ] {
        assert_eq!(
            typed(Some(""), data_type.clone(), "UTC"),
            Some(Value::Null),
            "{data_type:?}"
        );
        assert_eq!(typed(None, data_type, "UTC"), Some(Value::Null));
    }
}

#[test]
fn b110_a_time_without_a_zone_is_read_in_the_zone_of_the_session() {
    let at = |text, zone| typed(Some(text), DataType::Timestamp, zone);
    let utc = Some(Value::Timestamp(1_588_647_600_000_000));
    assert_eq!(at("2020-05-05 03:00:00", "UTC"), utc);
    assert_eq!(at("2020-05-05 06:00:00", "Europe/Vilnius"), utc);
    for zone in ["UTC", "Europe/Vilnius"] {
        assert_eq!(at("2020-05-05T03:00:00.000000Z", zone), utc);
        assert_eq!(at("2020-05-05T06:00:00+03:00", zone), utc);
    }
}

#[test]
fn b112_a_decimal_partition_value_has_its_point() {
    for text in ["1.50", "1.5", "01.500"] {
        assert_eq!(
            typed(Some(text), DataType::decimal(10, 2), "UTC"),
            Some(Value::Decimal(150, 2))
        );
    }
}

#[test]
fn b116_the_root_of_a_table_is_never_decoded() {
    let root = TableRoot::new(Scheme::File, "/data/my table%25");
    for spelling in [
        "a%2520b",
        "/data/my%20table%2525/a%2520b",
        "file:/data/my%20table%2525/a%2520b",
    ] {
        assert_eq!(canonical_path(&root, spelling), "a%20b", "{spelling}");
    }
}

#[test]
fn b124_statistics_and_partition_values_go_by_physical_names() {
    let stats = r#"{"numRecords":1,"minValues":{"col-1":5},"maxValues":{"col-1":5},"nullCount":{"col-1":0}}"#;
    let partition = BTreeMap::from([("col-2".to_owned(), Value::Integer(7))]);
    let facts = StatisticsFacts::new(Some(stats), partition);
    let may = |physical: &str, value| {
        let column = Column::new(physical, DataType::Long);
        Predicate::Compare(column, Equal, Value::Integer(value)).may_match(&facts)
    };
    assert!(may("col-1", 5) && !may("col-1", 6) && may("col-2", 7) && !may("col-2", 8));
    assert!(may("BATCH_ID", 1), "a logical name says nothing");
}
