//! Opening one file of a scan: first its deletion vector, then DataFusion's Parquet reader; failures name the file.
//!
//! The morsel interface of DataFusion is still experimental; this module is the only place that knows it.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::error::Result;
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use deltaic_storage::{encode_uri_path, from_object_path};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::ObjectStore;

use super::failure::classify;
use super::footer::read_footer;
use super::rows::FileRows;
use crate::error::wrap;

/// The number of physical rows of a file, where the log knows it.
#[derive(Debug, Clone, Copy)]
pub struct PhysicalRows(pub u64);

/// Opens the files of one partition.
pub(crate) struct DeltaMorselizer {
    inner: Arc<dyn Morselizer>,
    store: Arc<dyn ObjectStore>,
    scheme: String,
}

impl DeltaMorselizer {
    /// Around the Parquet reader's own. `store_scheme` is that of the object store's URL (`deltaic-file`).
    pub(crate) fn new(inner: Arc<dyn Morselizer>, store: Arc<dyn ObjectStore>, store_scheme: &str) -> DeltaMorselizer {
        let scheme = store_scheme.strip_prefix("deltaic-").unwrap_or(store_scheme).to_string();
        DeltaMorselizer { inner, store, scheme }
    }
}

impl fmt::Debug for DeltaMorselizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeltaMorselizer({:?})", self.inner)
    }
}

impl Morselizer for DeltaMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let name: Arc<str> = format!("{}:{}", self.scheme, encode_uri_path(&from_object_path(file.path()))).into();
        let rows = file.extension::<FileRows>().filter(|rows| !rows.is_all()).cloned();
        match rows {
            None => {
                let inner = self.inner.plan_file(file).map_err(|error| classify(error, &name))?;
                Ok(Box::new(NamedPlanner { inner, name }))
            }
            Some(rows) => Ok(Box::new(RowsPlanner { inner: Arc::clone(&self.inner), store: Arc::clone(&self.store), file, rows, name })),
        }
    }
}

/// Loads the rows of a file before the file.
struct RowsPlanner {
    inner: Arc<dyn Morselizer>,
    store: Arc<dyn ObjectStore>,
    file: PartitionedFile,
    rows: FileRows,
    name: Arc<str>,
}

impl fmt::Debug for RowsPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowsPlanner({})", self.name)
    }
}

impl MorselPlanner for RowsPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let RowsPlanner { inner, store, file, rows, name } = *self;
        Ok(Some(MorselPlan::new().with_pending_planner(async move {
            let physical = match file.extension::<PhysicalRows>() {
                Some(PhysicalRows(count)) => *count,
                None => count_rows(store, &file).await.map_err(|error| classify(error, &name))?,
            };
            let selection = rows.selection(physical).await.map_err(wrap)?;
            if !selection.selects_any() {
                return Ok(Box::new(Nothing) as Box<dyn MorselPlanner>);
            }
            let file = file.with_extension(ParquetRowSelection::new(selection));
            let inner = inner.plan_file(file).map_err(|error| classify(error, &name))?;
            Ok(Box::new(NamedPlanner { inner, name }) as Box<dyn MorselPlanner>)
        })))
    }
}

async fn count_rows(store: Arc<dyn ObjectStore>, file: &PartitionedFile) -> Result<u64> {
    let footer = read_footer(store, file.path()).await?;
    Ok(u64::try_from(footer.file_metadata().num_rows()).unwrap_or_default())
}

/// A file of which no row is read.
#[derive(Debug)]
struct Nothing;

impl MorselPlanner for Nothing {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        Ok(None)
    }
}

/// A planner of the Parquet reader whose failures name the file.
#[derive(Debug)]
struct NamedPlanner {
    inner: Box<dyn MorselPlanner>,
    name: Arc<str>,
}

impl MorselPlanner for NamedPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let NamedPlanner { inner, name } = *self;
        let Some(mut plan) = inner.plan().map_err(|error| classify(error, &name))? else {
            return Ok(None);
        };
        let named = |inner| Box::new(NamedPlanner { inner, name: Arc::clone(&name) }) as Box<dyn MorselPlanner>;
        let morsels = plan
            .take_morsels()
            .into_iter()
            .map(|inner| Box::new(NamedMorsel { inner, name: Arc::clone(&name) }) as Box<dyn Morsel>)
            .collect();
        let planners = plan.take_ready_planners().into_iter().map(named).collect();
        let mut out = MorselPlan::new().with_morsels(morsels).with_planners(planners);
        if let Some(pending) = plan.take_pending_planner() {
            let name = Arc::clone(&name);
            out.set_pending_planner(async move {
                let inner = pending.await.map_err(|error| classify(error, &name))?;
                Ok(Box::new(NamedPlanner { inner, name }) as Box<dyn MorselPlanner>)
            });
        }
        Ok(Some(out))
    }
}

#[derive(Debug)]
struct NamedMorsel {
    inner: Box<dyn Morsel>,
    name: Arc<str>,
}

impl Morsel for NamedMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let NamedMorsel { inner, name } = *self;
        inner.into_stream().map(move |batch| batch.map_err(|error| classify(error, &name))).boxed()
    }
}
