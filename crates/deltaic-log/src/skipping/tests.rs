//! Predicates against statistics and partition values.
#![allow(clippy::unwrap_used)]
use super::*;
use deltaic_protocol::schema::DataType;
use std::collections::BTreeMap;

fn long(name: &str) -> Column {
    Column::new(name, DataType::Long)
}

fn facts(stats: &str) -> StatisticsFacts {
    StatisticsFacts::new(
        Some(stats),
        BTreeMap::from([("p".to_owned(), Value::Integer(7))]),
    )
}

const STATS: &str = r#"{"numRecords":4,"minValues":{"a":10,"s":"bb","d":1.5,"n":{"x":3}},
    "maxValues":{"a":20,"s":"dd","d":2.5,"n":{"x":5}},"nullCount":{"a":0,"s":1,"d":0,"all":4,"n":{"x":0}}}"#;

fn may(predicate: &Predicate) -> bool {
    predicate.may_match(&facts(STATS))
}

fn compare(column: Column, comparison: Comparison, value: Value) -> Predicate {
    Predicate::Compare(column, comparison, value)
}

#[test]
fn bounds_rule_files_out_and_never_wrongly() {
    use Comparison::*;
    for (comparison, value, expected) in [
        (Equal, 9, false),
        (Equal, 10, true),
        (Equal, 20, true),
        (Equal, 21, false),
        (Less, 10, false),
        (Less, 11, true),
        (LessOrEqual, 9, false),
        (LessOrEqual, 10, true),
        (Greater, 20, false),
        (Greater, 19, true),
        (GreaterOrEqual, 21, false),
        (GreaterOrEqual, 20, true),
        (NotEqual, 10, true),
    ] {
        assert_eq!(
            may(&compare(long("a"), comparison, Value::Integer(value))),
            expected,
            "{comparison:?} {value}"
        );
    }
}

#[test]
fn negation_is_exact() {
    let not = |p| Predicate::Not(Box::new(p));
    assert!(!may(&not(compare(
        long("a"),
        Comparison::Less,
        Value::Integer(21)
    ))));
    assert!(may(&not(compare(
        long("a"),
        Comparison::Less,
        Value::Integer(20)
    ))));
    assert!(!may(&not(Predicate::IsNull(long("all")))));
    assert!(may(&not(Predicate::Unknown)));
}

#[test]
fn nulls_follow_three_valued_logic() {
    assert!(may(&Predicate::IsNull(long("all"))));
    assert!(!may(&Predicate::IsNull(long("a"))));
    assert!(may(&Predicate::IsNull(long("s"))));
    assert!(!may(&compare(
        long("all"),
        Comparison::Equal,
        Value::Integer(1)
    )));
    assert!(!may(&Predicate::Not(Box::new(compare(
        long("all"),
        Comparison::Equal,
        Value::Integer(1)
    )))));
    assert!(!may(&compare(long("a"), Comparison::Equal, Value::Null)));
}

#[test]
fn a_column_without_statistics_keeps_the_file() {
    assert!(may(&compare(
        long("other"),
        Comparison::Equal,
        Value::Integer(1)
    )));
    assert!(may(&Predicate::IsNull(long("other"))));
    let damaged = StatisticsFacts::new(Some("{"), BTreeMap::new());
    assert!(compare(long("a"), Comparison::Equal, Value::Integer(99)).may_match(&damaged));
}

#[test]
fn partition_values_decide_alone() {
    let equal = |v| compare(long("p"), Comparison::Equal, Value::Integer(v));
    assert!(equal(7).evaluate(&facts(STATS)).is_always_true());
    assert!(!may(&equal(8)));
    assert!(!may(&Predicate::IsNull(long("p"))));
    assert!(!may(&compare(
        long("p"),
        Comparison::NotEqual,
        Value::Integer(7)
    )));
}

#[test]
fn nested_columns_are_found() {
    let column = Column {
        path: vec!["n".to_owned(), "x".to_owned()],
        data_type: DataType::Long,
    };
    assert!(!may(&compare(
        column.clone(),
        Comparison::Greater,
        Value::Integer(5)
    )));
    assert!(may(&compare(
        column,
        Comparison::Greater,
        Value::Integer(4)
    )));
}

#[test]
fn nan_may_hide_in_any_column_of_floats() {
    let d = || Column::new("d", DataType::Double);
    assert!(may(&compare(
        d(),
        Comparison::Greater,
        Value::Double(100.0)
    )));
    assert!(may(&compare(
        d(),
        Comparison::Equal,
        Value::Double(f64::NAN)
    )));
    assert!(!may(&compare(d(), Comparison::Equal, Value::Double(3.0))));
    assert!(!may(&compare(d(), Comparison::Less, Value::Double(1.5))));
}

#[test]
fn a_cut_string_maximum_does_not_hide_longer_values() {
    let max = "a".repeat(32);
    let stats = format!(
        r#"{{"numRecords":1,"minValues":{{"s":"a"}},"maxValues":{{"s":"{max}"}},"nullCount":{{"s":0}}}}"#
    );
    let longer = compare(
        Column::new("s", DataType::String),
        Comparison::Equal,
        Value::String(format!("{max}zzz")),
    );
    assert!(longer.may_match(&StatisticsFacts::new(Some(&stats), BTreeMap::new())));
    let beyond = compare(
        Column::new("s", DataType::String),
        Comparison::Equal,
        Value::String("b".to_owned()),
    );
    assert!(!beyond.may_match(&StatisticsFacts::new(Some(&stats), BTreeMap::new())));
}

#[test]
fn timestamps_are_cut_to_milliseconds_in_statistics() {
    let stats = r#"{"numRecords":1,"minValues":{"t":"2026-01-01T00:00:00.001Z"},"maxValues":{"t":"2026-01-01T00:00:00.001Z"},"nullCount":{"t":0}}"#;
    let base = 1_767_225_600_000_000_i64;
    let at = |micros: i64| {
        let t = Column::new("t", DataType::Timestamp);
        compare(t, Comparison::Equal, Value::Timestamp(base + micros))
            .may_match(&StatisticsFacts::new(Some(stats), BTreeMap::new()))
    };
    assert!(at(1_999));
    assert!(!at(3_000));
    assert!(!at(-1));
}

#[test]
fn decimals_compare_across_scales() {
    assert_eq!(
        Value::Decimal(150, 2).order(&Value::Decimal(15, 1)),
        Some(std::cmp::Ordering::Equal)
    );
}

#[test]
fn prefixes_and_lists_are_understood() {
    let s = || Column::new("s", DataType::String);
    assert!(may(&Predicate::StartsWith(s(), "c".to_owned())));
    assert!(!may(&Predicate::StartsWith(s(), "e".to_owned())));
    assert!(!may(&Predicate::StartsWith(s(), "a".to_owned())));
    assert!(may(&Predicate::In(
        long("a"),
        vec![Value::Integer(1), Value::Integer(15)]
    )));
    assert!(!may(&Predicate::In(
        long("a"),
        vec![Value::Integer(1), Value::Integer(2)]
    )));
}
