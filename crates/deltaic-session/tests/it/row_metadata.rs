//! The column `_metadata`: what a file is, and the ids of rows.

use serde_json::{Value, json};

use crate::helpers::Warehouse;

const FILE: &str =
    "file_path, file_name, file_size, file_block_start, file_block_length, file_modification_time";

#[tokio::test]
async fn every_table_tells_where_its_rows_lie() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, `p-q` STRING) PARTITIONED BY (`p-q`) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1, 'a b'), (2, 'a b')",
        "INSERT INTO t VALUES (3, NULL)",
        "CREATE TABLE pq (id INT) USING parquet",
        "INSERT INTO pq VALUES (1), (2)",
        "CREATE VIEW v AS SELECT * FROM t",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT * FROM t ORDER BY id").await[0],
        json!([1, "a b"])
    );
    let found = w
        .rows(
            "SELECT id, _metadata.file_path, _metadata.file_name, _metadata.file_size, _metadata.file_block_start, \
             _metadata.file_block_length, CAST(_metadata.file_modification_time AS LONG) FROM t ORDER BY id",
        )
        .await;
    let text = |row: usize, at: usize| found[row][at].as_str().unwrap().to_owned();
    for row in 0..3 {
        let (path, name) = (text(row, 1), text(row, 2));
        let folder = if row < 2 {
            "p-q=a%20b"
        } else {
            "p-q=__HIVE_DEFAULT_PARTITION__"
        };
        let start = format!("file:{}/{folder}/", w.path("t"));
        assert_eq!(path, format!("{start}{name}"));
        let on_disk = path.strip_prefix("file:").unwrap();
        let on_disk = on_disk.replace("%20", " ");
        let meta = std::fs::metadata(on_disk).unwrap();
        assert_eq!(found[row][3], json!(meta.len()));
        assert_eq!(
            (&found[row][4], &found[row][5]),
            (&json!(0), &json!(meta.len()))
        );
        let modified = meta.modified().unwrap();
        let seconds = modified
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        assert!(found[row][6].as_u64().unwrap().abs_diff(seconds) <= 1);
    }
    assert_eq!(found[0][1], found[1][1]);
    // In every place of a statement, under aliases, and with the table's own columns.
    for (sql, rows) in [
        (
            "SELECT count(*) FROM t WHERE _metadata.file_size > 0 AND id < 3",
            json!([[2]]),
        ),
        (
            "SELECT x.id FROM t AS x WHERE x._METADATA.file_name IS NOT NULL ORDER BY x._metadata.file_path, id DESC",
            json!([[3], [2], [1]]),
        ),
        (
            "SELECT count(DISTINCT _metadata.file_name) FROM t",
            json!([[2]]),
        ),
        (
            "SELECT count(*) FROM t GROUP BY _metadata.file_path ORDER BY 1",
            json!([[1], [2]]),
        ),
        (
            "SELECT a.id FROM t a JOIN pq b USING (id) WHERE a._metadata.file_name <> b._metadata.file_name ORDER BY id",
            json!([[1], [2]]),
        ),
        (
            "SELECT id FROM pq WHERE _metadata.row_index = 1",
            json!([[2]]),
        ),
        (
            "SELECT `p-q` FROM t WHERE `p-q` = 'a b' AND _metadata.file_block_start = 0 LIMIT 1",
            json!([["a b"]]),
        ),
        (
            "SELECT id FROM t WHERE _metadata.file_name = (SELECT max(_metadata.file_name) FROM t WHERE id = 3)",
            json!([[3]]),
        ),
        (
            "SELECT _metadata FROM (SELECT 7 AS _metadata)",
            json!([[7]]),
        ),
    ] {
        assert_eq!(w.rows(sql).await, rows, "{sql}");
    }
    let whole = w.ok("SELECT _metadata FROM t WHERE id = 3").await;
    let names: Vec<String> = match &whole.schema.fields[0].data_type {
        deltaic_protocol::schema::DataType::Struct(inner) => {
            inner.names().map(str::to_owned).collect()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(names.join(", "), FILE);
    // Neither row ids nor positions, and nothing behind a view or a subquery.
    let error = w.fails("SELECT _metadata.row_id FROM t").await;
    assert_eq!(error.class(), Some("FIELD_NOT_FOUND"));
    assert_eq!(
        w.class("SELECT _metadata.row_index FROM t").await,
        "FIELD_NOT_FOUND"
    );
    for sql in [
        "SELECT _metadata FROM v",
        "SELECT _metadata.file_name FROM (SELECT id FROM t)",
        "WITH c AS (SELECT * FROM t) SELECT _metadata.file_name FROM c",
        "SELECT _metadata.file_name FROM VALUES (1) AS x(a)",
    ] {
        let class = w.class(sql).await;
        assert!(class.starts_with("UNRESOLVED_COLUMN"), "{sql}: {class}");
    }
    assert_eq!(
        w.class("SELECT _metadata.file_name FROM t JOIN pq ON t.id = pq.id")
            .await,
        "AMBIGUOUS_REFERENCE"
    );
}

#[tokio::test]
async fn a_column_of_that_name_goes_before() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, _Metadata STRING)",
        "INSERT INTO t VALUES (1, 'mine')",
    ])
    .await;
    assert_eq!(w.rows("SELECT _metadata FROM t").await, json!([["mine"]]));
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1, "mine"]]));
}

/// Row id and row commit version by `k`.
async fn ids(w: &Warehouse, table: &str) -> Value {
    w.rows(&format!(
        "SELECT k, v, _metadata.row_id, _metadata.row_commit_version FROM {table} ORDER BY k"
    ))
    .await
}

#[tokio::test]
async fn rows_keep_their_ids() {
    for vectors in [false, true] {
        let w = Warehouse::new();
        w.all(&[
            &format!(
                "CREATE TABLE t (k INT, v STRING) TBLPROPERTIES ('delta.enableRowTracking' = 'true', \
                 'delta.enableDeletionVectors' = '{vectors}')"
            ),
            "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
            "INSERT INTO t VALUES (4, 'd')",
        ])
        .await;
        let before = json!([
            [1, "a", 0, 1],
            [2, "b", 1, 1],
            [3, "c", 2, 1],
            [4, "d", 3, 2]
        ]);
        assert_eq!(ids(&w, "t").await, before);
        w.all(&[
            "UPDATE t SET v = 'z' WHERE k = 2",
            "DELETE FROM t WHERE k = 1",
        ])
        .await;
        let after = json!([[2, "z", 1, 3], [3, "c", 2, 1], [4, "d", 3, 2]]);
        assert_eq!(ids(&w, "t").await, after, "{vectors}");
        assert_eq!(ids(&w, "t VERSION AS OF 2").await, before);
        assert_eq!(
            w.rows(
                "SELECT k FROM t WHERE _metadata.row_id IN (1, 3) ORDER BY _metadata.row_id DESC"
            )
            .await,
            json!([[4], [2]])
        );
        assert_eq!(
            w.rows(
                "SELECT count(*), min(_metadata.base_row_id + _metadata.row_index <= _metadata.row_id), \
                 max(_metadata.default_row_commit_version) FROM t WHERE _metadata.row_commit_version <= 2"
            )
            .await[0][0],
            json!(2)
        );
        w.all(&[
            "RESTORE t TO VERSION AS OF 2",
            "INSERT INTO t VALUES (5, 'e')",
        ])
        .await;
        let restored = ids(&w, "t").await;
        assert_eq!(
            restored.as_array().unwrap()[..4],
            before.as_array().unwrap()[..]
        );
        // An id that was given once is given to no other row.
        assert!(restored[4][2].as_i64().unwrap() > 3, "{restored}");
        // The names in the log of the columns that hold the ids are no columns.
        let name = w
            .rows("SHOW TBLPROPERTIES t ('delta.rowTracking.materializedRowIdColumnName')")
            .await;
        let name = name[0][1].as_str().unwrap().to_owned();
        assert!(
            w.class(&format!("SELECT `{name}` FROM t"))
                .await
                .starts_with("UNRESOLVED_COLUMN")
        );
    }
}

#[tokio::test]
async fn ids_are_given_to_a_table_that_switches_tracking_on() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (k INT, v STRING) TBLPROPERTIES ('delta.columnMapping.mode' = 'id')",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
        "INSERT INTO t VALUES (3, 'c')",
    ])
    .await;
    assert_eq!(
        w.class("SELECT _metadata.row_id FROM t").await,
        "FIELD_NOT_FOUND"
    );
    w.all(&[
        "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        "ALTER TABLE t RENAME COLUMN v TO w",
    ])
    .await;
    let query = "SELECT k, w, _metadata.row_id FROM t ORDER BY k";
    let before = w.rows(query).await;
    let mut seen: Vec<i64> = (0..3).map(|at| before[at][2].as_i64().unwrap()).collect();
    w.ok("UPDATE t SET w = upper(w) WHERE k <> 1").await;
    let after = w.rows(query).await;
    for at in 0..3 {
        assert_eq!(before[at][2], after[at][2]);
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
    w.ok("ALTER TABLE t UNSET TBLPROPERTIES ('delta.enableRowTracking')")
        .await;
    assert_eq!(w.class(query).await, "FIELD_NOT_FOUND");
}
