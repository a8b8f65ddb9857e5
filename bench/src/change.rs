//! Scenarios that change rows.

use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::{Int64Array, RecordBatch, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::LogicalPlanBuilder;
use deltaic_datafusion::application::session::session_state;
use deltaic_datafusion::context::WriteContext;
use deltaic_datafusion::insert::{Append, append as append_rows};
use deltaic_log::{CommitContext, Snapshot};

use crate::log::store;
use crate::outcome::{Clock, Failure, Measured, Outcome};
use crate::query::session;

const APPENDS: usize = 1000;

/// Runs a statement that answers how many rows it changed.
pub async fn run(table: &str, statement: &str) -> Outcome<Measured> {
    let mut clock = Clock::start();
    let session = session(table).await?;
    clock.mark("open");
    let answer = session.sql(statement).await?.collect().await?;
    clock.mark("change");
    let rows = answer
        .first()
        .and_then(|batch| batch.column(0).as_any().downcast_ref::<UInt64Array>())
        .map(|counts| counts.value(0))
        .ok_or_else(|| Failure::new("the statement answers no count"))?;
    Ok(clock.done(rows))
}

/// 1000 appends of one row, through one held snapshot or each through the path.
pub async fn append(table: &str, held: bool) -> Outcome<Measured> {
    let state = session_state();
    let context = CommitContext::default();
    let write = WriteContext::new(&state, &context);
    let store = store(table)?;
    let mut clock = Clock::start();
    let mut snapshot = Snapshot::load(&store, None).await?;
    let mut times = Vec::with_capacity(APPENDS);
    for number in 0..APPENDS {
        let began = Instant::now();
        if !held {
            snapshot = Snapshot::load(&store, None).await?;
        }
        let rows = rows(number)?;
        let source = MemTable::try_new(rows.schema(), vec![vec![rows]])?;
        let input = LogicalPlanBuilder::scan("rows", provider_as_source(Arc::new(source)), None)?;
        let report = append_rows(&write, &snapshot, Append::new(input.build()?)).await?;
        if held {
            snapshot = report.commit.snapshot;
        }
        times.push(began.elapsed().as_secs_f64());
    }
    if let Some(later) = &context.later {
        later.finish().await;
    }
    clock.mark("append1000");
    let version = Snapshot::load(&store, None).await?.version();
    let median = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (first, last) = (median(&times[..100]), median(&times[APPENDS - 100..]));
    let longest = times.iter().copied().fold(0.0, f64::max);
    Ok(clock
        .done(version)
        .with_figure("median_first100", first)
        .with_figure("median_last100", last)
        .with_figure("max", longest))
}

fn rows(number: usize) -> Outcome<RecordBatch> {
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("name", DataType::Utf8, true),
    ]);
    let id = Int64Array::from(vec![i64::try_from(number)?]);
    let name = StringArray::from(vec![format!("row-{number}")]);
    Ok(RecordBatch::try_new(
        Arc::new(schema),
        vec![Arc::new(id), Arc::new(name)],
    )?)
}
