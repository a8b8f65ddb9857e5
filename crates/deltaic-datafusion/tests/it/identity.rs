//! Identity columns: values follow each other over statements, and no two writers give the same one.

use deltaic_datafusion::{Append, CreateTable, WriteContext, append, fill_identities};
use deltaic_log::Snapshot;
use deltaic_protocol::error::DeltaError;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use crate::helpers::{Table, rows};

fn columns() -> StructType {
    StructType::new([
        StructField::nullable("id", DataType::Long)
            .with_metadata("delta.identity.start", 1)
            .with_metadata("delta.identity.step", 2)
            .with_metadata("delta.identity.allowExplicitInsert", false),
        StructField::nullable("v", DataType::Long),
    ])
}

/// Appends `rows` rows on top of a version.
async fn write(table: &Table, snapshot: &Snapshot, rows: usize) -> Result<(), DeltaError> {
    let values = vec!["(CAST(NULL AS BIGINT), CAST(0 AS BIGINT))"; rows];
    let input = table
        .ctx
        .sql(&format!("VALUES {}", values.join(", ")))
        .await
        .unwrap();
    let plan = input.logical_plan().clone();
    let (plan, identities) = fill_identities(plan, snapshot.schema(), &[false, true]).unwrap();
    let state = table.ctx.state();
    let request = Append {
        identities,
        ..Append::new(plan)
    };
    append(&WriteContext::new(&state, &table.commit), snapshot, request)
        .await
        .map(|_| ())
}

#[tokio::test]
async fn of_two_writers_that_make_values_one_commits() {
    let table = Table::empty();
    table.create(CreateTable::new(columns())).await.unwrap();
    let snapshot = table.snapshot().await;
    write(&table, &snapshot, 2).await.unwrap();
    let lost = write(&table, &snapshot, 1).await.unwrap_err();
    assert_eq!(lost.class(), Some("DELTA_METADATA_CHANGED"));
    assert_eq!(table.files().len(), 1, "what was refused is removed");
    write(&table, &table.snapshot().await, 3000).await.unwrap();
    assert_eq!(
        rows(
            &table,
            "SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t"
        )
        .await,
        ["3002|3002|1|6003"]
    );
}

#[tokio::test]
async fn a_statement_without_rows_leaves_the_schema() {
    let table = Table::empty();
    table.create(CreateTable::new(columns())).await.unwrap();
    let snapshot = table.snapshot().await;
    let none = "SELECT CAST(NULL AS BIGINT) AS id, CAST(0 AS BIGINT) AS v WHERE false";
    let input = table.ctx.sql(none).await.unwrap();
    let plan = input.logical_plan().clone();
    let (plan, identities) = fill_identities(plan, snapshot.schema(), &[false, true]).unwrap();
    let state = table.ctx.state();
    let request = Append {
        identities,
        ..Append::new(plan)
    };
    append(
        &WriteContext::new(&state, &table.commit),
        &snapshot,
        request,
    )
    .await
    .unwrap();
    assert_eq!(table.snapshot().await.schema(), snapshot.schema());
}
