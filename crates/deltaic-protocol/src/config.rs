//! Typed view of a table's properties and protocol. Values are read when they are asked for, so that a bad text in one property does
//! not stand in the way of the others.

#[cfg(test)]
mod tests;

use crate::action::{Metadata, Protocol};
use crate::error::{DeltaError, Result};
use crate::feature::{check_readable, check_writable};
use crate::interval::CalendarInterval;
use crate::properties::{CONSTRAINT_PREFIX, TableProperty, key, parse_boolean};
use std::collections::BTreeMap;

/// How columns are found in data files (protocol: "Column Mapping").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ColumnMappingMode {
    /// By their names.
    #[default]
    None,
    /// By physical name.
    Name,
    /// By Parquet field id.
    Id,
}

impl ColumnMappingMode {
    /// As in the property.
    pub fn as_str(self) -> &'static str {
        match self {
            ColumnMappingMode::None => "none",
            ColumnMappingMode::Name => "name",
            ColumnMappingMode::Id => "id",
        }
    }
}

/// Properties and protocol of one version of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableConfig {
    configuration: BTreeMap<String, String>,
    protocol: Protocol,
}

fn bad_value(property: &str, value: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.lang.IllegalArgumentException",
        format!("For input string: \"{value}\""),
    )
    .with_hint(format!(
        "Set the table property {property} to a valid value."
    ))
}

impl TableConfig {
    /// The view of a version.
    pub fn new(metadata: &Metadata, protocol: &Protocol) -> Self {
        TableConfig {
            configuration: metadata.configuration.clone(),
            protocol: protocol.clone(),
        }
    }

    /// The protocol.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// The stored properties.
    pub fn configuration(&self) -> &BTreeMap<String, String> {
        &self.configuration
    }

    /// Whether the protocol supports a feature.
    pub fn supports(&self, feature: &str) -> bool {
        self.protocol.supports(feature)
    }

    /// Whether this project can read the table; see [`check_readable`].
    pub fn check_readable(&self, table: &str, delta_version: &str) -> Result<()> {
        check_readable(&self.protocol, table, delta_version)
    }

    /// Whether this project can write the table; see [`check_writable`].
    pub fn check_writable(&self, table: &str, delta_version: &str) -> Result<()> {
        check_writable(&self.protocol, table, delta_version)
    }

    /// Text of a property: stored, else the default.
    pub fn get(&self, key: &str) -> Option<&str> {
        let stored = self.configuration.get(key).map(String::as_str);
        stored.or_else(|| TableProperty::find(key).and_then(|property| property.default))
    }

    /// A boolean property. Fails if the stored text is none.
    pub fn boolean(&self, key: &str) -> Result<bool> {
        let text = self.get(key).unwrap_or("false");
        parse_boolean(text.trim()).ok_or_else(|| bad_value(key, text))
    }

    /// A number, where there is one. Fails if the stored text is none.
    pub fn number(&self, key: &str) -> Result<Option<i64>> {
        self.get(key)
            .map(|text| text.trim().parse().map_err(|_| bad_value(key, text)))
            .transpose()
    }

    /// An interval, where there is one. Fails if the stored text is none.
    pub fn interval(&self, key: &str) -> Result<Option<CalendarInterval>> {
        self.get(key)
            .map(CalendarInterval::parse_property)
            .transpose()
    }

    fn interval_or_default(&self, key: &str) -> Result<CalendarInterval> {
        Ok(self.interval(key)?.unwrap_or_default())
    }

    /// How long removed files are kept.
    pub fn deleted_file_retention(&self) -> Result<CalendarInterval> {
        self.interval_or_default(key::DELETED_FILE_RETENTION)
    }

    /// How long commits are kept.
    pub fn log_retention(&self) -> Result<CalendarInterval> {
        self.interval_or_default(key::LOG_RETENTION)
    }

    /// How long checkpoints are kept: named in an error text.
    pub fn checkpoint_retention(&self) -> Result<CalendarInterval> {
        self.interval_or_default(key::CHECKPOINT_RETENTION)
    }

    /// How long transaction ids are kept; none for ever.
    pub fn set_transaction_retention(&self) -> Result<Option<CalendarInterval>> {
        self.interval(key::SET_TRANSACTION_RETENTION)
    }

    /// Commits between checkpoints, at least 1.
    pub fn checkpoint_interval(&self) -> Result<i64> {
        Ok(self.number(key::CHECKPOINT_INTERVAL)?.unwrap_or(10).max(1))
    }

    /// Whether the policy asks for V2 checkpoints.
    pub fn wants_v2_checkpoints(&self) -> bool {
        self.get(key::CHECKPOINT_POLICY)
            .is_some_and(|policy| policy.eq_ignore_ascii_case("v2"))
    }

    pub fn write_stats_as_json(&self) -> Result<bool> {
        self.boolean(key::WRITE_STATS_AS_JSON)
    }

    pub fn write_stats_as_struct(&self) -> Result<bool> {
        self.boolean(key::WRITE_STATS_AS_STRUCT)
    }

    pub fn expired_log_cleanup(&self) -> Result<bool> {
        self.boolean(key::ENABLE_EXPIRED_LOG_CLEANUP)
    }

    pub fn is_append_only(&self) -> Result<bool> {
        self.boolean(key::APPEND_ONLY)
    }

    /// Whether new deletion vectors may be written.
    pub fn deletion_vectors_enabled(&self) -> Result<bool> {
        Ok(self.supports("deletionVectors") && self.boolean(key::ENABLE_DELETION_VECTORS)?)
    }

    pub fn change_data_feed_enabled(&self) -> Result<bool> {
        self.boolean(key::ENABLE_CHANGE_DATA_FEED)
    }

    pub fn in_commit_timestamps_enabled(&self) -> Result<bool> {
        Ok(self.supports("inCommitTimestamp") && self.boolean(key::ENABLE_IN_COMMIT_TIMESTAMPS)?)
    }

    /// First version with an in-commit timestamp and that timestamp, where the feature came after version 0.
    pub fn in_commit_timestamp_enablement(&self) -> Result<Option<(i64, i64)>> {
        let version = self.number(key::IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION)?;
        let timestamp = self.number(key::IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP)?;
        Ok(version.zip(timestamp))
    }

    /// Whether ids of rows are preserved; ids of files are assigned as soon as the feature is supported.
    pub fn row_tracking_enabled(&self) -> Result<bool> {
        self.boolean(key::ENABLE_ROW_TRACKING)
    }

    /// Whether new files get row ids.
    pub fn assigns_row_ids(&self) -> Result<bool> {
        Ok(self.supports("rowTracking") && !self.boolean(key::ROW_TRACKING_SUSPENDED)?)
    }

    pub fn type_widening_enabled(&self) -> Result<bool> {
        self.boolean(key::ENABLE_TYPE_WIDENING)
    }

    /// The mode of column mapping. Counts only if the protocol supports the feature.
    pub fn column_mapping_mode(&self) -> Result<ColumnMappingMode> {
        let text = self.get(key::COLUMN_MAPPING_MODE).unwrap_or("none");
        match text.to_ascii_lowercase().as_str() {
            _ if !self.supports("columnMapping") => Ok(ColumnMappingMode::None),
            "none" => Ok(ColumnMappingMode::None),
            "name" => Ok(ColumnMappingMode::Name),
            "id" => Ok(ColumnMappingMode::Id),
            _ => Err(bad_value(key::COLUMN_MAPPING_MODE, text)),
        }
    }

    /// Highest column id given so far.
    pub fn column_mapping_max_id(&self) -> Result<i64> {
        Ok(self.number(key::COLUMN_MAPPING_MAX_ID)?.unwrap_or(0))
    }

    /// Number of leaf columns with statistics; none for all.
    pub fn num_indexed_columns(&self) -> Result<Option<usize>> {
        let number = self
            .number(key::DATA_SKIPPING_NUM_INDEXED_COLS)?
            .unwrap_or(32);
        Ok(usize::try_from(number).ok())
    }

    /// The text of the list of columns with statistics.
    pub fn stats_columns(&self) -> Option<&str> {
        self.get(key::DATA_SKIPPING_STATS_COLUMNS)
    }

    /// Characters of a string kept in statistics, where the table says so.
    pub fn string_prefix_length(&self) -> Result<Option<usize>> {
        let number = self.number(key::DATA_SKIPPING_STRING_PREFIX_LENGTH)?;
        Ok(number.and_then(|number| usize::try_from(number).ok()))
    }

    /// Length of random folder names; none where files are not spread.
    pub fn random_prefix_length(&self) -> Result<Option<usize>> {
        if !self.boolean(key::RANDOMIZE_FILE_PREFIXES)? {
            return Ok(None);
        }
        let number = self.number(key::RANDOM_PREFIX_LENGTH)?.unwrap_or(2);
        Ok(usize::try_from(number).ok())
    }

    /// Versions below this one keep their checkpoints.
    pub fn checkpoint_protection_before(&self) -> Result<i64> {
        let number = self.number(key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION)?;
        Ok(number.unwrap_or(0))
    }

    /// CHECK constraints: name and SQL, by name.
    pub fn check_constraints(&self) -> Vec<(&str, &str)> {
        self.configuration
            .iter()
            .filter_map(|(key, sql)| {
                let head = key.get(..CONSTRAINT_PREFIX.len())?;
                let name = key.get(CONSTRAINT_PREFIX.len()..)?;
                head.eq_ignore_ascii_case(CONSTRAINT_PREFIX)
                    .then_some((name, sql.as_str()))
            })
            .collect()
    }
}
