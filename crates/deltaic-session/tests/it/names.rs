//! Catalogs, schemas, tables by name and by path.

use serde_json::json;

use crate::helpers::{Warehouse, open, run};

#[tokio::test]
async fn a_missing_table_is_quoted_as_it_was_written_and_a_dropped_one_in_full() {
    let w = Warehouse::new();
    let name = |error: deltaic_protocol::DeltaError| error.parameters()[0].1.clone();
    assert_eq!(name(w.fails("SELECT * FROM nothing").await), "`nothing`");
    assert_eq!(name(w.fails("SELECT * FROM a.`b c`").await), "`a`.`b c`");
    assert_eq!(
        name(w.fails("INSERT INTO nothing VALUES (1)").await),
        "`nothing`"
    );
    assert_eq!(
        name(w.fails("DROP TABLE nothing").await),
        "`spark_catalog`.`default`.`nothing`"
    );
    assert_eq!(
        name(w.fails("SELECT * FROM no_catalog.s.t").await),
        "`no_catalog`.`s`.`t`"
    );
}

#[tokio::test]
async fn names_do_not_care_about_case() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE Orders (Id INT)",
        "INSERT INTO ORDERS VALUES (1)",
    ])
    .await;
    assert_eq!(w.rows("SELECT ID FROM orders").await, json!([[1]]));
    assert_eq!(
        w.rows("SHOW TABLES").await,
        json!([["default", "orders", false]])
    );
    assert!(w.has("orders/_delta_log"));
}

#[tokio::test]
async fn further_catalogs_have_their_own_folders() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE CATALOG lab",
        "CREATE SCHEMA lab.s",
        "CREATE TABLE lab.s.t (id INT)",
        "USE lab.s",
        "INSERT INTO t VALUES (1)",
    ])
    .await;
    assert!(w.has("lab.cat/s.db/t/_delta_log"));
    assert_eq!(
        w.rows("SELECT current_catalog(), current_schema(), count(*) FROM t")
            .await,
        json!([["lab", "s", 1]])
    );
    assert_eq!(w.class("DROP CATALOG lab").await, "CATALOG_NOT_EMPTY");
    w.ok("DROP CATALOG lab CASCADE").await;
    assert!(!w.has("lab.cat/s.db/t"));
    assert_eq!(
        w.session.current(),
        ("spark_catalog".to_owned(), "default".to_owned())
    );
}

#[tokio::test]
async fn a_folder_with_a_log_that_nobody_registered_is_a_table_by_path_only() {
    let w = Warehouse::new();
    let path = w.path("loose");
    w.ok(&format!("CREATE TABLE delta.`{path}` (id INT)")).await;
    w.ok(&format!("INSERT INTO delta.`{path}` VALUES (1)"))
        .await;
    assert_eq!(
        w.rows(&format!("SELECT * FROM delta.`{path}`")).await,
        json!([[1]])
    );
    assert_eq!(
        w.rows(&format!("SELECT count(*) FROM delta.`{path}@v0`"))
            .await,
        json!([[0]])
    );
    assert_eq!(
        w.class("SELECT * FROM loose").await,
        "TABLE_OR_VIEW_NOT_FOUND"
    );
    w.ok(&format!("CREATE TABLE named USING delta LOCATION '{path}'"))
        .await;
    assert_eq!(w.rows("SELECT * FROM named").await, json!([[1]]));
    w.ok("DROP TABLE named").await;
    assert_eq!(
        w.rows(&format!("SELECT * FROM delta.`{path}`")).await,
        json!([[1]])
    );
    assert_eq!(
        w.class(&format!("SELECT * FROM delta.`{}`", w.path("nowhere")))
            .await,
        "PATH_NOT_FOUND"
    );
}

#[tokio::test]
async fn a_renamed_table_moves_with_its_name() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE a (id INT)",
        "INSERT INTO a VALUES (1)",
        "ALTER TABLE a RENAME TO b",
    ])
    .await;
    assert!(!w.has("a") && w.has("b/_delta_log"));
    assert_eq!(w.rows("SELECT * FROM b").await, json!([[1]]));
    w.ok("CREATE TABLE a (id STRING)").await;
    assert_eq!(
        w.class("ALTER TABLE a RENAME TO b").await,
        "TABLE_OR_VIEW_ALREADY_EXISTS"
    );
    assert_eq!(w.rows("SELECT count(*) FROM a").await, json!([[0]]));
}

#[tokio::test]
async fn another_session_sees_tables_and_rows_at_its_next_statement() {
    let w = Warehouse::new();
    let other = open(w.folder.path());
    w.all(&["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"])
        .await;
    assert_eq!(
        run(&other, "SELECT count(*) FROM t").await.to_json_pipe()["rows"],
        json!([[1]])
    );
    w.ok("INSERT INTO t VALUES (2)").await;
    assert_eq!(
        run(&other, "SELECT count(*) FROM t").await.to_json_pipe()["rows"],
        json!([[2]])
    );
    w.all(&["DROP TABLE t", "CREATE TABLE t (id STRING)"]).await;
    assert_eq!(
        run(&other, "SELECT count(*) FROM t").await.to_json_pipe()["rows"],
        json!([[0]])
    );
}
