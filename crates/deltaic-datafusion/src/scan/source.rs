//! The scan node's file source: DataFusion's Parquet source with lazily loaded deletion vectors, errors that name the
//! file, and predicates that cannot be lost.
//!
//! Everything else is delegated, so every optimisation of DataFusion works.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::config::TableParquetOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileOpener;
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileSource, ParquetFileReaderFactory, ParquetSource,
};
use datafusion::error::Result;
use datafusion::functions::core::getfield::GetFieldFunc;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr, ScalarFunctionExpr,
};
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use datafusion_datasource::TableSchema;
use datafusion_datasource::morsel::Morselizer;
use object_store::ObjectStore;

use super::morsel::DeltaMorselizer;
use crate::columns::mapping::ColumnMap;

/// The file source of a Delta scan.
#[derive(Clone)]
pub struct DeltaSource {
    inner: Arc<dyn FileSource>,
    columns: Arc<ColumnMap>,
}

/// So much of a file's end is read at once: the footer of most files, which would else take two requests.
const FOOTER_BYTES: usize = 64 << 10;

impl DeltaSource {
    /// A source for files of this schema. `readers` reads from the table's own store.
    pub fn new(
        schema: TableSchema,
        columns: Arc<ColumnMap>,
        readers: Arc<dyn ParquetFileReaderFactory>,
        mut options: TableParquetOptions,
    ) -> DeltaSource {
        // Old writers store instants as 96-bit integers; in nanoseconds year 1 and year 9999 do not fit.
        options.global.coerce_int96 = Some("us".to_string());
        options.global.coerce_int96_tz = Some("UTC".to_string());
        let hint = options.global.metadata_size_hint.unwrap_or(FOOTER_BYTES);
        let source = ParquetSource::new(schema)
            .with_table_parquet_options(options)
            .with_metadata_size_hint(hint.min(FOOTER_BYTES))
            .with_parquet_file_reader_factory(readers);
        DeltaSource {
            inner: Arc::new(source),
            columns,
        }
    }

    /// A source around a Parquet source that is configured already.
    pub fn around(inner: Arc<dyn FileSource>, columns: Arc<ColumnMap>) -> DeltaSource {
        DeltaSource { inner, columns }
    }

    /// How columns are found in files.
    pub fn columns(&self) -> &Arc<ColumnMap> {
        &self.columns
    }

    /// The Parquet source inside.
    pub fn inner(&self) -> &Arc<dyn FileSource> {
        &self.inner
    }

    fn with(&self, inner: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(DeltaSource {
            inner,
            columns: Arc::clone(&self.columns),
        })
    }
}

impl FileSource for DeltaSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        self.inner.create_file_opener(store, config, partition)
    }

    fn create_morselizer(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        let inner = self
            .inner
            .create_morselizer(Arc::clone(&store), config, partition)?;
        let url = config.object_store_url.as_str();
        Ok(Box::new(DeltaMorselizer::new(inner.into(), store, url)))
    }

    fn table_schema(&self) -> &TableSchema {
        self.inner.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        self.with(self.inner.with_batch_size(batch_size))
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.inner.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.inner.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.inner.metrics()
    }

    fn file_type(&self) -> &str {
        "delta"
    }

    fn fmt_extra(&self, t: DisplayFormatType, f: &mut Formatter) -> fmt::Result {
        self.inner.fmt_extra(t, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.inner.supports_repartitioning()
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        repartition_file_min_size: usize,
        output_ordering: Option<LexOrdering>,
        config: &FileScanConfig,
    ) -> Result<Option<FileScanConfig>> {
        self.inner.repartitioned(
            target_partitions,
            repartition_file_min_size,
            output_ordering,
            config,
        )
    }

    /// Predicates over nested fields and over floating-point columns stay above the scan: the reader drops a nested one
    /// that it does not recognise in a file, and Parquet's own statistics know nothing of NaN.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let schema = Arc::clone(self.table_schema().table_schema());
        let safe: Vec<bool> = filters
            .iter()
            .map(|filter| is_safe(filter, &schema))
            .collect();
        let offered = filters
            .into_iter()
            .zip(&safe)
            .filter_map(|(filter, safe)| safe.then_some(filter))
            .collect();
        let answer = self.inner.try_pushdown_filters(offered, config)?;
        let mut inner = answer.filters.into_iter();
        let verdicts = safe
            .iter()
            .map(|safe| {
                if *safe {
                    inner.next().unwrap_or(PushedDown::No)
                } else {
                    PushedDown::No
                }
            })
            .collect();
        let mut result = FilterPushdownPropagation::with_parent_pushdown_result(verdicts);
        if let Some(updated) = answer.updated_node {
            result = result.with_updated_node(self.with(updated));
        }
        Ok(result)
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        eq_properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        Ok(match self.inner.try_pushdown_sort(order, eq_properties)? {
            SortOrderPushdownResult::Exact { inner } => SortOrderPushdownResult::Exact {
                inner: self.with(inner),
            },
            SortOrderPushdownResult::Inexact { inner } => SortOrderPushdownResult::Inexact {
                inner: self.with(inner),
            },
            SortOrderPushdownResult::Unsupported => SortOrderPushdownResult::Unsupported,
        })
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.inner.reorder_files(files)
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(self
            .inner
            .try_pushdown_projection(projection)?
            .map(|inner| self.with(inner)))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.inner.apply_expressions(f)
    }
}

fn is_safe(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let mut safe = true;
    let walked = filter.apply(|node| {
        let nested = ScalarFunctionExpr::try_downcast_func::<GetFieldFunc>(node.as_ref()).is_some();
        let unsafe_column = node.downcast_ref::<Column>().is_some_and(|column| {
            schema
                .field_with_name(column.name())
                .is_ok_and(|field| field.data_type().is_nested() || is_float(field.data_type()))
        });
        if nested || unsafe_column {
            safe = false;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    safe && walked.is_ok()
}

fn is_float(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Float16 | DataType::Float32 | DataType::Float64
    )
}
