//! A pinned version of a Delta table as a DataFusion table.
//!
//! The provider answers from one [`Snapshot`] for its whole life; a catalog that hands out the newest version makes a new
//! one for each statement.

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::not_impl_err;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use deltaic_log::Snapshot;
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::Result as DeltaResult;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;

use crate::columns::mapping::MappingMode;
use crate::error::wrap;
use crate::layout::{Hidden, TableLayout};
use crate::scan::build::{ScanFile, ScanSpec, build_scan};
use crate::scan::metadata::{FileMetadata, Table};
use crate::scan::pinned::{PinnedTable, pushdown};
use crate::scan::prune::prune;

/// Plans INSERT INTO a table for DataFusion; providers without one only read.
pub trait InsertPlanner: Send + Sync + std::fmt::Debug {
    /// A node that writes the rows of `input` and answers their number.
    ///
    /// # Errors
    /// The table cannot be written that way.
    fn plan_insert(
        &self,
        session: &dyn Session,
        provider: &DeltaTableProvider,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>>;
}

/// Reads one version of a Delta table.
#[derive(Debug, Clone)]
pub struct DeltaTableProvider {
    snapshot: Snapshot,
    layout: Arc<TableLayout>,
    zone: Zone,
    hidden: bool,
    metadata: Option<Arc<FileMetadata>>,
    files: Option<Arc<Vec<ScanFile>>>,
    inserts: Option<Arc<dyn InsertPlanner>>,
}

impl DeltaTableProvider {
    /// A provider for a version.
    ///
    /// # Errors
    /// The table asks of readers what is not supported here.
    pub fn try_new(snapshot: Snapshot) -> DeltaResult<DeltaTableProvider> {
        let mode = mapping_mode(&snapshot)?;
        let layout = TableLayout::new(snapshot.schema(), snapshot.partition_columns(), mode);
        Ok(DeltaTableProvider {
            snapshot,
            layout: Arc::new(layout),
            zone: Zone::utc(),
            hidden: false,
            metadata: None,
            files: None,
            inserts: None,
        })
    }

    /// With the session's zone, in which old writers' partition values without a zone are read.
    #[must_use]
    pub fn with_zone(mut self, zone: Zone) -> DeltaTableProvider {
        self.zone = zone;
        self
    }

    /// With other columns, which files may have: those of the table and hidden ones.
    #[must_use]
    pub fn with_columns(mut self, schema: &StructType) -> DeltaTableProvider {
        let mode = self.layout.columns.mode;
        let partitions = self.snapshot.partition_columns();
        self.layout = Arc::new(TableLayout::new(schema, partitions, mode));
        self.metadata = None;
        self
    }

    /// With Spark's column [`_metadata`](crate::scan::metadata) after the table's own, unless a column has that name. Such
    /// a provider only reads.
    ///
    /// # Errors
    /// Row tracking is on and the table does not name the columns that hold it.
    pub fn with_metadata(mut self) -> DeltaResult<DeltaTableProvider> {
        self.metadata = FileMetadata::of(&self.snapshot)?.map(Arc::new);
        self.inserts = None;
        Ok(self)
    }

    /// The column `_metadata`, where the provider has it.
    pub fn metadata(&self) -> Option<&FileMetadata> {
        self.metadata.as_deref()
    }

    /// With a way to insert rows.
    #[must_use]
    pub fn with_inserts(mut self, inserts: Arc<dyn InsertPlanner>) -> DeltaTableProvider {
        self.inserts = Some(inserts);
        self
    }

    /// With two further columns, [`FILE_COLUMN`](crate::layout::FILE_COLUMN) and
    /// [`ROW_COLUMN`](crate::layout::ROW_COLUMN), and reading only `files`: for statements that change rows.
    #[must_use]
    pub fn with_row_positions(mut self, files: Arc<Vec<ScanFile>>) -> DeltaTableProvider {
        self.hidden = true;
        self.metadata = None;
        self.files = Some(files);
        self
    }

    /// Reading only `files`.
    #[must_use]
    pub fn with_files(mut self, files: Arc<Vec<ScanFile>>) -> DeltaTableProvider {
        self.files = Some(files);
        self
    }

    /// Reads the list of files now, so that the provider can be encoded into a plan.
    ///
    /// # Errors
    /// The log's files cannot be read.
    pub async fn load_files(mut self) -> DeltaResult<DeltaTableProvider> {
        if self.files.is_none() {
            let files = self.snapshot.files().await?;
            self.files = Some(Arc::new(
                files.iter().cloned().map(ScanFile::whole).collect(),
            ));
        }
        Ok(self)
    }

    /// The files, where they are loaded.
    ///
    /// # Errors
    /// They are not; see [`load_files`](Self::load_files).
    pub fn loaded_files(&self) -> Result<Arc<Vec<ScanFile>>> {
        match &self.files {
            Some(files) if !self.hidden && self.metadata.is_none() => Ok(Arc::clone(files)),
            _ => not_impl_err!("a Delta table is encoded after DeltaTableProvider::load_files"),
        }
    }

    /// The table as a list of its loaded files.
    ///
    /// # Errors
    /// As [`loaded_files`](Self::loaded_files).
    pub fn pinned(&self) -> Result<PinnedTable> {
        let snapshot = &self.snapshot;
        Ok(PinnedTable::new(
            snapshot.store().clone(),
            snapshot.schema().as_ref().clone(),
            snapshot.partition_columns().to_vec(),
            mapping_mode(snapshot).map_err(wrap)?,
            self.zone.clone(),
            self.loaded_files()?.as_ref().clone(),
        ))
    }

    /// The version that is read.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Where the columns are.
    pub fn layout(&self) -> &Arc<TableLayout> {
        &self.layout
    }

    /// The session's zone.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The files that a scan with these filters reads, in the order of the log. A file's number in
    /// [`FILE_COLUMN`](crate::layout::FILE_COLUMN) is its place in the list given to
    /// [`with_row_positions`](Self::with_row_positions), which is never pruned.
    ///
    /// # Errors
    /// The log's files cannot be read, or a filter fails on a partition value.
    pub async fn scan_files(
        &self,
        session: &dyn Session,
        filters: &[Expr],
    ) -> Result<Vec<ScanFile>> {
        let files = match &self.files {
            Some(files) => files.as_ref().clone(),
            None => self
                .snapshot
                .files()
                .await
                .map_err(wrap)?
                .iter()
                .cloned()
                .map(ScanFile::whole)
                .collect(),
        };
        if filters.is_empty() {
            return Ok(files);
        }
        prune(
            session,
            &self.layout,
            self.snapshot.schema(),
            &self.zone,
            files,
            filters,
        )
    }
}

fn positions(wanted: bool) -> Hidden {
    match wanted {
        true => Hidden::Positions,
        false => Hidden::Nothing,
    }
}

/// By what a table's columns are found in files.
pub(crate) fn mapping_mode(snapshot: &Snapshot) -> DeltaResult<MappingMode> {
    mode_of(snapshot.config())
}

/// The same of a table's properties.
pub(crate) fn mode_of(config: &TableConfig) -> DeltaResult<MappingMode> {
    use deltaic_protocol::config::ColumnMappingMode;
    Ok(match config.column_mapping_mode()? {
        ColumnMappingMode::None => MappingMode::None,
        ColumnMappingMode::Name => MappingMode::Name,
        ColumnMappingMode::Id => MappingMode::Id,
    })
}

#[async_trait]
impl TableProvider for DeltaTableProvider {
    fn schema(&self) -> SchemaRef {
        match &self.metadata {
            Some(metadata) => metadata.output_schema(&self.layout.schema),
            None => self.layout.output_schema(positions(self.hidden)),
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
        // With hidden columns the number of a file must be its place in the list, so nothing is left out here.
        let files = self
            .scan_files(session, if self.hidden { &[] } else { filters })
            .await?;
        let spec = ScanSpec {
            store: self.snapshot.store(),
            layout: &self.layout,
            zone: &self.zone,
            hidden: positions(self.hidden),
            projection,
            limit,
        };
        match &self.metadata {
            Some(metadata) if metadata.is_wanted(projection) => {
                let table = Table {
                    schema: self.snapshot.schema(),
                    partition_columns: self.snapshot.partition_columns(),
                };
                metadata.scan(session, &spec, table, &files)
            }
            _ => build_scan(session, &spec, &files),
        }
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(pushdown(&self.layout, filters, !self.hidden))
    }

    async fn insert_into(
        &self,
        session: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match &self.inserts {
            Some(inserts) => inserts.plan_insert(session, self, input, op),
            None => not_impl_err!("this provider of a Delta table only reads"),
        }
    }

    async fn delete_from(
        &self,
        _session: &dyn Session,
        _filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // DataFusion hands conditions over after it has optimized them, and has lost `false`, NULL and subqueries by then.
        not_impl_err!(
            "DELETE on a Delta table needs the rule of deltaic_datafusion::configure in its session"
        )
    }

    async fn update(
        &self,
        _session: &dyn Session,
        _assignments: Vec<(String, Expr)>,
        _filters: Vec<Expr>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        not_impl_err!(
            "UPDATE of a Delta table needs the rule of deltaic_datafusion::configure in its session"
        )
    }
}

/// The Delta provider behind a table, if it is one.
pub fn as_delta(provider: &dyn TableProvider) -> Option<&DeltaTableProvider> {
    (provider as &dyn Any).downcast_ref()
}
