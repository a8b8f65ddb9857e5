//! The rows of `range(start, end, step, partitions)`: made while they are read, in as many partitions as asked for.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use deltaic_protocol::Result;

use crate::error::Ours;

/// Part of a range: `count` numbers from `first` on.
#[derive(Debug)]
struct Slice {
    schema: SchemaRef,
    first: i128,
    step: i128,
    count: i128,
}

impl PartitionStream for Slice {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, task: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (schema, first, step, count) =
            (Arc::clone(&self.schema), self.first, self.step, self.count);
        let rows = task.session_config().batch_size().max(1) as i128;
        let batches =
            (0..count.div_euclid(rows) + i128::from(count.rem_euclid(rows) != 0)).map(move |n| {
                let from = n * rows;
                let numbers = (from..(from + rows).min(count)).map(|i| (first + i * step) as i64);
                let array = Int64Array::from_iter_values(numbers);
                RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(array)]).map_err(Into::into)
            });
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            futures::stream::iter(batches),
        ))
    }
}

/// A table of one column `id`, BIGINT, never NULL.
pub fn table(start: i64, end: i64, step: i64, partitions: usize) -> Result<Arc<dyn TableProvider>> {
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let (first, last, by) = (i128::from(start), i128::from(end), i128::from(step));
    let distance = last - first;
    let count = if by == 0 || (distance > 0) != (by > 0) || distance == 0 {
        0
    } else {
        distance / by + i128::from(distance % by != 0)
    };
    let n = partitions.max(1) as i128;
    let slices = (0..n)
        .map(|i| {
            let (from, to) = (i * count / n, (i + 1) * count / n);
            let slice = Slice {
                schema: Arc::clone(&schema),
                first: first + from * by,
                step: by,
                count: to - from,
            };
            Arc::new(slice) as Arc<dyn PartitionStream>
        })
        .collect();
    Ok(Arc::new(StreamingTable::try_new(schema, slices).ours()?))
}
