//! A store that fails at any operation of a write leaves the table as it was, or as it was to become.

use std::sync::Arc;

use deltaic_protocol::schema::DataType;
use deltaic_storage::StorageFactory;
use deltaic_storage::hook::{FaultMode, FaultPlan};

use crate::helpers::{Table, cells};

/// All that stands between the first and the last operation of a statement, one after another.
#[tokio::test]
async fn a_crash_at_any_operation_leaves_a_table_that_reads_as_before_or_after() {
    for vectors in ["true", "false"] {
        for (statement, mode) in [
            ("insert", FaultMode::Stop),
            ("delete", FaultMode::Stop),
            ("update", FaultMode::StopAfter),
        ] {
            let mut reached_the_end = false;
            for fail_at in 0..60 {
                let plain = Table::new(
                    &[("id", DataType::Long), ("v", DataType::String)],
                    &[],
                    &[("delta.enableDeletionVectors", vectors)],
                )
                .await;
                plain
                    .insert("SELECT value AS id, 'v' || value AS v FROM generate_series(1, 10)")
                    .await;
                let plan = Arc::new(FaultPlan::mutations(fail_at, mode));
                let store = plain.store.hooked(Arc::clone(&plan) as _);
                let faulty = Table {
                    store,
                    folder: plain.folder,
                    commit: plain.commit.clone(),
                    ctx: plain.ctx.clone(),
                };
                let outcome = match statement {
                    "insert" => faulty.try_insert("VALUES (11, 'new')").await.map(|_| ()),
                    "delete" => faulty.try_delete(Some("id IN (2, 3)")).await.map(|_| ()),
                    _ => faulty
                        .try_update(&[("v", "'u'")], Some("id = 5"))
                        .await
                        .map(|_| ()),
                };
                let healed = Table {
                    store: StorageFactory::default()
                        .open(faulty.folder.path().join("t").to_str().unwrap())
                        .unwrap(),
                    folder: faulty.folder,
                    commit: faulty.commit,
                    ctx: deltaic_datafusion::application::session::session_context(),
                };
                let sql = "SELECT count(*), sum(id), count(*) FILTER (WHERE v = 'u') FROM t";
                let found = cells(&healed.try_query(sql).await.unwrap()).remove(0);
                let after = match statement {
                    "insert" => "11|66|0",
                    "delete" => "8|50|0",
                    _ => "10|55|1",
                };
                let context =
                    format!("{statement}, vectors {vectors}, operation {fail_at}: {outcome:?}");
                assert!(found == "10|55|0" || found == after, "{context}: {found}");
                if plan.reached() {
                    continue;
                }
                assert!(outcome.is_ok(), "{context}");
                assert_eq!(found, after, "{context}");
                reached_the_end = true;
                break;
            }
            assert!(
                reached_the_end,
                "{statement} takes more operations than were tried"
            );
        }
    }
}
