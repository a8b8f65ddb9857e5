//! Random tables and statements against a naive model: with and without deletion vectors, at every version.

use std::collections::BTreeMap;

use deltaic_protocol::schema::DataType;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::helpers::{Table, cells};

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<(i64, Option<i64>)>),
    Delete(Filter),
    Update(Filter, i64),
}

#[derive(Debug, Clone)]
enum Filter {
    All,
    Modulo(i64, i64),
    Below(i64),
    ValueIs(Option<i64>),
    Partition(i64),
    Or(Box<Filter>, Box<Filter>),
    Not(Box<Filter>),
}

/// A row: id, value, and the partition that the id had when it was inserted.
type Row = (i64, Option<i64>, i64);

impl Filter {
    fn sql(&self) -> String {
        match self {
            Filter::All => "true".into(),
            Filter::Modulo(by, rest) => format!("id % {by} = {rest}"),
            Filter::Below(limit) => format!("id < {limit}"),
            Filter::ValueIs(Some(value)) => format!("v = {value}"),
            Filter::ValueIs(None) => "v IS NULL".into(),
            Filter::Partition(p) => format!("p = {p}"),
            Filter::Or(a, b) => format!("({} OR {})", a.sql(), b.sql()),
            Filter::Not(inner) => format!("NOT ({})", inner.sql()),
        }
    }

    fn test(&self, row: &Row) -> Option<bool> {
        match self {
            Filter::All => Some(true),
            Filter::Modulo(by, rest) => Some(row.0 % by == *rest),
            Filter::Below(limit) => Some(row.0 < *limit),
            Filter::ValueIs(Some(value)) => row.1.map(|own| own == *value),
            Filter::ValueIs(None) => Some(row.1.is_none()),
            Filter::Partition(p) => Some(row.2 == *p),
            Filter::Or(a, b) => match (a.test(row), b.test(row)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Filter::Not(inner) => inner.test(row).map(|value| !value),
        }
    }
}

fn filter() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        Just(Filter::All),
        (2i64..5, 0i64..3).prop_map(|(by, rest)| Filter::Modulo(by, rest)),
        (0i64..40).prop_map(Filter::Below),
        proptest::option::of(0i64..4).prop_map(Filter::ValueIs),
        (0i64..3).prop_map(Filter::Partition),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Filter::Or(Box::new(a), Box::new(b))),
            inner.prop_map(|inner| Filter::Not(Box::new(inner))),
        ]
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => proptest::collection::vec((0i64..40, proptest::option::of(0i64..4)), 1..12).prop_map(Step::Insert),
        2 => filter().prop_map(Step::Delete),
        2 => (filter(), 0i64..4).prop_map(|(filter, value)| Step::Update(filter, value)),
    ]
}

proptest! {
    #![proptest_config(Config { cases: 12, max_shrink_iters: 60, failure_persistence: None, ..Config::default() })]

    #[test]
    fn rows_and_counts_equal_the_model_at_every_version(
        steps in proptest::collection::vec(step(), 1..7), vectors in any::<bool>(), partitioned in any::<bool>()
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(steps, vectors, partitioned))?;
    }
}

async fn check(steps: Vec<Step>, vectors: bool, partitioned: bool) -> Result<(), TestCaseError> {
    let columns = [
        ("id", DataType::Long),
        ("v", DataType::Long),
        ("p", DataType::Long),
    ];
    let partition_by: &[&str] = if partitioned { &["p"] } else { &[] };
    let flag = vectors.to_string();
    let table = Table::new(
        &columns,
        partition_by,
        &[("delta.enableDeletionVectors", &flag)],
    )
    .await;
    let mut model: Vec<Row> = Vec::new();
    let mut versions: BTreeMap<i64, Vec<Row>> = BTreeMap::from([(0, Vec::new())]);
    for step in steps {
        match step {
            Step::Insert(rows) => {
                let values: Vec<String> = rows
                    .iter()
                    .map(|(id, v)| {
                        let v = v.map_or("CAST(NULL AS BIGINT)".to_string(), |v| {
                            format!("CAST({v} AS BIGINT)")
                        });
                        format!("(CAST({id} AS BIGINT), {v}, CAST({} AS BIGINT))", id % 3)
                    })
                    .collect();
                table.insert(&format!("VALUES {}", values.join(", "))).await;
                model.extend(rows.into_iter().map(|(id, v)| (id, v, id % 3)));
            }
            Step::Delete(filter) => {
                let expected = model
                    .iter()
                    .filter(|row| filter.test(row) == Some(true))
                    .count() as u64;
                let report = table.delete(Some(&filter.sql())).await;
                prop_assert_eq!(report.affected_rows, expected, "{}", filter.sql());
                prop_assert_eq!(report.commit.is_some(), expected > 0);
                model.retain(|row| filter.test(row) != Some(true));
            }
            Step::Update(filter, value) => {
                let expected = model
                    .iter()
                    .filter(|row| filter.test(row) == Some(true))
                    .count() as u64;
                let report = table
                    .update(
                        &[("v", &format!("CAST({value} AS BIGINT)"))],
                        Some(&filter.sql()),
                    )
                    .await;
                prop_assert_eq!(report.affected_rows, expected, "{}", filter.sql());
                for row in &mut model {
                    if filter.test(row) == Some(true) {
                        row.1 = Some(value);
                    }
                }
            }
        }
        versions.insert(table.snapshot().await.version(), model.clone());
    }
    for (version, rows) in versions {
        let mut expected: Vec<String> = rows
            .iter()
            .map(|(id, v, p)| format!("{id}|{}|{p}", v.map_or(String::new(), |v| v.to_string())))
            .collect();
        table.register(Some(version)).await;
        let batches = table
            .ctx
            .sql("SELECT id, v, p FROM t")
            .await
            .unwrap()
            .collect()
            .await
            .unwrap();
        let mut found = if batches.is_empty() {
            Vec::new()
        } else {
            cells(&batches)
        };
        expected.sort();
        found.sort();
        prop_assert_eq!(&found, &expected, "version {}", version);
        let counted = table
            .ctx
            .sql("SELECT count(*) FROM t")
            .await
            .unwrap()
            .collect()
            .await
            .unwrap();
        prop_assert_eq!(cells(&counted), vec![expected.len().to_string()]);
    }
    Ok(())
}
