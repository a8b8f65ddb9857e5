//! Data skipping never drops a file that holds a matching row: random files with the statistics that the reference writes, random
//! predicates, and a naive evaluation row by row beside it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use deltaic_log::skipping::{Column, Comparison, Outcome, Predicate, StatisticsFacts, Value};
use deltaic_protocol::partition::Scalar;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::statistics::{cut_maximum, cut_minimum, to_json_bound};
use deltaic_protocol::timestamp::Zone;
use proptest::prelude::*;
use serde_json::{Map, json};

/// The columns: name, type, and whether rows hold a value of it or the partition does.
fn columns() -> Vec<Column> {
    let nested = Column {
        path: vec!["n".to_owned(), "x".to_owned()],
        data_type: DataType::Long,
    };
    vec![
        Column::new("l", DataType::Long),
        Column::new("f", DataType::Float),
        Column::new("d", DataType::Double),
        Column::new("s", DataType::String),
        Column::new("dec", DataType::decimal(38, 4)),
        Column::new("date", DataType::Date),
        Column::new("ts", DataType::Timestamp),
        Column::new("ntz", DataType::TimestampNtz),
        Column::new("b", DataType::Boolean),
        nested,
    ]
}

/// Values that lie close together, so that bounds and literals meet, and those at the edges of each type.
fn scalar(data_type: &DataType) -> BoxedStrategy<Scalar> {
    match data_type {
        DataType::Long => prop_oneof![4 => -3..4i64, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
            .prop_map(Scalar::Long)
            .boxed(),
        DataType::Float => prop_oneof![
            4 => (-3..4i8).prop_map(|i| f32::from(i) / 10.0),
            1 => prop::sample::select(vec![f32::NAN, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.7]),
        ]
        .prop_map(Scalar::Float)
        .boxed(),
        DataType::Double => prop_oneof![
            3 => (-3..4i8).prop_map(|i| f64::from(i) / 10.0),
            1 => (-3..4i8).prop_map(|i| f64::from(f32::from(i) / 10.0)),
            1 => prop::sample::select(vec![f64::NAN, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE]),
        ]
        .prop_map(Scalar::Double)
        .boxed(),
        DataType::String => prop_oneof![
            3 => "[ab]{0,4}",
            2 => "[a]{31,33}[ab\u{7e}\u{7f}é\u{fffd}😀\u{10ffff}]{0,3}",
        ]
        .prop_map(Scalar::String)
        .boxed(),
        DataType::Decimal { precision, scale } => {
            let (precision, scale) = (*precision, *scale);
            let edge = 10i128.pow(38) - 1;
            prop_oneof![4 => -3..4i128, 1 => Just(edge), 1 => Just(-edge), 1 => Just(99_999_999_999_999_999i128)]
                .prop_map(move |unscaled| Scalar::Decimal { unscaled, precision, scale })
                .boxed()
        }
        DataType::Date => prop_oneof![4 => -3..4i32, 1 => Just(-719_162), 1 => Just(2_932_896)]
            .prop_map(Scalar::Date)
            .boxed(),
        DataType::Timestamp => micros().prop_map(Scalar::Timestamp).boxed(),
        DataType::TimestampNtz => micros().prop_map(Scalar::TimestampNtz).boxed(),
        _ => any::<bool>().prop_map(Scalar::Boolean).boxed(),
    }
}

fn micros() -> impl Strategy<Value = i64> {
    // Within few milliseconds, to the microsecond; and years 1 and 9999.
    prop_oneof![
        4 => -2_500..2_500i64,
        1 => Just(-62_135_596_800_000_001 + 1),
        1 => Just(253_402_300_799_999_999),
    ]
}

type Row = Vec<Scalar>;

fn row() -> impl Strategy<Value = Row> {
    columns()
        .into_iter()
        .map(|c| prop_oneof![5 => scalar(&c.data_type), 1 => Just(Scalar::Null)].boxed())
        .collect::<Vec<_>>()
}

/// How a writer writes its statistics.
#[derive(Debug, Clone)]
struct Writer {
    /// NaN counts for the maximum, as in Spark; or not, as in Parquet's own.
    counts_nan: bool,
    /// Characters of strings that are kept.
    prefix: usize,
    /// Bounds of columns that are written.
    with: Vec<bool>,
    /// The rows that a deletion vector hides; their values still count for the statistics.
    hidden: Vec<bool>,
    /// Column 0 is a partition column.
    partitioned: bool,
    /// The column of doubles was one of floats when the file was written.
    widened: bool,
}

fn writer() -> impl Strategy<Value = Writer> {
    (
        any::<bool>(),
        prop::sample::select(vec![2usize, 32]),
        prop::collection::vec(prop::bool::weighted(0.9), 10),
        prop::collection::vec(prop::bool::weighted(0.2), 6),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(counts_nan, prefix, with, hidden, partitioned, widened)| Writer {
                counts_nan,
                prefix,
                with,
                hidden,
                partitioned,
                widened,
            },
        )
}

fn order(a: &Value, b: &Value) -> Ordering {
    a.order(b).expect("values of one type")
}

/// The statistics text of these rows.
fn statistics(rows: &[Row], writer: &Writer) -> String {
    let (mut min, mut max, mut nulls) = (Map::new(), Map::new(), Map::new());
    for (at, column) in columns().iter().enumerate() {
        if !writer.with[at] || (at == 0 && writer.partitioned) {
            continue;
        }
        let set: Vec<&Scalar> = rows
            .iter()
            .map(|r| &r[at])
            .filter(|v| !matches!(v, Scalar::Null))
            .collect();
        insert(&mut nulls, &column.path, json!(rows.len() - set.len()));
        let counted = set
            .iter()
            .copied()
            .filter(|v| writer.counts_nan || !is_nan(v))
            .collect::<Vec<_>>();
        let by_order = |a: &&&Scalar, b: &&&Scalar| {
            order(&Value::from((**a).clone()), &Value::from((**b).clone()))
        };
        let utc = Zone::utc();
        let low = counted.iter().min_by(by_order).and_then(|v| match v {
            Scalar::String(s) => Some(json!(cut_minimum(s, writer.prefix))),
            Scalar::Double(d) if writer.widened => to_json_bound(&Scalar::Float(*d as f32), &utc),
            other => to_json_bound(other, &utc),
        });
        let high = counted.iter().max_by(by_order).and_then(|v| match v {
            Scalar::String(s) => cut_maximum(s, writer.prefix).map(|s| json!(s)),
            Scalar::Double(d) if writer.widened => to_json_bound(&Scalar::Float(*d as f32), &utc),
            other => to_json_bound(other, &utc),
        });
        if let Some(low) = low {
            insert(&mut min, &column.path, low);
        }
        if let Some(high) = high {
            insert(&mut max, &column.path, high);
        }
    }
    let hides = rows.iter().zip(&writer.hidden).any(|(_, hidden)| *hidden);
    json!({
        "numRecords": rows.len(),
        "minValues": min,
        "maxValues": max,
        "nullCount": nulls,
        "tightBounds": !hides,
    })
    .to_string()
}

fn is_nan(value: &Scalar) -> bool {
    matches!(value, Scalar::Double(d) if d.is_nan())
        || matches!(value, Scalar::Float(f) if f.is_nan())
}

fn insert(into: &mut Map<String, serde_json::Value>, path: &[String], value: serde_json::Value) {
    match path {
        [name] => {
            into.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = into.entry(name.clone()).or_insert_with(|| json!({}));
            insert(inner.as_object_mut().unwrap(), rest, value);
        }
        [] => {}
    }
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let comparison = prop::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ]);
    let column = prop::sample::select(columns());
    let leaf = (column, comparison, 0..6u8).prop_flat_map(|(column, comparison, kind)| {
        let literal = scalar(&column.data_type).prop_map(Value::from);
        prop::collection::vec(literal, 1..4).prop_map(move |mut values| {
            let first = values[0].clone();
            match (kind, &column.data_type) {
                (0, _) => Predicate::IsNull(column.clone()),
                (1, _) => Predicate::NullSafeEqual(column.clone(), first),
                (2, _) => Predicate::In(column.clone(), values),
                (3, DataType::String) => {
                    let Value::String(text) = first else {
                        unreachable!()
                    };
                    Predicate::StartsWith(column.clone(), text)
                }
                (4, _) => {
                    values.push(Value::Null);
                    Predicate::In(column.clone(), values)
                }
                _ => Predicate::Compare(column.clone(), comparison, first),
            }
        })
    });
    let constant = prop_oneof![
        Just(Predicate::Unknown),
        Just(Predicate::Literal(None)),
        any::<bool>().prop_map(|b| Predicate::Literal(Some(b))),
    ];
    prop_oneof![12 => leaf, 1 => constant].prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|p| Predicate::Not(Box::new(p))),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Predicate::And),
            prop::collection::vec(inner, 0..3).prop_map(Predicate::Or),
        ]
    })
}

/// The truth of a predicate for one row, as Spark has it. `unknown` stands for the part that skipping does not understand.
fn truth(predicate: &Predicate, row: &Row, unknown: Option<bool>) -> Option<bool> {
    let all = columns();
    let cell = |column: &Column| {
        let at = all.iter().position(|c| c.path == column.path).unwrap();
        Value::from(row[at].clone())
    };
    let compare = |column: &Column, value: &Value, test: &dyn Fn(Ordering) -> bool| {
        let cell = cell(column);
        let null = matches!(cell, Value::Null) || matches!(value, Value::Null);
        (!null).then(|| test(order(&cell, value)))
    };
    let or = |a: Option<bool>, b: Option<bool>| match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    match predicate {
        Predicate::Unknown => unknown,
        Predicate::Literal(value) => *value,
        Predicate::Not(inner) => truth(inner, row, unknown).map(|b| !b),
        Predicate::And(parts) => parts
            .iter()
            .map(|p| truth(p, row, unknown).map(|b| !b))
            .fold(Some(false), or)
            .map(|b| !b),
        Predicate::Or(parts) => parts
            .iter()
            .map(|p| truth(p, row, unknown))
            .fold(Some(false), or),
        Predicate::IsNull(column) => Some(matches!(cell(column), Value::Null)),
        Predicate::NullSafeEqual(column, value) => {
            Some(compare(column, value, &|o| o.is_eq()).unwrap_or(false))
        }
        Predicate::In(column, values) => values
            .iter()
            .map(|v| compare(column, v, &|o| o.is_eq()))
            .fold(Some(false), or),
        Predicate::StartsWith(column, prefix) => match cell(column) {
            Value::String(text) => Some(text.starts_with(prefix.as_str())),
            _ => None,
        },
        Predicate::Compare(column, comparison, value) => {
            compare(column, value, &|o| match comparison {
                Comparison::Equal => o.is_eq(),
                Comparison::NotEqual => o.is_ne(),
                Comparison::Less => o.is_lt(),
                Comparison::LessOrEqual => o.is_le(),
                Comparison::Greater => o.is_gt(),
                Comparison::GreaterOrEqual => o.is_ge(),
            })
        }
    }
}

fn check(mut rows: Vec<Row>, writer: &Writer, predicate: &Predicate) -> Result<(), TestCaseError> {
    let mut partition = BTreeMap::new();
    if writer.partitioned {
        let value = rows.first().map_or(Scalar::Null, |r| r[0].clone());
        rows.iter_mut().for_each(|r| r[0] = value.clone());
        partition.insert("l".to_owned(), Value::from(value));
    }
    if writer.widened {
        for cell in rows.iter_mut().flatten() {
            if let Scalar::Double(d) = cell {
                *d = f64::from(*d as f32);
            }
        }
    }
    let stats = statistics(&rows, writer);
    let facts = StatisticsFacts::new(Some(&stats), partition);
    let outcome: Outcome = predicate.evaluate(&facts);
    for (row, _) in rows
        .iter()
        .zip(&writer.hidden)
        .filter(|(_, hidden)| !**hidden)
    {
        for unknown in [Some(true), Some(false), None] {
            let possible = match truth(predicate, row, unknown) {
                Some(true) => outcome.may_be_true,
                Some(false) => outcome.may_be_false,
                None => outcome.may_be_null,
            };
            prop_assert!(
                possible,
                "{:?} of {row:?} was ruled out by {stats}",
                truth(predicate, row, unknown)
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn no_file_with_a_matching_row_is_dropped(rows in prop::collection::vec(row(), 0..6), writer in writer(), predicate in predicate()) {
        check(rows, &writer, &predicate)?;
    }

    /// A file whose statistics are anything at all: never dropped for statistics that are damaged.
    #[test]
    fn statistics_that_are_damaged_drop_nothing(text in r#"[{}":,NaInfity0-9\\-]{0,40}"#, predicate in predicate()) {
        let facts = StatisticsFacts::new(Some(&text), BTreeMap::new());
        let without = StatisticsFacts::new(None, BTreeMap::new());
        prop_assert_eq!(predicate.evaluate(&facts), predicate.evaluate(&without));
    }
}

/// Skipping that never skips would pass above.
#[test]
fn most_files_without_a_match_are_dropped() {
    let rows: Vec<Row> = (0..3)
        .map(|i| {
            vec![
                Scalar::Long(i),
                Scalar::Float(1.5),
                Scalar::Double(2.5),
                Scalar::String("b".repeat(40)),
                Scalar::Decimal {
                    unscaled: 5,
                    precision: 38,
                    scale: 4,
                },
                Scalar::Date(3),
                Scalar::Timestamp(5_000),
                Scalar::TimestampNtz(5_000),
                Scalar::Boolean(true),
                Scalar::Long(4),
            ]
        })
        .collect();
    let writer = Writer {
        counts_nan: true,
        prefix: 32,
        with: vec![true; 10],
        hidden: vec![false; 6],
        partitioned: false,
        widened: false,
    };
    let facts = StatisticsFacts::new(Some(&statistics(&rows, &writer)), BTreeMap::new());
    let low = [
        Value::Integer(-1),
        Value::Double(1.0),
        Value::Double(1.0),
        Value::String("a".into()),
        Value::Decimal(4, 4),
        Value::Date(2),
        Value::Timestamp(3_000),
        Value::Timestamp(3_000),
    ];
    for (column, value) in columns().into_iter().zip(low) {
        let below = Predicate::Compare(column.clone(), Comparison::Less, value.clone());
        assert!(!below.may_match(&facts), "{column:?} < {value:?}");
        let equal = Predicate::Compare(column.clone(), Comparison::Equal, value.clone());
        assert!(!equal.may_match(&facts), "{column:?} = {value:?}");
        assert!(!Predicate::IsNull(column).may_match(&facts));
    }
}
