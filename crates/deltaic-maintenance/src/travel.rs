//! From a version or timestamp to a version of the table, and the retention wall (spec: delta, sections 3.2 and 3.3).
//!
//! The rules are pure functions over the commits' times; [`resolve`] reads those times and applies them.

#[cfg(test)]
mod tests;

use deltaic_command::TimeTravel;
use deltaic_log::Snapshot;
use deltaic_log::history::{self, CommitTime, VersionAt};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::timestamp::{Zone, format_java_timestamp, format_java_timestamp_short};

const HOUR_MS: i64 = 3_600_000;

/// Which statement travels; the errors differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TravelForm {
    /// A query.
    Read,
    /// RESTORE.
    Restore,
}

/// What the session decides about time travel.
#[derive(Debug, Clone)]
pub struct TravelOptions {
    /// The zone of the timestamps in error texts.
    pub zone: Zone,
    /// `spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration`; off in releases that do not
    /// know it.
    pub wall: bool,
    /// The present, milliseconds since 1970-01-01 UTC.
    pub now_ms: i64,
}

/// The version that is meant, checked against what can be read and against the retention wall. `latest` is the newest
/// snapshot.
///
/// # Errors
/// A version outside of what can be read; a time before the first or after the last commit; a version beyond the wall; a log
/// that cannot be listed.
pub async fn resolve(
    latest: &Snapshot,
    to: &TimeTravel,
    form: TravelForm,
    options: &TravelOptions,
) -> Result<i64> {
    let store = latest.store();
    let located = |error: DeltaError| error.with_path(store.root().to_string());
    let (version, mut time) = match to {
        TimeTravel::Version(version) => {
            let (earliest, newest) = history::available_versions(store).await?;
            // Somebody may have committed since the snapshot was taken; it is the newest version all the same.
            let available = (earliest, newest.min(latest.version()));
            (
                check_version(*version, available, form).map_err(located)?,
                None,
            )
        }
        TimeTravel::Timestamp { micros, .. } => {
            let ms = micros.div_euclid(1000);
            let at = history::version_at_timestamp(latest, ms).await?;
            let found = check_time(ms, at, form, &options.zone).map_err(located)?;
            (found.version, Some(found.timestamp))
        }
    };
    if options.wall && version != latest.version() {
        if time.is_none() {
            time = Some(history::commit_timestamp(latest, version).await?);
        }
        let retention = latest.config().deleted_file_retention()?.to_millis();
        check_wall(latest.version(), version, time, retention, options.now_ms).map_err(located)?;
    }
    Ok(version)
}

/// Refuses a version outside of what can be read.
///
/// # Errors
/// `DELTA_VERSION_NOT_FOUND`, for RESTORE `DELTA_CANNOT_RESTORE_TABLE_VERSION`.
pub fn check_version(version: i64, available: (i64, i64), form: TravelForm) -> Result<i64> {
    let (earliest, latest) = available;
    if (earliest..=latest).contains(&version) {
        Ok(version)
    } else {
        Err(no_such_version(version, available, form))
    }
}

/// Refuses a moment before the first or after the last commit.
///
/// # Errors
/// `DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION` and `DELTA_TIMESTAMP_GREATER_THAN_COMMIT`, for RESTORE
/// `DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER` and `DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER`.
pub fn check_time(ms: i64, at: VersionAt, form: TravelForm, zone: &Zone) -> Result<CommitTime> {
    match at {
        VersionAt::Found(commit) => Ok(commit),
        VersionAt::BeforeEarliest(first) => Err(too_early(ms, first.timestamp, form, zone)),
        VersionAt::AfterLatest(last) => Err(too_late(ms, last.timestamp, form, zone)),
    }
}

/// Refuses a version that is not the newest and was committed longer ago than deleted files are kept.
///
/// # Errors
/// `DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION`.
pub fn check_wall(
    latest: i64,
    version: i64,
    committed_ms: Option<i64>,
    retention_ms: i64,
    now_ms: i64,
) -> Result<()> {
    let beyond = committed_ms.is_some_and(|time| time < now_ms.saturating_sub(retention_ms));
    if version == latest || !beyond {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION")
        .param("deletedFileRetention", retention_ms.div_euclid(HOUR_MS))
        .with_hint(
            "raise delta.deletedFileRetentionDuration of the table, or set \
             spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration to false while the files are \
             still there",
        ))
}

fn no_such_version(version: i64, (earliest, latest): (i64, i64), form: TravelForm) -> DeltaError {
    let error = match form {
        TravelForm::Read => DeltaError::new("DELTA_VERSION_NOT_FOUND")
            .param("userVersion", version)
            .param("earliest", earliest)
            .param("latest", latest),
        TravelForm::Restore => DeltaError::new("DELTA_CANNOT_RESTORE_TABLE_VERSION")
            .param("version", version)
            .param("startVersion", earliest)
            .param("endVersion", latest),
    };
    error.with_version(version)
}

fn too_early(ms: i64, first_ms: i64, form: TravelForm, zone: &Zone) -> DeltaError {
    let (asked, first) = (
        format_java_timestamp(ms, zone),
        format_java_timestamp(first_ms, zone),
    );
    match form {
        TravelForm::Read => DeltaError::new("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION")
            .param("userTimestamp", asked)
            .param("commitTs", first)
            .param(
                "timestampString",
                format_java_timestamp_short(first_ms, zone),
            ),
        TravelForm::Restore => DeltaError::new("DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER")
            .param("requestedTimestamp", asked)
            .param("earliestTimestamp", first),
    }
}

fn too_late(ms: i64, last_ms: i64, form: TravelForm, zone: &Zone) -> DeltaError {
    let (asked, last) = (
        format_java_timestamp(ms, zone),
        format_java_timestamp(last_ms, zone),
    );
    match form {
        TravelForm::Read => DeltaError::new("DELTA_TIMESTAMP_GREATER_THAN_COMMIT")
            .param("providedTimestamp", asked)
            .param("tableName", last)
            .param(
                "maximumTimestamp",
                format_java_timestamp_short(last_ms, zone),
            ),
        TravelForm::Restore => DeltaError::new("DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER")
            .param("requestedTimestamp", asked)
            .param("latestTimestamp", last),
    }
}
