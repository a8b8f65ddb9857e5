//! Views: permanent and temporary.

use serde_json::json;

use crate::helpers::{Warehouse, open, run};

#[tokio::test]
async fn a_view_keeps_the_schema_it_was_made_in() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE SCHEMA s",
        "USE s",
        "CREATE TABLE t (id INT, v STRING)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "CREATE VIEW big (k COMMENT 'the key') AS SELECT id FROM t WHERE id > 1",
        "USE default",
    ])
    .await;
    assert_eq!(w.rows("SELECT * FROM s.big").await, json!([[2]]));
    assert_eq!(
        w.rows("DESCRIBE TABLE s.big").await,
        json!([["k", "int", "the key"]])
    );
    let other = open(w.folder.path());
    assert_eq!(
        run(&other, "SELECT * FROM s.big").await.to_json_pipe()["rows"],
        json!([[2]])
    );
    assert_eq!(
        w.class("SELECT * FROM s.big VERSION AS OF 0").await,
        "UNSUPPORTED_FEATURE.TIME_TRAVEL"
    );
    assert_eq!(
        w.class("VACUUM s.big").await,
        "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE"
    );
    assert_eq!(
        w.class("DROP TABLE s.big").await,
        "WRONG_COMMAND_FOR_OBJECT_TYPE"
    );
}

#[tokio::test]
async fn a_temporary_view_belongs_to_its_session() {
    let w = Warehouse::new();
    w.ok("CREATE TEMPORARY VIEW v AS SELECT 1 AS one").await;
    assert_eq!(w.rows("SELECT * FROM v").await, json!([[1]]));
    assert_eq!(
        w.class("CREATE TEMPORARY VIEW v AS SELECT 2").await,
        "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS"
    );
    assert_eq!(w.rows("SHOW TABLES").await, json!([["", "v", true]]));
    let other = open(w.folder.path());
    assert!(
        other
            .sql("SELECT * FROM v", deltaic_session::Parameters::None)
            .await
            .is_err()
    );
    w.ok("DROP VIEW v").await;
    assert_eq!(w.class("SELECT * FROM v").await, "TABLE_OR_VIEW_NOT_FOUND");
}

#[tokio::test]
async fn a_view_stands_neither_on_itself_nor_on_a_temporary_one() {
    let w = Warehouse::new();
    w.ok("CREATE VIEW v AS SELECT 1 AS a").await;
    for sql in [
        "CREATE OR REPLACE VIEW v AS SELECT * FROM v",
        "ALTER VIEW v AS SELECT a + 1 AS a FROM v",
    ] {
        assert_eq!(w.class(sql).await, "RECURSIVE_VIEW", "{sql}");
    }
    w.ok("CREATE VIEW over_v AS SELECT * FROM v").await;
    assert_eq!(
        w.class("ALTER VIEW v AS SELECT * FROM over_v").await,
        "RECURSIVE_VIEW"
    );
    w.ok("CREATE TEMPORARY VIEW tv AS SELECT 1 AS a").await;
    assert_eq!(
        w.class("CREATE VIEW p AS SELECT * FROM tv").await,
        "INVALID_TEMP_OBJ_REFERENCE"
    );
}
