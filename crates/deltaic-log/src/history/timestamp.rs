//! Time travel by timestamp: the version that stood at a moment.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::timestamp::{Zone, format_java_timestamp, format_java_timestamp_short};

use deltaic_storage::TableStore;

use super::{
    CommitTime, in_commit_since, in_commit_timestamp, monotonic_times, no_commits, records_times,
};
use crate::Version;
use crate::listing::{LogListing, list_log};
use crate::segment::recreatable_range;
use crate::snapshot::Snapshot;

/// Which version stood at a moment. The two misses carry the commit at the edge, for the caller's error text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionAt {
    /// The newest commit that is not later.
    Found(CommitTime),
    /// The moment lies before the earliest version that can be read.
    BeforeEarliest(CommitTime),
    /// The moment lies after the latest commit.
    AfterLatest(CommitTime),
}

impl VersionAt {
    /// The version, a miss as the error that a query raises. `timestamp` is what was asked for; texts use `zone`.
    ///
    /// # Errors
    /// `DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION` and `DELTA_TIMESTAMP_GREATER_THAN_COMMIT`.
    pub fn into_version(self, timestamp: i64, zone: &Zone) -> Result<Version> {
        let asked = format_java_timestamp(timestamp, zone);
        match self {
            Self::Found(found) => Ok(found.version),
            Self::BeforeEarliest(edge) => Err(DeltaError::new(
                "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
            )
            .param("userTimestamp", asked)
            .param("commitTs", format_java_timestamp(edge.timestamp, zone))
            .param(
                "timestampString",
                format_java_timestamp_short(edge.timestamp, zone),
            )
            .with_version(edge.version)),
            Self::AfterLatest(edge) => {
                let latest = format_java_timestamp(edge.timestamp, zone);
                let short = format_java_timestamp_short(edge.timestamp, zone);
                Err(DeltaError::new("DELTA_TIMESTAMP_GREATER_THAN_COMMIT")
                    .param("providedTimestamp", asked)
                    .param("tableName", latest)
                    .param("maximumTimestamp", short)
                    .with_version(edge.version))
            }
        }
    }
}

/// The same as [`version_at_timestamp`] of the newest snapshot, which is put together only if the table keeps in-commit timestamps.
///
/// # Errors
/// The log cannot be read; `DELTA_NO_COMMITS_FOUND` where there is none.
pub async fn latest_version_at(store: &TableStore, timestamp: i64) -> Result<VersionAt> {
    let listing = list_log(store, 0, None).await?;
    let (Some((earliest, _)), Some(newest)) = (recreatable_range(&listing), listing.newest())
    else {
        return Err(no_commits(store));
    };
    let by_file = file_times(&listing, earliest);
    let found = match records_times(store, newest).await? {
        true => None,
        false => among(&by_file, timestamp),
    };
    match found {
        Some(found) => Ok(found),
        None => version_at_timestamp(&Snapshot::load(store, Some(newest)).await?, timestamp).await,
    }
}

/// The times of the commits from the earliest version that can be read.
fn file_times(listing: &LogListing, earliest: Version) -> Vec<CommitTime> {
    monotonic_times(&listing.commits)
        .into_iter()
        .filter(|t| t.version >= earliest)
        .collect()
}

/// Looks up the version that stood at `timestamp` (milliseconds since 1970-01-01 UTC). `latest` is the newest snapshot.
///
/// # Errors
/// The log cannot be read.
pub async fn version_at_timestamp(latest: &Snapshot, timestamp: i64) -> Result<VersionAt> {
    let store = latest.store();
    let listing = list_log(store, 0, Some(latest.version())).await?;
    let Some((earliest, _)) = recreatable_range(&listing) else {
        return Err(no_commits(store));
    };
    let by_file = file_times(&listing, earliest);
    let Some(since) = in_commit_since(latest)? else {
        return Ok(among(&by_file, timestamp).unwrap_or_else(|| before_all(&by_file, latest)));
    };

    // Two eras: files' times before the enablement, recorded times from it on.
    let recorded: Vec<Version> = by_file
        .iter()
        .map(|t| t.version)
        .filter(|v| *v >= since)
        .collect();
    let older: Vec<CommitTime> = by_file
        .iter()
        .copied()
        .filter(|t| t.version < since)
        .collect();
    let (Some(first), Some(last)) = (recorded.first(), recorded.last()) else {
        return Ok(among(&older, timestamp).unwrap_or_else(|| before_all(&older, latest)));
    };
    let newest = CommitTime {
        version: *last,
        timestamp: in_commit_timestamp(store, *last).await?,
    };
    if timestamp > newest.timestamp {
        return Ok(VersionAt::AfterLatest(newest));
    }
    let oldest = CommitTime {
        version: *first,
        timestamp: in_commit_timestamp(store, *first).await?,
    };
    if timestamp < oldest.timestamp {
        return Ok(match (among(&older, timestamp), older.last()) {
            // Between the last file time and the enablement the last older version stood.
            (Some(VersionAt::AfterLatest(_)), Some(last)) => VersionAt::Found(*last),
            (Some(found), _) => found,
            (None, _) => VersionAt::BeforeEarliest(oldest),
        });
    }
    let (mut low, mut high) = (0, recorded.len()); // recorded[low] is not later; recorded[high] is
    let mut best = oldest;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let time = CommitTime {
            version: recorded[middle],
            timestamp: in_commit_timestamp(store, recorded[middle]).await?,
        };
        if time.timestamp <= timestamp {
            (low, best) = (middle, time);
        } else {
            high = middle;
        }
    }
    Ok(VersionAt::Found(best))
}

/// The lookup among ascending times; `None` if there are none.
pub(super) fn among(times: &[CommitTime], timestamp: i64) -> Option<VersionAt> {
    let (first, last) = (times.first()?, times.last()?);
    if timestamp > last.timestamp {
        return Some(VersionAt::AfterLatest(*last));
    }
    let later = times.partition_point(|t| t.timestamp <= timestamp);
    Some(match later.checked_sub(1) {
        Some(at) => VersionAt::Found(times[at]),
        None => VersionAt::BeforeEarliest(*first),
    })
}

/// The answer where no commit file is left beside the checkpoint.
fn before_all(times: &[CommitTime], latest: &Snapshot) -> VersionAt {
    let edge = CommitTime {
        version: latest.version(),
        timestamp: i64::MAX,
    };
    VersionAt::BeforeEarliest(times.first().copied().unwrap_or(edge))
}
