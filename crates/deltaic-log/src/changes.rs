//! The change feed of a table: which versions a range means, which files of each commit hold its changes, and whether the
//! range can be read with one schema (protocol section "Add CDC File").
//!
//! A commit that has files of changes is read from those alone. Of any other commit the rows of added files were inserted
//! and those of removed files deleted; where one file is both, the difference of its deletion vectors tells.

mod compatible;
mod files;
mod names;
mod range;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use deltaic_protocol::Action;
use deltaic_protocol::action::{CommitInfo, Metadata};
use deltaic_protocol::config::{ColumnMappingMode, TableConfig};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;
use futures::{StreamExt, TryStreamExt};

use crate::Version;
use crate::commit::read_commit;
use crate::history::{CommitTime, in_commit_since, monotonic_times};
use crate::listing::list_log;
use crate::snapshot::Snapshot;

pub use files::{ChangeKind, ChangedFile};
pub use names::check_change_columns;
pub use range::{ChangeBound, ChangeRange, resolve_range};

/// The column that says what happened to a row: `insert`, `delete`, `update_preimage` or `update_postimage`.
pub const CHANGE_TYPE: &str = "_change_type";
/// The column with the version that changed a row.
pub const COMMIT_VERSION: &str = "_commit_version";
/// The column with the time of that version.
pub const COMMIT_TIMESTAMP: &str = "_commit_timestamp";

/// Commits that are read at the same time.
const CONCURRENCY: usize = 16;
/// How many commits before the range are looked at for times: files of earlier ones may bear later times.
const TIMES_BEFORE: Version = 100;

/// With which version's schema the changes of a table with column mapping are read. Those of other tables have the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChangeSchema {
    /// That of the last version of the range.
    #[default]
    EndVersion,
    /// That of the newest version.
    Latest,
}

/// How changes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeOptions {
    /// The schema of the rows.
    pub schema: ChangeSchema,
    /// Read across changes of the schema that do not fit the rows' schema.
    pub allow_incompatible: bool,
}

/// What one commit changed.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitChanges {
    /// The version.
    pub version: Version,
    /// When it was made, milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
    /// The files that hold the changed rows.
    pub files: Vec<ChangedFile>,
}

/// The changes of a range of versions.
#[derive(Debug, Clone)]
pub struct ChangeFeed {
    /// The version with whose schema rows are read.
    schema: Snapshot,
    /// The first version.
    first: Snapshot,
    /// The last version as it was asked for; it may lie behind the newest one.
    end: Version,
    /// The last version that is there.
    last: Version,
    /// From which version on in-commit timestamps count.
    recorded_since: Option<Version>,
    allow_incompatible: bool,
}

impl ChangeFeed {
    /// The feed from `start` to `end`, both inclusive; no end means the newest version, which `latest` is.
    ///
    /// # Errors
    /// `DELTA_INVALID_CDC_RANGE`; `DELTA_VERSION_NOT_FOUND` where the first version cannot be read; a log that cannot be read.
    pub async fn open(
        latest: &Snapshot,
        start: Version,
        end: Option<Version>,
        options: ChangeOptions,
    ) -> Result<ChangeFeed> {
        let end = end.unwrap_or(latest.version());
        if end < start {
            return Err(DeltaError::new("DELTA_INVALID_CDC_RANGE")
                .param("start", start)
                .param("end", end));
        }
        let last = end.min(latest.version());
        let first = latest.at_version(start).await?;
        let mut at_end = None;
        if options.schema == ChangeSchema::EndVersion && last != latest.version() {
            let snapshot = latest.at_version(last).await?;
            let mapped = [latest, &first, &snapshot]
                .map(|s| s.config().column_mapping_mode())
                .into_iter()
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .any(|mode| mode != ColumnMappingMode::None);
            at_end = mapped.then_some(snapshot);
        }
        Ok(ChangeFeed {
            schema: at_end.unwrap_or_else(|| latest.clone()),
            first,
            end,
            last,
            recorded_since: in_commit_since(latest)?,
            allow_incompatible: options.allow_incompatible,
        })
    }

    /// The version with whose schema rows are read.
    pub fn schema_snapshot(&self) -> &Snapshot {
        &self.schema
    }

    /// The versions of the range that are there.
    pub fn versions(&self) -> RangeInclusive<Version> {
        self.first.version()..=self.last
    }

    /// The versions of the range and their times by file, ascending. In-commit timestamps are not read here; see
    /// [`has_recorded_times`](Self::has_recorded_times).
    ///
    /// # Errors
    /// The log cannot be listed, or a commit of the range has gone.
    pub async fn times(&self) -> Result<Vec<CommitTime>> {
        let (from, to) = (self.first.version(), self.last);
        let listing = list_log(
            self.schema.store(),
            from.saturating_sub(TIMES_BEFORE),
            Some(to),
        )
        .await?;
        let mut times = monotonic_times(&listing.commits);
        times.retain(|time| self.versions().contains(&time.version));
        let whole = times
            .iter()
            .zip(from..)
            .all(|(time, version)| time.version == version);
        if whole && times.last().map(|time| time.version) == Some(to) {
            return Ok(times);
        }
        let versions: Vec<String> = times.iter().map(|t| t.version.to_string()).collect();
        Err(DeltaError::new("DELTA_VERSIONS_NOT_CONTIGUOUS")
            .param("versionList", versions.join(", "))
            .param("startVersion", from)
            .param("endVersion", to)
            .param("versionToLoad", to)
            .with_path(self.schema.store().root().to_string()))
    }

    /// Whether some commits of the range have a time of their own, other than that of their files.
    pub fn has_recorded_times(&self) -> bool {
        self.recorded_since.is_some_and(|since| self.last >= since)
    }

    /// Reads the commits of `times` (a part of the range without gaps) as a stream and hands each one's changes to `take`, in
    /// their order. Nothing before them is replayed.
    ///
    /// # Errors
    /// `DELTA_MISSING_CHANGE_DATA` where the feed was off; `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE` and
    /// `…_DATA_SCHEMA` where rows do not fit the schema; a commit that cannot be read.
    pub async fn read(
        &self,
        times: &[CommitTime],
        mut take: impl FnMut(CommitChanges) -> Result<()>,
    ) -> Result<()> {
        let start = self.first.version();
        self.check_recorded(self.first.metadata(), self.first.config(), start)?;
        let Some(from) = times.first().map(|time| time.version) else {
            return self.check_data(self.first.metadata(), start);
        };
        let begin = match from == start {
            true => self.first.clone(),
            false => self.schema.at_version(from).await?,
        };
        self.check_recorded(begin.metadata(), begin.config(), from)?;
        let store = self.schema.store();
        let mut commits = futures::stream::iter(times.iter().copied())
            .map(|time| async move {
                read_commit(store, time.version)
                    .await
                    .map(|actions| (time, actions))
            })
            .buffered(CONCURRENCY);
        while let Some((time, actions)) = commits.try_next().await? {
            self.check_commit(time.version, begin.version(), &actions)?;
            if time.version == begin.version() {
                self.check_removed(time.version, &actions).await?;
            }
            take(self.changes(time, actions)?)?;
        }
        self.check_data(begin.metadata(), begin.version())
    }

    fn changes(&self, time: CommitTime, actions: Vec<Action>) -> Result<CommitChanges> {
        let info = actions.iter().find_map(|action| match action {
            Action::CommitInfo(info) => Some(info.as_ref()),
            _ => None,
        });
        let timestamp = self.timestamp(time, info)?;
        let files = files::changed_files(self.schema.store().root(), actions)
            .map_err(|error| error.with_version(time.version))?;
        Ok(CommitChanges {
            version: time.version,
            timestamp,
            files,
        })
    }

    fn timestamp(&self, time: CommitTime, info: Option<&CommitInfo>) -> Result<i64> {
        if self.recorded_since.is_none_or(|since| time.version < since) {
            return Ok(time.timestamp);
        }
        let missing = |class: &'static str| {
            DeltaError::new(class)
                .param("featureName", "inCommitTimestamp")
                .param("version", time.version)
                .with_version(time.version)
        };
        match info {
            None => Err(missing("DELTA_MISSING_COMMIT_INFO")),
            Some(info) => info
                .in_commit_timestamp
                .ok_or_else(|| missing("DELTA_MISSING_COMMIT_TIMESTAMP")),
        }
    }

    fn check_commit(&self, version: Version, begin: Version, actions: &[Action]) -> Result<()> {
        for action in actions {
            let Action::Metadata(metadata) = action else {
                continue;
            };
            let config = TableConfig::new(metadata, self.schema.protocol());
            self.check_recorded(metadata, &config, version)?;
            // What a commit brings itself has its own schema; only rows before it may not fit.
            if version > begin && !self.fits(metadata, version)? {
                return Err(self
                    .incompatible("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE", version)
                    .with_hint(
                        "read the changes up to that version and those from it on separately",
                    ));
            }
        }
        Ok(())
    }

    /// That the rows which the first commit of the range takes away fit the schema: they are of the version before it. In later
    /// commits that version is in the range itself.
    async fn check_removed(&self, version: Version, actions: &[Action]) -> Result<()> {
        let brings_schema = actions.iter().any(|a| matches!(a, Action::Metadata(_)));
        let removes = actions
            .iter()
            .any(|a| matches!(a, Action::Remove(remove) if remove.data_change));
        if version == 0 || !brings_schema || !removes || self.allow_incompatible {
            return Ok(());
        }
        let before = self.schema.at_version(version - 1).await?;
        self.check_data(before.metadata(), version - 1)
    }

    fn check_recorded(
        &self,
        metadata: &Metadata,
        config: &TableConfig,
        version: Version,
    ) -> Result<()> {
        if config.change_data_feed_enabled()? {
            return Ok(());
        }
        let error = DeltaError::new("DELTA_MISSING_CHANGE_DATA")
            .param("startVersion", self.first.version())
            .param("endVersion", self.end)
            .param("version", version)
            .param("key", key::ENABLE_CHANGE_DATA_FEED)
            .with_version(version);
        Err(match &metadata.name {
            Some(name) => error.with_table(name),
            None => error,
        })
    }

    fn check_data(&self, metadata: &Metadata, version: Version) -> Result<()> {
        if self.fits(metadata, version)? {
            return Ok(());
        }
        Err(self
            .incompatible("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA", version)
            .param(
                "config",
                "spark.databricks.delta.changeDataFeed.defaultSchemaModeForColumnMappingTable",
            ))
    }

    fn fits(&self, metadata: &Metadata, version: Version) -> Result<bool> {
        if self.allow_incompatible {
            return Ok(true);
        }
        let read = (self.schema.metadata().as_ref(), self.schema.version());
        compatible::fits(read, (metadata, version))
    }

    fn incompatible(&self, class: &'static str, version: Version) -> DeltaError {
        DeltaError::new(class)
            .param("start", self.first.version())
            .param("end", self.end)
            .param("readSchema", self.schema.schema().to_json())
            .param("readVersion", self.schema.version())
            .param("incompatibleVersion", version)
            .with_version(version)
    }
}
