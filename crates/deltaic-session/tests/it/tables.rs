//! Making, filling and changing tables.

use serde_json::json;

use crate::helpers::Warehouse;

#[tokio::test]
async fn insert_finds_its_columns_by_position_list_and_name() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v STRING)",
        "INSERT INTO t VALUES (1, 'a')",
        "INSERT INTO t (v) VALUES ('only v')",
        "INSERT INTO t BY NAME SELECT 'c' AS v, 3 AS id",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT * FROM t ORDER BY id").await,
        json!([[null, "only v"], [1, "a"], [3, "c"]])
    );
    assert_eq!(
        w.class("INSERT INTO t VALUES (1)").await,
        "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
    );
    assert_eq!(
        w.class("INSERT INTO t VALUES (1, 'a', 2)").await,
        "DELTA_METADATA_MISMATCH"
    );
    assert_eq!(
        w.class("INSERT INTO t (nothing) VALUES (1)").await,
        "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    );
    assert_eq!(
        w.class("INSERT INTO t SELECT 3000000000, 'x'").await,
        "CAST_OVERFLOW_IN_TABLE_INSERT"
    );
    w.ok("SET spark.databricks.delta.schema.autoMerge.enabled = true")
        .await;
    w.ok("INSERT INTO t SELECT 4 AS id, 'd' AS v, true AS flag")
        .await;
    assert_eq!(
        w.rows("SELECT flag FROM t WHERE id = 4").await,
        json!([[true]])
    );
}

#[tokio::test]
async fn replace_using_takes_the_rows_away_that_a_new_row_stands_for() {
    for vectors in [true, false] {
        let w = Warehouse::new();
        w.ok(&format!(
            "CREATE TABLE t (id INT, k STRING, f DOUBLE, v STRING) PARTITIONED BY (k) \
             TBLPROPERTIES ('delta.enableDeletionVectors' = '{vectors}')"
        ))
        .await;
        w.all(&[
            "INSERT INTO t VALUES (1,'a',0.0,'old'),(2,'a',1,'old'),(2,'b',1,'old'),(NULL,'a',2,'old'),(5,'c',3,'old')",
            "INSERT INTO t REPLACE USING (ID) SELECT * FROM VALUES (2,'z',9.0D,'new'),(2,'z',8,'new'),(NULL,'n',7,'new'),(7,'n',6,'new') \
             AS s(id, k, f, v)",
        ])
        .await;
        let rows = "SELECT id, k, v FROM t ORDER BY id NULLS LAST, k, v";
        let after = json!([
            [1, "a", "old"],
            [2, "z", "new"],
            [2, "z", "new"],
            [5, "c", "old"],
            [7, "n", "new"],
            [null, "a", "old"],
            [null, "n", "new"]
        ]);
        assert_eq!(w.rows(rows).await, after);
        // The table itself as the source; two columns, one of them by which the table is partitioned; the two zeros.
        w.all(&[
            "INSERT INTO t REPLACE USING (k, id) SELECT id, k, f, 'again' AS v FROM t WHERE id = 2",
            "INSERT INTO t BY NAME REPLACE USING (f) SELECT 'zero' AS v, 11 AS id, -0.0D AS f, 'q' AS k",
        ])
        .await;
        assert_eq!(
            w.rows("SELECT id, v FROM t WHERE id IN (1, 2, 11) ORDER BY id")
                .await,
            json!([[2, "again"], [2, "again"], [11, "zero"]])
        );
        let history = w.rows("DESCRIBE HISTORY t LIMIT 1").await;
        assert_eq!(history[0][4], json!("WRITE"));
        for (sql, class) in [
            (
                "INSERT INTO t REPLACE USING (nothing) SELECT 1 AS id, 'a' AS k, 1D AS f, 'x' AS v",
                "UNRESOLVED_INSERT_REPLACE_USING_COLUMN",
            ),
            (
                "INSERT INTO t REPLACE USING (id) VALUES (1, 'a', 1, 'x')",
                "UNRESOLVED_INSERT_REPLACE_USING_COLUMN",
            ),
            (
                "INSERT INTO t REPLACE USING (id) SELECT 'a' AS k, 1 AS id, 1D AS f, 'x' AS v",
                "INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS",
            ),
        ] {
            assert_eq!(w.class(sql).await, class, "{sql}");
        }
    }
}

#[tokio::test]
async fn the_change_feed_of_a_replacement_has_the_new_rows_too() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, v STRING) TBLPROPERTIES \
         ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'false')",
        "INSERT INTO t VALUES (1, 'old'), (2, 'old'), (3, 'old')",
        "INSERT INTO t REPLACE USING (id) SELECT 2 AS id, 'new' AS v",
    ])
    .await;
    let changes = format!(
        "SELECT id, v, _change_type FROM parquet.`{}` ORDER BY v",
        w.path("t/_change_data")
    );
    assert_eq!(
        w.rows(&changes).await,
        json!([[2, "new", "insert"], [2, "old", "delete"]])
    );
    w.ok("INSERT INTO t REPLACE WHERE id = 3 VALUES (3, 'other')")
        .await;
    assert_eq!(
        w.rows(&changes.replace("ORDER BY", "WHERE id = 3 ORDER BY"))
            .await,
        json!([[3, "old", "delete"], [3, "other", "insert"]])
    );
}

#[tokio::test]
async fn overwrite_replaces_the_table_a_partition_or_what_satisfies_a_condition() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE p (id INT, k INT) PARTITIONED BY (k)",
        "INSERT INTO p VALUES (1,1),(2,2),(3,3)",
    ])
    .await;
    w.ok("INSERT INTO p REPLACE WHERE k = 2 VALUES (20, 2)")
        .await;
    assert_eq!(
        w.class("INSERT INTO p REPLACE WHERE k = 2 VALUES (30, 3)")
            .await,
        "DELTA_REPLACE_WHERE_MISMATCH"
    );
    w.ok("SET spark.sql.sources.partitionOverwriteMode = dynamic")
        .await;
    w.ok("INSERT OVERWRITE p VALUES (10, 1)").await;
    assert_eq!(
        w.rows("SELECT * FROM p ORDER BY k").await,
        json!([[10, 1], [20, 2], [3, 3]])
    );
    w.ok("SET spark.sql.sources.partitionOverwriteMode = static")
        .await;
    w.ok("INSERT OVERWRITE p PARTITION (k = 3) VALUES (33)")
        .await;
    assert_eq!(
        w.rows("SELECT * FROM p ORDER BY k").await,
        json!([[10, 1], [20, 2], [33, 3]])
    );
    w.ok("INSERT OVERWRITE p VALUES (9, 9)").await;
    assert_eq!(w.rows("SELECT * FROM p").await, json!([[9, 9]]));
}

#[tokio::test]
async fn a_table_is_made_from_a_query_and_replaced() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE t PARTITIONED BY (p) AS SELECT id, id % 2 AS p FROM range(4)")
        .await;
    assert_eq!(
        w.rows("SELECT count(*), max(p) FROM t").await,
        json!([[4, 1]])
    );
    assert_eq!(
        w.class("CREATE TABLE t AS SELECT 1 AS a").await,
        "TABLE_OR_VIEW_ALREADY_EXISTS"
    );
    w.ok("CREATE OR REPLACE TABLE t AS SELECT 'x' AS a").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([["x"]]));
    assert_eq!(
        w.rows("SELECT count(*) FROM t VERSION AS OF 0").await,
        json!([[4]])
    );
    assert_eq!(
        w.class("REPLACE TABLE nothing (a INT)").await,
        "TABLE_OR_VIEW_NOT_FOUND"
    );
}

#[tokio::test]
async fn a_check_constraint_holds_from_the_day_it_is_added() {
    let w = Warehouse::new();
    w.all(&["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1), (-1)"])
        .await;
    assert_eq!(
        w.class("ALTER TABLE t ADD CONSTRAINT pos CHECK (id > 0)")
            .await,
        "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"
    );
    w.all(&[
        "DELETE FROM t WHERE id < 0",
        "ALTER TABLE t ADD CONSTRAINT pos CHECK (id > 0)",
    ])
    .await;
    assert_eq!(
        w.class("INSERT INTO t VALUES (-2)").await,
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    );
    assert_eq!(
        w.class("UPDATE t SET id = -id").await,
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    );
    w.all(&[
        "ALTER TABLE t DROP CONSTRAINT pos",
        "INSERT INTO t VALUES (-2)",
    ])
    .await;
}

#[tokio::test]
async fn parquet_tables_stand_beside_delta_tables() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE p (id INT, k STRING) USING parquet PARTITIONED BY (k)",
        "INSERT INTO p VALUES (1, 'a b'), (2, NULL)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT * FROM p ORDER BY id").await,
        json!([[1, "a b"], [2, null]])
    );
    assert_eq!(
        w.class("SELECT * FROM p VERSION AS OF 0").await,
        "UNSUPPORTED_FEATURE.TIME_TRAVEL"
    );
    assert_eq!(w.class("VACUUM p").await, "DELTA_ONLY_OPERATION");
    w.ok("DROP TABLE p").await;
    assert!(!w.has("p"));
}

#[tokio::test]
async fn what_comes_later_says_so() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE t (id INT)").await;
    for sql in [
        "OPTIMIZE t",
        "REORG TABLE t APPLY (PURGE)",
        "INSERT INTO t REPLACE ON id = 1 SELECT 1 AS id",
    ] {
        let error = w.fails(sql).await;
        assert!(error.text().contains("not supported yet"), "{sql}: {error}");
    }
}

#[tokio::test]
async fn damage_is_an_error_with_its_path_and_loses_nothing() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT)",
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (2)",
    ])
    .await;
    let commit = w
        .folder
        .path()
        .join("t/_delta_log/00000000000000000001.json");
    let kept = std::fs::read(&commit).unwrap();
    std::fs::write(&commit, &kept[..kept.len() / 2]).unwrap();
    w.session.refresh();
    let error = w.fails("SELECT * FROM t").await;
    assert!(
        error
            .path()
            .is_some_and(|path| path.contains("00000000000000000001.json")),
        "{error:?}"
    );
    std::fs::write(&commit, &kept).unwrap();
    w.session.refresh();
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[2]]));
}

#[tokio::test]
async fn a_name_that_leads_out_of_the_warehouse_makes_and_drops_nothing() {
    let w = Warehouse::new();
    std::fs::write(w.folder.path().join("precious"), "kept").unwrap();
    for name in ["..", ".", "../x", ".deltaic", "a/b"] {
        assert!(
            w.class(&format!("CREATE TABLE `{name}` (id INT)"))
                .await
                .starts_with("INVALID_"),
            "{name}"
        );
        w.ok(&format!("DROP TABLE IF EXISTS `{name}`")).await;
    }
    assert!(w.has("precious"));
}

#[tokio::test]
async fn a_managed_table_begins_in_an_empty_place() {
    let w = Warehouse::new();
    std::fs::create_dir_all(w.folder.path().join("t")).unwrap();
    std::fs::write(w.folder.path().join("t").join("_notes"), "kept").unwrap();
    for sql in [
        "CREATE TABLE t (id INT)",
        "CREATE OR REPLACE TABLE t (id INT)",
        "CREATE TABLE t AS SELECT 1 AS id",
    ] {
        assert_eq!(
            w.class(sql).await,
            "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION",
            "{sql}"
        );
    }
    w.ok("DROP TABLE IF EXISTS t").await;
    assert!(w.has("t/_notes"));
}

#[tokio::test]
async fn tables_stay_where_they_are_when_their_schema_gets_another_place() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (id INT)",
        "INSERT INTO s.t VALUES (1)",
    ])
    .await;
    let elsewhere = w.path("elsewhere");
    std::fs::create_dir_all(format!("{elsewhere}/t")).unwrap();
    std::fs::write(format!("{elsewhere}/t/x"), "kept").unwrap();
    w.ok(&format!("ALTER SCHEMA s SET LOCATION '{elsewhere}'"))
        .await;
    assert_eq!(w.rows("SELECT id FROM s.t").await, json!([[1]]));
    w.ok("DROP SCHEMA s CASCADE").await;
    assert!(w.has("elsewhere/t/x"));
}

#[tokio::test]
async fn what_a_dead_process_left_of_a_create_or_drop_is_taken_up() {
    let w = Warehouse::new();
    let place = w.folder.path().join("t");
    // A CREATE that died between the commit and the name.
    w.ok("CREATE TABLE other (id INT)").await;
    w.ok(&format!(
        "CREATE TABLE delta.`{}` (x STRING)",
        place.display()
    ))
    .await;
    std::fs::write(place.join(".creating.deltaic"), w.marker("t")).unwrap();
    w.ok("CREATE TABLE t (id INT)").await;
    w.ok("INSERT INTO t VALUES (7)").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[7]]));
    assert!(!w.has("t/.creating.deltaic"));
    // A DROP that died when the name and the first commit were gone.
    w.ok("DROP TABLE t").await;
    assert!(!w.has("t"));
    std::fs::create_dir_all(place.join("_delta_log")).unwrap();
    std::fs::write(place.join("_delta_log/00000000000000000001.json"), "{}").unwrap();
    std::fs::write(place.join(".dropping.deltaic"), w.marker("t")).unwrap();
    w.ok("CREATE TABLE t (id INT)").await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
    // Of another table, and of another catalog that knows the same names: not ours to take away.
    w.ok("DROP TABLE t").await;
    let other = Warehouse::new();
    other.ok("CREATE TABLE u (id INT)").await;
    for marker in [".dropping.deltaic", ".creating.deltaic"] {
        for owner in [w.marker("u"), other.marker("t")] {
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("data"), "kept").unwrap();
            std::fs::write(place.join(marker), owner).unwrap();
            assert_eq!(
                w.class("CREATE TABLE t (id INT)").await,
                "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
            );
            assert!(w.has("t/data"));
            std::fs::remove_dir_all(&place).unwrap();
        }
    }
}

#[tokio::test]
async fn conditions_with_subqueries_on_columns_of_the_same_name_find_their_rows() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE o (id INT)",
        "INSERT INTO o VALUES (1), (2), (3)",
        "CREATE TABLE c (id INT)",
        "INSERT INTO c VALUES (2)",
        "DELETE FROM o WHERE EXISTS (SELECT 1 FROM c WHERE c.id = o.id)",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT id FROM o ORDER BY id").await,
        json!([[1], [3]])
    );
    w.ok("UPDATE o SET id = 10 WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.id + 1 = o.id)")
        .await;
    assert_eq!(
        w.rows("SELECT id FROM o ORDER BY id").await,
        json!([[3], [10]])
    );
    w.ok("INSERT INTO o VALUES (2)").await;
    w.ok("DELETE FROM o WHERE id IN (SELECT id FROM c WHERE c.id = o.id)")
        .await;
    assert_eq!(w.rows("SELECT count(*) FROM o").await, json!([[2]]));
}

#[tokio::test]
async fn char_columns_are_compared_with_their_spaces() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (c CHAR(5))",
        "INSERT INTO t VALUES ('ab'), ('cd')",
        "DELETE FROM t WHERE c = 'ab'",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT count(*) FROM t WHERE c IN ('ab', 'cd')")
            .await,
        json!([[1]])
    );
}

#[tokio::test]
async fn what_a_table_cannot_hold_is_refused_when_it_is_made() {
    let w = Warehouse::new();
    assert_eq!(
        w.class("CREATE TABLE t AS SELECT interval 1 day AS i")
            .await,
        "DELTA_UNSUPPORTED_DATA_TYPES"
    );
    assert_eq!(
        w.class("CREATE TABLE t (a INT, CONSTRAINT p CHECK (a > 0))")
            .await,
        "UNSUPPORTED_FEATURE.TABLE_OPERATION"
    );
    assert_eq!(
        w.class("CREATE TABLE t (a INT, b INT DEFAULT 7)").await,
        "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"
    );
    w.ok("CREATE TABLE t (a INT, b INT DEFAULT 7) TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')").await;
    w.ok("ALTER TABLE t ALTER COLUMN b SET DEFAULT 8").await;
    w.ok("INSERT INTO t (a) VALUES (1)").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1, 8]]));
}

#[tokio::test]
async fn in_over_a_subquery_keeps_its_null_wherever_it_stands_in_a_condition() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE h (a INT, b INT)",
        "INSERT INTO h VALUES (NULL, 1), (1, 1), (2, 1)",
        "CREATE TABLE e (a INT, b INT)",
        "INSERT INTO e VALUES (1, 1), (NULL, 2)",
    ])
    .await;
    for condition in [
        "a NOT IN (SELECT a FROM e)",
        "a NOT IN (SELECT a FROM e) OR b = 77",
        "NOT (a IN (SELECT a FROM e) AND b = 1)",
    ] {
        let expected = json!([[0]]);
        let counted = format!("SELECT count(*) FROM h WHERE {condition}");
        assert_eq!(w.rows(&counted).await, expected, "{condition}");
        let deleted = format!("DELETE FROM h WHERE {condition}");
        assert_eq!(w.rows(&deleted).await, expected, "{condition}");
    }
    for condition in [
        "a NOT IN (SELECT e.a FROM e WHERE e.b = h.b)",
        "a NOT IN (SELECT e.a FROM e WHERE e.b = h.b) OR b = 77",
    ] {
        let update = format!("UPDATE h SET b = 1 WHERE {condition}");
        assert_eq!(w.rows(&update).await, json!([[1]]), "{condition}");
    }
    for sql in [
        "DELETE FROM h WHERE (a, b) NOT IN (SELECT a, b FROM e)",
        "DELETE FROM h WHERE (a, b) IN (SELECT a, b FROM e)",
    ] {
        assert_eq!(
            w.class(sql).await,
            "DELTA_UNSUPPORTED_MULTI_COL_IN_PREDICATE",
            "{sql}"
        );
    }
    w.ok("INSERT INTO e VALUES (NULL, 1)").await;
    let several = "SELECT count(*) FROM h WHERE (a, b) IN (SELECT a, b FROM e)";
    assert_eq!(w.rows(several).await, json!([[1]]));
    w.fails("SELECT count(*) FROM h WHERE (a, b) NOT IN (SELECT a, b FROM e)")
        .await;
}

#[tokio::test]
async fn restore_needs_the_deletion_vectors_too() {
    let w = Warehouse::new();
    w.all(&[
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        "CREATE TABLE t (a INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO t SELECT id FROM range(0, 10, 1, 1)",
        "DELETE FROM t WHERE a = 1",
        "DELETE FROM t WHERE a = 2",
        "VACUUM t RETAIN 0 HOURS",
    ])
    .await;
    let refused = w.fails("RESTORE t TO VERSION AS OF 2").await;
    assert!(
        refused.text().contains("Not all files from version 2"),
        "{}",
        refused.text()
    );
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[8]]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_managed_table_behind_a_link_is_dropped_as_a_whole() {
    let w = Warehouse::new();
    w.ok("CREATE TABLE t (a INT)").await;
    w.ok("INSERT INTO t VALUES (1)").await;
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("t");
    std::fs::rename(w.folder.path().join("t"), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, w.folder.path().join("t")).unwrap();
    w.ok("DROP TABLE t").await;
    w.ok("CREATE TABLE t (a INT)").await;
    assert_eq!(w.rows("SELECT count(*) FROM t").await, json!([[0]]));
}

#[tokio::test]
async fn a_struct_with_a_field_that_is_never_null_is_written_and_read() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE n (id INT, s STRUCT<a: INT NOT NULL, b: STRUCT<c: INT NOT NULL>>)",
        "INSERT INTO n VALUES (1, named_struct('a', 1, 'b', named_struct('c', 2))), (2, named_struct('a', 3, 'b', named_struct('c', 4)))",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT id, s.a, s.b.c FROM n ORDER BY id").await,
        json!([[1, 1, 2], [2, 3, 4]])
    );
    assert_eq!(
        w.rows("SELECT s FROM n WHERE s.a = 1").await,
        json!([[{"a": 1, "b": {"c": 2}}]])
    );
    w.fails("INSERT INTO n VALUES (3, named_struct('a', NULL, 'b', NULL))")
        .await;
    w.all(&[
        "INSERT INTO n SELECT id + 10, s FROM n",
        "UPDATE n SET s.a = 5 WHERE id = 1",
        "DELETE FROM n WHERE s.b.c = 4",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT id, s.a FROM n ORDER BY id").await,
        json!([[1, 5], [11, 1]])
    );
}

#[tokio::test]
async fn a_column_partitions_once() {
    let w = Warehouse::new();
    for by in ["p, P", "p, p"] {
        for rest in ["", "AS SELECT 1 AS a, 2 AS b, 3 AS p"] {
            let columns = if rest.is_empty() {
                "(a INT, b INT, p INT)"
            } else {
                ""
            };
            let sql = format!("CREATE TABLE d {columns} USING delta PARTITIONED BY ({by}) {rest}");
            assert_eq!(w.class(&sql).await, "COLUMN_ALREADY_EXISTS", "{sql}");
        }
    }
    assert!(!w.has("d"));
}

#[tokio::test]
async fn a_marker_that_its_writer_died_over_does_not_keep_the_name() {
    let w = Warehouse::new();
    let place = w.folder.path().join("t");
    w.ok("CREATE TABLE other (id INT)").await;
    // Without a work of this catalog it may be another's, who is writing it just now.
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join(".creating.deltaic"), "").unwrap();
    let class = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION";
    assert_eq!(w.class("CREATE TABLE t AS SELECT 1 AS id").await, class);
    // With something beside it, that may be somebody's table.
    w.marker("t");
    std::fs::write(place.join("part-0.parquet"), "rows").unwrap();
    assert_eq!(w.class("CREATE TABLE t AS SELECT 1 AS id").await, class);
    assert!(w.has("t/part-0.parquet"));
    std::fs::remove_file(place.join("part-0.parquet")).unwrap();
    w.ok("CREATE TABLE t AS SELECT 1 AS id").await;
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[1]]));
    // Where a table is moved to.
    std::fs::create_dir_all(w.folder.path().join("v")).unwrap();
    std::fs::write(w.folder.path().join("v/.creating.deltaic"), "{\"wo").unwrap();
    w.marker("v");
    w.ok("ALTER TABLE t RENAME TO v").await;
    assert_eq!(w.rows("SELECT * FROM v").await, json!([[1]]));
}

#[tokio::test]
async fn a_clone_takes_up_what_a_dead_one_left() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE s (id INT)",
        "INSERT INTO s VALUES (1)",
        "CREATE TABLE c SHALLOW CLONE s",
    ])
    .await;
    let place = w.folder.path().join("k");
    std::fs::rename(w.folder.path().join("c"), &place).unwrap();
    std::fs::write(place.join(".creating.deltaic"), w.marker("k")).unwrap();
    w.ok("CREATE TABLE k SHALLOW CLONE s").await;
    assert_eq!(w.rows("SELECT * FROM k").await, json!([[1]]));
    assert!(!w.has("k/.creating.deltaic"));
    // Rows that somebody else has written there meanwhile stay.
    let place = w.folder.path().join("l");
    let by_path = format!("delta.`{}`", place.display());
    w.ok(&format!(
        "CREATE TABLE {by_path} USING delta AS SELECT 7 AS id"
    ))
    .await;
    std::fs::write(place.join(".creating.deltaic"), w.marker("l")).unwrap();
    w.fails("CREATE TABLE l SHALLOW CLONE s").await;
    assert_eq!(
        w.rows(&format!("SELECT * FROM {by_path}")).await,
        json!([[7]])
    );
}
