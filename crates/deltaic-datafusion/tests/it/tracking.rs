//! Row tracking: over random statements a row keeps its id, no id ever means two rows, and a row's version is the one that
//! last changed it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use datafusion::dataframe::DataFrame;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::prelude::col;
use deltaic_datafusion::dml::target::DmlTarget;
use deltaic_datafusion::rewrite::{purge_vectors, remove_mapping};
use deltaic_datafusion::scan::build::ScanFile;
use deltaic_datafusion::scan::metadata::METADATA_COLUMN;
use deltaic_datafusion::{CreateKind, CreateTable, DeltaTableProvider, WriteContext};
use deltaic_log::Snapshot;
use deltaic_maintenance::restore::{self, RestoreOptions};
use deltaic_maintenance::travel::TravelOptions;
use deltaic_protocol::action::Action;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::timestamp::Zone;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::helpers::{Table, properties, schema};

const ON: (&str, &str) = ("delta.enableRowTracking", "true");

/// Value, row id and row commit version, by the key in `id`.
type Rows = BTreeMap<i64, (i64, i64, i64)>;

async fn rows_of(table: &Table, snapshot: &Snapshot) -> Rows {
    let state = table.ctx.state();
    let ctx = WriteContext::new(&state, &table.commit);
    let target = DmlTarget::new(&ctx, snapshot, None).unwrap();
    let files = snapshot.files().await.unwrap();
    let plan = target
        .copied(files.iter().cloned().map(ScanFile::whole).collect())
        .unwrap();
    let batches = DataFrame::new(table.ctx.state(), plan)
        .collect()
        .await
        .unwrap();
    let mut out = Rows::new();
    for batch in &batches {
        let columns: Vec<_> = (0..5)
            .map(|at| batch.column(at).as_primitive::<Int64Type>())
            .collect();
        for row in 0..batch.num_rows() {
            let at = |column: usize| columns[column].value(row);
            assert!(out.insert(at(0), (at(1), at(3), at(4))).is_none());
        }
    }
    assert_eq!(out, shown(table, snapshot).await);
    out
}

/// The same as a reader sees it.
async fn shown(table: &Table, snapshot: &Snapshot) -> Rows {
    let provider = DeltaTableProvider::try_new(snapshot.clone())
        .unwrap()
        .with_metadata()
        .unwrap();
    let part = |name: &str| get_field(col(METADATA_COLUMN), name);
    let batches = table
        .ctx
        .read_table(Arc::new(provider))
        .unwrap()
        .select(vec![
            col("id"),
            col("v"),
            part("row_id"),
            part("row_commit_version"),
            part("base_row_id") + part("row_index"),
        ])
        .unwrap()
        .collect()
        .await
        .unwrap();
    let mut out = Rows::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let at = |column: usize| batch.column(column).as_primitive::<Int64Type>().value(row);
            assert!(at(4) >= 0);
            assert!(out.insert(at(0), (at(1), at(2), at(3))).is_none());
        }
    }
    out
}

fn columns() -> [(&'static str, DataType); 3] {
    [
        ("id", DataType::Long),
        ("v", DataType::Long),
        ("p", DataType::Long),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u8),
    /// Rows with `id % by = rest` go.
    Delete(i64, i64),
    Update(i64, i64, i64),
    Purge,
    Restore(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1u8..9).prop_map(Step::Insert),
        2 => (2i64..6, 0i64..3).prop_map(|(by, rest)| Step::Delete(by, rest)),
        3 => (1i64..6, 0i64..3, 0i64..5).prop_map(|(by, rest, v)| Step::Update(by, rest, v)),
        1 => Just(Step::Purge),
        1 => any::<u8>().prop_map(Step::Restore),
    ]
}

proptest! {
    #![proptest_config(Config { cases: 16, max_shrink_iters: 60, failure_persistence: None, ..Config::default() })]

    #[test]
    fn ids_are_stable_and_unique_over_random_histories(
        steps in proptest::collection::vec(step(), 1..8), vectors in any::<bool>(), partitioned in any::<bool>()
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(steps, vectors, partitioned))?;
    }
}

async fn check(steps: Vec<Step>, vectors: bool, partitioned: bool) -> Result<(), TestCaseError> {
    let flag = vectors.to_string();
    let given = [ON, ("delta.enableDeletionVectors", flag.as_str())];
    let partition_by: &[&str] = if partitioned { &["p"] } else { &[] };
    let table = Table::new(&columns(), partition_by, &given).await;
    let mut known = Rows::new();
    let mut used = BTreeSet::new();
    let mut past = vec![Rows::new()];
    let mut next = 0;
    for step in steps {
        let version = table.snapshot().await.version() + 1;
        let mut expected = known.clone();
        match step {
            Step::Insert(count) => {
                let values: Vec<String> = (next..next + i64::from(count))
                    .map(|id| {
                        format!(
                            "(CAST({id} AS BIGINT), CAST(0 AS BIGINT), CAST({} AS BIGINT))",
                            id % 2
                        )
                    })
                    .collect();
                table.insert(&format!("VALUES {}", values.join(", "))).await;
                let found = rows_of(&table, &table.snapshot().await).await;
                for id in next..next + i64::from(count) {
                    let (_, row_id, at) = found[&id];
                    prop_assert!(used.insert(row_id), "id {} was given twice", row_id);
                    prop_assert_eq!(at, version);
                    expected.insert(id, (0, row_id, version));
                }
                next += i64::from(count);
            }
            Step::Delete(by, rest) => {
                table.delete(Some(&format!("id % {by} = {rest}"))).await;
                expected.retain(|id, _| id % by != rest);
            }
            Step::Update(by, rest, v) => {
                let set = format!("CAST({v} AS BIGINT)");
                table
                    .update(&[("v", &set)], Some(&format!("id % {by} = {rest}")))
                    .await;
                for (id, row) in &mut expected {
                    if id % by == rest {
                        *row = (v, row.1, version);
                    }
                }
            }
            Step::Purge => {
                let state = table.ctx.state();
                purge_vectors(
                    &WriteContext::new(&state, &table.commit),
                    &table.snapshot().await,
                )
                .await
                .unwrap();
            }
            Step::Restore(to) => {
                let to = usize::from(to) % past.len();
                let request = deltaic_command::Restore {
                    target: deltaic_command::TableRef::Path(table.store.root().to_string()),
                    to: deltaic_command::TimeTravel::Version(i64::try_from(to).unwrap()),
                };
                let options = RestoreOptions::new(TravelOptions {
                    zone: Zone::utc(),
                    wall: false,
                    now_ms: i64::MAX,
                });
                restore::run(&table.store, &request, &options, &table.commit)
                    .await
                    .unwrap();
                expected = past[to].clone();
            }
        }
        let snapshot = table.snapshot().await;
        known = rows_of(&table, &snapshot).await;
        prop_assert_eq!(&known, &expected, "after version {}", snapshot.version());
        while i64::try_from(past.len()).unwrap() <= snapshot.version() {
            past.push(known.clone());
        }
        let ids: BTreeSet<i64> = known.values().map(|row| row.1).collect();
        prop_assert_eq!(ids.len(), known.len());
    }
    Ok(())
}

#[tokio::test]
async fn copies_carry_ids_and_say_so() {
    let table = Table::new(&columns(), &[], &[ON]).await;
    table
        .insert("VALUES (CAST(1 AS BIGINT), CAST(1 AS BIGINT), CAST(0 AS BIGINT)), (2, 2, 0), (3, 3, 0)")
        .await;
    let before = rows_of(&table, &table.snapshot().await).await;
    table.delete(Some("id = 2")).await;
    let snapshot = table.snapshot().await;
    let after = rows_of(&table, &snapshot).await;
    assert_eq!(after[&1], before[&1]);
    assert_eq!(after[&3], before[&3]);
    let actions = table.actions(snapshot.version()).await;
    let tags = actions.iter().find_map(|action| match action {
        Action::CommitInfo(info) => info.tags.clone(),
        _ => None,
    });
    assert_eq!(tags.unwrap()["delta.rowTracking.preserved"], "true");
    // The table's own columns are all that a reader sees, and the hidden ones have no statistics.
    let add = table.adds(snapshot.version()).await.remove(0);
    assert!(!add.stats.unwrap().contains("_row-id-col"));
    let shown = table.query("SELECT * FROM t ORDER BY id").await;
    assert!(!shown.contains("_row"), "{shown}");
}

#[tokio::test]
async fn giving_up_column_mapping_keeps_ids() {
    let table = Table::new(&columns(), &[], &[ON, ("delta.columnMapping.mode", "name")]).await;
    table
        .insert("VALUES (CAST(1 AS BIGINT), CAST(1 AS BIGINT), CAST(0 AS BIGINT)), (2, 2, 0)")
        .await;
    table
        .update(&[("v", "CAST(9 AS BIGINT)")], Some("id = 2"))
        .await;
    let before = rows_of(&table, &table.snapshot().await).await;
    let state = table.ctx.state();
    remove_mapping(
        &WriteContext::new(&state, &table.commit),
        &table.snapshot().await,
        false,
    )
    .await
    .unwrap();
    let snapshot = table.snapshot().await;
    assert_eq!(rows_of(&table, &snapshot).await, before);
    assert_eq!(
        table
            .query("SELECT v FROM t WHERE id = 2")
            .await
            .matches('9')
            .count(),
        1
    );
}

#[tokio::test]
async fn a_table_that_is_replaced_gives_ids_that_were_never_given() {
    let table = Table::new(&columns(), &[], &[ON]).await;
    table
        .insert("VALUES (CAST(1 AS BIGINT), CAST(1 AS BIGINT), CAST(0 AS BIGINT)), (2, 2, 0)")
        .await;
    let mut request = CreateTable::new(schema(&columns()));
    request.kind = CreateKind::CreateOrReplace;
    request.properties = properties(&[ON]);
    table.create(request).await.unwrap();
    table
        .insert("VALUES (CAST(1 AS BIGINT), CAST(1 AS BIGINT), CAST(0 AS BIGINT))")
        .await;
    let rows = rows_of(&table, &table.snapshot().await).await;
    assert_eq!(rows[&1].1, 2);
}

#[tokio::test]
async fn an_application_asks_for_the_column() {
    let table = Table::new(&columns(), &["p"], &[ON]).await;
    table
        .insert("VALUES (CAST(1 AS BIGINT), CAST(1 AS BIGINT), CAST(0 AS BIGINT)), (2, 2, 0), (3, 3, 1)")
        .await;
    table.delete(Some("id = 1")).await;
    let plain = table.register(None).await;
    assert!(table.ctx.sql("SELECT _metadata FROM t").await.is_err());
    let provider = plain.with_metadata().unwrap();
    table.ctx.register_table("m", Arc::new(provider)).unwrap();
    let text = "SELECT _metadata['row_id'], id, _metadata['file_size'] > 0 FROM m \
                WHERE p = 0 AND _metadata['row_id'] < 5 AND v > 0";
    let found = table.ctx.sql(text).await.unwrap().collect().await.unwrap();
    assert_eq!(found.iter().map(|batch| batch.num_rows()).sum::<usize>(), 1);
    assert_eq!(found[0].column(0).as_primitive::<Int64Type>().value(0), 1);
    assert_eq!(found[0].column(1).as_primitive::<Int64Type>().value(0), 2);
    assert!(found[0].column(2).as_boolean().value(0));
    // Such a provider writes nothing.
    for text in [
        "INSERT INTO m VALUES (9, 9, 9, NULL)",
        "INSERT INTO m (id) VALUES (9)",
    ] {
        let run = match table.ctx.sql(text).await {
            Ok(planned) => planned.collect().await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(run.is_err(), "{text}");
    }
    assert_eq!(table.snapshot().await.version(), 2);
}
