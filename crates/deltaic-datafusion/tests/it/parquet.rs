//! Plain Parquet tables.

use std::sync::Arc;

use deltaic_datafusion::{ParquetTable, ParquetWrite, WriteContext, infer_schema, write_parquet};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::timestamp::Zone;

use crate::helpers::{Table, cells, schema};

#[tokio::test]
async fn rows_are_appended_and_replaced_and_found_again_without_a_schema() {
    let home = Table::empty();
    let columns = schema(&[("id", DataType::Long), ("p", DataType::Integer)]);
    let table = ParquetTable::new(
        home.store.clone(),
        columns.clone(),
        vec!["p".into()],
        Zone::utc(),
    );
    let state = home.ctx.state();
    let ctx = WriteContext::new(&state, &home.commit);
    let input = async |sql: &str| {
        home.ctx
            .sql(sql)
            .await
            .unwrap()
            .logical_plan()
            .clone()
            .into()
    };
    assert_eq!(
        write_parquet(
            &ctx,
            &table,
            &input("VALUES (1, 1), (2, 2), (3, NULL)").await,
            &ParquetWrite::Append
        )
        .await
        .unwrap(),
        3
    );
    write_parquet(
        &ctx,
        &table,
        &input("VALUES (20, 2)").await,
        &ParquetWrite::OverwritePartitions,
    )
    .await
    .unwrap();
    home.ctx
        .register_table("t", Arc::new(table.clone()))
        .unwrap();
    let all = || async {
        cells(
            &home
                .ctx
                .sql("SELECT * FROM t ORDER BY id")
                .await
                .unwrap()
                .collect()
                .await
                .unwrap(),
        )
    };
    assert_eq!(all().await, ["1|1", "3|", "20|2"]);
    assert!(
        home.files().contains(&"_SUCCESS".to_string()),
        "{:?}",
        home.files()
    );
    assert_eq!(
        infer_schema(&home.store).await.unwrap(),
        (columns, vec!["p".to_string()])
    );
    write_parquet(
        &ctx,
        &table,
        &input("VALUES (7, 7)").await,
        &ParquetWrite::Overwrite,
    )
    .await
    .unwrap();
    assert_eq!(all().await, ["7|7"]);
    assert_eq!(
        cells(
            &home
                .ctx
                .sql("SELECT count(*) FROM t WHERE p = 7")
                .await
                .unwrap()
                .collect()
                .await
                .unwrap()
        ),
        ["1"]
    );
}
