//! The query engine of a session.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::optimizer::Optimizer;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltaic_datafusion::memory::LimitedPool;
use deltaic_datafusion::scan::ahead::ReadAhead;
use deltaic_datafusion::unwrap;
use deltaic_protocol::error::Result;

/// What a session takes before it holds a row.
const OWN: u64 = 64 << 20;
/// One in so many bytes of the rest may be reserved by its operators: writers, decoders and the log hold what is not counted.
const RESERVED: u64 = 3;
/// One in so many may be held by files that are read ahead.
const AHEAD: u64 = 8;

/// With less memory (bytes) batches have few rows, as a few batches of long rows would fill it.
const MUCH: u64 = 2 << 30;
const FEW_ROWS: usize = 1024;

/// An engine that gives the same rows in the same order every time: one partition, no shuffles. Its operators share
/// `memory_limit` (bytes) and spill to temporary files.
pub(crate) fn new_context(memory_limit: Option<u64>) -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_target_partitions(1)
        .with_information_schema(false);
    let mut rules = vec![deltaic_analyzer::correlated::rule()];
    rules.extend(Optimizer::new().rules);
    let mut ahead = ReadAhead::default();
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(limit) = memory_limit {
        ahead.bytes = ahead.bytes.min(limit / AHEAD);
        if limit < MUCH {
            config = config.with_batch_size(FEW_ROWS);
        }
        let shared = usize::try_from(limit.saturating_sub(OWN) / RESERVED).unwrap_or(usize::MAX);
        runtime = runtime.with_memory_pool(LimitedPool::new(shared));
    }
    let state = SessionStateBuilder::new()
        .with_runtime_env(runtime.build_arc().map_err(unwrap)?)
        .with_config(config)
        .with_default_features()
        .with_optimizer_rules(rules)
        .with_physical_optimizer_rule(Arc::new(ahead))
        .build();
    Ok(SessionContext::new_with_state(state))
}

/// Names of the functions that the engine has.
pub(crate) fn function_names(engine: &SessionContext) -> Vec<String> {
    let state = engine.state();
    let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
    names.extend(state.aggregate_functions().keys().cloned());
    names.extend(state.window_functions().keys().cloned());
    names
}
