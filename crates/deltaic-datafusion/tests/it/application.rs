//! A plain DataFusion application: tables, catalogs, INSERT, DELETE and UPDATE in DataFusion's own SQL.

use std::sync::Arc;

use datafusion::prelude::SessionContext;
use deltaic_datafusion::application::catalog::DeltaCatalog;
use deltaic_datafusion::application::open::{Version, open, open_version};
use deltaic_datafusion::application::session::session_context;
use deltaic_protocol::schema::DataType;

use crate::helpers::{Table, cells};

async fn table() -> Table {
    let table = Table::new(&[("id", DataType::Long), ("v", DataType::String)], &[], &[]).await;
    table.insert("VALUES (1, 'a'), (2, 'b'), (3, NULL)").await;
    table
}

async fn run(ctx: &SessionContext, sql: &str) -> Vec<String> {
    cells(&ctx.sql(sql).await.unwrap().collect().await.unwrap())
}

#[tokio::test]
async fn a_catalog_hands_out_the_newest_version_to_each_statement_and_old_ones_by_name() {
    let table = table().await;
    let ctx = session_context();
    ctx.register_catalog(
        "lake",
        Arc::new(
            DeltaCatalog::open(table.folder.path().to_str().unwrap())
                .await
                .unwrap(),
        ),
    );
    assert_eq!(
        run(&ctx, "INSERT INTO lake.default.t VALUES (4, 'd')").await,
        ["1"]
    );
    assert_eq!(
        run(
            &ctx,
            "DELETE FROM lake.default.t WHERE id IN (SELECT id FROM lake.default.t WHERE v IS NULL)"
        )
        .await,
        ["1"]
    );
    assert_eq!(
        run(&ctx, "UPDATE lake.default.t SET v = upper(v) WHERE id = 2").await,
        ["1"]
    );
    assert_eq!(
        run(&ctx, "SELECT * FROM lake.default.t ORDER BY id").await,
        ["1|a", "2|B", "4|d"]
    );
    assert_eq!(
        run(&ctx, "SELECT count(*) FROM lake.default.\"t@v1\"").await,
        ["3"]
    );
    assert_eq!(run(&ctx, "SELECT count(*) FROM lake.default.\"t@v2\" AS old JOIN lake.default.t AS new ON old.id = new.id").await, ["3"]);
    assert!(
        ctx.sql("SELECT * FROM lake.default.\"t@v99\"")
            .await
            .is_err()
    );
}

#[tokio::test]
async fn conditions_that_datafusion_would_lose_delete_no_row() {
    let table = table().await;
    let ctx = session_context();
    let location = table.folder.path().join("t");
    for predicate in [
        "false",
        "NULL",
        "1 = 0",
        "id = NULL",
        "id IN (SELECT 99)",
        "EXISTS (SELECT 1 WHERE false)",
    ] {
        ctx.deregister_table("t").unwrap();
        ctx.register_table(
            "t",
            Arc::new(open(location.to_str().unwrap()).await.unwrap()),
        )
        .unwrap();
        assert_eq!(
            run(&ctx, &format!("DELETE FROM t WHERE {predicate}")).await,
            ["0"],
            "{predicate}"
        );
        assert_eq!(
            run(&ctx, &format!("UPDATE t SET v = 'lost' WHERE {predicate}")).await,
            ["0"],
            "{predicate}"
        );
    }
    assert!(
        ctx.sql("DELETE FROM t LIMIT 1")
            .await
            .unwrap()
            .collect()
            .await
            .is_err()
    );
    assert_eq!(table.snapshot().await.version(), 1);
    assert_eq!(run(&ctx, "DELETE FROM t").await, ["3"]);
}

#[tokio::test]
async fn without_the_rule_delete_and_update_are_refused() {
    let table = table().await;
    let ctx = SessionContext::new();
    let location = table.folder.path().join("t");
    ctx.register_table(
        "t",
        Arc::new(open(location.to_str().unwrap()).await.unwrap()),
    )
    .unwrap();
    assert_eq!(run(&ctx, "SELECT count(*) FROM t").await, ["3"]);
    for sql in [
        "DELETE FROM t WHERE id = 1",
        "DELETE FROM t",
        "UPDATE t SET v = 'x'",
    ] {
        let error = ctx.sql(sql).await.unwrap().collect().await.unwrap_err();
        assert!(error.to_string().contains("configure"), "{error}");
    }
    assert_eq!(table.snapshot().await.version(), 1);
}

#[tokio::test]
async fn time_travel_in_sql_is_never_passed_over() {
    let table = table().await;
    let ctx = session_context();
    let location = table.folder.path().join("t");
    ctx.register_table(
        "t",
        Arc::new(open(location.to_str().unwrap()).await.unwrap()),
    )
    .unwrap();
    ctx.register_table(
        "old",
        Arc::new(
            open_version(location.to_str().unwrap(), Version::At(0))
                .await
                .unwrap(),
        ),
    )
    .unwrap();
    assert_eq!(run(&ctx, "SELECT count(*) FROM old").await, ["0"]);
    ctx.sql("SET datafusion.sql_parser.dialect = 'databricks'")
        .await
        .unwrap();
    let error = ctx
        .sql("SELECT * FROM t VERSION AS OF 0")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("t@v<version>"), "{error}");
}

#[tokio::test]
async fn conditions_of_the_table_hold_for_plain_inserts_too() {
    let table = Table::new(
        &[("id", DataType::Long), ("v", DataType::String)],
        &[],
        &[("delta.constraints.positive", "id > 0")],
    )
    .await;
    let ctx = session_context();
    let location = table.folder.path().join("t");
    ctx.register_table(
        "t",
        Arc::new(open(location.to_str().unwrap()).await.unwrap()),
    )
    .unwrap();
    let error = ctx
        .sql("INSERT INTO t VALUES (-1, 'x')")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains(
            "CHECK constraint positive (id > 0) violated by row with values:\n - id : -1"
        ),
        "{error}"
    );
    assert_eq!(run(&ctx, "INSERT INTO t (id) VALUES (7)").await, ["1"]);
    ctx.deregister_table("t").unwrap();
    ctx.register_table(
        "t",
        Arc::new(open(location.to_str().unwrap()).await.unwrap()),
    )
    .unwrap();
    assert_eq!(run(&ctx, "INSERT OVERWRITE t VALUES (8, 'y')").await, ["1"]);
    assert_eq!(
        crate::helpers::rows(&table, "SELECT * FROM t").await,
        ["8|y"]
    );
}

#[tokio::test]
async fn an_external_table_is_opened_by_its_location() {
    let table = table().await;
    let ctx = session_context();
    let location = table.folder.path().join("t");
    ctx.sql(&format!(
        "CREATE EXTERNAL TABLE t STORED AS DELTA LOCATION '{}'",
        location.display()
    ))
    .await
    .unwrap();
    ctx.sql(&format!(
        "CREATE EXTERNAL TABLE old STORED AS DELTA LOCATION '{}' OPTIONS ('version' '0')",
        location.display()
    ))
    .await
    .unwrap();
    assert_eq!(
        run(
            &ctx,
            "SELECT (SELECT count(*) FROM t) AS a, (SELECT count(*) FROM old) AS b"
        )
        .await,
        ["3|0"]
    );
}
