//! From the bounds of a request to versions: start and end are inclusive; the start is the first version that is not before a
//! moment, the end the last one that is not after it.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::timestamp::Zone;

use crate::Version;
use crate::history::{VersionAt, version_at_timestamp};
use crate::snapshot::Snapshot;

/// A bound of a range of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeBound {
    /// A version.
    Version(Version),
    /// A moment, milliseconds since 1970-01-01 UTC.
    Timestamp(i64),
}

/// A range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeRange {
    /// No version lies in it.
    Empty,
    /// From one version to another, both inclusive; no end means the newest.
    Versions {
        /// The first version.
        start: Version,
        /// The last one; it may lie behind the newest.
        end: Option<Version>,
    },
}

/// A bound and the version that it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resolved {
    pub version: Version,
    /// The moment it came from.
    pub moment: Option<i64>,
}

/// The versions that two bounds mean. `latest` is the newest version; times in error texts are shown in `zone`. With
/// `beyond_latest`, moments and versions after the newest version are no error: a start there means no changes.
///
/// # Errors
/// `DELTA_CDC_START_VERSION_AFTER_LATEST`, `DELTA_INVALID_CDC_RANGE`, `DELTA_TIMESTAMP_GREATER_THAN_COMMIT`,
/// `DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION` (of an end), or a log that cannot be read.
pub async fn resolve_range(
    latest: &Snapshot,
    start: ChangeBound,
    end: Option<ChangeBound>,
    zone: &Zone,
    beyond_latest: bool,
) -> Result<ChangeRange> {
    let start = match start {
        ChangeBound::Version(version) => plain(version),
        ChangeBound::Timestamp(moment) => {
            let at = version_at_timestamp(latest, moment).await?;
            from_moment(first_from(at, moment, zone, beyond_latest)?, moment)
        }
    };
    let end = match end {
        None => None,
        Some(ChangeBound::Version(version)) => Some(plain(version)),
        Some(ChangeBound::Timestamp(moment)) => {
            let at = version_at_timestamp(latest, moment).await?;
            Some(from_moment(
                last_until(at, moment, zone, beyond_latest)?,
                moment,
            ))
        }
    };
    decide(start, end, latest.version(), beyond_latest)
}

fn plain(version: Version) -> Resolved {
    Resolved {
        version,
        moment: None,
    }
}

fn from_moment(version: Version, moment: i64) -> Resolved {
    Resolved {
        version,
        moment: Some(moment),
    }
}

/// The first version that is not before a moment.
pub(super) fn first_from(
    at: VersionAt,
    moment: i64,
    zone: &Zone,
    beyond_latest: bool,
) -> Result<Version> {
    match at {
        VersionAt::Found(commit) if commit.timestamp >= moment => Ok(commit.version),
        VersionAt::Found(commit) => Ok(commit.version + 1),
        VersionAt::BeforeEarliest(first) => Ok(first.version),
        VersionAt::AfterLatest(last) if beyond_latest => Ok(last.version + 1),
        VersionAt::AfterLatest(_) => at.into_version(moment, zone),
    }
}

/// The last version that is not after a moment.
pub(super) fn last_until(
    at: VersionAt,
    moment: i64,
    zone: &Zone,
    beyond_latest: bool,
) -> Result<Version> {
    match at {
        VersionAt::AfterLatest(last) if beyond_latest => Ok(last.version),
        _ => at.into_version(moment, zone),
    }
}

/// Checks the bounds against the newest version and against each other.
pub(super) fn decide(
    start: Resolved,
    end: Option<Resolved>,
    latest: Version,
    beyond_latest: bool,
) -> Result<ChangeRange> {
    if start.version > latest {
        if beyond_latest {
            return Ok(ChangeRange::Empty);
        }
        return Err(DeltaError::new("DELTA_CDC_START_VERSION_AFTER_LATEST")
            .param("start", start.version)
            .param("latest", latest)
            .with_version(start.version));
    }
    let Some(end) = end else {
        return Ok(ChangeRange::Versions {
            start: start.version,
            end: None,
        });
    };
    let invalid = || {
        DeltaError::new("DELTA_INVALID_CDC_RANGE")
            .param("start", start.version)
            .param("end", end.version)
    };
    if let (Some(from), Some(to)) = (start.moment, end.moment) {
        if from > to {
            return Err(invalid());
        }
        // Both moments lie between two commits.
        if end.version + 1 == start.version {
            return Ok(ChangeRange::Empty);
        }
    }
    if end.version < start.version {
        return Err(invalid());
    }
    Ok(ChangeRange::Versions {
        start: start.version,
        end: Some(end.version),
    })
}
