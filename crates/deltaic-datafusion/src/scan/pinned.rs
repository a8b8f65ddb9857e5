//! A table as a list of files: what a plan that was shipped from another process reads.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableStore;

use super::build::{ScanFile, ScanSpec, build_scan};
use super::metadata::METADATA_COLUMN;
use super::prune::{has_subquery, is_partition_only, prune};
use crate::columns::mapping::MappingMode;
use crate::layout::{Hidden, TableLayout};

/// Files of a table, and its schema.
#[derive(Debug, Clone)]
pub struct PinnedTable {
    /// The table's store.
    pub store: TableStore,
    /// The logical schema.
    pub schema: StructType,
    /// The partition columns, logical names.
    pub partition_columns: Vec<String>,
    /// How columns are found in files.
    pub mode: MappingMode,
    /// The session's zone.
    pub zone: Zone,
    /// The files.
    pub files: Arc<Vec<ScanFile>>,
    layout: Arc<TableLayout>,
}

impl PinnedTable {
    /// A table of these files.
    pub fn new(
        store: TableStore,
        schema: StructType,
        partition_columns: Vec<String>,
        mode: MappingMode,
        zone: Zone,
        files: Vec<ScanFile>,
    ) -> PinnedTable {
        let layout = Arc::new(TableLayout::new(&schema, &partition_columns, mode));
        PinnedTable {
            store,
            schema,
            partition_columns,
            mode,
            zone,
            files: Arc::new(files),
            layout,
        }
    }

    /// The files that may hold rows satisfying the filters.
    pub(crate) fn pruned(&self, session: &dyn Session, filters: &[Expr]) -> Result<Vec<ScanFile>> {
        prune(
            session,
            &self.layout,
            &self.schema,
            &self.zone,
            self.files.as_ref().clone(),
            filters,
        )
    }

    /// The scan of some of the files.
    pub(crate) fn scan_files(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
        files: &[ScanFile],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        build_scan(session, &self.spec(projection, limit), files)
    }

    /// What a scan of the table's columns is made of.
    pub(crate) fn spec<'a>(
        &'a self,
        projection: Option<&'a Vec<usize>>,
        limit: Option<usize>,
    ) -> ScanSpec<'a> {
        ScanSpec {
            store: &self.store,
            layout: &self.layout,
            zone: &self.zone,
            hidden: Hidden::Nothing,
            projection,
            limit,
        }
    }
}

/// What DataFusion may rely on for each filter of a scan.
pub(crate) fn pushdown(
    layout: &TableLayout,
    filters: &[&Expr],
    exact: bool,
) -> Vec<TableProviderFilterPushDown> {
    filters
        .iter()
        .map(|filter| {
            if has_subquery(filter) || filter.is_volatile() || is_of_metadata(filter) {
                TableProviderFilterPushDown::Unsupported
            } else if exact && is_partition_only(layout, filter) {
                TableProviderFilterPushDown::Exact
            } else {
                TableProviderFilterPushDown::Inexact
            }
        })
        .collect()
}

/// Whether a filter asks where a row lies, which no statistics tell.
fn is_of_metadata(filter: &Expr) -> bool {
    filter
        .column_refs()
        .iter()
        .any(|column| column.name == METADATA_COLUMN)
}

#[async_trait]
impl TableProvider for PinnedTable {
    fn schema(&self) -> SchemaRef {
        self.layout.output_schema(Hidden::Nothing)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let files = self.pruned(session, filters)?;
        self.scan_files(session, projection, limit, &files)
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(pushdown(&self.layout, filters, true))
    }
}
