//! Reading: pruning, partition values, statistics, missing and damaged files.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use deltaic_datafusion::application::open::open;
use deltaic_datafusion::codec::DeltaPhysicalCodec;
use deltaic_datafusion::scan::ahead::ReadAhead;
use deltaic_datafusion::unwrap;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use futures::StreamExt;

use crate::helpers::{Table, cells, rows};

fn long_and_text() -> [(&'static str, DataType); 2] {
    [("id", DataType::Long), ("v", DataType::String)]
}

#[tokio::test]
async fn rows_come_in_the_order_of_the_log_and_null_is_no_match() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    table.insert("VALUES (3, 'c'), (1, NULL)").await;
    table.insert("VALUES (2, 'b')").await;
    assert_eq!(rows(&table, "SELECT * FROM t").await, ["3|c", "1|", "2|b"]);
    assert_eq!(rows(&table, "SELECT id FROM t WHERE v <> 'b'").await, ["3"]);
    assert_eq!(
        rows(&table, "SELECT count(*), count(v), min(id), max(id) FROM t").await,
        ["3|2|1|3"]
    );
}

#[tokio::test]
async fn partition_columns_stand_where_the_schema_has_them_and_prune_files_exactly() {
    let columns = [
        ("p", DataType::String),
        ("id", DataType::Long),
        ("q", DataType::Integer),
    ];
    let table = Table::new(&columns, &["p", "q"], &[]).await;
    table
        .insert("VALUES ('a b', 1, 1), ('ü/%2F', 2, 2), (NULL, 3, NULL), ('', 4, 1)")
        .await;
    assert_eq!(
        rows(&table, "SELECT * FROM t ORDER BY id").await,
        ["a b|1|1", "ü/%2F|2|2", "|3|", "|4|1"]
    );
    assert_eq!(
        rows(&table, "SELECT id FROM t WHERE p = 'ü/%2F'").await,
        ["2"]
    );
    assert_eq!(
        rows(&table, "SELECT id FROM t WHERE p IS NULL ORDER BY id").await,
        ["3", "4"]
    );
    let plan = table
        .query("EXPLAIN SELECT id FROM t WHERE q = 1 AND p = 'a b'")
        .await;
    assert!(
        !plan.contains("FilterExec") && plan.contains("p=a b"),
        "{plan}"
    );
    assert!(!plan.contains("q=2"), "{plan}");
}

#[tokio::test]
async fn statistics_leave_files_out_that_cannot_match() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    for start in [0, 100, 200] {
        table
            .insert(&format!(
                "SELECT value AS id, 'v' || value AS v FROM generate_series({start}, {start} + 9)"
            ))
            .await;
    }
    let plan = table
        .query("EXPLAIN SELECT * FROM t WHERE id BETWEEN 100 AND 105")
        .await;
    assert_eq!(plan.matches(".parquet").count(), 1, "{plan}");
    assert_eq!(
        rows(
            &table,
            "SELECT count(*) FROM t WHERE id BETWEEN 100 AND 105"
        )
        .await,
        ["6"]
    );
    assert_eq!(
        rows(&table, "SELECT count(*) FROM t WHERE id > 1000").await,
        ["0"]
    );
}

#[tokio::test]
async fn counting_reads_no_data_file_but_a_filter_does() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    table.insert("VALUES (1, 'a'), (2, 'b')").await;
    let file = table.files().remove(0);
    std::fs::remove_file(table.folder.path().join("t").join(&file)).unwrap();
    assert_eq!(rows(&table, "SELECT count(*) FROM t").await, ["2"]);
    let error = unwrap(table.try_query("SELECT * FROM t").await.unwrap_err());
    assert_eq!(error.class(), Some("FAILED_READ_FILE.FILE_NOT_EXIST"));
    let path = format!("file:{}/{file}", table.folder.path().join("t").display());
    assert!(
        error.to_string().contains(&format!(
            "Encountered error while reading file {path}. File does not exist."
        )),
        "{error}"
    );
    assert!(error.to_string().ends_with("SQLSTATE: KD001"), "{error}");
}

#[tokio::test]
async fn a_damaged_file_is_an_error_that_names_it() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    table.insert("VALUES (1, 'a')").await;
    let file = table.files().remove(0);
    let path = table.folder.path().join("t").join(&file);
    std::fs::write(&path, b"PAR1 this is no parquet file").unwrap();
    let error = unwrap(table.try_query("SELECT * FROM t").await.unwrap_err());
    assert!(
        error.class().unwrap().starts_with("FAILED_READ_FILE."),
        "{error}"
    );
    assert!(error.path().unwrap().ends_with(&file), "{error:?}");
}

#[tokio::test]
async fn nan_is_greater_than_every_number_in_any_file() {
    let table = Table::new(&[("id", DataType::Long), ("d", DataType::Double)], &[], &[]).await;
    table
        .insert("VALUES (1, 1.5), (2, CAST('NaN' AS DOUBLE)), (3, NULL)")
        .await;
    table.insert("VALUES (4, 2.5)").await;
    assert_eq!(
        rows(&table, "SELECT id FROM t WHERE d > 2 ORDER BY id").await,
        ["2", "4"]
    );
    table
        .ctx
        .sql("SET datafusion.execution.parquet.pushdown_filters = true")
        .await
        .unwrap();
    assert_eq!(
        rows(&table, "SELECT id FROM t WHERE d > 2 ORDER BY id").await,
        ["2", "4"]
    );
}

#[tokio::test]
async fn predicates_on_nested_fields_hold_with_and_without_pushdown() {
    let inner = StructType::new([
        StructField::nullable("a", DataType::Long),
        StructField::nullable("b", DataType::String),
    ]);
    let table = Table::new(
        &[("id", DataType::Long), ("s", DataType::Struct(inner))],
        &[],
        &[("delta.columnMapping.mode", "name")],
    )
    .await;
    table
        .insert("SELECT value AS id, named_struct('a', value, 'b', 'x' || value) AS s FROM generate_series(1, 100)")
        .await;
    for pushdown in ["false", "true"] {
        table
            .ctx
            .sql(&format!(
                "SET datafusion.execution.parquet.pushdown_filters = {pushdown}"
            ))
            .await
            .unwrap();
        assert_eq!(
            rows(&table, "SELECT id, s['b'] FROM t WHERE s['a'] = 42").await,
            ["42|x42"],
            "{pushdown}"
        );
        assert_eq!(
            rows(&table, "SELECT id FROM t WHERE s['b'] = 'x7' AND id < 50").await,
            ["7"],
            "{pushdown}"
        );
        assert_eq!(
            rows(&table, "SELECT s['a'] FROM t WHERE id = 3").await,
            ["3"],
            "{pushdown}"
        );
    }
}

#[tokio::test]
async fn time_travel_reads_the_old_schema_and_rows() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    table.insert("VALUES (1, 'a')").await;
    table.insert("VALUES (2, 'b')").await;
    table.register(Some(1)).await;
    let batches = table
        .ctx
        .sql("SELECT id FROM t")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    assert_eq!(cells(&batches), ["1"]);
}

#[tokio::test]
async fn a_limit_stops_at_the_files_that_suffice() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    for n in 0..5 {
        table.insert(&format!("VALUES ({n}, 'x')")).await;
    }
    let plan = table.query("EXPLAIN SELECT id FROM t LIMIT 2").await;
    assert_eq!(plan.matches(".parquet").count(), 2, "{plan}");
    assert_eq!(rows(&table, "SELECT id FROM t LIMIT 2").await, ["0", "1"]);
}

/// A session with one partition that reads every scan ahead, and one that does not.
fn ahead(wanted: bool) -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(1)
        .with_batch_size(3);
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features();
    let rule = ReadAhead {
        bytes: 512 << 20,
        min_bytes: 0,
        local: true,
    };
    let builder = match wanted {
        true => builder.with_physical_optimizer_rule(Arc::new(rule)),
        false => builder,
    };
    SessionContext::new_with_state(builder.build())
}

#[tokio::test]
async fn files_that_are_read_ahead_keep_their_order() {
    let table = Table::new(&long_and_text(), &[], &[]).await;
    for n in 0..12 {
        let rows: Vec<String> = (0..10)
            .map(|r| format!("({}, 'v{r}')", n * 10 + r))
            .collect();
        table.insert(&format!("VALUES {}", rows.join(", "))).await;
    }
    let location = table.folder.path().join("t").to_str().unwrap().to_owned();
    let run = async |wanted: bool, sql: &str| {
        let ctx = ahead(wanted);
        let provider = open(&location).await.unwrap();
        ctx.register_table("t", Arc::new(provider)).unwrap();
        let frame = ctx.sql(sql).await.unwrap();
        let plan = frame.clone().create_physical_plan().await.unwrap();
        let shown = displayable(plan.as_ref()).indent(false).to_string();
        // The plan goes to another process and comes back.
        let codec = DeltaPhysicalCodec::default();
        let bytes = physical_plan_to_bytes_with_extension_codec(plan, &codec).unwrap();
        let other = SessionContext::new();
        let back = physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &codec)
            .unwrap();
        let again = displayable(back.as_ref()).indent(false).to_string();
        assert_eq!(
            again.matches("ReadAheadExec").count(),
            shown.matches("ReadAheadExec").count(),
            "{again}"
        );
        let far = collect(back, other.task_ctx()).await.unwrap();
        let rows = cells(&frame.collect().await.unwrap());
        assert_eq!(cells(&far), rows, "{sql}");
        (rows, shown)
    };
    for sql in [
        "SELECT * FROM t",
        "SELECT v, id FROM t WHERE id > 33 AND v <> 'v5'",
        "SELECT sum(id), count(v) FROM t WHERE id % 3 = 0",
        "SELECT a.id FROM t a JOIN t b ON a.id = b.id + 1",
        "SELECT v, max(id) FROM t GROUP BY v",
        "SELECT id FROM t WHERE v = 'v3' LIMIT 5",
    ] {
        let (rows, plan) = run(true, sql).await;
        let (expected, plain) = run(false, sql).await;
        assert_eq!(rows, expected, "{sql}");
        assert!(!plain.contains("ReadAheadExec"), "{plain}");
        assert!(
            sql.contains("LIMIT") || plan.contains("ReadAheadExec"),
            "{plan}"
        );
    }
    // One that is given up early, and one whose file is gone.
    let ctx = ahead(true);
    ctx.register_table("t", Arc::new(open(&location).await.unwrap()))
        .unwrap();
    let mut rows = ctx
        .sql("SELECT * FROM t")
        .await
        .unwrap()
        .execute_stream()
        .await
        .unwrap();
    assert!(rows.next().await.unwrap().is_ok());
    drop(rows);
    let file = table.snapshot().await.files().await.unwrap()[5]
        .path
        .clone();
    std::fs::remove_file(format!("{location}/{file}")).unwrap();
    let error = ctx
        .sql("SELECT * FROM t")
        .await
        .unwrap()
        .collect()
        .await
        .unwrap_err();
    assert!(error.to_string().contains(&file), "{error}");
}
