//! A checkpoint that is written from the rows of the one before holds what one holds that is written from actions.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Metadata, Protocol, Remove};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::file_name;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::TableStore;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::{AddChunk, AddRows, CheckpointColumns, CheckpointContent, write_checkpoint};
use crate::commit::commit_text;
use crate::snapshot::Snapshot;
use crate::tests::memory_store;

/// Statistics as writers have written them, and some that none should.
const STATISTICS: [&str; 14] = [
    r#"{"numRecords":3,"minValues":{"i":-1,"s":"a","n":{"x":"2026-01-01"}},"maxValues":{"i":7,"s":"zz","n":{"x":"2026-12-31"}},"nullCount":{"i":0,"s":1,"n":{"x":0}}}"#,
    r#"{"numRecords":9223372036854775807,"nullCount":{"i":92233720368547758070}}"#,
    r#"{"numRecords":1.0,"minValues":{"i":2147483648,"f":1e3},"maxValues":{"f":"NaN"}}"#,
    r#"{"numRecords":"3","minValues":{"i":"4"}}"#,
    r#"{"minValues":{"f":0.1,"d":1.20},"maxValues":{"f":"Infinity","d":99.999}}"#,
    r#"{"numRecords":2,"unknown":{"deep":[1,{"a":null}]},"tightBounds":false}"#,
    r#"{"numRecords":1,"numRecords":2}"#,
    r#"{"numRecords":null,"minValues":null,"maxValues":{"n":null}}"#,
    r#"{"minValues":[1],"maxValues":3,"nullCount":"x","tightBounds":"true"}"#,
    r#"{"numRecords":5,"minValues":{"t":"2026-01-01T00:00:00.123Z","i":1}}"#,
    r#"{"numRecords":5"#,
    r#"{"numRecords":5}x"#,
    "[]",
    "",
];

fn typed(number: DataType) -> StructType {
    let bounds = StructType::new([
        StructField::nullable("i", number),
        StructField::nullable("s", DataType::String),
        StructField::nullable("f", DataType::Double),
        StructField::nullable(
            "d",
            DataType::Decimal {
                precision: 5,
                scale: 2,
            },
        ),
        StructField::nullable("t", DataType::Timestamp),
        StructField::nullable(
            "n",
            DataType::structure([StructField::nullable("x", DataType::Date)]),
        ),
    ]);
    let nulls = StructType::new([
        StructField::nullable("i", DataType::Long),
        StructField::nullable("s", DataType::Long),
        StructField::nullable(
            "n",
            DataType::structure([StructField::nullable("x", DataType::Long)]),
        ),
    ]);
    StructType::new([
        StructField::nullable("numRecords", DataType::Long),
        StructField::nullable("minValues", DataType::Struct(bounds.clone())),
        StructField::nullable("maxValues", DataType::Struct(bounds)),
        StructField::nullable("nullCount", DataType::Struct(nulls)),
        StructField::nullable("tightBounds", DataType::Boolean),
    ])
}

fn columns() -> impl Strategy<Value = CheckpointColumns> {
    let partition = |data_type| StructType::new([StructField::nullable("p", data_type)]);
    (
        any::<bool>(),
        prop_oneof![
            Just(None),
            Just(Some(typed(DataType::Integer))),
            Just(Some(typed(DataType::Long)))
        ],
        prop_oneof![
            Just(None),
            Just(Some(partition(DataType::Integer))),
            Just(Some(partition(DataType::String)))
        ],
    )
        .prop_map(
            |(stats_text, stats_parsed, partition_parsed)| CheckpointColumns {
                stats_text,
                stats_parsed,
                partition_parsed,
            },
        )
}

fn add() -> impl Strategy<Value = Add> {
    (
        prop::option::weighted(0.8, 0..STATISTICS.len()),
        prop_oneof![
            Just(None),
            Just(Some("5")),
            Just(Some("05")),
            Just(Some("")),
            Just(Some("x"))
        ],
        prop::option::weighted(0.2, 1i64..5),
        prop::option::weighted(0.2, 0i64..100),
        any::<bool>(),
    )
        .prop_map(|(stats, partition, deleted, base, tagged)| Add {
            partition_values: [("p".to_owned(), partition.map(str::to_owned))].into(),
            size: 10,
            data_change: true,
            stats: stats.map(|at| STATISTICS[at].to_owned()),
            tags: tagged.then(|| deltaic_protocol::action::TextMap::from([("k".to_owned(), None)])),
            deletion_vector: deleted.map(|cardinality| DeletionVectorDescriptor {
                storage_type: "i".to_owned(),
                path_or_inline_dv: "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L".to_owned(),
                offset: None,
                size_in_bytes: 40,
                cardinality,
            }),
            base_row_id: base,
            default_row_commit_version: base,
            ..Add::default()
        })
}

fn named(adds: Vec<Add>, prefix: &str) -> Vec<Add> {
    let named = adds.into_iter().enumerate().map(|(at, add)| Add {
        path: format!("{prefix}{at}%20é.parquet"),
        ..add
    });
    named.collect()
}

async fn checkpoint(snapshot: &Snapshot, to: &TableStore, columns: &CheckpointColumns, v2: bool) {
    let content = CheckpointContent {
        version: snapshot.version(),
        protocol: snapshot.protocol().clone(),
        metadata: snapshot.metadata().clone(),
        txns: Vec::new(),
        domains: Vec::new(),
        num_adds: 0,
        removes: Vec::new(),
        columns: columns.clone(),
        v2,
    };
    let uuid = || uuid::Uuid::new_v4().to_string();
    write_checkpoint(to, &content, snapshot.file_chunks(), &uuid)
        .await
        .unwrap();
}

async fn commit(store: &TableStore, version: i64, actions: Vec<Action>) {
    let text = Bytes::from(commit_text(&actions));
    let name = file_name::commit(version);
    store.log().create(&name, text).await.unwrap();
}

/// The live files as the columns of a checkpoint.
async fn written(store: &TableStore, version: i64) -> ArrayRef {
    let name = file_name::checkpoint(version);
    let bytes = store.log().read(&name).await.unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let schema = Arc::clone(reader.schema());
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let whole = concat_batches(&schema, &batches).unwrap();
    Arc::clone(whole.column_by_name("add").unwrap())
}

async fn compare(
    first: Vec<Add>,
    (from, to): (CheckpointColumns, CheckpointColumns),
    removed: Vec<bool>,
    second: Vec<Add>,
    v2: bool,
) {
    let store = memory_store();
    let metadata = Metadata::new("t", &StructType::default());
    let mut actions = vec![
        Action::Protocol(Protocol::legacy(1, 2)),
        Action::Metadata(metadata),
    ];
    actions.extend(first.iter().cloned().map(Action::Add));
    commit(&store, 0, actions).await;
    let before = Snapshot::load(&store, None).await.unwrap();
    checkpoint(&before, &store, &from, v2).await;
    store.log().delete(&file_name::commit(0)).await.unwrap();

    let gone = first.iter().zip(&removed).filter(|(_, removed)| **removed);
    let mut actions: Vec<Action> = gone
        .map(|(add, _)| {
            Action::Remove(Remove {
                path: add.path.clone(),
                deletion_vector: add.deletion_vector.clone(),
                data_change: true,
                ..Remove::default()
            })
        })
        .collect();
    actions.extend(second.into_iter().map(Action::Add));
    if !actions.is_empty() {
        commit(&store, 1, actions).await;
    }

    let by_rows = Snapshot::load(&store, None).await.unwrap();
    let by_files = Snapshot::load(&store, None).await.unwrap();
    by_files.files().await.unwrap();
    let (one, other) = (memory_store(), memory_store());
    checkpoint(&by_rows, &one, &to, false).await;
    checkpoint(&by_files, &other, &to, false).await;
    let version = by_rows.version();
    let (one, other) = (written(&one, version).await, written(&other, version).await);
    assert_eq!(one.as_ref(), other.as_ref());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn rows_and_actions_make_one_checkpoint(
        first in prop::collection::vec(add(), 1..8),
        columns in (columns(), columns()),
        removed in prop::collection::vec(any::<bool>(), 8),
        second in prop::collection::vec(add(), 0..3),
        v2 in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(compare(named(first, "a"), columns, removed, named(second, "b"), v2));
    }
}

/// The rows do go through as they are: else the other test would compare actions with actions.
#[tokio::test]
async fn rows_of_one_checkpoint_fit_into_the_next() {
    for from in [DataType::Integer, DataType::Long] {
        let columns = |number| CheckpointColumns {
            stats_text: true,
            stats_parsed: Some(typed(number)),
            partition_parsed: None,
        };
        let store = memory_store();
        let add = Add {
            path: "a".to_owned(),
            stats: Some(STATISTICS[0].to_owned()),
            ..Add::default()
        };
        let actions = vec![
            Action::Protocol(Protocol::legacy(1, 2)),
            Action::Metadata(Metadata::new("t", &StructType::default())),
            Action::Add(add),
        ];
        commit(&store, 0, actions).await;
        let before = Snapshot::load(&store, None).await.unwrap();
        checkpoint(&before, &store, &columns(from), false).await;
        let bytes = store.log().read(&file_name::checkpoint(0)).await.unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let rows = AddRows::of_batch(&batch).unwrap().unwrap();
        let to = columns(DataType::Long);
        let arrow = crate::arrow_schema::to_arrow(&to.schema(super::schema::Layout::Classic));
        let length = AddChunk::Rows(rows.clone()).len();
        let fitted = super::rows::batch_of_rows(&arrow, &to, &rows, length);
        assert_eq!(fitted.map(|batch| batch.num_rows()), Some(1));
    }
}
