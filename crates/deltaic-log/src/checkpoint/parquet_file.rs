//! Parquet files of the log folder, read by ranges through the log store; only the columns asked for are fetched.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
/// What is fetched of the end of a larger file, in the hope that the footer is within.
const FOOTER_BYTES: usize = 64 << 10;
/// Ranges with no more than this between them are fetched in one request: a round trip costs more than the bytes.
const GAP_BYTES: u64 = 256 << 10;
/// Ranges of one file that are under way at the same time.
const CONCURRENT_RANGES: usize = 8;
/// Rows per batch.
const BATCH_ROWS: usize = 8_192;

/// An open file of the log folder.
#[derive(Debug, Clone)]
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
        let metadata = ArrowReaderMetadata::load_async(&mut reader, options);
        let metadata = AssertUnwindSafe(metadata).catch_unwind().await;
        let metadata = metadata
            .unwrap_or_else(|panic| Err(gave_up(panic.as_ref())))
            .map_err(|e| damaged(store, name, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", e))?;
        Ok(Self { reader, metadata })
    }

    /// Whether all of the file is in memory.
    pub(crate) fn is_whole(&self) -> bool {
        self.reader.whole.is_some()
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
        let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(
            self.reader.clone(),
            self.metadata.clone(),
        )
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS);
        let stream = catch_unwind(AssertUnwindSafe(|| builder.build()))
            .unwrap_or_else(|panic| Err(gave_up(panic.as_ref())))
            .map_err(|e| self.reader.damaged(e))?;
        let batches = AssertUnwindSafe(stream).catch_unwind();
        let whole = batches.map(|read| read.unwrap_or_else(|panic| Err(gave_up(panic.as_ref()))));
        Ok(whole.map_err(move |e| reader.damaged(e)).boxed())
    }
}

/// The decoder panics on some damaged bytes (a column chunk of a negative length is one). To a reader of the log they are a damaged
/// file like any other: what can stand in for a damaged checkpoint does.
fn gave_up(panic: &(dyn Any + Send)) -> ParquetError {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    ParquetError::General(text.unwrap_or_else(|| "the decoder gave up".to_owned()))
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

#[derive(Debug, Clone)]
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

    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        async move {
            let spans = spans(&ranges);
            let reader = &*self;
            let fetched: Vec<Bytes> = futures::stream::iter(spans.clone())
                .map(|span| {
                    let mut reader = reader.clone();
                    async move { reader.get_bytes(span).await }
                })
                .buffered(CONCURRENT_RANGES)
                .try_collect()
                .await?;
            ranges
                .iter()
                .map(|range| cut(&spans, &fetched, range))
                .collect()
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        async move {
            let size = self.size;
            let reader = ParquetMetaDataReader::new()
                .with_arrow_reader_options(options)
                .with_prefetch_hint(Some(FOOTER_BYTES));
            Ok(Arc::new(reader.load_and_finish(self, size).await?))
        }
        .boxed()
    }
}

/// The ranges to ask for, so that each of `ranges` lies within one.
fn spans(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match out.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP_BYTES) => {
                last.end = last.end.max(range.end);
            }
            _ => out.push(range),
        }
    }
    out
}

/// A range's bytes out of those of the span around it.
fn cut(
    spans: &[Range<u64>],
    fetched: &[Bytes],
    range: &Range<u64>,
) -> parquet::errors::Result<Bytes> {
    let missing = || ParquetError::EOF(format!("bytes {range:?} are missing"));
    let at = spans.partition_point(|span| span.end < range.end);
    let (span, bytes) = spans.get(at).zip(fetched.get(at)).ok_or_else(missing)?;
    let start = usize::try_from(range.start.checked_sub(span.start).ok_or_else(missing)?)?;
    let end = usize::try_from(range.end.checked_sub(span.start).ok_or_else(missing)?)?;
    match end <= bytes.len() {
        true => Ok(bytes.slice(start..end)),
        false => Err(missing()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_come_back_out_of_the_spans_around_them(
            ends in proptest::collection::vec((0u64..3_000_000, 0u64..400_000), 0..12),
        ) {
            let ranges: Vec<Range<u64>> = ends.iter().map(|(start, len)| *start..start + len).collect();
            let spans = spans(&ranges);
            for pair in spans.windows(2) {
                prop_assert!(pair[1].start > pair[0].end + GAP_BYTES);
            }
            let byte = |at: u64| u8::try_from(at % 251).unwrap();
            let fetched: Vec<Bytes> = spans.iter().map(|span| span.clone().map(byte).collect()).collect();
            for range in &ranges {
                let expected: Vec<u8> = range.clone().map(byte).collect();
                prop_assert_eq!(cut(&spans, &fetched, range).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_short_answer_is_an_error() {
        let span = 10..20;
        let short = [Bytes::from_static(b"123")];
        assert!(cut(std::slice::from_ref(&span), &short, &(12..16)).is_err());
    }
}
