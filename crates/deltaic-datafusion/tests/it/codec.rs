//! Plans that go through datafusion-proto keep deletion vectors and column mapping.

use std::sync::Arc;

use datafusion::physical_plan::collect;
use datafusion::prelude::SessionContext;
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::DefaultPhysicalExtensionCodec;
use deltaic_datafusion::codec::{DeltaLogicalCodec, DeltaPhysicalCodec};
use deltaic_protocol::schema::{DataType, StructField, StructType};

use crate::helpers::{Table, cells};

async fn table() -> Table {
    let inner = StructType::new([StructField::nullable("x", DataType::Long)]);
    let columns = [
        ("id", DataType::Long),
        ("s", DataType::Struct(inner)),
        ("p", DataType::String),
    ];
    let given = [
        ("delta.enableDeletionVectors", "true"),
        ("delta.columnMapping.mode", "name"),
    ];
    let table = Table::new(&columns, &["p"], &given).await;
    table.insert("SELECT value AS id, named_struct('x', value * 2) AS s, CASE WHEN value < 5 THEN NULL ELSE 'p q' END AS p FROM generate_series(0, 9)").await;
    table.delete(Some("id % 3 = 0")).await;
    table
}

const QUERY: &str = "SELECT id, s['x'] AS x, s, p FROM t WHERE id > 1 ORDER BY id";
const ROWS: [&str; 5] = [
    "2|4|{x: 4}|",
    "4|8|{x: 8}|",
    "5|10|{x: 10}|p q",
    "7|14|{x: 14}|p q",
    "8|16|{x: 16}|p q",
];

#[tokio::test]
async fn a_physical_plan_comes_back_with_its_deletion_vectors_and_names() {
    let table = table().await;
    table.register(None).await;
    let plan = table
        .ctx
        .sql(QUERY)
        .await
        .unwrap()
        .create_physical_plan()
        .await
        .unwrap();
    assert_eq!(
        cells(
            &collect(Arc::clone(&plan), table.ctx.task_ctx())
                .await
                .unwrap()
        ),
        ROWS
    );
    let codec = DeltaPhysicalCodec::default();
    let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &codec).unwrap();
    // Another process: nothing is registered there.
    let other = SessionContext::new();
    let decoded =
        physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &codec).unwrap();
    assert_eq!(
        cells(&collect(decoded, other.task_ctx()).await.unwrap()),
        ROWS
    );
    let plain =
        physical_plan_to_bytes_with_extension_codec(plan, &DefaultPhysicalExtensionCodec {});
    assert!(
        plain.is_err(),
        "without the codec the plan must not be encoded"
    );
}

#[tokio::test]
async fn a_logical_plan_comes_back_with_its_pinned_version() {
    let table = table().await;
    let provider = table.register(None).await.load_files().await.unwrap();
    table.ctx.deregister_table("t").unwrap();
    table.ctx.register_table("t", Arc::new(provider)).unwrap();
    let plan = table.ctx.sql(QUERY).await.unwrap().into_unoptimized_plan();
    let codec = DeltaLogicalCodec::default();
    let bytes = logical_plan_to_bytes_with_extension_codec(&plan, &codec).unwrap();
    table.delete(None).await;
    let other = SessionContext::new();
    let decoded =
        logical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &codec).unwrap();
    let batches = other
        .execute_logical_plan(decoded)
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    assert_eq!(cells(&batches), ROWS);
}
