//! One writing task: rows of one input partition into Parquet files, one for each partition value.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{SortOptions, take_record_batch};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::ScalarValue;
use deltaic_protocol::action::{Add, PartitionValues};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::partition::partition_folder;
use deltaic_protocol::schema::DataType;
use deltaic_storage::{DataPath, TableStore, encode_uri_path};
use object_store::buffered::BufWriter;
use parquet::arrow::AsyncArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};

use super::checks::null_for_empty;
use super::collector::StatsCollector;
use super::shape::Shaper;
use super::target::{FileKind, WriteTarget, random_prefix};
use crate::error::Classed;
use crate::values::to_scalar;

/// Rows that a file's writer holds before it closes a row group early, in bytes of encoded pages.
const ROW_GROUP_BYTES: usize = 128 << 20;
/// What all open files of a task may hold together.
const OPEN_BYTES: usize = 512 << 20;

/// A file that was written and is not yet in the log.
#[derive(Debug, Clone)]
pub struct WrittenFile {
    /// Its action, `dataChange` true.
    pub add: Add,
    /// Its rows.
    pub rows: u64,
}

/// A task at work.
pub(crate) struct WriteTask {
    target: Arc<WriteTarget>,
    number: usize,
    properties: WriterPropertiesPtr,
    keys: Option<RowConverter>,
    open: BTreeMap<Option<OwnedRow>, OpenFile>,
    done: Vec<(Option<OwnedRow>, usize, WrittenFile)>,
    /// Every path that was begun, for the clean-up after a failure.
    begun: Vec<DataPath>,
}

struct OpenFile {
    path: DataPath,
    values: PartitionValues,
    writer: AsyncArrowWriter<BufWriter>,
    stats: Option<StatsCollector>,
    rows: u64,
    counter: usize,
}

impl WriteTask {
    /// Task `number` of a write.
    ///
    /// # Errors
    /// A partition column's type cannot be one.
    pub(crate) fn new(target: Arc<WriteTarget>, number: usize) -> Result<WriteTask> {
        let options = SortOptions {
            descending: false,
            nulls_first: true,
        };
        let fields: Vec<SortField> = target
            .partitions
            .iter()
            .map(|column| {
                SortField::new_with_options(
                    target.shaper.logical().field(column.at).data_type().clone(),
                    options,
                )
            })
            .collect();
        let keys = if fields.is_empty() {
            None
        } else {
            Some(RowConverter::new(fields).classed()?)
        };
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("deltaic version {}", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(WriteTask {
            target,
            number,
            properties: Arc::new(properties),
            keys,
            open: BTreeMap::new(),
            done: Vec::new(),
            begun: Vec::new(),
        })
    }

    /// The conversions of this write.
    pub(crate) fn shaper(&self) -> &Shaper {
        &self.target.shaper
    }

    /// The files that were begun, finished or not.
    pub(crate) fn begun(&self) -> &[DataPath] {
        &self.begun
    }

    /// Writes a conforming batch (the table's logical columns).
    ///
    /// # Errors
    /// The store refuses, or a value does not fit.
    pub(crate) async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let Some(converter) = &self.keys else {
            return self.append(None, &[], batch).await;
        };
        let columns: Vec<ArrayRef> = self
            .target
            .partitions
            .iter()
            .map(|column| match column.data_type {
                DataType::String => null_for_empty(batch.column(column.at)),
                _ => Arc::clone(batch.column(column.at)),
            })
            .collect();
        let rows = converter.convert_columns(&columns).classed()?;
        let mut groups: BTreeMap<OwnedRow, Vec<u32>> = BTreeMap::new();
        let mut last: Option<(OwnedRow, Vec<u32>)> = None;
        for (at, row) in rows.iter().enumerate() {
            let at = u32::try_from(at).map_err(|_| DeltaError::internal("a batch is too long"))?;
            match &mut last {
                Some((key, list)) if key.row() == row => list.push(at),
                _ => {
                    if let Some((key, list)) = last.take() {
                        groups.entry(key).or_default().extend(list);
                    }
                    last = Some((row.owned(), vec![at]));
                }
            }
        }
        if let Some((key, list)) = last {
            groups.entry(key).or_default().extend(list);
        }
        for (key, list) in groups {
            let first = list.first().copied().unwrap_or_default() as usize;
            let values: Vec<ScalarValue> = columns
                .iter()
                .map(|column| ScalarValue::try_from_array(column, first))
                .collect::<Result<_, _>>()
                .classed()?;
            let part = if list.len() == batch.num_rows() {
                batch.clone()
            } else {
                take_record_batch(&batch, &UInt32Array::from(list)).classed()?
            };
            self.append(Some(key), &values, part).await?;
        }
        Ok(())
    }

    /// Appends the rows of one partition, to as many files as they need.
    async fn append(
        &mut self,
        key: Option<OwnedRow>,
        values: &[ScalarValue],
        batch: RecordBatch,
    ) -> Result<()> {
        let Some(most) = self.target.max_file_rows.map(NonZeroU64::get) else {
            return self.append_to_open(key, values, batch).await;
        };
        let mut at = 0;
        while at < batch.num_rows() {
            let held = self.open.get(&key).map_or(0, |file| file.rows);
            if held >= most {
                self.next_file(&key, values).await?;
                continue;
            }
            let room = usize::try_from(most - held).unwrap_or(usize::MAX);
            let length = room.min(batch.num_rows() - at);
            let part = batch.slice(at, length);
            self.append_to_open(key.clone(), values, part).await?;
            at += length;
        }
        Ok(())
    }

    /// Closes a partition's file and begins another one.
    async fn next_file(&mut self, key: &Option<OwnedRow>, values: &[ScalarValue]) -> Result<()> {
        let mut counter = 0;
        if let Some(full) = self.open.remove(key) {
            counter = full.counter + 1;
            self.finish_file(key.clone(), full).await?;
        }
        let next = self.begin(values, counter)?;
        self.open.insert(key.clone(), next);
        Ok(())
    }

    async fn append_to_open(
        &mut self,
        key: Option<OwnedRow>,
        values: &[ScalarValue],
        batch: RecordBatch,
    ) -> Result<()> {
        if !self.open.contains_key(&key) {
            let file = self.begin(values, 0)?;
            self.open.insert(key.clone(), file);
        }
        let Some(file) = self.open.get_mut(&key) else {
            return Err(DeltaError::internal("a file is not open"));
        };
        let data = self.target.shaper.data_columns(&batch);
        let rows = batch.num_rows();
        if let Some(stats) = &mut file.stats {
            stats.update(&data, rows)?;
        }
        let physical = self.target.shaper.physical_batch(&data, rows)?;
        file.writer
            .write(&physical)
            .await
            .map_err(|error| failed(error, &file.path))?;
        file.rows += rows as u64;
        if file.writer.in_progress_size() > ROW_GROUP_BYTES {
            file.writer
                .flush()
                .await
                .map_err(|error| failed(error, &file.path))?;
        }
        if file.writer.bytes_written() > self.target.max_file_bytes {
            self.next_file(&key, values).await?;
        }
        self.relieve().await
    }

    /// A task with very many partition values closes row groups early instead of filling the memory.
    async fn relieve(&mut self) -> Result<()> {
        if self.open.len() < 2 {
            return Ok(());
        }
        let held: usize = self
            .open
            .values()
            .map(|file| file.writer.in_progress_size())
            .sum();
        if held > OPEN_BYTES {
            for file in self.open.values_mut() {
                file.writer
                    .flush()
                    .await
                    .map_err(|error| failed(error, &file.path))?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, values: &[ScalarValue], counter: usize) -> Result<OpenFile> {
        let target = &self.target;
        let separator = if target.partitions.is_empty() {
            '-'
        } else {
            '.'
        };
        let (root, word) = match target.kind {
            FileKind::Data => ("", "part"),
            FileKind::Change => ("_change_data/", "cdc"),
        };
        let name = format!(
            "{word}-{:05}-{}{separator}c{counter:03}.snappy.parquet",
            self.number,
            target.ids.uuid()
        );
        let mut texts = PartitionValues::new();
        let mut folders = Vec::new();
        for (column, value) in target.partitions.iter().zip(values) {
            let scalar = to_scalar(value).ok_or_else(|| {
                DeltaError::new("DELTA_INVALID_PARTITION_COLUMN_TYPE")
                    .param("name", &column.physical)
                    .param("dataType", column.data_type.sql())
            })?;
            texts.insert(
                column.physical.clone(),
                scalar.to_partition_text(&column.physical)?,
            );
            folders.push((
                column.physical.as_str(),
                scalar.to_folder_text(&column.physical, &target.zone)?,
            ));
        }
        let folder =
            match partition_folder(folders.iter().map(|(name, text)| (*name, text.as_deref()))) {
                empty if empty.is_empty() => empty,
                folder => format!("{folder}/"),
            };
        let relative = match target.random_prefix {
            Some(length) => format!(
                "{root}{}/{name}",
                random_prefix(target.ids.as_ref(), length)
            ),
            None => format!("{root}{folder}{name}"),
        };
        let path = target.store.data_path(&relative)?;
        self.begun.push(path.clone());
        let sink = BufWriter::new(target.store.object_store(), path.object_path());
        let options = ArrowWriterOptions::new()
            .with_properties(self.properties.as_ref().clone())
            .with_skip_arrow_metadata(true);
        let writer = AsyncArrowWriter::try_new_with_options(
            sink,
            Arc::clone(target.shaper.physical()),
            options,
        )
        .map_err(|error| failed(error, &path))?;
        let stats = target.stats.as_ref().map(|plan| plan.collector());
        Ok(OpenFile {
            path,
            values: texts,
            writer,
            stats,
            rows: 0,
            counter,
        })
    }

    async fn finish_file(&mut self, key: Option<OwnedRow>, mut file: OpenFile) -> Result<()> {
        if file.rows == 0 {
            // Begun for rows that did not come; nothing has reached the store.
            return Ok(());
        }
        file.writer
            .finish()
            .await
            .map_err(|error| failed(error, &file.path))?;
        let sent = file.writer.bytes_written() as u64;
        let (size, modified_ms) = written(&self.target.store, &file.path, sent).await?;
        let add = Add {
            path: encode_uri_path(file.path.as_str()),
            partition_values: file.values,
            size: i64::try_from(size).unwrap_or(i64::MAX),
            modification_time: modified_ms,
            data_change: true,
            stats: file.stats.as_ref().map(StatsCollector::finish),
            ..Add::default()
        };
        self.done.push((
            key,
            file.counter,
            WrittenFile {
                add,
                rows: file.rows,
            },
        ));
        Ok(())
    }

    /// Closes all files; they are answered by partition value (nulls first), as they would be written one after another.
    ///
    /// # Errors
    /// The store refuses.
    pub(crate) async fn finish(&mut self) -> Result<Vec<WrittenFile>> {
        for (key, file) in std::mem::take(&mut self.open) {
            self.finish_file(key, file).await?;
        }
        let mut done = std::mem::take(&mut self.done);
        done.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        Ok(done.into_iter().map(|(_, _, file)| file).collect())
    }
}

/// Bytes and time of a file whose writer has finished. An object store has taken what was sent, now; asking it would be a
/// further request for every file.
async fn written(store: &TableStore, path: &DataPath, sent: u64) -> Result<(u64, i64)> {
    if store.root().scheme().is_cloud() {
        let now = chrono::Utc::now().timestamp_millis();
        return Ok((sent, now));
    }
    let written = store.data().stat(path.as_str()).await?;
    let written = written.ok_or_else(|| {
        // As when the table is dropped meanwhile.
        DeltaError::unclassed(
            "java.io.FileNotFoundException",
            format!("{path} is gone right after it was written"),
        )
        .with_kind(ErrorKind::Storage)
        .with_path(path.to_string())
    })?;
    Ok((written.size, written.modified_ms))
}

fn failed(error: ParquetError, path: &DataPath) -> DeltaError {
    let hint = deltaic_storage::cloud::hint_of_failure(&error);
    if hint.is_some()
        && let Some(failed) = deltaic_storage::cloud::of_failure("write", &path.to_string(), &error)
    {
        return failed;
    }
    let failed = DeltaError::unclassed(
        "java.io.IOException",
        format!("Failed to write {path}: {error}"),
    )
    .with_path(path.to_string())
    .with_source(error);
    match hint {
        Some(hint) => failed.with_hint(hint),
        None => failed,
    }
}
