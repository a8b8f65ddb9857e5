//! CREATE and REPLACE: metadata, protocol and history.

use deltaic_datafusion::{CreateKind, CreateTable};
use deltaic_protocol::action::{Action, CommitInfo};
use deltaic_protocol::schema::DataType;

use crate::helpers::{Table, properties, rows, schema};

async fn info(table: &Table, version: i64) -> CommitInfo {
    table
        .actions(version)
        .await
        .into_iter()
        .find_map(|action| {
            if let Action::CommitInfo(info) = action {
                Some(*info)
            } else {
                None
            }
        })
        .unwrap()
}

#[tokio::test]
async fn the_first_commit_holds_metadata_and_the_weakest_protocol() {
    let table = Table::new(
        &[("id", DataType::Long), ("p", DataType::Integer)],
        &["P"],
        &[("my.dial", "1")],
    )
    .await;
    let snapshot = table.snapshot().await;
    assert_eq!(
        (
            snapshot.protocol().min_reader_version,
            snapshot.protocol().min_writer_version
        ),
        (1, 2)
    );
    assert_eq!(snapshot.partition_columns(), ["p"]);
    let info = info(&table, 0).await;
    assert_eq!(info.operation.as_deref(), Some("CREATE TABLE"));
    let parameters = serde_json::to_string(&info.operation_parameters).unwrap();
    assert_eq!(
        parameters,
        r#"{"partitionBy":"[\"p\"]","clusterBy":"[]","description":null,"isManaged":"true","properties":"{\"my.dial\":\"1\"}"}"#
    );
    assert_eq!(info.is_blind_append, Some(true));
}

#[tokio::test]
async fn features_follow_from_properties_and_types() {
    let table = Table::new(
        &[("id", DataType::Long), ("tn", DataType::TimestampNtz)],
        &[],
        &[("delta.enableDeletionVectors", "true")],
    )
    .await;
    let protocol = table.snapshot().await.protocol().clone();
    let mut features = protocol.reader_features.clone().unwrap();
    features.sort();
    assert_eq!(features, ["deletionVectors", "timestampNtz"]);
}

#[tokio::test]
async fn odd_names_need_column_mapping() {
    let table = Table::empty();
    let odd = schema(&[("a b", DataType::Integer), ("c,d", DataType::String)]);
    let error = table
        .create(CreateTable::new(odd.clone()))
        .await
        .unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES")
    );
    assert!(
        error
            .to_string()
            .contains("Invalid column names: a b, c,d."),
        "{error}"
    );
    let mut request = CreateTable::new(odd);
    request.properties = properties(&[("delta.columnMapping.mode", "name")]);
    table.create(request).await.unwrap();
    table.insert("VALUES (1, 'one')").await;
    assert_eq!(
        rows(&table, "SELECT \"a b\", \"c,d\" FROM t").await,
        ["1|one"]
    );
    let parameters = info(&table, 0).await.operation_parameters.unwrap();
    assert!(serde_json::to_string(&parameters).unwrap().contains(
        r#"{\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"2\"}"#
    ));
    let path = table.adds(1).await.remove(0).path;
    assert_eq!(path.split('/').next().unwrap().len(), 2, "{path}");
}

#[tokio::test]
async fn replacing_keeps_history_and_takes_the_new_rows() {
    let table = Table::new(
        &[("id", DataType::Long), ("v", DataType::String)],
        &[],
        &[("delta.enableDeletionVectors", "false")],
    )
    .await;
    table.insert("VALUES (1, 'a')").await;
    let query = table
        .ctx
        .sql("SELECT value AS id FROM generate_series(0, 2)")
        .await
        .unwrap()
        .logical_plan()
        .clone();
    let mut request = CreateTable::new(schema(&[("id", DataType::Long)]));
    request.kind = CreateKind::CreateOrReplace;
    request.input = Some(query.into());
    table.create(request).await.unwrap();
    assert_eq!(
        rows(&table, "SELECT * FROM t ORDER BY id").await,
        ["0", "1", "2"]
    );
    assert_eq!(
        table
            .query_at(1, "SELECT v FROM t")
            .await
            .matches('a')
            .count(),
        1
    );
    let info = info(&table, 2).await;
    assert_eq!(
        info.operation.as_deref(),
        Some("CREATE OR REPLACE TABLE AS SELECT")
    );
    assert_eq!(info.is_blind_append, Some(false));
    let metrics = table.metrics(2).await;
    assert_eq!(
        (
            metrics["numOutputRows"].as_str(),
            metrics["numRemovedFiles"].as_str()
        ),
        ("3", "1")
    );
    assert_eq!(
        table.snapshot().await.metadata().configuration["delta.enableDeletionVectors"],
        "false"
    );
}

#[tokio::test]
async fn columns_that_cannot_partition_are_refused() {
    let table = Table::empty();
    let mut request = CreateTable::new(schema(&[("id", DataType::Long)]));
    request.partition_by = vec!["id".into()];
    assert_eq!(
        table.create(request).await.unwrap_err().class(),
        Some("DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION")
    );
    let mut request = CreateTable::new(schema(&[
        ("id", DataType::Long),
        ("a", DataType::array(DataType::Long, true)),
    ]));
    request.partition_by = vec!["a".into()];
    assert_eq!(
        table.create(request).await.unwrap_err().class(),
        Some("DELTA_INVALID_PARTITION_COLUMN_TYPE")
    );
}
