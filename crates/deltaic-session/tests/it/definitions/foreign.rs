//! Definitions of other writers.

use serde_json::json;

use crate::helpers::Warehouse;

/// The metadata of the first commit of a table, changed as another writer might have it.
fn rewrite(w: &Warehouse, table: &str, from: &str, to: &str) {
    let file = w.path(&format!("{table}/_delta_log/00000000000000000000.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&file, text.replace(from, to)).unwrap();
    let checksum = w.path(&format!("{table}/_delta_log/00000000000000000000.crc"));
    if std::path::Path::new(&checksum).exists() {
        std::fs::remove_file(checksum).unwrap();
    }
}

#[tokio::test]
async fn definitions_of_other_writers_do_not_keep_a_table_from_being_read() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (a INT, g INT GENERATED ALWAYS AS (a + 77)) TBLPROPERTIES ('delta.constraints.c' = 'a > -77')",
        "INSERT INTO t (a) VALUES (1)",
    ])
    .await;
    rewrite(&w, "t", "a + 77", "nothing_of_this_name(rand())");
    rewrite(&w, "t", "a > -77", "a IN (SELECT 1)");
    let other = crate::helpers::open(w.folder.path());
    let read = |sql: &'static str| {
        let session = other.clone();
        async move { crate::helpers::run(&session, sql).await.to_json_pipe()["rows"].clone() }
    };
    assert_eq!(read("SELECT * FROM t").await, json!([[1, 78]]));
    read("ALTER TABLE t ADD COLUMN b INT").await;
    assert_eq!(read("SELECT * FROM t").await, json!([[1, 78, null]]));
}
