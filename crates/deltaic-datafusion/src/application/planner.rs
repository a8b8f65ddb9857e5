//! Plans the statements that the rule has taken over.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::error::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::exec::StatementExec;
use super::rule::{DeltaDmlNode, RowChange};
use crate::application::checks::table_checks;
use crate::dml::delete::{Delete, delete};
use crate::dml::truncate::truncate;
use crate::dml::update::{Update, update};
use crate::error::wrap;

/// DataFusion's planner with Delta's statements.
#[derive(Debug)]
pub struct DeltaQueryPlanner;

#[async_trait]
impl QueryPlanner for DeltaQueryPlanner {
    async fn create_physical_plan(
        &self,
        logical_plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(DeltaExtensionPlanner)])
            .create_physical_plan(logical_plan, session)
            .await
    }
}

/// Plans DELETE, UPDATE and TRUNCATE of Delta tables.
#[derive(Debug)]
pub struct DeltaExtensionPlanner;

#[async_trait]
impl ExtensionPlanner for DeltaExtensionPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        _physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        _planning: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(node) = node.as_any().downcast_ref::<DeltaDmlNode>() else {
            return Ok(None);
        };
        let state = StatementExec::state(session)?;
        let name = match node.change {
            RowChange::Delete => "DeltaDeleteExec",
            RowChange::Update(_) => "DeltaUpdateExec",
            RowChange::Truncate => "DeltaTruncateExec",
        };
        let node = node.clone();
        Ok(Some(Arc::new(StatementExec::new(
            name,
            Vec::new(),
            Arc::new(move |_inputs, _context| {
                let (node, state) = (node.clone(), state.clone());
                Box::pin(async move { run(&state, node).await })
            }),
        ))))
    }
}

async fn run(state: &SessionState, node: DeltaDmlNode) -> Result<u64> {
    let commit = super::commit_context();
    let mut ctx = crate::context::WriteContext::new(state, &commit);
    ctx.zone = node.provider.zone().clone();
    let snapshot = node.provider.snapshot();
    let qualifier = Some(node.qualifier);
    let report = match node.change {
        RowChange::Delete => {
            delete(
                &ctx,
                snapshot,
                Delete {
                    predicate: node.predicate,
                    qualifier,
                    predicate_text: None,
                },
            )
            .await
        }
        RowChange::Truncate => truncate(&ctx, snapshot).await,
        RowChange::Update(assignments) => {
            let checks = table_checks(state, snapshot)?;
            let request = Update {
                assignments,
                predicate: node.predicate,
                qualifier,
                predicate_text: None,
                checks,
            };
            update(&ctx, snapshot, request).await
        }
    };
    Ok(report.map_err(wrap)?.affected_rows)
}
