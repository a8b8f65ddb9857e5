//! Several processes on one warehouse.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::helpers::{Warehouse, open, run};

const WAREHOUSE: &str = "DELTAIC_TEST_WAREHOUSE";

/// Started as a process of its own by the test below; without a warehouse it has nothing to do.
#[tokio::test]
async fn one_of_many_processes_makes_tables_and_adds_rows() {
    let Ok(folder) = std::env::var(WAREHOUSE) else {
        return;
    };
    let session = open(std::path::Path::new(&folder));
    for n in 0..5 {
        run(
            &session,
            &format!("CREATE TABLE IF NOT EXISTS t{n} (id INT)"),
        )
        .await;
        run(&session, "INSERT INTO shared VALUES (1)").await;
    }
}

#[tokio::test]
async fn many_processes_at_once_lose_no_table_and_no_row() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE shared (id INT)").await;
    let program = std::env::current_exe().unwrap();
    let workers: Vec<_> = (0..4)
        .map(|_| {
            Command::new(&program)
                .args([
                    "--exact",
                    "processes::one_of_many_processes_makes_tables_and_adds_rows",
                ])
                .env(WAREHOUSE, w.folder.path())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    assert_eq!(w.rows("SELECT count(*) FROM shared").await, json!([[20]]));
    assert_eq!(w.ok("SHOW TABLES").await.row_count(), 6);
    assert_eq!(w.ok("DESCRIBE HISTORY shared").await.row_count(), 21);
}
