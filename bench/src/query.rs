//! Scenarios of queries, in DataFusion's SQL.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::ListingOptions;
use datafusion::logical_expr::{col, lit};
use datafusion::prelude::SessionContext;
use deltaic_datafusion::application::open::open;
use deltaic_datafusion::application::session::session_context;
use serde_json::{Value, json};

use crate::outcome::{Clock, Failure, Measured, Outcome};

/// A session that knows the table as `t`.
pub async fn session(table: &str) -> Outcome<SessionContext> {
    let session = session_context();
    session.register_table("t", Arc::new(open(table).await?))?;
    Ok(session)
}

fn text(scenario: &str) -> &'static str {
    match scenario {
        "e_count" => "SELECT count(*) AS n FROM t",
        "e_part" => "SELECT count(*) AS n, sum(v) AS s FROM t WHERE grp = 7",
        "e_point" => "SELECT * FROM t WHERE id = 7654321",
        "k_dv_count" => "SELECT count(*) AS n FROM t WHERE id >= 0",
        _ => {
            "SELECT k % 10 AS g, count(*) AS n, sum(v) AS sv, sum(amount) AS sa FROM t GROUP BY 1 ORDER BY 1"
        }
    }
}

/// Runs the query of a scenario.
pub async fn query(scenario: &str, table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let session = session(table).await?;
    clock.mark("open");
    let rows = session.sql(text(scenario)).await?.collect().await?;
    clock.mark("query");
    let check = match scenario {
        "e_point" => Value::from(
            rows.iter()
                .map(RecordBatch::num_rows)
                .sum::<usize>()
                .to_string(),
        ),
        "e_agg" | "k_dv_agg" => json!([
            total(&rows, 1)?,
            round(total(&rows, 2)?, 100.0),
            total(&rows, 3)?
        ]),
        _ => {
            let columns = rows.first().map_or(0, RecordBatch::num_columns);
            let totals: Outcome<Vec<f64>> = (0..columns)
                .map(|at| Ok(round(total(&rows, at)?, 1000.0)))
                .collect();
            json!(totals?)
        }
    };
    Ok(clock.done(check))
}

/// The same query of DataFusion's own Parquet reader over the data files of a table that is partitioned by one number: what the
/// query costs without a log.
pub async fn bare(scenario: &str, table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let session = session_context();
    let name = std::fs::read_dir(table)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find_map(|folder| Some(folder.split_once('=')?.0.to_owned()));
    let by = name
        .map(|name| (name, DataType::Int32))
        .into_iter()
        .collect();
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
        .with_file_extension(".parquet")
        .with_table_partition_cols(by);
    session
        .register_listing_table("t", format!("{table}/"), options, None, None)
        .await?;
    clock.mark("open");
    let rows = session.sql(text(scenario)).await?.collect().await?;
    clock.mark("query");
    let rows: usize = rows.iter().map(RecordBatch::num_rows).sum();
    Ok(clock.done(rows))
}

/// The sum over a column.
fn total(rows: &[RecordBatch], at: usize) -> Outcome<f64> {
    let mut sum = 0.0;
    for batch in rows {
        let column: ArrayRef = cast(batch.column(at), &DataType::Float64)?;
        let values = column
            .as_primitive_opt::<Float64Type>()
            .ok_or_else(|| Failure::new("no numbers"))?;
        sum += values.iter().flatten().sum::<f64>();
    }
    Ok(sum)
}

fn round(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

/// The files that a predicate over a partition column and another one leaves.
pub async fn prune(table: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let provider = open(table).await?;
    clock.mark("open");
    let predicate = col("date")
        .eq(lit("2024-06-15-150"))
        .or(col("id").eq(lit(500_000_500_i64)));
    let session = session_context();
    let files = provider.scan_files(&session.state(), &[predicate]).await?;
    clock.mark("prune");
    Ok(clock.done(files.len()))
}
