//! Row tracking of a table as its files show it (protocol section "Row Tracking"): two columns that the schema does not name.

use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;
use deltaic_protocol::schema::{DataType, StructField, StructType};

/// The hidden columns of a table's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowTracking {
    /// Holds the row's id.
    pub id_column: String,
    /// Holds the version in which the row last changed.
    pub version_column: String,
}

impl RowTracking {
    /// Those of a table; none where rows need not keep their ids.
    ///
    /// # Errors
    /// Row tracking is on and the table does not name the columns.
    pub fn of(snapshot: &Snapshot) -> Result<Option<RowTracking>> {
        let config = snapshot.config();
        if !config.row_tracking_enabled()? || !config.supports("rowTracking") {
            return Ok(None);
        }
        let named = |key: &str, what: &str| {
            config.get(key).map(str::to_owned).ok_or_else(|| {
                DeltaError::new("DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING")
                    .param("rowTrackingColumn", what)
                    .param("tableName", snapshot.store().root())
            })
        };
        Ok(Some(RowTracking {
            id_column: named(key::ROW_TRACKING_ID_COLUMN, "Row ID")?,
            version_column: named(
                key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
                "Row Commit Version",
            )?,
        }))
    }

    /// A table's columns and the hidden ones after them.
    pub fn with_columns(&self, schema: &StructType) -> StructType {
        let mut out = schema.clone();
        for name in [&self.id_column, &self.version_column] {
            out.fields.push(StructField::nullable(name, DataType::Long));
        }
        out
    }
}
