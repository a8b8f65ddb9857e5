//! The names of the feed's columns, which a table with the feed has not itself.

use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;

use super::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
use crate::snapshot::Snapshot;

/// Refuses a table with the change feed that has columns of the feed's names. `base` is the table as it was.
///
/// # Errors
/// `RESERVED_CDC_COLUMNS_ON_WRITE` where the feed was on before, else `DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`.
pub fn check_change_columns(base: Option<&Snapshot>, metadata: &Metadata) -> Result<()> {
    let on = |metadata: &Metadata| {
        let value = metadata.configuration.get(key::ENABLE_CHANGE_DATA_FEED);
        value.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
    };
    if !on(metadata) {
        return Ok(());
    }
    let schema = metadata.schema()?;
    let taken: Vec<&str> = [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP]
        .into_iter()
        .filter(|name| schema.field(name).is_some())
        .collect();
    if taken.is_empty() {
        return Ok(());
    }
    let columns = format!("[{}]", taken.join(","));
    Err(match base.is_some_and(|base| on(base.metadata())) {
        true => DeltaError::new("RESERVED_CDC_COLUMNS_ON_WRITE")
            .param("columnList", columns)
            .param("config", key::ENABLE_CHANGE_DATA_FEED),
        false => {
            DeltaError::new("DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS").param("columnList", columns)
        }
    })
}
