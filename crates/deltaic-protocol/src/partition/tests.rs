//! Partition values and folder names as the reference has them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::path::encode_path;
use proptest::prelude::*;

#[test]
fn folders_are_named_as_the_reference_names_them() {
    for (value, folder, in_log) in [
        ("plain", "p=plain", "p=plain"),
        ("with space", "p=with space", "p=with%20space"),
        ("a/b", "p=a%2Fb", "p=a%252Fb"),
        ("a%2Fb", "p=a%252Fb", "p=a%25252Fb"),
        ("a=b", "p=a%3Db", "p=a%253Db"),
        ("a+b", "p=a+b", "p=a+b"),
        ("ü", "p=ü", "p=ü"),
        ("#?&", "p=%23%3F&", "p=%2523%253F&"),
        ("\"quote\"", "p=%22quote%22", "p=%2522quote%2522"),
        (
            "",
            "p=__HIVE_DEFAULT_PARTITION__",
            "p=__HIVE_DEFAULT_PARTITION__",
        ),
    ] {
        let made = partition_folder([("p", Some(value))]);
        assert_eq!(made, folder);
        assert_eq!(encode_path(&made), in_log);
    }
    assert_eq!(
        partition_folder([("b", Some("true")), ("a:b", None)]),
        "b=true/a%3Ab=__HIVE_DEFAULT_PARTITION__"
    );
    assert_eq!(partition_folder([]), "");
}

fn back(text: &str, data_type: DataType) -> String {
    let zone = Zone::parse("America/Los_Angeles").unwrap();
    let value = Scalar::from_partition_text(Some(text), &data_type, &zone).unwrap();
    value.to_partition_text("p").unwrap().unwrap()
}

#[test]
fn values_of_every_type_go_to_text_and_back() {
    for (data_type, text, normal) in [
        (DataType::Boolean, "TRUE", "true"),
        (DataType::Byte, "-128", "-128"),
        (DataType::Integer, "-1", "-1"),
        (DataType::Long, "9007199254740993", "9007199254740993"),
        (DataType::Float, "1.5", "1.5"),
        (DataType::Float, "3.4", "3.4"),
        (DataType::Double, "1e300", "1.0E300"),
        (DataType::Double, "-inf", "-Infinity"),
        (DataType::decimal(10, 3), "12.34", "12.340"),
        (DataType::Date, "1582-10-15", "1582-10-15"),
        (
            DataType::Timestamp,
            "2026-03-08 03:30:00.123456",
            "2026-03-08T10:30:00.123456Z",
        ),
        (
            DataType::Timestamp,
            "2026-03-08T10:30:00.123456Z",
            "2026-03-08T10:30:00.123456Z",
        ),
        (
            DataType::TimestampNtz,
            "2026-03-08 02:30:00.1",
            "2026-03-08 02:30:00.1",
        ),
        (DataType::Binary, "\u{1}A", "\u{1}A"),
        (DataType::String, " a ", " a "),
    ] {
        assert_eq!(back(text, data_type), normal);
    }
}

#[test]
fn the_empty_text_is_null_for_every_type() {
    assert_eq!(
        Scalar::from_partition_text(Some(""), &DataType::String, &Zone::utc()).unwrap(),
        Scalar::Null
    );
    assert_eq!(
        Scalar::from_partition_text(None, &DataType::Long, &Zone::utc()).unwrap(),
        Scalar::Null
    );
    // As the reference's CONVERT writes it.
    let folder = "__HIVE_DEFAULT_PARTITION__";
    for (data_type, value) in [
        (DataType::Long, Scalar::Null),
        (DataType::Date, Scalar::Null),
        (DataType::String, Scalar::String(folder.to_owned())),
    ] {
        assert_eq!(
            Scalar::from_partition_text(Some(folder), &data_type, &Zone::utc()).unwrap(),
            value
        );
    }
    assert_eq!(
        Scalar::String(String::new())
            .to_partition_text("p")
            .unwrap(),
        None
    );
}

#[test]
fn text_of_another_type_and_bytes_that_are_no_text_are_refused() {
    let e = Scalar::from_partition_text(Some("x"), &DataType::Long, &Zone::utc()).unwrap_err();
    assert_eq!(e.class(), Some("DELTA_FAILED_CAST_PARTITION_VALUE"));
    let e = Scalar::Binary(vec![0, 255])
        .to_partition_text("bin")
        .unwrap_err();
    assert_eq!(
        e.text(),
        "Using column bin of type BINARY as a partition column is not supported."
    );
}

#[test]
fn a_timestamps_folder_is_in_the_sessions_zone() {
    let zone = Zone::parse("America/Los_Angeles").unwrap();
    let value = Scalar::from_partition_text(
        Some("2026-03-08T10:30:00.123456Z"),
        &DataType::Timestamp,
        &zone,
    )
    .unwrap();
    let text = value.to_folder_text("ts", &zone).unwrap();
    assert_eq!(
        partition_folder([("ts", text.as_deref())]),
        "ts=2026-03-08 03%3A30%3A00.123456"
    );
}

proptest! {
    #[test]
    fn names_survive_their_escape(name in ".{0,20}") {
        let escaped = escape_path_name(&name);
        prop_assert!(!escaped.contains('/'));
        prop_assert_eq!(unescape_path_name(&escaped), name);
    }
}
