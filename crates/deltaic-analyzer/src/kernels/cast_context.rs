//! How a cast runs: its mode, its rows and the errors of values that do not fit.

use arrow::array::{Array, ArrayRef};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::values::sql_value;
use crate::kernel::{Cell, Env};
use crate::node::CastMode;
use crate::types::shown;

/// How a cast runs.
pub struct Context<'a> {
    /// What happens to values that do not fit.
    pub mode: CastMode,
    /// The session.
    pub env: &'a Env,
}

impl Context<'_> {
    /// A result row by row. NULL stays NULL; in TRY mode an error is NULL too.
    pub fn rows<T: Cell>(
        &self,
        array: &ArrayRef,
        to: &DataType,
        mut f: impl FnMut(usize) -> Result<Option<T>>,
    ) -> Result<ArrayRef> {
        let mut out = Vec::with_capacity(array.len());
        for row in 0..array.len() {
            if array.is_null(row) {
                out.push(None);
                continue;
            }
            match f(row) {
                Ok(v) => out.push(v),
                Err(_) if self.mode == CastMode::Try || !self.env.ansi => out.push(None),
                Err(e) => return Err(e),
            }
        }
        Ok(T::array(out, to))
    }

    /// The error of a value outside the target's range.
    pub fn overflow(
        &self,
        array: &ArrayRef,
        row: usize,
        from: &DataType,
        to: &DataType,
    ) -> DeltaError {
        match (self.mode, &self.env.column) {
            (CastMode::Insert, Some(column)) => match column.strip_prefix("update ") {
                Some(column) => DeltaError::new("DELTA_CAST_OVERFLOW_IN_TABLE_WRITE")
                    .param("sourceType", shown(from))
                    .param("targetType", shown(to))
                    .param("columnName", column)
                    .param(
                        "storeAssignmentPolicyFlag",
                        "spark.sql.storeAssignmentPolicy",
                    )
                    .param(
                        "updateAndMergeCastingFollowsAnsiEnabledFlag",
                        "spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag",
                    )
                    .param("ansiEnabledFlag", "spark.sql.ansi.enabled"),
                None => DeltaError::new("CAST_OVERFLOW_IN_TABLE_INSERT")
                    .param("sourceType", shown(from))
                    .param("targetType", shown(to))
                    .param("columnName", column),
            },
            _ => DeltaError::new("CAST_OVERFLOW")
                .param("value", sql_value(array, row, from, self.env.zone))
                .param("sourceType", shown(from))
                .param("targetType", shown(to))
                .param("ansiConfig", crate::error::ANSI_CONFIG),
        }
    }

    /// The error of a value that the target cannot read.
    pub fn invalid(
        &self,
        array: &ArrayRef,
        row: usize,
        from: &DataType,
        to: &DataType,
    ) -> DeltaError {
        let error = DeltaError::new("CAST_INVALID_INPUT")
            .param("expression", sql_value(array, row, from, self.env.zone))
            .param("sourceType", shown(from))
            .param("targetType", shown(to))
            .param("ansiConfig", crate::error::ANSI_CONFIG);
        match to {
            DataType::Date | DataType::Timestamp | DataType::TimestampNtz => {
                error.with_java_class("org.apache.spark.SparkDateTimeException")
            }
            DataType::Boolean => error.with_java_class("org.apache.spark.SparkRuntimeException"),
            _ => error,
        }
    }
}
