//! A plan node that runs a statement when it is executed and answers its row count.

use std::fmt;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{exec_err, not_impl_err};
use datafusion::error::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::future::BoxFuture;
use futures::stream;

/// What is run: it gets the node's inputs and answers a row count.
pub(crate) type Statement = Arc<
    dyn Fn(Vec<Arc<dyn ExecutionPlan>>, Arc<TaskContext>) -> BoxFuture<'static, Result<u64>>
        + Send
        + Sync,
>;

/// A statement as a plan.
#[derive(Clone)]
pub(crate) struct StatementExec {
    name: &'static str,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    statement: Statement,
    properties: Arc<PlanProperties>,
}

impl StatementExec {
    /// A statement over inputs that keep their partitions.
    pub(crate) fn new(
        name: &'static str,
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        statement: Statement,
    ) -> StatementExec {
        let schema = count_schema();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        StatementExec {
            name,
            inputs,
            statement,
            properties: Arc::new(properties),
        }
    }

    /// The session's state, which a statement keeps until it runs.
    pub(crate) fn state(session: &dyn Session) -> Result<SessionState> {
        match session.as_any().downcast_ref::<SessionState>() {
            Some(state) => Ok(state.clone()),
            None => not_impl_err!("writing Delta tables needs DataFusion's own session state"),
        }
    }
}

fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(
        "count",
        DataType::UInt64,
        false,
    )]))
}

impl fmt::Debug for StatementExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl DisplayAs for StatementExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl ExecutionPlan for StatementExec {
    fn name(&self) -> &str {
        self.name
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        // One file is written for each partition, so more partitions would only mean more and smaller files.
        vec![false; self.inputs.len()]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(StatementExec {
            inputs: children,
            ..self.as_ref().clone()
        }))
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return exec_err!("{} has one partition", self.name);
        }
        let run = (self.statement)(self.inputs.clone(), context);
        let schema = count_schema();
        let answer = Arc::clone(&schema);
        let batches = stream::once(async move {
            let count = run.await?;
            Ok(RecordBatch::try_new(
                answer,
                vec![Arc::new(UInt64Array::from(vec![count]))],
            )?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}
