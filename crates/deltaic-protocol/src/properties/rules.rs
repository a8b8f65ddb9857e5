//! Checks that need more than one value's type: texts with an error class of their own, and the two retentions against each other.

use super::{TableProperty, key, parse_boolean};
use crate::error::{DeltaError, Result};
use crate::interval::CalendarInterval;
use std::collections::BTreeMap;

/// Values whose refusal has a class.
pub(super) fn check_text(property: &TableProperty, value: &str) -> Result<()> {
    match property.key {
        key::ISOLATION_LEVEL => {
            let known = ["Serializable", "WriteSerializable", "SnapshotIsolation"];
            if known.iter().any(|level| value.eq_ignore_ascii_case(level)) {
                return Ok(());
            }
            let error = DeltaError::new("DELTA_INVALID_ISOLATION_LEVEL");
            Err(error.param("isolationLevel", value))
        }
        key::AUTO_COMPACT => {
            if parse_boolean(value).is_some() || value.eq_ignore_ascii_case("auto") {
                return Ok(());
            }
            Err(DeltaError::new("DELTA_INVALID_AUTO_COMPACT_TYPE")
                .param("value", value)
                .param("allowed", "(true,false,auto)"))
        }
        _ => Ok(()),
    }
}

/// The log must not be kept for less time than the files that it names. Looked at only when a statement sets one of the two; the
/// other side comes from the same statement or is the default, whatever the table has.
pub(super) fn check_retentions(set: &BTreeMap<String, String>) -> Result<()> {
    let (log, deleted) = (
        set.get(key::LOG_RETENTION),
        set.get(key::DELETED_FILE_RETENTION),
    );
    if log.is_none() && deleted.is_none() {
        return Ok(());
    }
    let log_interval = interval(log, key::LOG_RETENTION)?;
    let deleted_interval = interval(deleted, key::DELETED_FILE_RETENTION)?;
    if log_interval.micros_without_months() >= deleted_interval.micros_without_months() {
        return Ok(());
    }
    let (log_key, deleted_key) = (key::LOG_RETENTION, key::DELETED_FILE_RETENTION);
    Err(DeltaError::requirement(if log.is_some() {
        format!(
            "The table property {log_key}({log_interval}) needs to be greater than or equal to \
             {deleted_key}({deleted_interval})."
        )
    } else {
        format!(
            "The table property {deleted_key}({deleted_interval}) needs to be less than or equal to \
             {log_key}({log_interval})."
        )
    }))
}

fn interval(text: Option<&String>, key: &str) -> Result<CalendarInterval> {
    let default = TableProperty::find(key).and_then(|property| property.default);
    let text = text.map(String::as_str).or(default).unwrap_or_default();
    CalendarInterval::parse_property(text)
}
