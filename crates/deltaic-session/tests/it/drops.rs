//! DROP of a managed table where the store refuses deletions: no row is lost, then or later.

use std::sync::Arc;

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_session::{Parameters, Session, SessionBuilder};
use deltaic_storage::StorageFactory;
use deltaic_storage::hook::{OpKind, StoreHook, StoreOp};

use crate::helpers::{Warehouse, run};

/// Refuses to delete what does not have this ending.
struct Refuses(&'static str);

impl StoreHook for Refuses {
    fn before(&self, op: &StoreOp) -> Result<()> {
        if op.kind == OpKind::Delete && !op.path.ends_with(self.0) {
            return Err(
                DeltaError::unclassed("java.nio.file.AccessDeniedException", "refused")
                    .with_kind(ErrorKind::Storage),
            );
        }
        Ok(())
    }
}

fn refusing(warehouse: &Warehouse, but: &'static str) -> Session {
    let mut builder = SessionBuilder::new(warehouse.folder.path().to_str().unwrap());
    builder.storage = StorageFactory::default().with_hook(Arc::new(Refuses(but)));
    builder.build().unwrap()
}

async fn filled() -> Warehouse {
    let warehouse = Warehouse::new();
    warehouse
        .all(&[
            "CREATE TABLE a (i INT) USING delta",
            "INSERT INTO a VALUES (1), (2)",
        ])
        .await;
    warehouse
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_may_be_deleted_the_table_keeps_its_name() {
    let warehouse = filled().await;
    let dropped = refusing(&warehouse, "nothing")
        .sql("DROP TABLE a", Parameters::None)
        .await;
    assert_eq!(dropped.unwrap_err().kind(), ErrorKind::Storage);
    assert_eq!(
        warehouse.rows("SELECT i FROM a ORDER BY i").await,
        serde_json::json!([[1], [2]])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_after_a_drop_that_broke_off_is_not_taken_away() {
    let warehouse = filled().await;
    let session = refusing(&warehouse, ".dropping.deltaic");
    let error = session
        .sql("DROP TABLE a", Parameters::None)
        .await
        .unwrap_err();
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("CREATE TABLE")),
        "{error}"
    );
    let by_path = format!("delta.`{}`", warehouse.path("a"));
    let other = Warehouse::new();
    std::thread::sleep(std::time::Duration::from_millis(20));
    run(&other.session, &format!("INSERT INTO {by_path} VALUES (3)")).await;
    let error = warehouse
        .fails("CREATE TABLE a (x STRING) USING delta")
        .await;
    assert_ne!(error.kind(), ErrorKind::Internal);
    let rows = run(
        &other.session,
        &format!("SELECT i FROM {by_path} ORDER BY i"),
    )
    .await;
    assert_eq!(
        rows.to_json_pipe()["rows"],
        serde_json::json!([[1], [2], [3]])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_was_named_again_after_a_drop_that_broke_off_is_not_taken_away() {
    let warehouse = filled().await;
    let session = refusing(&warehouse, ".dropping.deltaic");
    session
        .sql("DROP TABLE a", Parameters::None)
        .await
        .unwrap_err();
    let place = warehouse.path("a");
    warehouse
        .ok(&format!(
            "CREATE TABLE saved USING delta LOCATION '{place}'"
        ))
        .await;
    warehouse.ok("DROP TABLE saved").await;
    warehouse
        .fails("CREATE TABLE a (x STRING) USING delta")
        .await;
    let rows = warehouse
        .rows(&format!("SELECT i FROM delta.`{place}` ORDER BY i"))
        .await;
    assert_eq!(rows, serde_json::json!([[1], [2]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_to_a_table_whose_create_broke_off_is_not_replaced() {
    let warehouse = filled().await;
    let place = warehouse.path("a");
    // As a process leaves it that dies after the commit and before the name.
    std::fs::rename(&place, warehouse.path("b")).unwrap();
    std::fs::write(
        std::path::Path::new(&warehouse.path("b")).join(".creating.deltaic"),
        warehouse.marker("b"),
    )
    .unwrap();
    warehouse.session.refresh();
    warehouse
        .fails("CREATE TABLE b (x STRING) USING delta")
        .await;
    let by_path = format!("SELECT i FROM delta.`{}` ORDER BY i", warehouse.path("b"));
    assert_eq!(
        warehouse.rows(&by_path).await,
        serde_json::json!([[1], [2]])
    );
    // The same place with the commit of the CREATE alone is taken up.
    std::fs::remove_file(warehouse.path("b/_delta_log/00000000000000000001.json")).unwrap();
    warehouse.session.refresh();
    warehouse.ok("CREATE TABLE b (x STRING) USING delta").await;
    assert_eq!(
        warehouse.rows("SELECT * FROM b").await,
        serde_json::json!([])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vacuum_whose_deletions_are_refused_ends_as_an_error() {
    let warehouse = filled().await;
    warehouse.ok("DELETE FROM a").await;
    let session = refusing(&warehouse, "nothing");
    let unchecked = "SET spark.databricks.delta.retentionDurationCheck.enabled = false";
    run(&session, unchecked).await;
    std::thread::sleep(std::time::Duration::from_millis(20));
    let error = session
        .sql("VACUUM a RETAIN 0 HOURS", Parameters::None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert!(error.text().contains("deleted 0 of"), "{error}");
    run(&warehouse.session, unchecked).await;
    warehouse.ok("VACUUM a RETAIN 0 HOURS").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_of_a_drop_that_broke_off_goes_with_the_next_create() {
    let warehouse = filled().await;
    let session = refusing(&warehouse, ".dropping.deltaic");
    session
        .sql("DROP TABLE a", Parameters::None)
        .await
        .unwrap_err();
    warehouse.ok("CREATE TABLE a (x STRING) USING delta").await;
    assert_eq!(
        warehouse.rows("SELECT * FROM a").await,
        serde_json::json!([])
    );
}
