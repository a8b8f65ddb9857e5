//! Rows, changes and checkpoints of one table by `delta_kernel`.

use std::sync::Arc;

use delta_kernel::arrow::array::{Array, RecordBatch};
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::schema::{MetadataColumnSpec, SchemaRef, StructField, StructType};
use delta_kernel::table_changes::TableChanges;
use delta_kernel::{EngineData, KernelResult, PredicateRef, Snapshot, SnapshotRef, Version};
use delta_kernel_default_engine::executor::tokio::TokioMultiThreadExecutor;
use delta_kernel_default_engine::storage::store_from_url;
use delta_kernel_default_engine::{DefaultEngine, DefaultEngineBuilder};
use serde_json::{Value, json};
use url::Url;

use crate::Failure;
use crate::json::{cell, type_text};

/// A table and the engine that reads it.
pub struct Table {
    root: Url,
    engine: Arc<DefaultEngine<TokioMultiThreadExecutor>>,
}

impl Table {
    /// The table in a folder.
    pub fn open(path: &str) -> Result<Self, Failure> {
        let root = delta_kernel::try_parse_uri(path)?;
        // Writing a checkpoint calls the engine from within the engine, for which one thread is not enough.
        let executor = TokioMultiThreadExecutor::new_owned_runtime(Some(2), None)?;
        let engine = DefaultEngineBuilder::new(store_from_url(&root)?)
            .with_task_executor(Arc::new(executor))
            .build();
        Ok(Self {
            root,
            engine: Arc::new(engine),
        })
    }

    /// The snapshot of a version, or the newest.
    pub fn snapshot(&self, version: Option<Version>) -> Result<SnapshotRef, Failure> {
        let mut builder = Snapshot::builder_for(self.root.as_str());
        if let Some(version) = version {
            builder = builder.at_version(version);
        }
        Ok(builder.build(self.engine.as_ref())?)
    }

    /// The rows of a version, on demand with their identifiers.
    pub fn rows(&self, version: Option<Version>, row_ids: bool) -> Result<Value, Failure> {
        let snapshot = self.snapshot(version)?;
        let version = snapshot.version();
        let mut schema = snapshot.schema();
        if row_ids {
            let more = [
                ("row_id", MetadataColumnSpec::RowId),
                ("row_commit_version", MetadataColumnSpec::RowCommitVersion),
            ];
            let fields = more.map(|(name, spec)| StructField::create_metadata_column(name, spec));
            schema = Arc::new(schema.add(fields)?);
        }
        let batches = self.scan(snapshot, &schema, None)?;
        let mut answer = answer(&schema, &batches)?;
        answer["version"] = json!(version);
        Ok(answer)
    }

    /// The batches of a scan; with a predicate, of the files that may hold a row that meets it.
    pub fn scan(
        &self,
        snapshot: SnapshotRef,
        schema: &SchemaRef,
        predicate: Option<PredicateRef>,
    ) -> Result<Vec<RecordBatch>, Failure> {
        let scan = snapshot
            .scan_builder()
            .with_schema(schema.clone())
            .with_predicate(predicate)
            .build()?;
        gather(scan.execute(self.engine.clone())?)
    }

    /// The changes from one version to another, both included.
    pub fn changes(&self, first: Version, last: Option<Version>) -> Result<Value, Failure> {
        let changes = TableChanges::try_new(self.root.clone(), self.engine.as_ref(), first, last)?;
        let schema = Arc::new(changes.schema().clone());
        let scan = changes
            .into_scan_builder()
            .with_schema(schema.clone())
            .build()?;
        let batches = gather(scan.execute(self.engine.clone())?)?;
        answer(&schema, &batches)
    }

    /// What the log says of a version besides its rows.
    pub fn state(&self, version: Option<Version>) -> Result<Value, Failure> {
        let snapshot = self.snapshot(version)?;
        let engine = self.engine.as_ref();
        let clustering = snapshot.get_clustering_column_infos(engine)?;
        let clustering = clustering.map(|columns| -> Vec<String> {
            let names = columns.iter().map(|column| &column.logical_column);
            names.map(ToString::to_string).collect()
        });
        let checksum = snapshot.get_file_stats_if_present();
        Ok(json!({
            "version": snapshot.version(),
            "in_commit_timestamp": snapshot.get_in_commit_timestamp(engine)?,
            "clustering": clustering,
            "files": checksum.as_ref().map(|stats| stats.num_files()),
            "bytes": checksum.as_ref().map(|stats| stats.table_size_bytes()),
        }))
    }

    /// Writes a checkpoint of the newest version.
    pub fn checkpoint(&self) -> Result<Value, Failure> {
        let snapshot = self.snapshot(None)?;
        snapshot.checkpoint(self.engine.as_ref(), None)?;
        Ok(json!({"version": snapshot.version()}))
    }
}

fn gather(
    data: impl Iterator<Item = KernelResult<Box<dyn EngineData>>>,
) -> Result<Vec<RecordBatch>, Failure> {
    data.map(|batch| Ok((*ArrowEngineData::try_from_engine_data(batch?)?).into()))
        .collect()
}

fn answer(schema: &StructType, batches: &[RecordBatch]) -> Result<Value, Failure> {
    let columns: Vec<Value> = schema
        .fields()
        .map(|field| json!([field.name(), type_text(field.data_type())]))
        .collect();
    let mut rows = Vec::new();
    for batch in batches {
        rows.extend(rows_of(schema, batch)?);
    }
    Ok(json!({"columns": columns, "rows": rows}))
}

/// The rows of a batch as arrays.
pub fn rows_of(schema: &StructType, batch: &RecordBatch) -> Result<Vec<Value>, Failure> {
    let fields: Vec<&StructField> = schema.fields().collect();
    if fields.len() != batch.num_columns() {
        return Err(format!(
            "{} columns for {} fields",
            batch.num_columns(),
            fields.len()
        )
        .into());
    }
    (0..batch.num_rows())
        .map(|row| {
            let cells = fields.iter().zip(batch.columns());
            cells
                .map(|(field, column)| cell(field.data_type(), column as &dyn Array, row))
                .collect::<Result<Vec<Value>, Failure>>()
                .map(Value::Array)
        })
        .collect()
}
