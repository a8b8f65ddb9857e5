//! The rows that an INSERT … REPLACE USING takes away: those that are equal to a new row in all named columns. The new rows are
//! read from the files that the statement has written, so a source that answers differently each time counts once.

use std::sync::Arc;

use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::expr_fn::out_ref_col;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, exists, lit};
use deltaic_log::arrow_schema::to_arrow_type;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableStore;

use crate::columns::mapping::MappingMode;
use crate::dml::target::DML_TARGET;
use crate::error::Classed;
use crate::scan::build::ScanFile;
use crate::scan::pinned::PinnedTable;
use crate::write::task::WrittenFile;

const NEW: &str = "new_rows";

/// Rows that are written and not yet committed.
pub(super) struct NewRows<'a> {
    pub(super) store: &'a TableStore,
    pub(super) schema: &'a StructType,
    pub(super) partition_columns: &'a [String],
    pub(super) mode: MappingMode,
    pub(super) zone: &'a Zone,
    pub(super) files: &'a [WrittenFile],
}

impl NewRows<'_> {
    /// A scan of the rows.
    pub(super) fn scan(&self) -> Result<LogicalPlanBuilder> {
        let files = self
            .files
            .iter()
            .map(|file| ScanFile::whole(Arc::new(file.add.clone())))
            .collect();
        let rows = PinnedTable::new(
            self.store.clone(),
            self.schema.clone(),
            self.partition_columns.to_vec(),
            self.mode,
            self.zone.clone(),
            files,
        );
        let source = provider_as_source(Arc::new(rows));
        LogicalPlanBuilder::scan(TableReference::bare(NEW), source, None).classed()
    }
}

/// The condition over the table's rows.
///
/// # Errors
/// A column that cannot be compared.
pub(super) fn equal_to_new(new: &NewRows<'_>, columns: &[String]) -> Result<Expr> {
    if new.files.is_empty() {
        return Ok(lit(false));
    }
    let mut all = Vec::with_capacity(columns.len());
    for name in columns {
        let field = new
            .schema
            .field(name)
            .ok_or_else(|| DeltaError::internal(format!("column {name} is not in the table")))?;
        let own = Expr::Column(Column::new(Some(NEW), name));
        let theirs = out_ref_col(
            to_arrow_type(&field.data_type),
            Column::new(Some(DML_TARGET), name),
        );
        all.push(match field.data_type {
            // The two zeros are one number, and equal in nothing but their bits.
            DataType::Float | DataType::Double => (own + lit(0.0_f32)).eq(theirs + lit(0.0_f32)),
            _ => own.eq(theirs),
        });
    }
    // One filter: of several, the optimizer takes only the first out of the subquery.
    let agree = conjunction(all).unwrap_or_else(|| lit(false));
    let scan = new.scan()?.filter(agree).classed()?;
    let plan = scan.project(vec![lit(1)]).classed()?.build().classed()?;
    Ok(exists(Arc::new(plan)))
}
