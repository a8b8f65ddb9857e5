//! The query engine of a session.

use chrono_tz::Tz;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltaic_analyzer::AnalyzerOptions;
use deltaic_protocol::timestamp::Zone;

use crate::context::Context;

/// An engine that gives the same rows in the same order every time: one partition, no shuffles.
pub(crate) fn new_context() -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(1)
        .with_information_schema(false);
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
        zone: region(&cx.conf.zone_name()),
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

/// The region of a zone's name; offsets of whole hours have one too.
fn region(name: &str) -> Tz {
    let name = name.trim();
    if let Ok(zone) = name.parse() {
        return zone;
    }
    let Some(zone) = Zone::parse(name) else {
        return Tz::UTC;
    };
    let seconds = zone.offset_at(0);
    match seconds / 3_600 {
        0 => Tz::UTC,
        // `Etc/GMT-9` lies nine hours east.
        east if east > 0 => format!("Etc/GMT-{east}").parse().unwrap_or(Tz::UTC),
        west => format!("Etc/GMT+{}", -west).parse().unwrap_or(Tz::UTC),
    }
}
