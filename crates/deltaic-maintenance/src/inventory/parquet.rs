//! The files of an inventory as Parquet, whose keys are written as they are.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit, TimestampMillisecondType};
use bytes::Bytes;
use deltaic_command::InventoryRow;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::TableStore;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::columns::Columns;
use super::sieve::Sieve;
use crate::vacuum::InventoryStream;

/// The rows of one file.
///
/// # Errors
/// It is no Parquet file, or has not the columns that are needed.
pub(super) async fn rows(
    store: TableStore,
    path: String,
    size: u64,
    sieve: Arc<Sieve>,
) -> Result<InventoryStream> {
    let place = store.root().display(&path);
    let reader = FileReader { store, path, size };
    let built = ParquetRecordBatchStreamBuilder::new(reader).await;
    let built = built.map_err(|error| failed(&sieve, &place, error))?;
    let fields = built.schema().fields();
    let columns = Columns::find(&place, fields.iter().map(|field| field.name().as_str()))?;
    let mask = ProjectionMask::roots(built.parquet_schema(), columns.wanted());
    let batches = built
        .with_projection(mask)
        .build()
        .map_err(|error| failed(&sieve, &place, error))?;
    Ok(batches
        .map(move |batch| {
            let batch = batch.map_err(|error| failed(&sieve, &place, error))?;
            let rows = take(&batch, &place, &sieve)?;
            Ok::<_, DeltaError>(stream::iter(rows.into_iter().map(Ok)))
        })
        .try_flatten()
        .boxed())
}

/// The files of the table in a batch.
fn take(batch: &RecordBatch, place: &str, sieve: &Sieve) -> Result<Vec<InventoryRow>> {
    let schema = batch.schema();
    let columns = Columns::find(place, schema.fields().iter().map(|f| f.name().as_str()))?;
    let damaged = |reason: &str| damaged(sieve, place, reason);
    let typed = |at: usize, to: &DataType| {
        cast(batch.column(at), to).map_err(|error| damaged(&error.to_string()))
    };
    let (buckets, keys) = (
        typed(columns.bucket, &DataType::Utf8)?,
        typed(columns.key, &DataType::Utf8)?,
    );
    let (buckets, keys) = (buckets.as_string::<i32>(), keys.as_string::<i32>());
    let sizes = typed(columns.size, &DataType::Int64)?;
    let sizes: &Int64Array = sizes.as_primitive::<Int64Type>();
    // A number alone does not say in which unit it counts.
    if !matches!(
        batch.column(columns.modified).data_type(),
        DataType::Timestamp(..)
    ) {
        return Err(damaged("its times are no timestamps"));
    }
    let millis = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let times = typed(columns.modified, &millis)?;
    let times = times.as_primitive::<TimestampMillisecondType>();
    let flags = |at: usize| {
        let column = batch.column(at).as_boolean_opt();
        column.ok_or_else(|| damaged("a column of flags is of another type"))
    };
    let versions = match columns.versions {
        Some((latest, marker)) => Some((flags(latest)?, flags(marker)?)),
        None => None,
    };
    let mut rows = Vec::new();
    for at in 0..batch.num_rows() {
        let (bucket, key) = (text(buckets, at), text(keys, at));
        let (Some(bucket), Some(key)) = (bucket, key) else {
            return Err(damaged("a row without bucket or key"));
        };
        if !sieve.takes(bucket, key)? {
            continue;
        }
        if let Some((latest, marker)) = versions {
            match (set(latest, at), set(marker, at)) {
                (Some(true), Some(false)) => {}
                (Some(_), Some(_)) => continue,
                _ => return Err(damaged(&format!("{key} is neither latest nor old"))),
            }
        }
        if sizes.is_null(at) || times.is_null(at) {
            return Err(damaged(&format!("{key} has no size or no time")));
        }
        rows.extend(sieve.row(key, sizes.value(at), times.value(at)));
    }
    Ok(rows)
}

fn text(array: &StringArray, at: usize) -> Option<&str> {
    array.is_valid(at).then(|| array.value(at))
}

fn set(array: &BooleanArray, at: usize) -> Option<bool> {
    array.is_valid(at).then(|| array.value(at))
}

/// The error of the store where there is one, else of the file.
fn failed(sieve: &Sieve, place: &str, error: ParquetError) -> DeltaError {
    match error {
        ParquetError::External(source) => match source.downcast::<DeltaError>() {
            Ok(error) => *error,
            Err(source) => damaged(sieve, place, &source.to_string()),
        },
        error => damaged(sieve, place, &error.to_string()),
    }
}

fn damaged(sieve: &Sieve, place: &str, reason: &str) -> DeltaError {
    sieve
        .refused(&format!("its file {place} is damaged: {reason}"))
        .with_kind(ErrorKind::Corrupt)
}

/// A file that is read by ranges.
struct FileReader {
    store: TableStore,
    path: String,
    size: u64,
}

impl AsyncFileReader for FileReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move {
            self.store
                .data()
                .read_range(&self.path, range)
                .await
                .map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        async move {
            let size = self.size;
            let reader = ParquetMetaDataReader::new().with_arrow_reader_options(options);
            Ok(Arc::new(reader.load_and_finish(self, size).await?))
        }
        .boxed()
    }
}
