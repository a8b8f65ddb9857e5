//! One stream of rows in the order of the log, from object stores without waiting for them: while the rows of one file are taken,
//! the next files are asked for.
//!
//! An engine with several partitions reads several files at a time and mixes their rows. One that promises the same rows in the
//! same order has one partition; a reader that asks, waits, decodes and asks again leaves the network idle most of the time.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::{StreamExt, TryStreamExt};

use super::source::DeltaSource;

/// Bytes of files that are under way at the same time, where nothing else is said.
const BYTES_AHEAD: u64 = 512 << 20;
/// Files under way at the same time, at most.
const MOST_AHEAD: usize = 8;
/// Batches of a file that wait for their turn.
const BATCHES: usize = 2;

/// Puts [`ReadAheadExec`] over scans with one partition; the last rule of an engine that has one.
#[derive(Debug)]
pub struct ReadAhead {
    /// Smaller scans stay as they are (bytes).
    pub min_bytes: u64,
    /// Local files too, which gain nothing by it.
    pub local: bool,
    /// Bytes of files that are under way at the same time: as much memory as their row groups take, at most.
    pub bytes: u64,
}

impl Default for ReadAhead {
    fn default() -> ReadAhead {
        ReadAhead {
            min_bytes: 1 << 20,
            local: false,
            bytes: BYTES_AHEAD,
        }
    }
}

impl PhysicalOptimizerRule for ReadAhead {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            Ok(match self.spread(&node) {
                Some(ahead) => Transformed::yes(ahead),
                None => Transformed::no(node),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "delta_read_ahead"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl ReadAhead {
    /// The scan with a partition for each file, and the node that reads them in their order.
    fn spread(&self, node: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
        let source = node.downcast_ref::<DataSourceExec>()?;
        let scan = source.data_source().downcast_ref::<FileScanConfig>()?;
        let (_, _) = source.downcast_to_file_source::<DeltaSource>()?;
        let [group] = scan.file_groups.as_slice() else {
            return None;
        };
        let files = group.files();
        let bytes: u64 = files.iter().map(bytes_of).sum();
        let far = self.local || !scan.object_store_url.as_str().starts_with("deltaic-");
        // A limit counts the rows of a partition.
        if !far || files.len() < 2 || bytes < self.min_bytes || scan.limit.is_some() {
            return None;
        }
        let average = bytes / files.len() as u64 + 1;
        let ahead = usize::try_from(self.bytes / average).unwrap_or(MOST_AHEAD);
        let groups = files.iter().cloned().map(|file| FileGroup::new(vec![file]));
        let scan = FileScanConfigBuilder::from(scan.clone())
            .with_file_groups(groups.collect())
            .with_preserve_order(true)
            .build();
        let input: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(scan);
        Some(Arc::new(ReadAheadExec::new(
            input,
            // Two files of any size where memory is not short.
            ahead.clamp(1 + usize::from(self.bytes >= BYTES_AHEAD), MOST_AHEAD),
        )))
    }
}

fn bytes_of(file: &PartitionedFile) -> u64 {
    file.object_meta.size
}

/// Yields the rows of its input's partitions one after the other, and runs some partitions ahead.
#[derive(Debug, Clone)]
pub struct ReadAheadExec {
    input: Arc<dyn ExecutionPlan>,
    ahead: usize,
    properties: Arc<PlanProperties>,
}

impl ReadAheadExec {
    /// Over a scan, with as many of its partitions under way at the same time.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, ahead: usize) -> ReadAheadExec {
        let properties = PlanProperties::new(
            input.equivalence_properties().clone(),
            Partitioning::UnknownPartitioning(1),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        ReadAheadExec {
            input,
            ahead: ahead.max(1),
            properties: Arc::new(properties),
        }
    }

    pub(crate) fn ahead(&self) -> usize {
        self.ahead
    }
}

impl DisplayAs for ReadAheadExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "ReadAheadExec: files={}", self.ahead)
    }
}

impl ExecutionPlan for ReadAheadExec {
    fn name(&self) -> &str {
        "ReadAheadExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.pop() {
            Some(input) => Ok(Arc::new(ReadAheadExec::new(input, self.ahead))),
            None => internal_err!("ReadAheadExec reads something"),
        }
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("ReadAheadExec has one partition");
        }
        let input = Arc::clone(&self.input);
        let schema = input.schema();
        let partitions = input.output_partitioning().partition_count();
        // A task runs each partition until as many batches as may wait do; the stream that it feeds ends it when it is dropped.
        let begun = move |partition| {
            let mut task = RecordBatchReceiverStream::builder(input.schema(), BATCHES);
            let (input, context, out) = (Arc::clone(&input), Arc::clone(&context), task.tx());
            task.spawn(async move {
                let mut rows = input.execute(partition, context)?;
                while let Some(batch) = rows.next().await {
                    if out.send(batch).await.is_err() {
                        break; // nobody wants more
                    }
                }
                Ok(())
            });
            futures::future::ready(Ok::<_, DataFusionError>(task.build()))
        };
        let rows = futures::stream::iter(0..partitions)
            .map(begun)
            .buffered(self.ahead)
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            schema,
            rows.boxed(),
        )))
    }
}
