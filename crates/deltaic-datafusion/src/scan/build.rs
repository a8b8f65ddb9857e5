//! From the files of a version to a scan node: partition values as literals, statistics, row restrictions, file groups.

use std::sync::Arc;

use chrono::DateTime;
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::config::TableParquetOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_plan::ExecutionPlan;
use deltaic_protocol::action::Add;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{DataPath, TableStore};
use object_store::ObjectMeta;

use super::adapter::DeltaAdapterFactory;
use super::morsel::PhysicalRows;
use super::rows::FileRows;
use super::source::DeltaSource;
use super::stats::FileStats;
use super::vector::VectorFile;
use crate::error::wrap;
use crate::layout::{Hidden, TableLayout};
use crate::values::partition_scalar;

/// A file of a scan.
#[derive(Debug, Clone)]
pub struct ScanFile {
    /// Its action.
    pub add: Arc<Add>,
    /// Rows picked out of it; its deletion vector is added when the scan is built.
    pub rows: FileRows,
}

impl ScanFile {
    /// All rows of a file that are not deleted.
    pub fn whole(add: Arc<Add>) -> ScanFile {
        ScanFile {
            add,
            rows: FileRows::default(),
        }
    }
}

/// What a scan node is made of.
#[derive(Debug, Clone)]
pub struct ScanSpec<'a> {
    /// The files' store.
    pub store: &'a TableStore,
    /// The schema.
    pub layout: &'a TableLayout,
    /// The session's zone, for partition values of old writers.
    pub zone: &'a Zone,
    /// Hidden columns to yield too.
    pub hidden: Hidden,
    /// Logical columns to yield, all where none; hidden ones stand at the end.
    pub projection: Option<&'a Vec<usize>>,
    /// Rows that suffice.
    pub limit: Option<usize>,
}

/// Builds the scan of `files`, in their order.
///
/// # Errors
/// A path or partition value that cannot be read.
pub fn build_scan(
    session: &dyn Session,
    spec: &ScanSpec<'_>,
    files: &[ScanFile],
) -> Result<Arc<dyn ExecutionPlan>> {
    let url = ObjectStoreUrl::parse(spec.store.object_store_url())?;
    session
        .runtime_env()
        .register_object_store(url.as_ref(), spec.store.object_store());
    let readers = CachedParquetFileReaderFactory::new(
        spec.store.object_store(),
        session
            .runtime_env()
            .cache_manager
            .get_file_metadata_cache(),
    );
    let schema = spec.layout.table_schema(spec.hidden);
    let options = TableParquetOptions {
        global: session.config_options().execution.parquet.clone(),
        ..TableParquetOptions::default()
    };
    let source = DeltaSource::new(
        schema.clone(),
        Arc::clone(&spec.layout.columns),
        Arc::new(readers),
        options,
    );

    let places = spec.layout.project(spec.projection, spec.hidden);
    let mut scanned = Vec::with_capacity(files.len());
    let mut enough = 0usize;
    for (number, file) in files.iter().enumerate() {
        if spec.limit.is_some_and(|limit| enough >= limit) {
            break;
        }
        let built = scan_file(spec, &places, number, file)?;
        if let Some(Precision::Exact(rows)) = built.statistics.as_ref().map(|stats| stats.num_rows)
        {
            enough = enough.saturating_add(rows);
        }
        scanned.push(built);
    }
    let all_known = scanned.iter().all(|file| file.statistics.is_some());
    let statistics = if scanned.is_empty() {
        no_rows(schema.table_schema().fields().len())
    } else if all_known {
        Statistics::try_merge_iter(
            scanned.iter().filter_map(|file| file.statistics.as_deref()),
            schema.table_schema(),
        )?
    } else {
        Statistics::new_unknown(schema.table_schema())
    };
    let optimizer = &session.config_options().optimizer;
    let groups = groups(
        scanned,
        streams(spec.store, session.config().target_partitions()),
        optimizer.repartition_file_min_size as u64,
    );
    let config = FileScanConfigBuilder::new(url, Arc::new(source))
        .with_preserve_order(groups.len() <= 1)
        .with_file_groups(groups)
        .with_projection_indices(Some(places))?
        .with_limit(spec.limit)
        .with_statistics(statistics)
        .with_expr_adapter(Some(Arc::new(DeltaAdapterFactory::new(Arc::clone(
            &spec.layout.columns,
        )))))
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

fn scan_file(
    spec: &ScanSpec<'_>,
    places: &[usize],
    number: usize,
    file: &ScanFile,
) -> Result<PartitionedFile> {
    let add = &file.add;
    let path = spec.store.resolve(&add.path).map_err(wrap)?;
    let meta = ObjectMeta {
        location: path.object_path(),
        last_modified: DateTime::from_timestamp_millis(add.modification_time).unwrap_or_default(),
        size: u64::try_from(add.size).unwrap_or_default(),
        e_tag: None,
        version: None,
    };
    let mut values = partition_values(spec.layout, add, spec.zone)?;
    match spec.hidden {
        Hidden::Nothing => {}
        Hidden::Positions => values.push(ScalarValue::Int64(i64::try_from(number).ok())),
        Hidden::Places { .. } => values.extend(places_of(&path, add)),
    }
    let mut rows = file.rows.clone();
    rows.vector = add
        .deletion_vector
        .as_ref()
        .map(|descriptor| VectorFile::new(spec.store, descriptor.clone()));
    let stats = FileStats::of(add);
    let mut out = PartitionedFile::new_from_meta(meta).with_partition_values(values);
    if let Some(physical) = stats.physical_rows() {
        out = out.with_extension(PhysicalRows(physical));
        out.statistics = Some(Arc::new(statistics(
            spec,
            places,
            file,
            &stats,
            physical,
            &out.partition_values,
        )));
    }
    if !rows.is_all() {
        out = out.with_extension(rows);
    }
    Ok(out)
}

/// What is known of a file, in the order of the hidden columns.
fn places_of(path: &DataPath, add: &Add) -> [ScalarValue; 6] {
    let uri = path.uri();
    let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
    let modified = add.modification_time.saturating_mul(1000);
    [
        ScalarValue::Utf8(Some(uri)),
        ScalarValue::Utf8(Some(name)),
        ScalarValue::Int64(Some(add.size)),
        ScalarValue::TimestampMicrosecond(Some(modified), Some("UTC".into())),
        ScalarValue::Int64(add.base_row_id),
        ScalarValue::Int64(add.default_row_commit_version),
    ]
}

/// The typed partition values of a file.
///
/// # Errors
/// A value is not of its column's type.
pub fn partition_values(layout: &TableLayout, add: &Add, zone: &Zone) -> Result<Vec<ScalarValue>> {
    layout
        .partitions
        .iter()
        .zip(&layout.partition_types)
        .zip(&layout.partition_keys)
        .map(|((field, data_type), key)| {
            let text = add
                .partition_values
                .get(key)
                .and_then(|text| text.as_deref());
            partition_scalar(text, data_type, field.data_type(), zone).map_err(wrap)
        })
        .collect()
}

fn statistics(
    spec: &ScanSpec<'_>,
    places: &[usize],
    file: &ScanFile,
    stats: &FileStats,
    physical: u64,
    partition_values: &[ScalarValue],
) -> Statistics {
    let deleted = file.add.deletion_vector.as_ref().map_or(0, |vector| {
        u64::try_from(vector.cardinality).unwrap_or_default()
    });
    // Of numbers that contradict each other none is to be believed: the rows tell.
    let picked = file.rows.is_picked() || file.rows.without.is_some() || deleted > physical;
    let live = physical.saturating_sub(deleted);
    let count = usize::try_from(live).unwrap_or(usize::MAX);
    let num_rows = if picked {
        Precision::Inexact(count)
    } else {
        Precision::Exact(count)
    };
    let mut columns = Vec::new();
    for (at, (data_type, map)) in spec
        .layout
        .file_types
        .iter()
        .zip(&spec.layout.columns.fields)
        .enumerate()
    {
        // Filters may use columns that the output does not; those the optimizer adds to the projection.
        let known = places.contains(&at) && !picked;
        columns.push(if known {
            stats.column(&map.physical, data_type, count)
        } else {
            ColumnStatistics::new_unknown()
        });
    }
    for value in partition_values {
        let mut column = ColumnStatistics::new_unknown();
        if value.is_null() {
            column.null_count = num_rows;
        } else {
            column.null_count = Precision::Exact(0);
            column.min_value = Precision::Exact(value.clone());
            column.max_value = Precision::Exact(value.clone());
        }
        columns.push(column);
    }
    if spec.hidden.has_rows() {
        columns.push(ColumnStatistics::new_unknown());
    }
    let bytes = usize::try_from(file.add.size).unwrap_or_default();
    Statistics {
        num_rows,
        total_byte_size: Precision::Inexact(bytes),
        column_statistics: columns,
    }
}

fn no_rows(columns: usize) -> Statistics {
    Statistics {
        num_rows: Precision::Exact(0),
        total_byte_size: Precision::Exact(0),
        column_statistics: vec![ColumnStatistics::new_unknown(); columns],
    }
}

/// Streams that read from an object store at the same time, at least. One stream asks, waits, decodes, and asks again: only
/// beside others does the network carry something all the time.
const CLOUD_STREAMS: usize = 8;

/// How many streams read at the same time, where the engine has this many partitions.
fn streams(store: &TableStore, partitions: usize) -> usize {
    match store.root().scheme().is_cloud() {
        true => partitions.max(CLOUD_STREAMS),
        false => partitions,
    }
}

/// A small table is one group, read in the order of the log; a large one is cut into runs of about equal size.
fn groups(files: Vec<PartitionedFile>, target: usize, min_bytes: u64) -> Vec<FileGroup> {
    let total: u64 = files.iter().map(|file| file.object_meta.size).sum();
    if target <= 1 || total <= min_bytes || files.len() <= 1 {
        return vec![FileGroup::new(files)];
    }
    let share = total / target as u64 + 1;
    let mut out = Vec::new();
    let mut group = Vec::new();
    let mut held = 0;
    for file in files {
        held += file.object_meta.size;
        group.push(file);
        if held >= share {
            out.push(FileGroup::new(std::mem::take(&mut group)));
            held = 0;
        }
    }
    if !group.is_empty() {
        out.push(FileGroup::new(group));
    }
    out
}
