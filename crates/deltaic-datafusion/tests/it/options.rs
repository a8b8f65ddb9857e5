//! Writer options: an application's transactions, rows of a file, deletion vectors.

use std::num::NonZeroU64;
use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltaic_datafusion::application::open::{Version, provider};
use deltaic_datafusion::application::session::{configure, session_context};
use deltaic_datafusion::{AppTransaction, WriterOptions};
use deltaic_protocol::schema::DataType;
use deltaic_storage::StorageFactory;
use deltaic_storage::hook::{FaultMode, FaultPlan};

use crate::helpers::{Table, cells};

/// A session whose statements are written with these options.
fn session_with(options: WriterOptions) -> SessionContext {
    let config = SessionConfig::new().with_extension(Arc::new(options));
    let builder = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config);
    SessionContext::new_with_state(configure(builder).build())
}

/// Runs a statement of DataFusion's own SQL on the newest version.
async fn run(table: &Table, sql: &str) -> datafusion::error::Result<Vec<String>> {
    let newest = provider(&table.store, Version::Latest).await.unwrap();
    table.ctx.deregister_table("t").unwrap();
    table.ctx.register_table("t", Arc::new(newest)).unwrap();
    Ok(cells(&table.ctx.sql(sql).await?.collect().await?))
}

fn version(version: i64) -> WriterOptions {
    WriterOptions {
        transaction: Some(AppTransaction {
            app_id: "app".to_owned(),
            version,
        }),
        ..WriterOptions::default()
    }
}

async fn numbers(properties: &[(&str, &str)]) -> Table {
    let table = Table::new(&[("id", DataType::Long)], &[], properties).await;
    table
        .insert("SELECT value AS id FROM generate_series(1, 10)")
        .await;
    table
}

#[tokio::test]
async fn a_plain_session_repeats_no_write_of_an_application() {
    let mut table = numbers(&[]).await;
    for (n, sql) in [
        "INSERT INTO t VALUES (11)",
        "DELETE FROM t WHERE id < 4",
        "UPDATE t SET id = id + 100 WHERE id > 9",
        "INSERT OVERWRITE t VALUES (1), (2)",
    ]
    .into_iter()
    .enumerate()
    {
        table.ctx = session_with(version(n as i64));
        run(&table, sql).await.unwrap();
        let (rows, at) = (
            table.query("SELECT * FROM t ORDER BY id").await,
            table.snapshot().await.version(),
        );
        assert_eq!(at, n as i64 + 2, "{sql}");
        assert_eq!(run(&table, sql).await.unwrap(), ["0"], "{sql}");
        assert_eq!(table.snapshot().await.version(), at, "{sql}");
        assert_eq!(
            table.query("SELECT * FROM t ORDER BY id").await,
            rows,
            "{sql}"
        );
    }
    assert_eq!(
        table.snapshot().await.txn("app").map(|txn| txn.version),
        Some(3)
    );
}

/// The commit came through or not, and the writer was not told: whoever repeats the write has it once.
#[tokio::test]
async fn a_write_whose_answer_was_lost_anywhere_is_there_once_after_its_repetition() {
    for mode in [FaultMode::Stop, FaultMode::StopAfter] {
        for (statement, after) in [
            ("INSERT INTO t VALUES (11)", "11|66"),
            ("UPDATE t SET id = id + 1 WHERE id = 10", "10|56"),
        ] {
            let mut reached_the_end = false;
            for fail_at in 0..60 {
                let plain = numbers(&[]).await;
                let plan = Arc::new(FaultPlan::mutations(fail_at, mode));
                let faulty = Table {
                    store: plain.store.hooked(Arc::clone(&plan) as _),
                    folder: plain.folder,
                    commit: plain.commit.clone(),
                    ctx: session_with(version(7)),
                };
                let outcome = run(&faulty, statement).await;
                let healed = Table {
                    store: StorageFactory::default()
                        .open(faulty.folder.path().join("t").to_str().unwrap())
                        .unwrap(),
                    folder: faulty.folder,
                    commit: faulty.commit,
                    ctx: session_with(version(7)),
                };
                run(&healed, statement).await.unwrap();
                let found = cells(
                    &healed
                        .try_query("SELECT count(*), sum(id) FROM t")
                        .await
                        .unwrap(),
                );
                assert_eq!(
                    found,
                    [after],
                    "{statement}, {mode:?} at {fail_at}: {outcome:?}"
                );
                reached_the_end = !plan.reached();
                if reached_the_end {
                    break;
                }
            }
            assert!(
                reached_the_end,
                "{statement} takes more operations than were tried"
            );
        }
    }
}

#[tokio::test]
async fn files_hold_no_more_rows_than_the_session_allows() {
    let mut table = Table::new(
        &[("id", DataType::Long), ("p", DataType::Long)],
        &["p"],
        &[],
    )
    .await;
    table.ctx = session_with(WriterOptions {
        max_records_per_file: NonZeroU64::new(4),
        ..WriterOptions::default()
    });
    table
        .insert("SELECT value AS id, value % 2 AS p FROM generate_series(1, 20)")
        .await;
    let mut rows: Vec<i64> = Vec::new();
    for add in table.snapshot().await.files().await.unwrap().iter() {
        let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref().unwrap()).unwrap();
        rows.push(stats["numRecords"].as_i64().unwrap());
    }
    rows.sort_unstable();
    assert_eq!(rows, [2, 2, 4, 4, 4, 4]);
    let found = table
        .try_query("SELECT count(*), sum(id), count(DISTINCT id) FROM t")
        .await
        .unwrap();
    assert_eq!(cells(&found), ["20|210|20"]);
}

/// Files with deletion vectors that the last commit added.
async fn vectors(table: &Table) -> usize {
    let last = table.snapshot().await.version();
    let adds = table.adds(last).await;
    adds.iter()
        .filter(|add| add.deletion_vector.is_some())
        .count()
}

#[tokio::test]
async fn files_are_written_anew_where_the_session_wants_no_vectors() {
    let mut table = numbers(&[("delta.enableDeletionVectors", "true")]).await;
    table.delete(Some("id = 1")).await;
    assert_eq!(vectors(&table).await, 1);
    table.ctx = session_with(WriterOptions {
        delete_with_vectors: false,
        update_with_vectors: false,
        ..WriterOptions::default()
    });
    table.delete(Some("id = 2")).await;
    assert_eq!(vectors(&table).await, 0);
    table.update(&[("id", "id + 100")], Some("id > 8")).await;
    assert_eq!(vectors(&table).await, 0);
    let sums = "SELECT count(*), sum(id) FROM t";
    assert_eq!(cells(&table.try_query(sums).await.unwrap()), ["8|252"]);
    table.ctx = session_context();
    table.update(&[("id", "id + 1")], Some("id = 3")).await;
    assert_eq!(vectors(&table).await, 1);
    assert_eq!(cells(&table.try_query(sums).await.unwrap()), ["8|253"]);
}
