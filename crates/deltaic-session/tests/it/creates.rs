//! CREATE TABLE where others write, or have written, at the same place.

use serde_json::json;

use crate::helpers::{Warehouse, open, run};

#[tokio::test]
async fn writes_that_nobody_finished_are_no_content_of_a_place() {
    let w = Warehouse::new();
    let creates = [
        "CREATE TABLE delta.`P` (id INT)",
        "CREATE TABLE IF NOT EXISTS delta.`P` (id INT)",
        "CREATE OR REPLACE TABLE delta.`P` (id INT)",
        "CREATE TABLE delta.`P` AS SELECT 1 AS id",
        "CREATE TABLE e USING delta LOCATION 'P' AS SELECT 1 AS id",
        "CREATE TABLE managed3 (id INT)",
    ];
    for (n, sql) in creates.iter().enumerate() {
        let place = match sql.contains("managed") {
            true => w.path("managed3"),
            false => w.path(&format!("p{n}")),
        };
        let log = format!("{place}/_delta_log");
        std::fs::create_dir_all(format!("{log}/.tmp")).unwrap();
        for name in [
            ".probe-0a1b2c3d4e5f-0",
            ".0123456789abcdef0123456789abcdef.tmp",
            ".tmp/00000000000000000000.json.1",
        ] {
            std::fs::write(format!("{log}/{name}"), "x").unwrap();
        }
        w.ok(&sql
            .replace("`P`", &format!("`{place}`"))
            .replace("'P'", &format!("'{place}'")))
            .await;
        let rows = w
            .rows(&format!("SELECT count(*) FROM delta.`{place}`"))
            .await;
        assert!(
            rows == json!([[0]]) || rows == json!([[1]]),
            "{sql}: {rows}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sessions_that_create_a_table_at_one_path_the_late_ones_find_it() {
    for round in 0..20 {
        let w = Warehouse::new();
        let place = w.path("t");
        let workers: Vec<_> = (0..6)
            .map(|n| {
                let session = open(w.folder.path());
                let place = place.clone();
                tokio::spawn(async move {
                    let mode = if n % 3 == 2 { "" } else { "IF NOT EXISTS " };
                    let create = format!("CREATE TABLE {mode}delta.`{place}` (id INT)");
                    run(&session, &create).await;
                    run(
                        &session,
                        &format!("INSERT INTO delta.`{place}` VALUES ({n})"),
                    )
                    .await;
                })
            })
            .collect();
        for worker in workers {
            worker
                .await
                .unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
        let count = format!("SELECT count(*) FROM delta.`{place}`");
        assert_eq!(w.rows(&count).await, json!([[6]]));
    }
}

#[tokio::test]
async fn a_table_by_path_that_is_there_is_left_alone_by_if_not_exists() {
    let w = Warehouse::new();
    let place = w.path("t");
    w.ok(&format!("CREATE TABLE delta.`{place}` AS SELECT 1 AS id"))
        .await;
    for columns in ["(x STRING)", "AS SELECT 'a' AS x"] {
        w.ok(&format!(
            "CREATE TABLE IF NOT EXISTS delta.`{place}` {columns}"
        ))
        .await;
    }
    assert_eq!(
        w.rows(&format!("SELECT * FROM delta.`{place}`")).await,
        json!([[1]])
    );
    let error = w
        .fails(&format!("CREATE TABLE delta.`{place}` AS SELECT 2 AS id"))
        .await;
    assert_eq!(error.class(), Some("TABLE_OR_VIEW_ALREADY_EXISTS"));
    assert!(
        error.text().contains(&format!("`delta`.`{place}`")),
        "{error}"
    );
    let named = format!("CREATE TABLE n USING delta LOCATION '{place}' AS SELECT 2 AS id");
    assert_eq!(
        w.class(&named).await,
        "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sessions_that_fill_a_table_at_one_path_one_wins() {
    for round in 0..10 {
        let w = Warehouse::new();
        let place = w.path("t");
        let workers: Vec<_> = (0..6)
            .map(|n| {
                let session = open(w.folder.path());
                let create = format!("CREATE TABLE delta.`{place}` AS SELECT {n} AS id");
                tokio::spawn(async move {
                    let ended = session
                        .sql(&create, deltaic_session::Parameters::None)
                        .await;
                    ended
                        .map(|_| ())
                        .map_err(|error| error.class().unwrap_or("none").to_owned())
                })
            })
            .collect();
        let mut winners = 0;
        for worker in workers {
            match worker.await.unwrap() {
                Ok(()) => winners += 1,
                // Files of one that has not committed yet are what the third class is about.
                Err(class) => assert!(
                    [
                        "TABLE_OR_VIEW_ALREADY_EXISTS",
                        "DELTA_PROTOCOL_CHANGED",
                        "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
                    ]
                    .contains(&class.as_str()),
                    "{class}"
                ),
            }
        }
        assert_eq!(winners, 1, "round {round}");
        assert_eq!(
            w.rows(&format!("SELECT count(*) FROM delta.`{place}`"))
                .await,
            json!([[1]])
        );
    }
}
