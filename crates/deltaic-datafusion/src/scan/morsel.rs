//! Opening one file of a scan: first its deletion vector, then DataFusion's Parquet reader; failures name the file.
//!
//! The morsel interface of DataFusion is still experimental; this module is the only place that knows it.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::error::{DataFusionError, Result};
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use deltaic_protocol::error::DeltaError;
use deltaic_storage::{encode_uri_path, from_object_path};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::errors::ParquetError;

use super::failure::classify;
use super::footer::read_footer;
use super::rows::FileRows;
use crate::error::{find, wrap};

/// The number of physical rows of a file, where the log knows it.
#[derive(Debug, Clone, Copy)]
pub struct PhysicalRows(pub u64);

/// Opens the files of one partition.
pub(crate) struct DeltaMorselizer {
    inner: Arc<dyn Morselizer>,
    store: Arc<dyn ObjectStore>,
    /// What stands before a path of the store when it is printed: `file:`, `s3://bucket`.
    prefix: String,
}

impl DeltaMorselizer {
    /// Around the Parquet reader's own. `url` is the object store's: `deltaic-file://`, `s3://bucket`.
    pub(crate) fn new(
        inner: Arc<dyn Morselizer>,
        store: Arc<dyn ObjectStore>,
        url: &str,
    ) -> DeltaMorselizer {
        let url = url.trim_end_matches('/');
        let prefix = match url.strip_prefix("deltaic-") {
            // Backends without buckets: `deltaic-file:` or `deltaic-memory://id`.
            Some(local) => format!("{}:", local.split(':').next().unwrap_or(local)),
            None => url.to_string(),
        };
        DeltaMorselizer {
            inner,
            store,
            prefix,
        }
    }
}

impl fmt::Debug for DeltaMorselizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeltaMorselizer({:?})", self.inner)
    }
}

impl Morselizer for DeltaMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let name: Arc<str> = format!(
            "{}{}",
            self.prefix,
            encode_uri_path(&from_object_path(file.path()))
        )
        .into();
        let rows = file
            .extension::<FileRows>()
            .filter(|rows| !rows.is_all())
            .cloned();
        match rows {
            None => {
                let file_path = file.path().clone();
                let inner = self
                    .inner
                    .plan_file(file)
                    .map_err(|error| classify(error, &name))?;
                let file = NamedFile {
                    store: Arc::clone(&self.store),
                    path: file_path,
                    name,
                };
                Ok(Box::new(NamedPlanner { inner, file }))
            }
            Some(rows) => Ok(Box::new(RowsPlanner {
                inner: Arc::clone(&self.inner),
                store: Arc::clone(&self.store),
                file,
                rows,
                name,
            })),
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
        let RowsPlanner {
            inner,
            store,
            file,
            rows,
            name,
        } = *self;
        Ok(Some(MorselPlan::new().with_pending_planner(async move {
            let physical = match file.extension::<PhysicalRows>() {
                Some(PhysicalRows(count)) => *count,
                None => count_rows(Arc::clone(&store), &file)
                    .await
                    .map_err(|error| classify(error, &name))?,
            };
            let selection = rows.selection(physical).await.map_err(wrap)?;
            if !selection.selects_any() {
                return Ok(Box::new(Nothing) as Box<dyn MorselPlanner>);
            }
            let named = NamedFile {
                store,
                path: file.path().clone(),
                name,
            };
            let file = file.with_extension(ParquetRowSelection::new(selection));
            let inner = inner
                .plan_file(file)
                .map_err(|error| classify(error, &named.name))?;
            Ok(Box::new(NamedPlanner { inner, file: named }) as Box<dyn MorselPlanner>)
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

/// A file, for its failures.
#[derive(Debug, Clone)]
struct NamedFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
    name: Arc<str>,
}

impl NamedFile {
    /// Classes a failure of reading. Some of the reader's errors have lost their cause, so it is looked whether the file is
    /// there.
    async fn failure(&self, error: DataFusionError) -> DataFusionError {
        if find::<DeltaError>(&error).is_none()
            && find::<ParquetError>(&error).is_some()
            && let Err(missing @ object_store::Error::NotFound { .. }) =
                self.store.head(&self.path).await
        {
            return classify(missing.into(), &self.name);
        }
        classify(error, &self.name)
    }
}

/// A planner of the Parquet reader whose failures name the file.
#[derive(Debug)]
struct NamedPlanner {
    inner: Box<dyn MorselPlanner>,
    file: NamedFile,
}

impl MorselPlanner for NamedPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let NamedPlanner { inner, file } = *self;
        let Some(mut plan) = inner.plan().map_err(|error| classify(error, &file.name))? else {
            return Ok(None);
        };
        let named = |inner| {
            Box::new(NamedPlanner {
                inner,
                file: file.clone(),
            }) as Box<dyn MorselPlanner>
        };
        let morsels = plan
            .take_morsels()
            .into_iter()
            .map(|inner| {
                Box::new(NamedMorsel {
                    inner,
                    name: Arc::clone(&file.name),
                }) as Box<dyn Morsel>
            })
            .collect();
        let planners = plan.take_ready_planners().into_iter().map(named).collect();
        let mut out = MorselPlan::new()
            .with_morsels(morsels)
            .with_planners(planners);
        if let Some(pending) = plan.take_pending_planner() {
            let file = file.clone();
            out.set_pending_planner(async move {
                match pending.await {
                    Ok(inner) => {
                        Ok(Box::new(NamedPlanner { inner, file }) as Box<dyn MorselPlanner>)
                    }
                    Err(error) => Err(file.failure(error).await),
                }
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
        inner
            .into_stream()
            .map(move |batch| batch.map_err(|error| classify(error, &name)))
            .boxed()
    }
}
