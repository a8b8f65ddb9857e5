//! Tables of Parquet files in a folder, without a log: reading and writing them.
//!
//! What is there is what a listing shows: names that begin with `_` or `.` are no data, `name=value` folders are
//! partitions.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::logical_expr::{Expr, LogicalPlan, TableType};
use datafusion::physical_plan::ExecutionPlan;
use deltaic_datafusion::columns::mapping::MappingMode;
use deltaic_datafusion::layout::TableLayout;
use deltaic_datafusion::scan::build::{ScanFile, ScanSpec, build_scan};
use deltaic_log::arrow_schema;
use deltaic_protocol::action::Add;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::partition::unescape_path_name;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{FileMeta, TableStore};
use futures::TryStreamExt;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::metadata::ParquetMetaDataReader;

use crate::context::Context;
use crate::resolve::ParquetTable;

const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// Reads a folder of Parquet files.
#[derive(Debug)]
pub(crate) struct ParquetProvider {
    store: TableStore,
    layout: TableLayout,
    zone: Zone,
    files: Vec<ScanFile>,
}

impl ParquetProvider {
    /// The files that are there now.
    pub(crate) async fn open(table: &ParquetTable, zone: Zone) -> Result<(Self, StructType)> {
        let schema = schema_of(table).await?;
        let partition_columns = partition_columns(table, &schema).await?;
        let layout = TableLayout::new(&schema, &partition_columns, MappingMode::None);
        let files = files_of(table)
            .await?
            .into_iter()
            .map(|file| ScanFile::whole(Arc::new(add_of(&table.store, &file, &partition_columns))))
            .collect();
        Ok((ParquetProvider { store: table.store.clone(), layout, zone, files }, schema))
    }
}

#[async_trait]
impl TableProvider for ParquetProvider {
    fn schema(&self) -> SchemaRef {
        self.layout.output_schema(false)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
        let spec = ScanSpec {
            store: &self.store,
            layout: &self.layout,
            zone: &self.zone,
            hidden: false,
            projection,
            limit,
        };
        build_scan(session, &spec, &self.files)
    }
}

/// A listed file as the log of a Delta table would name it.
fn add_of(store: &TableStore, file: &FileMeta, partition_columns: &[String]) -> Add {
    let values = partition_columns.iter().map(|column| {
        let value = file.path.split('/').find_map(|part| {
            let (name, value) = part.split_once('=')?;
            unescape_path_name(name).eq_ignore_ascii_case(column).then(|| unescape_path_name(value))
        });
        (column.clone(), value.filter(|value| value != NULL_PARTITION))
    });
    let _ = store;
    Add {
        path: deltaic_protocol::path::encode_path(&file.path),
        partition_values: values.collect(),
        size: i64::try_from(file.size).unwrap_or(i64::MAX),
        modification_time: file.modified_ms,
        data_change: true,
        ..Add::default()
    }
}

/// The data files of a table, by path.
pub(crate) async fn files_of(table: &ParquetTable) -> Result<Vec<FileMeta>> {
    let hidden = |path: &str| path.split('/').any(|part| part.starts_with('.') || (part.starts_with('_') && !part.contains('=')));
    let entries: Vec<FileMeta> = table.store.data().list("", None).try_collect().await?;
    let mut files: Vec<FileMeta> = entries.into_iter().filter(|entry| !entry.is_dir && !hidden(&entry.path)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The columns of a table: those of the catalog, else those of its first file and of its folders.
pub(crate) async fn schema_of(table: &ParquetTable) -> Result<StructType> {
    if let Some(schema) = table.record.as_ref().and_then(|record| record.schema.clone()) {
        return Ok(schema);
    }
    let files = files_of(table).await?;
    let Some(first) = files.first() else {
        if !table.store.data().exists("").await? {
            let path = table.qualifier.last().cloned().unwrap_or_else(|| table.store.root().to_string());
            return Err(crate::errors::path_not_found(&path));
        }
        return Err(DeltaError::new("UNABLE_TO_INFER_SCHEMA").param("format", "Parquet"));
    };
    let bytes = table.store.data().read(&first.path).await?;
    let failed = |error: parquet::errors::ParquetError| {
        DeltaError::new("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER")
            .param("path", table.store.root().display(&first.path))
            .with_path(table.store.root().display(&first.path))
            .with_source(error)
    };
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).map_err(failed)?;
    let file = metadata.file_metadata();
    let arrow = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata()).map_err(failed)?;
    let mut schema = arrow_schema::from_arrow(&arrow)?.as_nullable();
    for (name, data_type) in folder_columns(&files) {
        if schema.field(&name).is_none() {
            schema.fields.push(StructField::nullable(name, data_type));
        }
    }
    Ok(schema)
}

/// The partition columns of a table.
pub(crate) async fn partition_columns(table: &ParquetTable, schema: &StructType) -> Result<Vec<String>> {
    if let Some(record) = &table.record {
        return Ok(record.partition_columns.clone());
    }
    let files = files_of(table).await?;
    Ok(folder_columns(&files).into_iter().map(|(name, _)| name).filter(|name| schema.field(name).is_some()).collect())
}

/// Names of the partition folders and the type that fits all their values: INT, BIGINT, DOUBLE, DATE or STRING.
fn folder_columns(files: &[FileMeta]) -> Vec<(String, DataType)> {
    let Some(first) = files.first() else { return Vec::new() };
    let names: Vec<String> = first
        .path
        .split('/')
        .filter_map(|part| part.split_once('=').map(|(name, _)| unescape_path_name(name)))
        .collect();
    names
        .into_iter()
        .map(|name| {
            let values: Vec<String> = files
                .iter()
                .filter_map(|file| {
                    file.path.split('/').find_map(|part| {
                        let (own, value) = part.split_once('=')?;
                        (unescape_path_name(own) == name).then(|| unescape_path_name(value))
                    })
                })
                .filter(|value| value != NULL_PARTITION)
                .collect();
            let data_type = type_of(&values);
            (name, data_type)
        })
        .collect()
}

fn type_of(values: &[String]) -> DataType {
    let all = |test: fn(&str) -> bool| !values.is_empty() && values.iter().all(|value| test(value));
    if all(|value| value.parse::<i32>().is_ok()) {
        DataType::Integer
    } else if all(|value| value.parse::<i64>().is_ok()) {
        DataType::Long
    } else if all(|value| value.parse::<f64>().is_ok()) {
        DataType::Double
    } else if all(|value| value.len() == 10 && deltaic_protocol::timestamp::parse_date(value).is_some()) {
        DataType::Date
    } else {
        DataType::String
    }
}

/// Writes the rows of a plan, whose columns are the table's in order.
pub(crate) async fn write(
    cx: &Context,
    store: &TableStore,
    schema: &StructType,
    partition_columns: &[String],
    plan: LogicalPlan,
) -> Result<()> {
    let commit = cx.commit_context(None);
    let state = cx.session.engine().state();
    let writer = crate::dispatch::write_context(cx, &state, &commit);
    deltaic_datafusion::write_files(&writer, store, schema, partition_columns, plan.into()).await.map(|_| ())
}

/// Removes all data files.
pub(crate) async fn truncate(table: &ParquetTable) -> Result<()> {
    for file in files_of(table).await? {
        table.store.data().delete_file(&file.path).await?;
    }
    Ok(())
}
