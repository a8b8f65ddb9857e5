//! What a TBLPROPERTIES clause asks for, taken apart: properties to store, features, protocol versions, a description.

use super::{CONSTRAINT_PREFIX, DELTA_PREFIX, TableProperty, key, parse_boolean, rules};
use crate::error::{DeltaError, Result};
use crate::feature::{FEATURE_PREFIX, ProtocolUpgrade, TableFeature};
use std::collections::BTreeMap;

/// Settings that change the rules.
#[derive(Debug, Clone, Copy)]
pub struct PropertyRules {
    /// `spark.databricks.delta.allowArbitraryProperties.enabled`: unknown `delta.` keys are stored as they are.
    pub allow_arbitrary: bool,
    /// `spark.databricks.delta.vacuum.enforceDeletedFileAndLogRetentionDurationCompatibility`; the older release has no such rule.
    pub enforce_retentions: bool,
}

impl Default for PropertyRules {
    fn default() -> Self {
        PropertyRules {
            allow_arbitrary: false,
            enforce_retentions: true,
        }
    }
}

/// A checked TBLPROPERTIES clause.
#[derive(Debug, Clone, Default)]
pub struct PropertyChanges {
    /// For `metaData.configuration`: canonical keys, values as typed.
    pub stored: BTreeMap<String, String>,
    /// Features and versions for the protocol.
    pub protocol: ProtocolUpgrade,
    /// `comment`, which is the table's description and not stored as a property.
    pub comment: Option<String>,
    /// `delta.ignoreProtocolDefaults`.
    pub ignore_protocol_defaults: bool,
    /// All pairs in the order given, keys in the spelling that history shows.
    pub recorded: Vec<(String, String)>,
}

/// An error as ALTER gives it: what has no class of its own is wrapped by Spark.
pub fn through_alter(error: DeltaError) -> DeltaError {
    if error.class().is_some() {
        return error;
    }
    let text = format!("Unsupported table change: {}", error.text());
    DeltaError::unclassed("org.apache.spark.SparkException", text).with_source(error)
}

impl PropertyChanges {
    /// Properties of a new table: session defaults (`delta.` keys without the session's prefix) first, then the statement's own.
    /// Constraints may be among them.
    pub fn for_create<'a>(
        defaults: impl IntoIterator<Item = (&'a str, &'a str)>,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
        rules: &PropertyRules,
    ) -> Result<PropertyChanges> {
        let mut out = PropertyChanges::default();
        for (key, value) in defaults {
            out.take(key, value, rules, true)?;
        }
        out.recorded.clear();
        let mut set = PropertyChanges::default();
        for (key, value) in given {
            set.take(key, value, rules, true)?;
        }
        if rules.enforce_retentions {
            rules::check_retentions(&set.stored)?;
        }
        out.merge(set);
        Ok(out)
    }

    /// Properties of `ALTER TABLE … SET TBLPROPERTIES`. Errors are as ALTER gives them.
    pub fn for_alter<'a>(
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
        rules: &PropertyRules,
    ) -> Result<PropertyChanges> {
        let alter = || {
            let mut out = PropertyChanges::default();
            for (key, value) in given {
                match key.to_ascii_lowercase().as_str() {
                    "location" => return Err(DeltaError::new("DELTA_CANNOT_CHANGE_LOCATION")),
                    "provider" => return Err(DeltaError::new("DELTA_CANNOT_CHANGE_PROVIDER")),
                    lower if lower.starts_with(CONSTRAINT_PREFIX) => {
                        return Err(DeltaError::new("DELTA_ADD_CONSTRAINTS"));
                    }
                    _ => out.take(key, value, rules, false)?,
                }
            }
            if rules.enforce_retentions {
                rules::check_retentions(&out.stored)?;
            }
            Ok(out)
        };
        alter().map_err(through_alter)
    }

    fn merge(&mut self, other: PropertyChanges) {
        self.stored.extend(other.stored);
        self.protocol.features.extend(other.protocol.features);
        self.protocol.min_reader_version = other
            .protocol
            .min_reader_version
            .or(self.protocol.min_reader_version);
        self.protocol.min_writer_version = other
            .protocol
            .min_writer_version
            .or(self.protocol.min_writer_version);
        self.comment = other.comment.or(self.comment.take());
        self.ignore_protocol_defaults |= other.ignore_protocol_defaults;
        self.recorded.extend(other.recorded);
    }

    fn take(
        &mut self,
        given: &str,
        value: &str,
        rules: &PropertyRules,
        create: bool,
    ) -> Result<()> {
        let lower = given.to_ascii_lowercase();
        if lower == "comment" {
            self.comment = Some(value.to_owned());
            self.record(given, value);
            return Ok(());
        }
        if !lower.starts_with(DELTA_PREFIX) {
            self.record(given, value);
            self.stored.insert(given.to_owned(), value.to_owned());
            return Ok(());
        }
        if let Some(name) = lower.strip_prefix(FEATURE_PREFIX) {
            self.record(&lower, value);
            self.protocol.features.push(feature(name, value)?);
            return Ok(());
        }
        if create && lower.starts_with(CONSTRAINT_PREFIX) {
            self.record(&lower, value);
            self.stored.insert(lower, value.to_owned());
            return Ok(());
        }
        let Some(property) = TableProperty::find(given) else {
            if rules.allow_arbitrary || lower.starts_with("delta.universalformat.config.") {
                self.record(given, value);
                self.stored.insert(given.to_owned(), value.to_owned());
                return Ok(());
            }
            return Err(unknown(given));
        };
        if !property.editable {
            // The names of the hidden columns are no properties of the user's at all.
            let hidden = [
                key::ROW_TRACKING_ID_COLUMN,
                key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
            ];
            if hidden.contains(&property.key) && !rules.allow_arbitrary {
                return Err(unknown(given));
            }
            let error = DeltaError::new("DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
            return Err(error.param("prop", property.key));
        }
        self.record(property.key, value);
        self.set(property, value)
    }

    fn set(&mut self, property: &TableProperty, value: &str) -> Result<()> {
        match property.key {
            key::MIN_READER_VERSION | key::MIN_WRITER_VERSION => {
                let Ok(version) = value.parse::<i32>() else {
                    return Err(DeltaError::new("DELTA_PROTOCOL_PROPERTY_NOT_INT")
                        .param("key", property.key)
                        .param("value", value));
                };
                property.validate(value)?;
                if property.key == key::MIN_READER_VERSION {
                    self.protocol.min_reader_version = Some(version);
                } else {
                    self.protocol.min_writer_version = Some(version);
                }
            }
            key::IGNORE_PROTOCOL_DEFAULTS => {
                property.validate(value)?;
                self.ignore_protocol_defaults = parse_boolean(value).unwrap_or(false);
            }
            _ => {
                property.validate(value)?;
                self.stored
                    .insert(property.key.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }

    fn record(&mut self, key: &str, value: &str) {
        self.recorded.push((key.to_owned(), value.to_owned()));
    }
}

fn feature(name: &str, status: &str) -> Result<&'static TableFeature> {
    if !status.eq_ignore_ascii_case("supported") && !status.eq_ignore_ascii_case("enabled") {
        return Err(DeltaError::new("DELTA_UNSUPPORTED_FEATURE_STATUS")
            .param("feature", name)
            .param("status", status));
    }
    TableFeature::find(name).ok_or_else(|| {
        DeltaError::new("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG")
            .param("configs", format!("{FEATURE_PREFIX}{name}"))
    })
}

fn unknown(given: &str) -> DeltaError {
    DeltaError::new("DELTA_UNKNOWN_CONFIGURATION")
        .param("config", given)
        .param(
            "disableCheckConfig",
            "spark.databricks.delta.allowArbitraryProperties.enabled",
        )
}
