//! Writing: what lies on disk and in the log, and what every row must satisfy.

use datafusion::logical_expr::{col, lit};
use deltaic_datafusion::{
    Append, Check, CreateTable, Overwrite, OverwriteScope, ReplaceWhere, WriteChecks, WriteContext,
    append, overwrite,
};
use deltaic_protocol::schema::{DataType, StructField, StructType, metadata};

use crate::helpers::{Table, rows, schema};

fn plain() -> [(&'static str, DataType); 2] {
    [("id", DataType::Long), ("v", DataType::String)]
}

#[tokio::test]
async fn files_are_named_as_spark_names_them() {
    let table = Table::new(&plain(), &[], &[]).await;
    table.insert("VALUES (1, 'a'), (2, NULL)").await;
    let file = table.files().remove(0);
    assert!(
        file.starts_with("part-00000-") && file.ends_with("-c000.snappy.parquet"),
        "{file}"
    );
    let adds = table.adds(1).await;
    assert_eq!(
        adds[0].stats.as_deref(),
        Some(
            r#"{"numRecords":2,"minValues":{"id":1,"v":"a"},"maxValues":{"id":2,"v":"a"},"nullCount":{"id":0,"v":1}}"#
        )
    );
    assert_eq!(table.metrics(1).await["numOutputRows"], "2");

    let parts = Table::new(&plain(), &["v"], &[]).await;
    parts.insert("VALUES (1, 'z'), (2, 'a:b'), (3, NULL)").await;
    let paths: Vec<String> = parts
        .adds(1)
        .await
        .into_iter()
        .map(|add| add.path.split("/part").next().unwrap().to_string())
        .collect();
    assert_eq!(paths, ["v=__HIVE_DEFAULT_PARTITION__", "v=a%253Ab", "v=z"]);
    assert!(
        parts
            .files()
            .iter()
            .all(|file| file.ends_with(".c000.snappy.parquet")),
        "{:?}",
        parts.files()
    );
}

#[tokio::test]
async fn one_file_for_each_partition_of_the_input_and_none_for_no_rows() {
    let table = Table::new(&plain(), &[], &[]).await;
    table.insert("SELECT 1 AS id, 'a' AS v WHERE false").await;
    assert_eq!(table.snapshot().await.version(), 0, "nothing is committed");
    table
        .insert("SELECT * FROM (VALUES (1, 'a')) UNION ALL SELECT * FROM (VALUES (2, 'b'))")
        .await;
    assert_eq!(table.files().len(), 2);
}

#[tokio::test]
async fn not_null_and_checks_are_enforced_and_leave_nothing_behind() {
    let table = Table::empty();
    let inner = StructType::new([StructField::new("a", DataType::Long, false)]);
    let columns = StructType::new([
        StructField::new("id", DataType::Long, false),
        StructField::nullable("v", DataType::String),
        StructField::nullable("s", DataType::Struct(inner)),
    ]);
    table.create(CreateTable::new(columns)).await.unwrap();
    let error = table
        .try_insert("SELECT CAST(NULL AS BIGINT), 'x', named_struct('a', CAST(1 AS BIGINT))")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: id.\n"
    );
    let error = table
        .try_insert("SELECT CAST(1 AS BIGINT), 'x', named_struct('a', CAST(NULL AS BIGINT))")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: s.a.\n"
    );
    assert!(table.files().is_empty(), "{:?}", table.files());

    let input = table
        .ctx
        .sql("SELECT CAST(5 AS BIGINT), 'y', named_struct('a', CAST(1 AS BIGINT))")
        .await
        .unwrap()
        .logical_plan()
        .clone();
    let check = Check {
        name: "c2".into(),
        sql: "(NOT (v = 'y'))".into(),
        condition: col("v").not_eq(lit("y")),
    };
    let state = table.ctx.state();
    let ctx = WriteContext::new(&state, &table.commit);
    let request = Append {
        checks: WriteChecks {
            checks: vec![check],
        },
        ..Append::new(input)
    };
    let error = append(&ctx, &table.snapshot().await, request)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint c2 (NOT (v = 'y')) violated by row with values:\n - v : y"
    );
}

#[tokio::test]
async fn a_check_that_is_null_is_violated() {
    let table = Table::new(&plain(), &[], &[]).await;
    let input = table
        .ctx
        .sql("SELECT CAST(5 AS BIGINT), CAST(NULL AS VARCHAR)")
        .await
        .unwrap()
        .logical_plan()
        .clone();
    let check = Check {
        name: "c".into(),
        sql: "(v > 'a')".into(),
        condition: col("v").gt(lit("a")),
    };
    let state = table.ctx.state();
    let request = Append {
        checks: WriteChecks {
            checks: vec![check],
        },
        ..Append::new(input)
    };
    let error = append(
        &WriteContext::new(&state, &table.commit),
        &table.snapshot().await,
        request,
    )
    .await
    .unwrap_err();
    assert!(error.to_string().ends_with(" - v : null"), "{error}");
}

#[tokio::test]
async fn texts_of_fixed_length_are_padded_and_long_ones_refused() {
    let table = Table::empty();
    let columns = StructType::new([
        StructField::nullable("c", DataType::String)
            .with_metadata(metadata::CHAR_VARCHAR_TYPE, "char(3)"),
        StructField::nullable("v", DataType::String)
            .with_metadata(metadata::CHAR_VARCHAR_TYPE, "varchar(3)"),
    ]);
    table.create(CreateTable::new(columns)).await.unwrap();
    table.insert("VALUES ('a', 'abc  ')").await;
    assert_eq!(
        rows(&table, "SELECT '<' || c || '>' || v || '<' FROM t").await,
        ["<a  >abc<"]
    );
    let error = table.try_insert("VALUES ('a', 'abcd')").await.unwrap_err();
    assert_eq!(error.class(), Some("EXCEED_LIMIT_LENGTH"));
}

#[tokio::test]
async fn overwriting_replaces_all_rows_or_those_of_a_condition() {
    let table = Table::new(
        &[("id", DataType::Long), ("p", DataType::Integer)],
        &["p"],
        &[],
    )
    .await;
    table.insert("VALUES (1, 1), (2, 2), (3, 3)").await;
    let state = table.ctx.state();
    let ctx = WriteContext::new(&state, &table.commit);
    let values = async |sql: &str| table.ctx.sql(sql).await.unwrap().logical_plan().clone();
    let only = |sql: &str| ReplaceWhere {
        predicate: col("p").eq(lit(2)),
        qualifier: None,
        text: sql.to_string(),
        sql: "(p = 2)".into(),
        check_name: "EXPRESSION(('p = 2))".into(),
    };
    let request = Overwrite::new(
        values("VALUES (20, 2)").await,
        OverwriteScope::Where(only("(p = 2)")),
    );
    overwrite(&ctx, &table.snapshot().await, request)
        .await
        .unwrap();
    assert_eq!(
        rows(&table, "SELECT id FROM t ORDER BY id").await,
        ["1", "3", "20"]
    );
    assert_eq!(table.metrics(2).await["numDeletedRows"], "1");
    let request = Overwrite::new(
        values("VALUES (30, 3)").await,
        OverwriteScope::Where(only("(p = 2)")),
    );
    let error = overwrite(&ctx, &table.snapshot().await, request)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_REPLACE_WHERE_MISMATCH] Written data does not conform to partial table overwrite condition or constraint '(p = 2)'.\n\
         [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint EXPRESSION(('p = 2)) (p = 2) violated by row with values:\n - p : 3"
    );
    let request = Overwrite::new(
        values("VALUES (10, 1)").await,
        OverwriteScope::DynamicPartitions,
    );
    overwrite(&ctx, &table.snapshot().await, request)
        .await
        .unwrap();
    assert_eq!(
        rows(&table, "SELECT id FROM t ORDER BY id").await,
        ["3", "10", "20"]
    );
    let request = Overwrite::new(values("VALUES (7, 7)").await, OverwriteScope::Table);
    overwrite(&ctx, &table.snapshot().await, request)
        .await
        .unwrap();
    assert_eq!(rows(&table, "SELECT id FROM t ORDER BY id").await, ["7"]);
}

#[tokio::test]
async fn a_condition_on_data_columns_rewrites_the_files_it_cuts() {
    let table = Table::new(&plain(), &[], &[]).await;
    table.insert("VALUES (1, 'a'), (2, 'b'), (3, 'c')").await;
    let state = table.ctx.state();
    let ctx = WriteContext::new(&state, &table.commit);
    let scope = OverwriteScope::Where(ReplaceWhere {
        predicate: col("id").gt_eq(lit(2_i64)),
        qualifier: None,
        text: "id >= 2".into(),
        sql: "(id >= 2)".into(),
        check_name: "EXPRESSION(('id >= 2))".into(),
    });
    let input = table
        .ctx
        .sql("VALUES (9, 'z')")
        .await
        .unwrap()
        .logical_plan()
        .clone();
    overwrite(&ctx, &table.snapshot().await, Overwrite::new(input, scope))
        .await
        .unwrap();
    assert_eq!(
        rows(&table, "SELECT * FROM t ORDER BY id").await,
        ["1|a", "9|z"]
    );
    let metrics = table.metrics(2).await;
    assert_eq!(
        (
            metrics["numDeletedRows"].as_str(),
            metrics["numCopiedRows"].as_str()
        ),
        ("2", "1")
    );
}

#[tokio::test]
async fn errors_of_read_rows_are_failures_of_the_writing_task_but_those_of_literals_are_not() {
    let table = Table::new(&plain(), &[], &[]).await;
    table.insert("VALUES (1, 'a')").await;
    table.register(None).await;
    let error = table
        .try_insert("SELECT CAST(v AS BIGINT) AS id, v FROM t")
        .await
        .unwrap_err();
    assert_eq!(error.class(), Some("TASK_WRITE_FAILED"), "{error}");
    assert_eq!(
        error.text(),
        format!("Task failed while writing rows to {}.", table.store.root())
    );
    assert_eq!(table.files().len(), 1);
}

#[tokio::test]
async fn every_type_comes_back_as_it_was_written() {
    let inner = StructType::new([StructField::nullable("x", DataType::Integer)]);
    let columns = schema(&[
        ("i8", DataType::Byte),
        ("i16", DataType::Short),
        ("f", DataType::Float),
        ("dec", DataType::decimal(38, 10)),
        ("d9", DataType::decimal(9, 2)),
        ("b", DataType::Boolean),
        ("bin", DataType::Binary),
        ("dt", DataType::Date),
        ("ts", DataType::Timestamp),
        ("tn", DataType::TimestampNtz),
        ("arr", DataType::array(DataType::Struct(inner), true)),
        ("m", DataType::map(DataType::String, DataType::Long, true)),
    ]);
    let table = Table::empty();
    table.create(CreateTable::new(columns)).await.unwrap();
    table
        .insert(
            "SELECT CAST(-128 AS TINYINT), CAST(-32768 AS SMALLINT), CAST(3.4 AS FLOAT), \
             CAST('-1234567890123456789012345678.0123456789' AS DECIMAL(38,10)), CAST(-9999999.99 AS DECIMAL(9,2)), true, \
             X'00FF', CAST('0001-01-01' AS DATE), arrow_cast('9999-12-31T00:00:00.123456Z', 'Timestamp(Microsecond, Some(\"UTC\"))'), \
             arrow_cast('1900-01-01T00:00:00', 'Timestamp(Microsecond, None)'), \
             [named_struct('x', CAST(1 AS INT)), NULL], map(['k'], [CAST(7 AS BIGINT)])",
        )
        .await;
    assert_eq!(
        rows(
            &table,
            "SELECT i8, i16, f, dec, d9, b, encode(bin, 'hex'), dt, ts, tn, arr, m FROM t"
        )
        .await,
        [
            "-128|-32768|3.4|-1234567890123456789012345678.0123456789|-9999999.99|true|00ff|0001-01-01|\
          9999-12-31T00:00:00.123456Z|1900-01-01T00:00:00|[{x: 1}, ]|{k: 7}"
        ]
    );
    assert_eq!(rows(&table, "SELECT count(*) FROM t WHERE ts = arrow_cast('9999-12-31T00:00:00.123456Z', 'Timestamp(Microsecond, Some(\"UTC\"))')").await, ["1"]);
}
