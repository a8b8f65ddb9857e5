//! Statistics of Parquet files that others have written: the rows are read, so the numbers are those of files that this
//! project writes, whatever their footers say.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use deltaic_protocol::action::Add;
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::{DEFAULT_STRING_PREFIX, StatisticsColumns};
use deltaic_storage::TableStore;
use futures::StreamExt;
use tokio::task::JoinSet;

use crate::columns::mapping::MappingMode;
use crate::context::WriteContext;
use crate::error::Classed;
use crate::scan::build::ScanFile;
use crate::scan::pinned::PinnedTable;
use crate::write::collector::{StatsCollector, StatsPlan};
use crate::write::shape::{Shaper, file_schema};

/// Fills in `add.stats`. As many files are read at the same time as there are processors, batch by batch; only columns that
/// have statistics are read.
///
/// # Errors
/// A file that cannot be read as the schema says.
pub async fn collect_statistics(
    ctx: &WriteContext<'_>,
    store: &TableStore,
    config: &TableConfig,
    schema: &StructType,
    partition_columns: &[String],
    mut files: Vec<Add>,
) -> Result<Vec<Add>> {
    let selected: BTreeSet<Vec<String>> = StatisticsColumns::new(config)?
        .select(schema, partition_columns)
        .iter()
        .map(|leaf| leaf.names().into_iter().map(str::to_string).collect())
        .collect();
    let wanted = |name: &str| {
        selected
            .iter()
            .any(|path| path.first().is_some_and(|n| n == name))
    };
    let columns = StructType::new(
        file_schema(schema, partition_columns)
            .fields
            .into_iter()
            .filter(|field| wanted(&field.name)),
    );
    let plan = Arc::new(StatsPlan::new(
        &columns,
        &selected,
        config.supports("deletionVectors"),
        config
            .string_prefix_length()?
            .unwrap_or(DEFAULT_STRING_PREFIX),
        ctx.zone.clone(),
    ));
    let shaper = match columns.is_empty() {
        true => None,
        false => Some(Arc::new(Shaper::new(&columns, &[])?)),
    };
    let limit = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut tasks: JoinSet<Result<(usize, String)>> = JoinSet::new();
    let mut next = 0;
    while next < files.len() || !tasks.is_empty() {
        while next < files.len() && tasks.len() < limit {
            let one = ScanFile::whole(Arc::new(files[next].clone()));
            let table = PinnedTable::new(
                store.clone(),
                columns.clone(),
                Vec::new(),
                MappingMode::None,
                ctx.zone.clone(),
                vec![one],
            );
            let scan = table.scan(ctx.session, None, &[], None).await.classed()?;
            let task = ReadTask {
                scan,
                context: ctx.session.task_ctx(),
                shaper: shaper.clone(),
                collector: plan.collector(),
            };
            let number = next;
            tasks.spawn(async move { Ok((number, task.run().await?)) });
            next += 1;
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok(done)) => {
                let (number, stats) = done?;
                files[number].stats = Some(stats);
            }
            Some(Err(panicked)) => {
                return Err(DeltaError::internal(format!(
                    "a reading task ended without a result: {panicked}"
                )));
            }
        }
    }
    Ok(files)
}

struct ReadTask {
    scan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    shaper: Option<Arc<Shaper>>,
    collector: StatsCollector,
}

impl ReadTask {
    async fn run(mut self) -> Result<String> {
        let mut batches = execute_stream(self.scan, self.context).classed()?;
        while let Some(batch) = batches.next().await {
            let batch = batch.classed()?;
            let columns = match &self.shaper {
                Some(shaper) => shaper.data_columns(&shaper.conform(&batch)?),
                None => Vec::new(),
            };
            self.collector.update(&columns, batch.num_rows())?;
        }
        Ok(self.collector.finish())
    }
}
