//! Writes that an application may repeat: `txnAppId`, `txnVersion`, and what a table records of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::helpers::{Warehouse, open, run};

const APP: &str = "SET spark.databricks.delta.write.txnAppId = ";
const VERSION: &str = "SET spark.databricks.delta.write.txnVersion = ";
const RESET: &str = "RESET spark.databricks.delta.write.txnVersion";

/// The `txn` actions of a table, with the version of their commits.
fn recorded(w: &Warehouse, table: &str) -> Vec<(i64, String, i64)> {
    let mut out = Vec::new();
    for version in 0.. {
        let Ok(text) =
            std::fs::read_to_string(w.path(&format!("{table}/_delta_log/{version:020}.json")))
        else {
            break;
        };
        for line in text.lines() {
            let action: Value = serde_json::from_str(line).unwrap();
            if let Some(txn) = action.get("txn") {
                assert!(txn["lastUpdated"].as_i64().unwrap() > 0);
                let app = txn["appId"].as_str().unwrap().to_owned();
                out.push((version, app, txn["version"].as_i64().unwrap()));
            }
        }
    }
    out
}

async fn versions(w: &Warehouse, table: &str) -> usize {
    w.ok(&format!("DESCRIBE HISTORY {table}")).await.row_count()
}

#[tokio::test]
async fn each_form_of_a_write_is_done_once_for_a_version_of_its_application() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "SET spark.databricks.delta.write.txnAppId = app",
    ])
    .await;
    let forms = [
        "INSERT INTO t VALUES (4, 'a')",
        "INSERT INTO t (p, id) SELECT 'b', 5",
        "INSERT INTO t BY NAME SELECT 'b' AS p, 6 AS id",
        "INSERT INTO t PARTITION (p = 'b') SELECT 7",
        "INSERT INTO t REPLACE WHERE p = 'a' SELECT 8, 'a'",
        "INSERT INTO t REPLACE USING (id) SELECT 8 AS id, 'x' AS p",
        "INSERT OVERWRITE t PARTITION (p = 'x') SELECT 9",
        "DELETE FROM t WHERE id = 2",
        "DELETE FROM t WHERE p = 'c'",
        "UPDATE t SET id = id + 10 WHERE p = 'b'",
        "INSERT OVERWRITE t SELECT id, p FROM t WHERE id > 15",
        "CREATE OR REPLACE TABLE t PARTITIONED BY (p) AS SELECT 1 AS id, 'z' AS p",
        "REPLACE TABLE t AS SELECT 2 AS id, 'y' AS p",
        "DELETE FROM t",
    ];
    for (n, statement) in (1i64..).zip(forms) {
        w.ok(&format!("{VERSION}{n}")).await;
        w.ok(statement).await;
        let (rows, count) = (
            w.rows("SELECT * FROM t ORDER BY id").await,
            versions(&w, "t").await,
        );
        let last = recorded(&w, "t").pop().unwrap();
        assert_eq!(last, (count as i64 - 1, "app".to_owned(), n), "{statement}");
        w.ok(statement).await;
        assert_eq!(
            w.rows("SELECT * FROM t ORDER BY id").await,
            rows,
            "{statement}"
        );
        assert_eq!(versions(&w, "t").await, count, "{statement}");
    }
    // An earlier version is done as well; another application is not.
    w.ok(&format!("{VERSION}3")).await;
    w.ok("INSERT INTO t VALUES (1, 'a')").await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
    w.ok(&format!("{APP}other")).await;
    w.ok("INSERT INTO t VALUES (1, 'a')").await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[1]]));
    // Another session knows it from the log.
    let other = open(w.folder.path());
    for sql in [
        format!("{APP}app"),
        format!("{VERSION}14"),
        "INSERT INTO t VALUES (2, 'a')".to_owned(),
    ] {
        run(&other, &sql).await;
    }
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[1]]));
}

#[tokio::test]
async fn a_statement_that_was_done_before_answers_no_count() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "INSERT INTO t VALUES (1), (2)",
        "SET spark.databricks.delta.write.txnAppId = app",
        "SET spark.databricks.delta.write.txnVersion = 1",
    ])
    .await;
    let delete = w.ok("DELETE FROM t WHERE id = 1").await.to_json_pipe();
    assert_eq!(delete["rows"], json!([[1]]));
    for statement in ["DELETE FROM t WHERE id = 2", "UPDATE t SET id = 7"] {
        let again = w.ok(statement).await.to_json_pipe();
        assert_eq!(again["columns"][0][0], "num_affected_rows");
        assert_eq!(again["rows"], json!([]), "{statement}");
    }
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[2]]));
}

#[tokio::test]
async fn statements_that_change_nothing_record_their_version_too() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "INSERT INTO t VALUES (1)",
        "SET spark.databricks.delta.write.txnAppId = app",
    ])
    .await;
    let forms = [
        "DELETE FROM t WHERE id = 9",
        "UPDATE t SET id = 2 WHERE id = 9",
        "INSERT INTO t SELECT 1 WHERE false",
    ];
    for (n, statement) in (1..).zip(forms) {
        w.ok(&format!("{VERSION}{n}")).await;
        w.ok(statement).await;
    }
    let app = || "app".to_owned();
    assert_eq!(
        recorded(&w, "t"),
        [(2, app(), 1), (3, app(), 2), (4, app(), 3)]
    );
    // Statements of other kinds record nothing.
    w.all(&[
        "ALTER TABLE t SET TBLPROPERTIES (a = 'b')",
        "CREATE TABLE u (id INT)",
        "TRUNCATE TABLE t",
    ])
    .await;
    assert_eq!(recorded(&w, "t").len(), 3);
    assert_eq!(recorded(&w, "u"), []);
}

#[tokio::test]
async fn half_of_the_settings_is_refused_and_so_is_a_version_that_is_no_number() {
    let w = Warehouse::new();
    w.all(&["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"])
        .await;
    let class = "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS";
    for half in [
        "spark.databricks.delta.write.txnAppId",
        "spark.databricks.delta.write.txnVersion",
    ] {
        w.ok(&format!("SET {half} = 1")).await;
        for statement in [
            "INSERT INTO t VALUES (2)",
            "INSERT OVERWRITE t VALUES (2)",
            "DELETE FROM t",
            "UPDATE t SET id = 2",
            "CREATE TABLE u AS SELECT 1 AS id",
            "CREATE OR REPLACE TABLE t AS SELECT 1 AS id",
        ] {
            let error = w.fails(statement).await;
            assert_eq!(error.class(), Some(class), "{statement}");
            assert_eq!(
                error.text(),
                "Invalid options for idempotent Dataframe writes: Both spark.databricks.delta.write.txnAppId and \
                 spark.databricks.delta.write.txnVersion must be specified for idempotent Delta writes"
            );
        }
        w.ok("ALTER TABLE t SET TBLPROPERTIES (a = 'b')").await;
        w.ok(&format!("RESET {half}")).await;
    }
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1]]));
    assert!(!w.has("u/_delta_log"));
    assert_eq!(
        w.class(&format!("{VERSION}one")).await,
        "INVALID_CONF_VALUE.TYPE_MISMATCH"
    );
    w.ok("INSERT INTO t VALUES (2)").await;
}

#[tokio::test]
async fn the_version_is_taken_back_after_a_write_where_the_session_asks_for_that() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "SET spark.databricks.delta.write.txnVersion.autoReset.enabled = true",
        "SET spark.databricks.delta.write.txnAppId = app",
        "SET spark.databricks.delta.write.txnVersion = 1",
    ])
    .await;
    let key = "SET spark.databricks.delta.write.txnVersion";
    // A statement that fails has not used its version.
    assert_eq!(
        w.class("INSERT INTO t VALUES ('x')").await,
        "CAST_INVALID_INPUT"
    );
    assert_eq!(w.rows(key).await[0][1], "1");
    w.ok("INSERT INTO t VALUES (1)").await;
    assert_eq!(w.rows(key).await[0][1], "<undefined>");
    assert_eq!(
        w.class("INSERT INTO t VALUES (2)").await,
        "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS"
    );
    // So it is after one that was done before.
    w.ok(&format!("{VERSION}1")).await;
    w.ok("INSERT INTO t VALUES (3)").await;
    assert_eq!(w.rows(key).await[0][1], "<undefined>");
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1]]));
}

/// Sessions that race with the same versions of the same application, and repeat what was refused until it is done.
async fn race(sessions: usize, statements: Vec<String>) -> (Warehouse, usize) {
    let w = Warehouse::new();
    w.ok("CREATE TABLE t (id INT, n INT) TBLPROPERTIES ('delta.checkpointInterval' = '3')")
        .await;
    let mut racers = Vec::new();
    for _ in 0..sessions {
        let session = open(w.folder.path());
        let statements = statements.clone();
        racers.push(tokio::spawn(async move {
            run(&session, "SET spark.databricks.delta.write.txnAppId = app").await;
            let mut refused = 0;
            for (n, sql) in statements.iter().enumerate() {
                run(
                    &session,
                    &format!("SET spark.databricks.delta.write.txnVersion = {n}"),
                )
                .await;
                while let Err(error) = session.sql(sql, deltaic_session::Parameters::None).await {
                    let class = error.class().unwrap_or_default();
                    assert!(class.starts_with("DELTA_CONCURRENT_"), "{sql}: {error}");
                    refused += 1;
                }
            }
            refused
        }));
    }
    let mut refused = 0;
    for racer in racers {
        refused += racer.await.unwrap();
    }
    (w, refused)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn racing_sessions_of_one_application_write_each_version_once() {
    let inserts = (0..25)
        .map(|n| format!("INSERT INTO t VALUES ({n}, 1)"))
        .collect();
    let (w, refused) = race(3, inserts).await;
    println!("{refused} refusals");
    let counts = w
        .rows("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t")
        .await;
    assert_eq!(counts, json!([[25, 25, 0, 24]]));
    let versions: Vec<i64> = recorded(&w, "t")
        .into_iter()
        .map(|(_, _, version)| version)
        .collect();
    assert_eq!(versions, (0..25).collect::<Vec<i64>>());
}

/// A statement, and what it does to the rows (`id`, `n`).
fn step() -> impl Strategy<Value = (u8, i64)> {
    (0..4u8, 0..6i64)
}

fn text_of(step: (u8, i64)) -> String {
    let id = step.1;
    match step.0 {
        0 => format!("INSERT INTO t VALUES ({id}, 1)"),
        1 => format!("DELETE FROM t WHERE id = {id}"),
        2 => format!("UPDATE t SET n = n + 1 WHERE id <= {id}"),
        _ => format!("INSERT INTO t REPLACE WHERE id = {id} VALUES ({id}, 0)"),
    }
}

fn apply(rows: &mut Vec<(i64, i64)>, step: (u8, i64)) {
    let id = step.1;
    match step.0 {
        0 => rows.push((id, 1)),
        1 => rows.retain(|row| row.0 != id),
        2 => rows
            .iter_mut()
            .filter(|row| row.0 <= id)
            .for_each(|row| row.1 += 1),
        _ => {
            rows.retain(|row| row.0 != id);
            rows.push((id, 0));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Two sessions that race through the same statements, each under its version, leave what one of them alone would.
    #[test]
    fn two_racing_sessions_do_what_one_would(steps in proptest::collection::vec(step(), 1..10)) {
        let mut expected = Vec::new();
        for step in &steps {
            apply(&mut expected, *step);
        }
        expected.sort_unstable();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let rows = runtime.block_on(async {
            let (w, _) = race(2, steps.iter().copied().map(text_of).collect()).await;
            w.rows("SELECT id, n FROM t ORDER BY id, n").await
        });
        prop_assert_eq!(rows, json!(expected.iter().map(|row| json!([row.0, row.1])).collect::<Vec<_>>()));
    }
}

#[tokio::test]
async fn a_reset_of_the_version_ends_the_repeatable_writes() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "SET spark.databricks.delta.write.txnAppId = app",
    ])
    .await;
    w.ok(&format!("{VERSION}1")).await;
    w.all(&[
        "INSERT INTO t VALUES (1)",
        "RESET spark.databricks.delta.write.txnAppId",
        RESET,
    ])
    .await;
    w.all(&["INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (2)"])
        .await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[3]]));
    assert_eq!(recorded(&w, "t").len(), 1);
}
