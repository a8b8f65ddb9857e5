//! Parquet files of the log folder, read by ranges through the log store; only the columns asked for are fetched.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{LOG_DIR, TableStore};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

/// Files up to this size are fetched in one request.
const WHOLE_FILE_BYTES: u64 = 1 << 20;
/// Rows per batch.
const BATCH_ROWS: usize = 8_192;

/// An open file of the log folder.
pub(crate) struct LogParquet {
    reader: LogReader,
    metadata: ArrowReaderMetadata,
}

impl LogParquet {
    /// Reads the footer.
    ///
    /// # Errors
    /// The file is missing, or not a whole Parquet file.
    pub(crate) async fn open(store: &TableStore, name: &str, size: u64) -> Result<Self> {
        let whole = if size <= WHOLE_FILE_BYTES {
            Some(store.log().read(name).await?)
        } else {
            None
        };
        let mut reader = LogReader {
            store: store.clone(),
            name: name.to_owned(),
            size,
            whole,
        };
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load_async(&mut reader, options).await;
        let metadata = metadata
            .map_err(|e| damaged(store, name, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", e))?;
        Ok(Self { reader, metadata })
    }

    /// Whether the file has a column at this path of names.
    pub(crate) fn has(&self, path: &[&str]) -> bool {
        let mut fields = self.metadata.schema().fields();
        let Some((last, parents)) = path.split_last() else {
            return false;
        };
        for name in parents {
            match fields.find(name).map(|(_, f)| f.data_type()) {
                Some(arrow::datatypes::DataType::Struct(inner)) => fields = inner,
                _ => return false,
            }
        }
        fields.find(last).is_some()
    }

    /// Reads the columns whose dotted path equals one of `columns` or lies below one.
    ///
    /// # Errors
    /// The store fails, or the file is damaged.
    pub(crate) async fn read(&self, columns: &[String]) -> Result<Vec<RecordBatch>> {
        self.batches(columns)?.try_collect().await
    }

    /// The same, a batch at a time.
    ///
    /// # Errors
    /// The file is damaged.
    pub(crate) fn batches(
        &self,
        columns: &[String],
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let schema = self.metadata.parquet_schema();
        let wanted = (0..schema.num_columns()).filter(|i| {
            let path = schema.column(*i).path().string();
            columns.iter().any(|c| {
                path == *c
                    || path
                        .strip_prefix(c.as_str())
                        .is_some_and(|rest| rest.starts_with('.'))
            })
        });
        let mask = ProjectionMask::leaves(schema, wanted);
        let reader = self.reader.clone();
        let stream = ParquetRecordBatchStreamBuilder::new_with_metadata(
            self.reader.clone(),
            self.metadata.clone(),
        )
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|e| self.reader.damaged(e))?;
        Ok(stream.map_err(move |e| reader.damaged(e)).boxed())
    }
}

/// An error about a Parquet file of the log that cannot be used.
fn damaged(store: &TableStore, name: &str, class: &'static str, error: ParquetError) -> DeltaError {
    let path = store.root().display(&format!("{LOG_DIR}/{name}"));
    DeltaError::new(class)
        .param("path", &path)
        .with_path(path)
        .with_kind(ErrorKind::Corrupt)
        .with_source(error)
}

#[derive(Clone)]
struct LogReader {
    store: TableStore,
    name: String,
    size: u64,
    whole: Option<Bytes>,
}

impl LogReader {
    fn damaged(&self, error: ParquetError) -> DeltaError {
        damaged(&self.store, &self.name, "FAILED_READ_FILE.NO_HINT", error)
    }
}

impl AsyncFileReader for LogReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move {
            if let Some(whole) = &self.whole {
                let end = usize::try_from(range.end)
                    .unwrap_or(usize::MAX)
                    .min(whole.len());
                let start = usize::try_from(range.start).unwrap_or(usize::MAX).min(end);
                return Ok(whole.slice(start..end));
            }
            self.store
                .log()
                .read_range(&self.name, range)
                .await
                .map_err(|e| ParquetError::External(Box::new(e)))
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
