//! INSERT INTO and INSERT OVERWRITE of Delta tables through DataFusion's own statements.

use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::common::not_impl_err;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::physical_plan::ExecutionPlan;

use super::checks::table_checks;
use super::commit_context;
use super::exec::StatementExec;
use crate::context::WriteContext;
use crate::error::wrap;
use crate::insert::{Append, Overwrite, OverwriteScope, append, overwrite};
use crate::provider::{DeltaTableProvider, InsertPlanner};

/// Inserts with the table's own conditions, read by DataFusion's parser.
#[derive(Debug, Clone, Copy)]
pub struct Inserts;

impl InsertPlanner for Inserts {
    fn plan_insert(
        &self,
        session: &dyn Session,
        provider: &DeltaTableProvider,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let state = StatementExec::state(session)?;
        let snapshot = provider.snapshot().clone();
        let checks = table_checks(&state, &snapshot)?;
        let zone = provider.zone().clone();
        let overwrites = match op {
            InsertOp::Append => false,
            InsertOp::Overwrite => true,
            InsertOp::Replace => return not_impl_err!("REPLACE INTO a Delta table"),
        };
        let statement = move |inputs: Vec<Arc<dyn ExecutionPlan>>, _context| {
            let (state, snapshot, checks, zone) = (
                state.clone(),
                snapshot.clone(),
                checks.clone(),
                zone.clone(),
            );
            let run = async move {
                let commit = commit_context();
                let mut ctx = WriteContext::new(&state, &commit);
                ctx.zone = zone;
                let Some(input) = inputs.into_iter().next() else {
                    return not_impl_err!("an INSERT without rows");
                };
                let report = if overwrites {
                    overwrite(
                        &ctx,
                        &snapshot,
                        Overwrite {
                            checks,
                            ..Overwrite::new(input, OverwriteScope::Table)
                        },
                    )
                    .await
                } else {
                    append(
                        &ctx,
                        &snapshot,
                        Append {
                            checks,
                            ..Append::new(input)
                        },
                    )
                    .await
                };
                Ok(report.map_err(wrap)?.rows)
            };
            Box::pin(run) as futures::future::BoxFuture<'static, Result<u64>>
        };
        Ok(Arc::new(StatementExec::new(
            "DeltaInsertExec",
            vec![input],
            Arc::new(statement),
        )))
    }
}
