//! From a moment in a statement to a version of a table (spec: delta, section 3).

use deltaic_command::{Profile, TimeTravel};
use deltaic_log::Snapshot;
use deltaic_maintenance::travel::{self, TravelForm, TravelOptions};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::timestamp::parse_compact;
use deltaic_sql::{Travel, literal};

use crate::context::Context;

/// What the session decides about time travel.
pub(crate) fn options(cx: &Context) -> TravelOptions {
    TravelOptions {
        zone: cx.zone(),
        wall: cx.profile() != Profile::Delta40
            && cx
                .conf
                .delta("vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"),
        now_ms: cx.now_us.div_euclid(1_000),
    }
}

/// The table at a moment; `latest` is its newest version.
pub(crate) async fn snapshot_at(
    cx: &Context,
    latest: &Snapshot,
    to: &TimeTravel,
) -> Result<Snapshot> {
    let version = travel::resolve(latest, to, TravelForm::Read, &options(cx))
        .await
        .map_err(|error| in_words_of(cx, error))?;
    latest.at_version(version).await
}

/// Errors of time travel had no class in older releases.
pub(crate) fn in_words_of(cx: &Context, error: DeltaError) -> DeltaError {
    let unclassed = [
        "DELTA_VERSION_NOT_FOUND",
        "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
    ];
    match error.class() {
        Some(class) if cx.profile() == Profile::Delta40 && unclassed.contains(&class) => {
            let text = if class == unclassed[1] {
                format!(
                    "{}\n         ",
                    error
                        .text()
                        .replace("available to\nthis table", "available to this\ntable")
                )
            } else {
                error.text()
            };
            DeltaError::unclassed("org.apache.spark.sql.AnalysisException", text).with_source(error)
        }
        _ => error,
    }
}

/// The moment that a clause or a suffix names; `micros` is the value of its timestamp, where it has one.
pub(crate) fn moment(cx: &Context, travel: &Travel, micros: Option<i64>) -> Result<TimeTravel> {
    match travel {
        Travel::Version(expr) => match literal::text_of(expr) {
            Some(text) => version(&text),
            None => Err(invalid_version()),
        },
        Travel::Timestamp(expr) => match micros {
            Some(micros) => Ok(TimeTravel::Timestamp {
                micros,
                text: deltaic_sql::render::expr(expr),
            }),
            None => Err(DeltaError::new("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT")
                .param("expr", format!("\"{}\"", deltaic_sql::render::expr(expr)))),
        },
        Travel::Compact(digits) => match parse_compact(digits, &cx.zone()) {
            Some(micros) => Ok(TimeTravel::Timestamp {
                micros,
                text: digits.clone(),
            }),
            None => Err(DeltaError::new("DELTA_INVALID_TIMESTAMP_FORMAT")
                .param("timestamp", digits)
                .param("format", "yyyyMMddHHmmssSSS")),
        },
    }
}

/// A version as text.
pub(crate) fn version(text: &str) -> Result<TimeTravel> {
    text.trim()
        .trim_end_matches(['L', 'l'])
        .parse()
        .map(TimeTravel::Version)
        .map_err(|_| invalid_version())
}

fn invalid_version() -> DeltaError {
    DeltaError::new("DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE").param("timeTravelKey", "versionAsOf")
}
