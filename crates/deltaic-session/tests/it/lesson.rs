//! A lesson from the first table to the last: accident, time travel, recovery, retention, VACUUM.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn an_accident_is_found_in_the_history_and_undone() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE SCHEMA IF NOT EXISTS main.shop",
        "USE main.shop",
        "CREATE OR REPLACE TABLE orders (id BIGINT, customer STRING, amount DECIMAL(10,2)) -- no USING",
        "INSERT INTO orders VALUES (1,'ann',10.00),(2,'bob',20.00),(3,'cy',30.00),(4,'dee',40.00),(5,'eve',50.00);",
        "INSERT INTO orders VALUES (6,'fay',60.00),(7,'gus',70.00)",
    ])
    .await;
    assert_eq!(
        w.rows("UPDATE orders SET amount = amount + 1 WHERE amount >= 50")
            .await,
        json!([[3]])
    );
    assert_eq!(
        w.rows("DELETE FROM orders WHERE amount < 45").await,
        json!([[4]])
    );
    assert_eq!(
        w.session
            .conf("spark.databricks.delta.lastCommitVersionInSession")
            .unwrap(),
        "4"
    );
    let history = w.ok("DESCRIBE HISTORY orders").await;
    assert_eq!(history.schema.fields.len(), 15);
    let told: Vec<_> = history.to_json_pipe()["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row[4].clone())
        .collect();
    assert_eq!(
        told,
        [
            "DELETE",
            "UPDATE",
            "WRITE",
            "WRITE",
            "CREATE OR REPLACE TABLE"
        ]
    );
    assert_eq!(w.ok("DESCRIBE HISTORY orders LIMIT 1").await.row_count(), 1);

    let before = w
        .shown("SELECT * FROM orders VERSION AS OF 3 ORDER BY id")
        .await;
    assert_eq!(
        w.shown("SELECT * FROM main.shop.orders@v3 ORDER BY id")
            .await,
        before
    );
    assert_eq!(
        w.shown("SELECT * FROM `orders@v3` ORDER BY id").await,
        before
    );
    assert_eq!(
        w.shown("SELECT * FROM orders FOR SYSTEM_VERSION AS OF '3' ORDER BY id")
            .await,
        before
    );

    w.ok("INSERT INTO orders SELECT past.* FROM orders VERSION AS OF 3 AS past WHERE past.id NOT IN (SELECT id FROM orders)").await;
    assert_eq!(w.shown("SELECT * FROM orders ORDER BY id").await, before);
    assert_eq!(
        w.ok("RESTORE TABLE orders TO VERSION AS OF 3")
            .await
            .schema
            .fields
            .len(),
        6
    );
    assert_eq!(
        w.ok("RESTORE TABLE orders TO VERSION AS OF 6")
            .await
            .schema
            .fields
            .len(),
        0
    );
    assert_eq!(w.shown("SELECT * FROM orders ORDER BY id").await, before);

    w.ok("ALTER TABLE orders SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')").await;
    w.ok("SET spark.databricks.delta.retentionDurationCheck.enabled = false")
        .await;
    assert_eq!(
        w.rows("VACUUM orders RETAIN 0 HOURS").await,
        json!([[format!("file:{}", w.path("main.cat/shop.db/orders"))]])
    );
    assert_eq!(
        w.class("SELECT * FROM orders VERSION AS OF 4").await,
        "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"
    );
    w.ok("SET spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration = false").await;
    assert_eq!(
        w.class("SELECT * FROM orders VERSION AS OF 1").await,
        "FAILED_READ_FILE.FILE_NOT_EXIST"
    );
    assert_eq!(w.rows("SELECT count(*) FROM orders").await, json!([[7]]));
    w.all(&["DROP TABLE IF EXISTS orders", "DROP TABLE IF EXISTS orders"])
        .await;
    assert!(!w.has("main.cat/shop.db/orders"));
}

#[tokio::test]
async fn a_version_is_readable_as_long_as_the_retention_says_and_the_newest_always() {
    let day = 86_400_000;
    let clock = deltaic_protocol::ManualClock::at(deltaic_protocol::Clock::now_ms(
        &deltaic_protocol::SystemClock,
    ));
    let w = Warehouse::at(&clock);
    w.all(&[
        "CREATE TABLE t (id INT)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (2)",
    ])
    .await;
    clock.advance(6 * day);
    assert_eq!(
        w.rows("SELECT * FROM t VERSION AS OF 1").await,
        json!([[1]])
    );
    clock.advance(2 * day);
    assert_eq!(
        w.class("SELECT * FROM t VERSION AS OF 1").await,
        "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"
    );
    assert_eq!(
        w.rows("SELECT count(*) FROM t VERSION AS OF 2").await,
        json!([[2]])
    );
    w.ok("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 20 days')").await;
    assert_eq!(
        w.rows("SELECT * FROM t VERSION AS OF 1").await,
        json!([[1]])
    );
}

#[tokio::test]
async fn a_table_prints_as_the_reference_prints_it() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE t (id BIGINT, name STRING, at TIMESTAMP)")
        .await;
    w.ok("INSERT INTO t VALUES (1, 'a rather long text for a cell', TIMESTAMP '2026-05-01 10:00:00.5'), (2, NULL, NULL)").await;
    let wanted = "\
+---+--------------------+--------------------+
| id|                name|                  at|
+---+--------------------+--------------------+
|  1|a rather long tex...|2026-05-01 10:00:...|
|  2|                NULL|                NULL|
+---+--------------------+--------------------+
";
    assert_eq!(
        w.ok("SELECT * FROM t ORDER BY id")
            .await
            .show(deltaic_session::ShowOptions::default()),
        wanted
    );
}
