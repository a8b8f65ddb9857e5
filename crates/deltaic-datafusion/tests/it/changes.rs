//! The change feed as a table: versions, times, filters, column mapping, plans across processes.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::physical_plan::{collect, displayable};
use datafusion::prelude::SessionContext;
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use deltaic_datafusion::DeltaChanges;
use deltaic_datafusion::application::catalog::DeltaCatalog;
use deltaic_datafusion::application::session::session_context;
use deltaic_datafusion::codec::{DeltaLogicalCodec, DeltaPhysicalCodec};
use deltaic_log::changes::ChangeBound;
use deltaic_protocol::Action;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use crate::helpers::{Table, cells};
use crate::mapping::place;

const FEED: (&str, &str) = ("delta.enableChangeDataFeed", "true");

/// A table (id, s, p): two inserts, a delete, an update.
async fn table(given: &[(&str, &str)]) -> Table {
    let inner = StructType::new([StructField::nullable("x", DataType::Long)]);
    let columns = [
        ("id", DataType::Long),
        ("s", DataType::Struct(inner)),
        ("p", DataType::String),
    ];
    let mut all = vec![FEED];
    all.extend(given);
    let table = Table::new(&columns, &["p"], &all).await;
    let rows = |from: i64, to: i64| {
        format!(
            "SELECT value AS id, named_struct('x', value * 2) AS s, CASE WHEN value < 3 THEN NULL ELSE 'p q' END AS p \
             FROM generate_series({from}, {to})"
        )
    };
    table.insert(&rows(0, 4)).await;
    table.insert(&rows(5, 6)).await;
    table.delete(Some("id IN (1, 3)")).await;
    table.update(&[("p", "'new'")], Some("id = 4")).await;
    table
}

/// Makes the changes from `start` on known as `c`.
async fn register(table: &Table, start: i64) -> DeltaChanges {
    let changes = DeltaChanges::between(&table.snapshot().await, ChangeBound::Version(start), None)
        .await
        .unwrap();
    table.ctx.deregister_table("c").unwrap();
    table
        .ctx
        .register_table("c", Arc::new(changes.clone()))
        .unwrap();
    changes
}

async fn ask(ctx: &SessionContext, sql: &str) -> Vec<String> {
    cells(&ctx.sql(sql).await.unwrap().collect().await.unwrap())
}

const QUERY: &str = "SELECT id, s['x'] AS x, p, _change_type, _commit_version FROM c WHERE _commit_version > 1 \
                     ORDER BY _commit_version, id, _change_type DESC";
const ROWS: [&str; 6] = [
    "5|10|p q|insert|2",
    "6|12|p q|insert|2",
    "1|2||delete|3",
    "3|6|p q|delete|3",
    "4|8|p q|update_preimage|4",
    "4|8|new|update_postimage|4",
];

#[tokio::test]
async fn changes_are_the_same_with_vectors_and_every_mapping() {
    for vectors in ["false", "true"] {
        for mode in ["none", "name", "id"] {
            let given = [
                ("delta.enableDeletionVectors", vectors),
                ("delta.columnMapping.mode", mode),
            ];
            let table = table(&given).await;
            register(&table, 0).await;
            assert_eq!(ask(&table.ctx, QUERY).await, ROWS, "{given:?}");
            assert_eq!(ask(&table.ctx, "SELECT count(*) FROM c").await, ["11"]);
            assert_eq!(
                ask(
                    &table.ctx,
                    "SELECT _commit_version FROM c WHERE p = 'new' OR id = 6 ORDER BY 1"
                )
                .await,
                ["2", "4"]
            );
            let at_most_one = ask(&table.ctx, "SELECT id FROM c LIMIT 1").await;
            assert_eq!(at_most_one.len(), 1);
        }
    }
}

#[tokio::test]
async fn filters_leave_out_files_and_commits() {
    let table = table(&[]).await;
    register(&table, 0).await;
    let files = |condition: &str| {
        let (ctx, sql) = (
            table.ctx.clone(),
            format!("SELECT id FROM c WHERE {condition}"),
        );
        async move {
            let plan = ctx.sql(&sql).await.unwrap().create_physical_plan().await;
            let plan = displayable(plan.unwrap().as_ref()).indent(true).to_string();
            (plan.matches(".parquet").count(), plan)
        }
    };
    let (all, _) = files("id IS NOT NULL OR id IS NULL").await;
    assert_eq!(
        all, 7,
        "three inserted files, and of changes: two of the DELETE, two of the UPDATE"
    );
    for (condition, left) in [
        ("_commit_version = 2", 1),
        ("_commit_version IN (1, 3)", 4),
        ("_commit_version > 9", 0),
        ("_commit_timestamp < TIMESTAMP '2001-01-01'", 0),
        ("p = 'new'", 1),
        ("id > 100", 4),
        ("_change_type = 'delete'", 4),
    ] {
        let (found, plan) = files(condition).await;
        assert_eq!(found, left, "{condition}: {plan}");
    }
}

#[tokio::test]
async fn commits_that_a_filter_leaves_out_are_not_read() {
    let table = table(&[]).await;
    register(&table, 0).await;
    let commit = table
        .folder
        .path()
        .join("t/_delta_log/00000000000000000004.json");
    let kept = std::fs::read(&commit).unwrap();
    std::fs::write(&commit, "{torn").unwrap();
    assert_eq!(
        ask(
            &table.ctx,
            "SELECT count(*) FROM c WHERE _commit_version <= 3"
        )
        .await,
        ["9"]
    );
    assert!(
        table
            .ctx
            .sql("SELECT count(*) FROM c")
            .await
            .unwrap()
            .collect()
            .await
            .is_err()
    );
    std::fs::write(&commit, kept).unwrap();
}

#[tokio::test]
async fn times_are_those_that_the_commits_record() {
    let table = table(&[("delta.enableInCommitTimestamps", "true")]).await;
    register(&table, 1).await;
    let mut recorded = Vec::new();
    for version in 1..=4 {
        let actions = table.actions(version).await;
        let info = actions.into_iter().find_map(|action| match action {
            Action::CommitInfo(info) => info.in_commit_timestamp,
            _ => None,
        });
        recorded.push(format!("{version}|{}", info.unwrap()));
    }
    let sql = "SELECT DISTINCT _commit_version, CAST(_commit_timestamp AS BIGINT) / 1000 FROM c ORDER BY 1";
    assert_eq!(ask(&table.ctx, sql).await, recorded);
    let newest = recorded[3].split_once('|').unwrap().1;
    let sql = format!(
        "SELECT DISTINCT _commit_version FROM c WHERE CAST(_commit_timestamp AS BIGINT) / 1000 >= {newest}"
    );
    assert_eq!(ask(&table.ctx, &sql).await, ["4"]);
}

#[tokio::test]
async fn plans_of_changes_go_to_other_processes() {
    let table = table(&[
        ("delta.enableDeletionVectors", "true"),
        ("delta.columnMapping.mode", "name"),
    ])
    .await;
    let changes = register(&table, 0).await;
    let plan = table.ctx.sql(QUERY).await.unwrap();
    let physical = plan.clone().create_physical_plan().await.unwrap();
    let codec = DeltaPhysicalCodec::default();
    let bytes = physical_plan_to_bytes_with_extension_codec(physical, &codec).unwrap();
    let other = SessionContext::new();
    let decoded =
        physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &codec).unwrap();
    assert_eq!(
        cells(&collect(decoded, other.task_ctx()).await.unwrap()),
        ROWS
    );

    let codec = DeltaLogicalCodec::default();
    let unread = plan.into_unoptimized_plan();
    assert!(logical_plan_to_bytes_with_extension_codec(&unread, &codec).is_err());
    let files = changes.load_files().await.unwrap();
    table.ctx.deregister_table("c").unwrap();
    table.ctx.register_table("c", Arc::new(files)).unwrap();
    let plan = table.ctx.sql(QUERY).await.unwrap().into_unoptimized_plan();
    let bytes = logical_plan_to_bytes_with_extension_codec(&plan, &codec).unwrap();
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

#[tokio::test]
async fn a_catalog_gives_changes_by_name() {
    let table = table(&[]).await;
    let ctx = session_context();
    let folder = table.folder.path().to_str().unwrap();
    ctx.register_catalog("lake", Arc::new(DeltaCatalog::open(folder).await.unwrap()));
    for (name, count) in [
        ("t@v1..v4", "11"),
        ("t@v3..", "4"),
        ("t@v2..v2", "2"),
        ("t@20010101000000000..", "11"),
        ("t@20010101000000000..v1", "5"),
    ] {
        let sql = format!("SELECT count(*) FROM lake.default.\"{name}\"");
        assert_eq!(ask(&ctx, &sql).await, [count], "{name}");
    }
    for name in ["t@v9..", "t@v3..v2", "t@v1..x", "t@.."] {
        let sql = format!("SELECT * FROM lake.default.\"{name}\"");
        assert!(ctx.sql(&sql).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_column_of_that_name_in_a_data_file_is_passed_over() {
    let table = Table::new(&[("id", DataType::Long)], &[], &[FEED]).await;
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![7])) as ArrayRef),
        (
            "_change_type",
            Arc::new(StringArray::from(vec!["update_preimage"])) as ArrayRef,
        ),
    ])
    .unwrap();
    place(&table, "own.parquet", batch).await;
    register(&table, 0).await;
    let sql = "SELECT id, _change_type FROM c WHERE _change_type <> 'delete'";
    assert_eq!(ask(&table.ctx, sql).await, ["7|insert"]);
}
