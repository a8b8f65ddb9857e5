//! The table of a statement that changes rows, under the name by which its expressions know it.

use std::sync::Arc;

use datafusion::common::TableReference;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::LogicalPlanBuilder;
use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, Result};

use crate::context::WriteContext;
use crate::error::Classed;
use crate::provider::DeltaTableProvider;
use crate::scan::build::ScanFile;

/// The name of the table that is changed in its statement's expressions, unless the request gives another.
pub const DML_TARGET: &str = "target";

/// The table that is changed.
#[derive(Debug, Clone)]
pub struct DmlTarget {
    /// The version that is read.
    pub snapshot: Snapshot,
    /// Its provider.
    pub provider: DeltaTableProvider,
    qualifier: TableReference,
}

impl DmlTarget {
    /// The table of a version. `qualifier` is the name in the statement's expressions.
    ///
    /// # Errors
    /// The table cannot be read or written.
    pub fn new(
        ctx: &WriteContext<'_>,
        snapshot: &Snapshot,
        qualifier: Option<TableReference>,
    ) -> Result<DmlTarget> {
        let provider = DeltaTableProvider::try_new(snapshot.clone())?.with_zone(ctx.zone.clone());
        Ok(DmlTarget {
            snapshot: snapshot.clone(),
            provider,
            qualifier: qualifier.unwrap_or_else(|| TableReference::bare(DML_TARGET)),
        })
    }

    /// Append-only tables are refused before any work is done.
    ///
    /// # Errors
    /// `DELTA_CANNOT_MODIFY_APPEND_ONLY`.
    pub fn check_changeable(&self) -> Result<()> {
        if !self.snapshot.config().is_append_only()? {
            return Ok(());
        }
        Err(DeltaError::new("DELTA_CANNOT_MODIFY_APPEND_ONLY")
            .param(
                "table_name",
                self.snapshot.metadata().name.as_deref().unwrap_or("null"),
            )
            .param("config", "delta.appendOnly")
            .with_path(self.snapshot.store().root().to_string()))
    }

    /// Rows that a statement writes anew without their hidden columns would get new ids.
    ///
    /// # Errors
    /// The table keeps the ids of its rows.
    pub fn check_rewritable(&self) -> Result<()> {
        if self.snapshot.config().row_tracking_enabled()? {
            return Err(DeltaError::not_supported_yet(
                "Rewriting rows of a table with row tracking",
            ));
        }
        Ok(())
    }

    /// A scan of these files with file and row positions.
    ///
    /// # Errors
    /// The plan cannot be built.
    pub fn positions(&self, files: Vec<ScanFile>) -> Result<LogicalPlanBuilder> {
        self.scan(self.provider.clone().with_row_positions(Arc::new(files)))
    }

    /// A scan of these files.
    ///
    /// # Errors
    /// The plan cannot be built.
    pub fn rows(&self, files: Vec<ScanFile>) -> Result<LogicalPlanBuilder> {
        self.scan(self.provider.clone().with_files(Arc::new(files)))
    }

    pub(super) fn scan(&self, provider: DeltaTableProvider) -> Result<LogicalPlanBuilder> {
        LogicalPlanBuilder::scan(
            self.qualifier.clone(),
            provider_as_source(Arc::new(provider)),
            None,
        )
        .classed()
    }
}
