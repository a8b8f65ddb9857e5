//! The schema of a folder of Parquet files: the columns of its first file, and partition columns from folder names.

use deltaic_maintenance::parquet_files;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::{parse_date, parse_timestamp_ntz};
use deltaic_storage::{TableStore, decode_uri_path};

use super::listing::{data_files, folders};
use crate::error::unwrap;
use crate::scan::failure::classify;
use crate::scan::footer::read_footer;

/// Schema and partition columns of a folder.
///
/// # Errors
/// `UNABLE_TO_INFER_SCHEMA` where there are no files; a file that cannot be read.
pub async fn infer_schema(store: &TableStore) -> Result<(StructType, Vec<String>)> {
    let files = data_files(store).await?;
    let Some(first) = files.first() else {
        return Err(DeltaError::new("UNABLE_TO_INFER_SCHEMA")
            .param("format", "Parquet")
            .with_text("Unable to infer schema for Parquet. It must be specified manually.")
            .with_path(store.root().to_string()));
    };
    let path = store.resolve(&first.path)?;
    let failed = |error: parquet::errors::ParquetError| unwrap(classify(error.into(), &path.uri()));
    let metadata = read_footer(store.object_store(), &path.object_path())
        .await
        .map_err(failed)?;
    let mut schema = parquet_files::columns(metadata.file_metadata())
        .map_err(|error| error.with_path(path.uri()))?;
    let mut columns: Vec<(String, Vec<Option<String>>)> = Vec::new();
    for file in &files {
        for (at, (name, value)) in folders(&decode_uri_path(&file.path)?)
            .into_iter()
            .enumerate()
        {
            match columns.get_mut(at) {
                Some((_, values)) => values.push(value),
                None => columns.push((name, vec![value])),
            }
        }
    }
    let mut partition_columns = Vec::new();
    for (name, values) in columns {
        schema
            .fields
            .retain(|field| !field.name.eq_ignore_ascii_case(&name));
        schema
            .fields
            .push(StructField::nullable(&name, value_type(&values)));
        partition_columns.push(name);
    }
    Ok((schema, partition_columns))
}

/// The narrowest of Spark's types for the values of a partition column.
fn value_type(values: &[Option<String>]) -> DataType {
    let known: Vec<&str> = values.iter().flatten().map(String::as_str).collect();
    let all =
        |test: &dyn Fn(&str) -> bool| !known.is_empty() && known.iter().all(|value| test(value));
    if all(&|value| value.parse::<i32>().is_ok()) {
        DataType::Integer
    } else if all(&|value| value.parse::<i64>().is_ok()) {
        DataType::Long
    } else if all(&|value| {
        value.parse::<f64>().is_ok() && value.bytes().any(|b| b.is_ascii_digit())
    }) {
        DataType::Double
    } else if all(&|value| value.len() == 10 && parse_date(value).is_some()) {
        DataType::Date
    } else if all(&|value| {
        value.len() > 10 && value.contains(':') && parse_timestamp_ntz(value).is_some()
    }) {
        DataType::Timestamp
    } else {
        DataType::String
    }
}
