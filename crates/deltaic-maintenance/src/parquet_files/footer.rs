//! The schema of one Parquet file: as Spark has noted it in the footer, else from the file's own types.

use std::ops::Range;

use bytes::Bytes;
use deltaic_log::arrow_schema::from_arrow;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType, metadata};
use deltaic_storage::{FileMeta, TableStore};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::async_reader::MetadataFetch;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaDataReader};

/// Where Spark keeps the schema that a file was written with.
const SPARK_SCHEMA: &str = "org.apache.spark.sql.parquet.row.metadata";

struct File<'a> {
    store: &'a TableStore,
    path: &'a str,
}

impl MetadataFetch for File<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move {
            self.store
                .data()
                .read_range(self.path, range)
                .await
                .map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }
}

/// The columns of a file, all nullable.
///
/// # Errors
/// `DELTA_FAILED_READ_FILE_FOOTER` where it is no Parquet file; a file that cannot be read; types that Delta has no equal for.
pub(super) async fn schema(store: &TableStore, entry: &FileMeta) -> Result<StructType> {
    let file = File {
        store,
        path: &entry.path,
    };
    let read = ParquetMetaDataReader::new()
        .load_and_finish(file, entry.size)
        .await;
    let metadata = read.map_err(|error| failed(store, entry, error))?;
    columns(metadata.file_metadata()).map_err(|error| error.with_path(place(store, entry)))
}

/// The columns that a footer tells of, all nullable.
///
/// # Errors
/// Types that Delta has no equal for.
pub fn columns(file: &FileMetaData) -> Result<StructType> {
    let noted = file
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == SPARK_SCHEMA))
        .and_then(|pair| pair.value.as_deref())
        .and_then(|text| StructType::from_json(text).ok());
    if let Some(schema) = noted {
        return Ok(plain(&schema));
    }
    let arrow = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata()).map_err(
        |error| {
            DeltaError::unclassed("java.lang.IllegalArgumentException", error.to_string())
                .with_kind(ErrorKind::Corrupt)
        },
    )?;
    let mut schema = from_arrow(&arrow)?;
    // Instants of old writers carry no zone in their type.
    for leaf in file.schema_descr().columns() {
        if leaf.physical_type() == Type::INT96
            && let Some(root) = leaf.path().parts().first()
            && let Some(field) = schema.fields.iter_mut().find(|field| field.name == *root)
        {
            field.data_type = field.data_type.map_types(&|inner| match inner {
                DataType::TimestampNtz => DataType::Timestamp,
                other => other,
            });
        }
    }
    Ok(plain(&schema))
}

/// Without metadata, comments aside.
fn plain(schema: &StructType) -> StructType {
    StructType::new(schema.as_nullable().fields.into_iter().map(|field| {
        let comment = field.comment().map(str::to_owned);
        let bare = StructField::nullable(field.name, field.data_type);
        match comment {
            Some(comment) => bare.with_metadata(metadata::COMMENT, comment),
            None => bare,
        }
    }))
}

fn place(store: &TableStore, entry: &FileMeta) -> String {
    store
        .data_path(&entry.path)
        .map_or_else(|_| entry.path.clone(), |place| place.uri())
}

/// A failure of the storage stays one; anything else means that the file is none of Parquet.
fn failed(store: &TableStore, entry: &FileMeta, error: ParquetError) -> DeltaError {
    let place = place(store, entry);
    let storage = match &error {
        ParquetError::External(inner) => inner.downcast_ref::<DeltaError>().map(DeltaError::kind),
        _ => None,
    };
    DeltaError::new("DELTA_FAILED_READ_FILE_FOOTER")
        .param("currentFile", &place)
        .with_kind(storage.unwrap_or(ErrorKind::Corrupt))
        .with_path(place)
        .with_hint(
            "every file of the folder whose name does not begin with _ or . must be a Parquet file",
        )
        .with_source(error)
}
