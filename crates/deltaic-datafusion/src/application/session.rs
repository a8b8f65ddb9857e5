//! A session that understands Delta tables.

use std::sync::Arc;

use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::optimizer::analyzer::{Analyzer, AnalyzerRule};
use datafusion::prelude::SessionContext;

use super::factory::DeltaTableFactory;
use super::planner::DeltaQueryPlanner;
use super::rule::DeltaDmlRule;
use super::travel::VersionGuard;

/// Adds to a session: DELETE and UPDATE of Delta tables with their conditions whole, and an error where DataFusion would
/// pass over `VERSION AS OF` silently.
///
/// The session's own query planner is replaced; a session that has one of its own uses
/// [`DeltaQueryPlanner`] in it.
pub fn configure(builder: SessionStateBuilder) -> SessionStateBuilder {
    let mut rules: Vec<Arc<dyn AnalyzerRule + Send + Sync>> = vec![Arc::new(DeltaDmlRule)];
    rules.extend(Analyzer::new().rules);
    builder
        .with_analyzer_rules(rules)
        .with_relation_planners(vec![Arc::new(VersionGuard)])
        .with_query_planner(Arc::new(DeltaQueryPlanner))
        .with_table_factory("DELTA".to_string(), Arc::new(DeltaTableFactory))
        .with_table_factory("DELTATABLE".to_string(), Arc::new(DeltaTableFactory))
}

/// A session with DataFusion's defaults that understands Delta tables.
pub fn session_context() -> SessionContext {
    SessionContext::new_with_state(session_state())
}

/// The state of [`session_context`].
pub fn session_state() -> SessionState {
    configure(SessionStateBuilder::new().with_default_features()).build()
}
