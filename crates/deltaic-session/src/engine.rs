//! The query engine of a session.

use datafusion::prelude::{SessionConfig, SessionContext};
use deltaic_analyzer::AnalyzerOptions;

use crate::context::Context;

/// An engine that gives the same rows in the same order every time: one partition, no shuffles.
pub(crate) fn new_context() -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(1).with_information_schema(false);
    SessionContext::new_with_config(config)
}

/// Names of the functions that the engine has.
pub(crate) fn function_names(engine: &SessionContext) -> Vec<String> {
    let state = engine.state();
    let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
    names.extend(state.aggregate_functions().keys().cloned());
    names.extend(state.window_functions().keys().cloned());
    names
}

/// With what the expressions and queries of a statement are analysed.
pub(crate) fn analyzer_options(cx: &Context) -> AnalyzerOptions {
    AnalyzerOptions {
        zone_name: cx.conf.zone_name(),
        now_us: cx.now_us,
        catalog: cx.current.catalog.clone(),
        schema: cx.current.schema.clone(),
        user: cx.session.user().to_owned(),
        ansi: cx.conf.flag("spark.sql.ansi.enabled"),
        case_sensitive: cx.conf.flag("spark.sql.caseSensitive"),
        ordinals: cx.conf.flag("spark.sql.orderByOrdinal"),
        ..AnalyzerOptions::default()
    }
}
