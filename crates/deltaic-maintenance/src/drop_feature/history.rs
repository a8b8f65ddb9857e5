//! What old versions have to do with a feature: cutting them off, and waiting until they are gone.

use deltaic_log::Snapshot;
use deltaic_log::cleanup::Granularity;
use deltaic_log::listing::list_log;
use deltaic_log::maintain;
use deltaic_log::segment::complete_checkpoints;
use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::interval::CalendarInterval;
use deltaic_protocol::properties::{TableProperty, key};

use super::Drop;

/// How long the history is kept where a statement truncates it.
const TRUNCATE_RETENTION: &str = "delta.dropFeatureTruncateHistory.retentionDuration";

/// Removes the versions that have expired: by the statement's own retention under `TRUNCATE HISTORY`, else by the table's.
pub(super) async fn truncate(drop: &Drop<'_>) -> Result<()> {
    let (retention, granularity) = if drop.request.truncate_history {
        (
            truncate_retention_ms(drop.snapshot.metadata())?,
            Granularity::Minute,
        )
    } else {
        let retention = drop.snapshot.config().log_retention()?.to_millis();
        (retention, Granularity::Day)
    };
    let now = drop.context.clock.now_ms();
    maintain::truncate(&drop.snapshot, now, retention, granularity).await?;
    Ok(())
}

/// Removes the property of `checkpointProtection`, once every version that it stands before is gone.
pub(super) async fn clear_protection(drop: &mut Drop<'_>) -> Result<bool> {
    if !is_truncated(&drop.snapshot).await? {
        // The log is cleaned up to a checkpoint, so there must be one on the newest version.
        drop.barrier().await?;
        let retention = truncate_retention_ms(drop.snapshot.metadata())?;
        let now = drop.context.clock.now_ms();
        maintain::truncate(&drop.snapshot, now, retention, Granularity::Minute).await?;
        if !is_truncated(&drop.snapshot).await? {
            return Err(DeltaError::new(
                "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD",
            )
            .param(
                "truncateHistoryLogRetentionPeriod",
                shown(drop.snapshot.metadata(), TRUNCATE_RETENTION),
            ));
        }
    }
    drop.unset(key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION)
        .await?;
    Ok(false)
}

/// Whether no version before the protected one can be read any more.
async fn is_truncated(snapshot: &Snapshot) -> Result<bool> {
    let before = snapshot.config().checkpoint_protection_before()?;
    if before <= 0 {
        return Ok(true);
    }
    let listing = list_log(snapshot.store(), 0, Some(snapshot.version())).await?;
    let oldest = complete_checkpoints(&listing)
        .iter()
        .map(|c| c.version)
        .min();
    let no_commits = listing
        .commits
        .iter()
        .all(|commit| commit.version >= before);
    Ok(no_commits && oldest.is_some_and(|oldest| oldest >= before))
}

/// The feature left the newest version; the protocol follows when the history has expired.
pub(super) fn wait(feature: &str, metadata: &Metadata) -> DeltaError {
    retention_error(
        "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD",
        feature,
        metadata,
    )
}

/// Old versions still use the feature.
pub(super) fn still_there(feature: &str, metadata: &Metadata) -> DeltaError {
    retention_error(
        "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST",
        feature,
        metadata,
    )
}

fn retention_error(class: &'static str, feature: &str, metadata: &Metadata) -> DeltaError {
    DeltaError::new(class)
        .param("feature", feature)
        .param("logRetentionPeriodKey", key::LOG_RETENTION)
        .param("logRetentionPeriod", shown(metadata, key::LOG_RETENTION))
        .param(
            "truncateHistoryLogRetentionPeriod",
            shown(metadata, TRUNCATE_RETENTION),
        )
}

/// A retention as the reference prints it: `30 days`.
fn shown(metadata: &Metadata, key: &str) -> String {
    let text = text(metadata, key);
    CalendarInterval::parse_property(&text).map_or(text, |interval| interval.to_string())
}

fn text(metadata: &Metadata, key: &str) -> String {
    let default = TableProperty::find(key).and_then(|property| property.default);
    let own = metadata.configuration.get(key).map(String::as_str);
    own.or(default).unwrap_or_default().to_owned()
}

fn truncate_retention_ms(metadata: &Metadata) -> Result<i64> {
    let interval = CalendarInterval::parse_property(&text(metadata, TRUNCATE_RETENTION))?;
    Ok(interval.to_millis())
}
