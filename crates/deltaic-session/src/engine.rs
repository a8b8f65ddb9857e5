//! The query engine of a session.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltaic_datafusion::scan::ahead::ReadAhead;

/// An engine that gives the same rows in the same order every time: one partition, no shuffles.
pub(crate) fn new_context() -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(1)
        .with_information_schema(false);
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_physical_optimizer_rule(Arc::new(ReadAhead::default()))
        .build();
    SessionContext::new_with_state(state)
}

/// Names of the functions that the engine has.
pub(crate) fn function_names(engine: &SessionContext) -> Vec<String> {
    let state = engine.state();
    let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
    names.extend(state.aggregate_functions().keys().cloned());
    names.extend(state.window_functions().keys().cloned());
    names
}
