//! A Parquet table as a DataFusion table. Its folder is listed at each scan.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use deltaic_protocol::action::Add;
use deltaic_protocol::error::Result as DeltaResult;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableStore;

use super::listing::data_files;
use crate::columns::mapping::MappingMode;
use crate::error::wrap;
use crate::layout::TableLayout;
use crate::scan::build::ScanFile;
use crate::scan::metadata::{FileMetadata, Table};
use crate::scan::pinned::{PinnedTable, pushdown};

/// A folder of Parquet files.
#[derive(Debug, Clone)]
pub struct ParquetTable {
    /// The folder.
    pub store: TableStore,
    /// The columns, partition columns included.
    pub schema: StructType,
    /// The partition columns in the order of the folders.
    pub partition_columns: Vec<String>,
    /// The session's zone.
    pub zone: Zone,
    layout: Arc<TableLayout>,
    metadata: Option<FileMetadata>,
}

impl ParquetTable {
    /// A table with a known schema.
    pub fn new(
        store: TableStore,
        schema: StructType,
        partition_columns: Vec<String>,
        zone: Zone,
    ) -> ParquetTable {
        let layout = Arc::new(TableLayout::new(
            &schema,
            &partition_columns,
            MappingMode::None,
        ));
        ParquetTable {
            store,
            schema,
            partition_columns,
            zone,
            layout,
            metadata: None,
        }
    }

    /// With Spark's column [`_metadata`](crate::scan::metadata) after the table's own, unless a column has that name.
    #[must_use]
    pub fn with_metadata(mut self) -> ParquetTable {
        self.metadata = FileMetadata::of_files(&self.schema);
        self
    }

    /// The column `_metadata`, where the table has it.
    pub fn metadata(&self) -> Option<&FileMetadata> {
        self.metadata.as_ref()
    }

    /// The files that are there now.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub async fn files(&self) -> DeltaResult<Vec<Add>> {
        let mut files = data_files(&self.store).await?;
        for file in &mut files {
            // Folder names may differ from the columns' in case.
            let given = std::mem::take(&mut file.partition_values);
            file.partition_values = self
                .partition_columns
                .iter()
                .map(|column| {
                    let value = given
                        .iter()
                        .find(|(name, _)| name.eq_ignore_ascii_case(column))
                        .and_then(|(_, value)| value.clone());
                    (column.clone(), value)
                })
                .collect();
        }
        Ok(files)
    }
}

#[async_trait]
impl TableProvider for ParquetTable {
    fn schema(&self) -> SchemaRef {
        match &self.metadata {
            Some(metadata) => metadata.output_schema(&self.layout.schema),
            None => Arc::clone(&self.layout.schema),
        }
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
        let files = self
            .files()
            .await
            .map_err(wrap)?
            .into_iter()
            .map(|add| ScanFile::whole(Arc::new(add)))
            .collect();
        let pinned = PinnedTable::new(
            self.store.clone(),
            self.schema.clone(),
            self.partition_columns.clone(),
            MappingMode::None,
            self.zone.clone(),
            files,
        );
        match &self.metadata {
            Some(metadata) if metadata.is_wanted(projection) => {
                let files = pinned.pruned(session, filters)?;
                let table = Table {
                    schema: &self.schema,
                    partition_columns: &self.partition_columns,
                };
                metadata.scan(session, &pinned.spec(projection, limit), table, &files)
            }
            _ => pinned.scan(session, projection, filters, limit).await,
        }
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(pushdown(&self.layout, filters, true))
    }
}
