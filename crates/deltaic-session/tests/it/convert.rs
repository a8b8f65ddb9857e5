//! CONVERT TO DELTA, Parquet tables as sources of clones, GENERATE and FSCK REPAIR TABLE.

use serde_json::json;

use crate::helpers::Warehouse;

/// A Parquet table of the catalog with awkward partition values.
async fn parquet() -> Warehouse {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE p (id BIGINT, name STRING, part STRING) USING parquet PARTITIONED BY (part) \
         COMMENT 'theirs' TBLPROPERTIES ('k' = 'v')",
        "INSERT INTO p VALUES (1,'a','x y'),(2,'b','a/b'),(3,'c',NULL),(4,'d','%25')",
    ])
    .await;
    w
}

const ROWS: &str = "SELECT * FROM p ORDER BY id";

#[tokio::test]
async fn a_table_of_the_catalog_becomes_a_delta_table() {
    let w = parquet().await;
    let before = w.rows(ROWS).await;
    w.ok("CONVERT TO DELTA p").await;
    assert_eq!(w.rows(ROWS).await, before);
    w.ok("CONVERT TO DELTA p").await;
    let history = w
        .rows("SELECT count(*), max(k) FROM (SELECT 1 AS k FROM p VERSION AS OF 0)")
        .await;
    assert_eq!(history, json!([[4, 1]]));
    assert_eq!(
        w.rows("DESCRIBE HISTORY p").await.as_array().unwrap().len(),
        1
    );
    assert_eq!(
        w.rows("SHOW TBLPROPERTIES p ('k')").await,
        json!([["k", "v"]])
    );
    w.all(&[
        "INSERT INTO p VALUES (5,'e','x y')",
        "DELETE FROM p WHERE part = 'a/b'",
        "UPDATE p SET name = 'z' WHERE id = 4",
    ])
    .await;
    assert_eq!(
        w.rows("SELECT id, name FROM p WHERE id > 1 ORDER BY id")
            .await,
        json!([[3, "c"], [4, "z"], [5, "e"]])
    );
    assert_eq!(
        w.rows("SELECT * FROM p VERSION AS OF 0 ORDER BY id").await,
        before
    );
}

#[tokio::test]
async fn a_folder_by_path_takes_its_partitions_from_the_statement() {
    let w = parquet().await;
    let path = w.path("p");
    let convert = format!("CONVERT TO DELTA parquet.`{path}`");
    for (clause, class) in [
        ("", "DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME"),
        (
            " PARTITIONED BY (other STRING)",
            "DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME",
        ),
        (
            " PARTITIONED BY (part INT)",
            "DELTA_FAILED_CAST_PARTITION_VALUE",
        ),
    ] {
        assert_eq!(w.class(&format!("{convert}{clause}")).await, class);
        assert!(!w.has("p/_delta_log"), "a refusal leaves nothing");
    }
    let before = w.rows(ROWS).await;
    w.ok(&format!(
        "{convert} PARTITIONED BY (part STRING) NO STATISTICS"
    ))
    .await;
    let select = format!("SELECT * FROM delta.`{path}` ORDER BY id");
    assert_eq!(w.rows(&select).await, before);
    // The catalog follows when it is told.
    assert_eq!(
        w.class("CONVERT TO DELTA p PARTITIONED BY (part INT)")
            .await,
        "DELTA_UNEXPECTED_PARTITION_SCHEMA_FROM_USER"
    );
    w.all(&["CONVERT TO DELTA p", "DELETE FROM p WHERE id = 1"])
        .await;
    assert_eq!(w.rows("SELECT count(*) FROM p").await, json!([[3]]));
}

#[tokio::test]
async fn what_is_no_parquet_table_is_refused() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE e (id INT) USING parquet",
        "CREATE TABLE ep (id INT, p INT) USING parquet PARTITIONED BY (p)",
        "CREATE VIEW v AS SELECT 1 AS a",
    ])
    .await;
    let missing = w.path("nowhere");
    for (target, class) in [
        ("e", "DELTA_EMPTY_DIRECTORY"),
        ("ep", "DELTA_CONVERSION_NO_PARTITION_FOUND"),
        ("v", "DELTA_OPERATION_NOT_ALLOWED_DETAIL"),
        ("nothing", "TABLE_OR_VIEW_NOT_FOUND"),
        ("csv.`/x`", "DELTA_CONVERT_NON_PARQUET_TABLE"),
        ("`/x`", "DELTA_MISSING_PROVIDER_FOR_CONVERT"),
        (&format!("parquet.`{missing}`"), "none"),
    ] {
        let sql = format!("CONVERT TO DELTA {target}");
        assert_eq!(w.class(&sql).await, class, "{sql}");
    }
}

#[tokio::test]
async fn a_parquet_table_is_cloned_and_stays_what_it_is() {
    let w = parquet().await;
    let before = w.rows(ROWS).await;
    let numbers = w.rows("CREATE TABLE c SHALLOW CLONE p").await;
    assert_eq!(numbers[0][1], json!(4));
    w.all(&[
        "DELETE FROM c WHERE id < 3",
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        "VACUUM c RETAIN 0 HOURS",
    ])
    .await;
    assert_eq!(w.rows("SELECT count(*) FROM c").await, json!([[2]]));
    assert_eq!(w.rows(ROWS).await, before);
    assert!(!w.has("p/_delta_log"));
    assert_eq!(
        w.class("CREATE TABLE d SHALLOW CLONE p VERSION AS OF 0")
            .await,
        "UNSUPPORTED_FEATURE.TIME_TRAVEL"
    );
}

#[tokio::test]
async fn manifests_name_the_files_of_each_partition() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b c'), (3, NULL)",
        "GENERATE SYMLINK_FORMAT_MANIFEST FOR TABLE t",
    ])
    .await;
    let lines = |name: &str| {
        let path = w.path(&format!("t/_symlink_format_manifest/{name}/manifest"));
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    for name in ["p=a", "p=b c", "p=__HIVE_DEFAULT_PARTITION__"] {
        let lines = lines(name);
        assert_eq!(lines.len(), 1);
        let file = lines[0].strip_prefix("file:").unwrap();
        assert!(std::path::Path::new(file).is_file(), "{file}");
    }
    w.all(&[
        "ALTER TABLE t SET TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled' = 'true')",
        "INSERT INTO t VALUES (4, 'a')",
        "DELETE FROM t WHERE p IS NULL",
    ])
    .await;
    assert_eq!(lines("p=a").len(), 2);
    assert!(!w.has("t/_symlink_format_manifest/p=__HIVE_DEFAULT_PARTITION__"));
    assert_eq!(
        w.class("GENERATE other FOR TABLE t").await,
        "DELTA_MODE_NOT_SUPPORTED"
    );
    assert_eq!(
        w.class("ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
            .await,
        "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION"
    );
}

#[tokio::test]
async fn entries_of_files_that_are_gone_leave_the_log() {
    let w = Warehouse::new();
    w.all(&[
        "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    ])
    .await;
    assert_eq!(w.rows("FSCK REPAIR TABLE t").await, json!([]));
    std::fs::remove_dir_all(w.path("t/p=a")).unwrap();
    let found = w.rows("FSCK REPAIR TABLE t DRY RUN").await;
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0][1], json!(true));
    w.fails("SELECT * FROM t").await;
    assert_eq!(w.rows("FSCK REPAIR TABLE t").await, found);
    assert_eq!(w.rows("SELECT * FROM t").await, json!([[2, "b"]]));
    assert_eq!(w.rows("FSCK REPAIR TABLE t DRY RUN").await, json!([]));
    assert_eq!(
        w.class("FSCK REPAIR TABLE nothing").await,
        "TABLE_OR_VIEW_NOT_FOUND"
    );
}

#[tokio::test]
async fn rows_of_another_number_of_columns_are_refused_in_sparks_words() {
    let w = parquet().await;
    for (sql, class) in [
        (
            "INSERT INTO p VALUES (1, 'a')",
            "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
        ),
        (
            "INSERT INTO p VALUES (1, 'a', 'b', 'c')",
            "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
        ),
        (
            "INSERT INTO p PARTITION (part = 'x') VALUES (1)",
            "INSERT_PARTITION_COLUMN_ARITY_MISMATCH",
        ),
    ] {
        assert_eq!(w.class(sql).await, class, "{sql}");
    }
    assert_eq!(w.rows("SELECT count(*) FROM p").await, json!([[4]]));
}

#[cfg(unix)]
#[tokio::test]
async fn what_links_point_to_is_converted_and_stays() {
    use std::os::unix::fs::symlink;
    let w = Warehouse::new();
    let (place, other) = (w.path("linked"), w.path("other"));
    w.all(&[
        &format!(
            "CREATE TABLE o (id INT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{other}'"
        ),
        "INSERT INTO o VALUES (1, 1), (2, 2), (3, 3)",
    ])
    .await;
    let file = |folder: &str| {
        let entries = std::fs::read_dir(format!("{other}/{folder}")).unwrap();
        entries.map(|entry| entry.unwrap().path()).next().unwrap()
    };
    std::fs::create_dir_all(format!("{place}/p=3")).unwrap();
    symlink(format!("{other}/p=1"), format!("{place}/p=1")).unwrap();
    symlink(file("p=3"), format!("{place}/p=3/link.parquet")).unwrap();
    let kept = [file("p=1"), file("p=3")];
    w.ok(&format!(
        "CREATE TABLE l (id INT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{place}'"
    ))
    .await;
    let rows = json!([[1, 1], [3, 3]]);
    assert_eq!(w.rows("SELECT id, p FROM l ORDER BY id").await, rows);
    let error = w.fails("INSERT OVERWRITE l VALUES (9, 9)").await;
    assert!(error.text().contains("behind a symbolic link"), "{error}");
    w.ok(&format!(
        "CONVERT TO DELTA parquet.`{place}` PARTITIONED BY (p INT)"
    ))
    .await;
    let all = format!("SELECT id, p FROM delta.`{place}` ORDER BY id");
    assert_eq!(w.rows(&all).await, rows);
    w.all(&[
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false",
        &format!("UPDATE delta.`{place}` SET id = id + 10"),
        &format!("VACUUM delta.`{place}` RETAIN 0 HOURS"),
    ])
    .await;
    assert_eq!(w.rows(&all).await, json!([[11, 1], [13, 3]]));
    assert!(kept.iter().all(|file| file.exists()));
}
