//! The rules of comparison, one by one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};

use super::compare;
use crate::recording::Answer;
use crate::verdict::Kind;

fn check(reference: Value, ours: Value, layout_counts: bool) -> Kind {
    let parse = |mut value: Value| -> Answer {
        value
            .as_object_mut()
            .unwrap()
            .entry("n")
            .or_insert(json!(0));
        serde_json::from_value(value).unwrap()
    };
    compare(&parse(reference), &parse(ours), layout_counts).kind
}

fn select(text: &str, rows: Value) -> Value {
    json!({"sql": text, "columns": [["id", "int", true]], "rows": rows})
}

#[test]
fn the_order_of_rows_counts_only_behind_order_by() {
    let (up, down) = (json!([[1], [2]]), json!([[2], [1]]));
    assert_eq!(
        check(
            select("SELECT id FROM t", up.clone()),
            select("", down.clone()),
            false
        ),
        Kind::Equal
    );
    assert_eq!(
        check(
            select("SELECT id FROM t ORDER BY id", up.clone()),
            select("", down.clone()),
            false
        ),
        Kind::Wrong
    );
    let nested = "SELECT id FROM (SELECT id FROM t ORDER BY id)";
    assert_eq!(
        check(select(nested, up), select(nested, down), false),
        Kind::Equal
    );
}

#[test]
fn rows_are_counted_as_often_as_they_come() {
    let text = "SELECT id FROM t";
    assert_eq!(
        check(
            select(text, json!([[1], [1], [2]])),
            select(text, json!([[1], [2], [2]])),
            false
        ),
        Kind::Wrong
    );
}

#[test]
fn names_and_types_of_columns_count_and_nullability_does_not() {
    let other = |column: Value| json!({"sql": "SELECT 1", "columns": [column], "rows": []});
    assert_eq!(
        check(
            other(json!(["a", "int", true])),
            other(json!(["a", "int", false])),
            false
        ),
        Kind::Equal
    );
    assert_eq!(
        check(
            other(json!(["a", "int", true])),
            other(json!(["a", "bigint", true])),
            false
        ),
        Kind::Wrong
    );
    assert_eq!(
        check(
            other(json!(["a", "int", true])),
            other(json!(["b", "int", true])),
            false
        ),
        Kind::Wrong
    );
}

#[test]
fn errors_are_equal_by_class_and_masked_text() {
    let error =
        |class: Option<&str>, text: &str| json!({"error": {"condition": class, "message": text}});
    let one = error(
        Some("A"),
        "[A] no file part-00000-9cdb8652-e268-43d2-a738-5be85774ca4a-c000.snappy.parquet",
    );
    let two = error(
        Some("A"),
        "[A] no file part-00001-00000000-e268-43d2-a738-5be85774ca4a-c000.snappy.parquet",
    );
    assert_eq!(check(one.clone(), two, false), Kind::Equal);
    assert_eq!(
        check(one.clone(), error(Some("A"), "[A] other"), false),
        Kind::Text
    );
    assert_eq!(
        check(one.clone(), error(None, "[A] other"), false),
        Kind::Wrong
    );
    assert_eq!(
        check(one, select("SELECT 1", json!([])), false),
        Kind::Wrong
    );
}

#[test]
fn times_and_sizes_of_history_do_not_count_and_row_counts_do() {
    let columns = json!([
        ["version", "bigint", true],
        ["timestamp", "timestamp", true],
        ["operationMetrics", "map<string,string>", true]
    ]);
    let history = |time: &str, rows: &str, bytes: &str| {
        json!({"sql": "DESCRIBE HISTORY t", "columns": columns,
               "rows": [[1, time, {"numOutputRows": rows, "numOutputBytes": bytes}]]})
    };
    assert_eq!(
        check(
            history("2026-12-01T00:00:00", "1", "530"),
            history("2027-12-01T00:00:00", "1", "611"),
            false
        ),
        Kind::Equal
    );
    assert_eq!(
        check(
            history("2026-12-01T00:00:00", "1", "530"),
            history("2026-12-01T00:00:00", "2", "530"),
            false
        ),
        Kind::Wrong
    );
}

#[test]
fn layout_counts_on_demand_only() {
    let log = |field: &str| json!({"directive": "log t", "log": {"0.json": [{"add": {"path": field, "dataChange": field == "a"}}]}});
    assert_eq!(check(log("a"), log("b"), false), Kind::Skipped);
    assert_eq!(check(log("a"), log("b"), true), Kind::Layout);
    assert_eq!(check(log("a"), log("a"), true), Kind::Equal);
}

#[test]
fn a_step_that_was_not_run_is_skipped() {
    assert_eq!(
        check(
            select("SELECT 1", json!([])),
            json!({"skipped": "Python"}),
            false
        ),
        Kind::Skipped
    );
}
