//! The footer of a data file, where the log does not say enough.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::async_reader::MetadataFetch;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

struct File {
    store: Arc<dyn ObjectStore>,
    path: Path,
}

impl MetadataFetch for File {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        let File { store, path } = self;
        async move {
            store
                .get_range(path, range)
                .await
                .map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }
}

/// Reads the footer of a file.
///
/// # Errors
/// The file is missing or no Parquet file.
pub(crate) async fn read_footer(
    store: Arc<dyn ObjectStore>,
    path: &Path,
) -> Result<ParquetMetaData> {
    let size = store
        .head(path)
        .await
        .map_err(|error| ParquetError::External(Box::new(error)))?
        .size;
    let file = File {
        store,
        path: path.clone(),
    };
    ParquetMetaDataReader::new()
        .load_and_finish(file, size)
        .await
}
