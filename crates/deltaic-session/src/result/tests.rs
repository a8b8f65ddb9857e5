//! Answers as text, JSON and CSV.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_protocol::schema::{DataType, StructField, StructType};
use serde_json::json;

use super::*;

fn field(name: &str, data_type: DataType) -> StructField {
    StructField::nullable(name, data_type)
}

fn one(data_type: DataType, value: Value) -> SqlResult {
    SqlResult::from_rows(StructType::new([field("c", data_type)]), &[vec![value]]).unwrap()
}

/// The pipe's form and the shown text of one value.
fn check(data_type: DataType, value: Value, json: serde_json::Value, shown: &str) {
    let result = one(data_type, value);
    assert_eq!(result.to_json_pipe()["rows"][0][0], json);
    let text = result.show(ShowOptions {
        truncate: 0,
        ..ShowOptions::default()
    });
    assert_eq!(
        text.lines().nth(3).unwrap().trim_matches('|').trim_end(),
        shown
    );
}

#[test]
fn values_have_the_forms_of_the_pipe_and_of_show() {
    check(DataType::Long, Value::Long(-5), json!(-5), "-5");
    check(DataType::Boolean, Value::Boolean(true), json!(true), "true");
    check(DataType::String, Value::Null, json!(null), "NULL");
    check(
        DataType::decimal(10, 2),
        Value::Decimal(-105, 2),
        json!("-1.05"),
        "-1.05",
    );
    check(
        DataType::decimal(38, 10),
        Value::Decimal(0, 10),
        json!("0E-10"),
        "0.0000000000",
    );
    check(
        DataType::decimal(38, 10),
        Value::Decimal(15, 10),
        json!("1.5E-9"),
        "0.0000000015",
    );
    check(
        DataType::Double,
        Value::Double(f64::NAN),
        json!("nan"),
        "NaN",
    );
    check(
        DataType::Double,
        Value::Double(f64::NEG_INFINITY),
        json!("-inf"),
        "-Infinity",
    );
    check(
        DataType::Double,
        Value::Double(1e300),
        json!(1e300),
        "1.0E300",
    );
    check(
        DataType::Double,
        Value::Double(12_345_678.5),
        json!(12_345_678.5),
        "1.23456785E7",
    );
    check(
        DataType::Double,
        Value::Double(0.001),
        json!(0.001),
        "0.001",
    );
    check(
        DataType::Double,
        Value::Double(100.0),
        json!(100.0),
        "100.0",
    );
    check(
        DataType::Float,
        Value::Float(0.1),
        json!(f64::from(0.1f32)),
        "0.1",
    );
    check(
        DataType::Binary,
        Value::Binary(vec![0, 255]),
        json!({"base64": "AP8="}),
        "[00 FF]",
    );
    check(
        DataType::Date,
        Value::Date(0),
        json!("1970-01-01"),
        "1970-01-01",
    );
    check(
        DataType::Date,
        Value::Date(-719_162),
        json!("0001-01-01"),
        "0001-01-01",
    );
    check(
        DataType::Timestamp,
        Value::Timestamp(1_500_000),
        json!("1970-01-01T00:00:01.500000"),
        "1970-01-01 00:00:01.5",
    );
    check(
        DataType::TimestampNtz,
        Value::TimestampNtz(0),
        json!("1970-01-01T00:00:00"),
        "1970-01-01 00:00:00",
    );
}

#[test]
fn nested_values_keep_their_nulls() {
    let inner = StructType::new([field("a", DataType::Integer), field("b", DataType::String)]);
    check(
        DataType::Struct(inner),
        Value::Struct(vec![
            ("a".into(), Value::Long(1)),
            ("b".into(), Value::Null),
        ]),
        json!({"a": 1, "b": null}),
        "{1, NULL}",
    );
    check(
        DataType::array(DataType::Long, true),
        Value::Array(vec![Value::Long(1), Value::Null]),
        json!([1, null]),
        "[1, NULL]",
    );
    check(
        DataType::map(DataType::String, DataType::String, true),
        Value::text_map([("k", Some("v")), ("n", None)]),
        json!({"k": "v", "n": null}),
        "{k -> v, n -> NULL}",
    );
    check(
        DataType::map(DataType::Boolean, DataType::Long, true),
        Value::Map(vec![(Value::Boolean(true), Value::Long(1))]),
        json!({"True": 1}),
        "{true -> 1}",
    );
}

#[test]
fn show_cuts_leans_and_counts_as_the_reference_does() {
    let schema = StructType::new([field("id", DataType::Long), field("text", DataType::String)]);
    let rows = vec![
        vec![
            Value::Long(1),
            Value::text("a text that is longer than twenty"),
        ],
        vec![Value::Long(20), Value::text("日本")],
        vec![Value::Long(3), Value::text("line\nbreak")],
    ];
    let result = SqlResult::from_rows(schema, &rows).unwrap();
    let wanted = "\
+---+--------------------+
| id|                text|
+---+--------------------+
|  1|a text that is lo...|
| 20|                日本|
+---+--------------------+
only showing top 2 rows";
    assert_eq!(
        result.show(ShowOptions {
            rows: 2,
            ..ShowOptions::default()
        }),
        wanted
    );
    let wanted = "\
+---+---------------------------------+
|id |text                             |
+---+---------------------------------+
|1  |a text that is longer than twenty|
|20 |日本                             |
|3  |line\\nbreak                      |
+---+---------------------------------+
";
    assert_eq!(
        result.show(ShowOptions {
            truncate: 0,
            ..ShowOptions::default()
        }),
        wanted
    );
    let wanted = "\
-RECORD 0--------------------
 id   | 1                    \n text | a text that is lo... \nonly showing top 1 row";
    assert_eq!(
        result.show(ShowOptions {
            rows: 1,
            vertical: true,
            ..ShowOptions::default()
        }),
        wanted
    );
}

#[test]
fn csv_quotes_only_where_it_must() {
    let schema = StructType::new([field("a", DataType::String), field("b,c", DataType::Long)]);
    let result = SqlResult::from_rows(schema, &[vec![Value::text("x\"y"), Value::Null]]).unwrap();
    assert_eq!(result.to_csv(), "a,\"b,c\"\n\"x\"\"y\",\n");
}

#[test]
fn an_answer_without_columns_has_no_rows() {
    let result = SqlResult::empty();
    assert_eq!(result.to_json_pipe(), json!({"columns": [], "rows": []}));
    assert_eq!(result.show(ShowOptions::default()), "++\n||\n++\n++\n");
}
