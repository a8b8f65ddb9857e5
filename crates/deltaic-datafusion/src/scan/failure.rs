//! What a reader sees when a data file cannot be read: Spark's `FAILED_READ_FILE` classes, naming the file.

use std::io;

use datafusion::error::DataFusionError;
use deltaic_protocol::error::{DeltaError, ErrorKind};
use deltaic_storage::cloud::hint_of_failure;
use parquet::errors::ParquetError;

use crate::columns::reshape::TypeMismatch;
use crate::error::{find, wrap};

/// Classes an error that came up while `file` (see [`deltaic_storage::DataPath::uri`]) was read. Errors of expressions pass unchanged.
pub(crate) fn classify(error: DataFusionError, file: &str) -> DataFusionError {
    if find::<DeltaError>(&error).is_some() {
        return error;
    }
    let missing = find::<object_store::Error>(&error)
        .is_some_and(|e| matches!(e, object_store::Error::NotFound { .. }))
        || find::<io::Error>(&error).is_some_and(|e| e.kind() == io::ErrorKind::NotFound);
    let class = if missing {
        "FAILED_READ_FILE.FILE_NOT_EXIST"
    } else if let Some(mismatch) = find::<TypeMismatch>(&error) {
        let built = DeltaError::new("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH")
            .param("path", file)
            .param("column", format!("[{}]", mismatch.column))
            .param("expectedType", &mismatch.logical)
            .param("actualType", &mismatch.physical);
        return wrap(built.with_path(file).with_source(error));
    } else if let Some(parquet) = find::<ParquetError>(&error) {
        if is_footer(parquet) {
            "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER"
        } else {
            "FAILED_READ_FILE.NO_HINT"
        }
    } else if find::<object_store::Error>(&error).is_some() {
        "FAILED_READ_FILE.NO_HINT"
    } else {
        return error;
    };
    // Shorter than the log says: the file is damaged, not the storage.
    // (Parquet passes the cause on as text.)
    let cut = error.to_string().contains("failed to fill whole buffer");
    let mut built = DeltaError::new(class).param("path", file).with_path(file);
    if cut {
        built = built.with_kind(ErrorKind::Corrupt);
    } else if !missing && let Some(hint) = hint_of_failure(&error) {
        built = built.with_hint(hint);
    }
    wrap(built.with_source(error))
}

fn is_footer(error: &ParquetError) -> bool {
    let text = error.to_string();
    matches!(error, ParquetError::EOF(_) | ParquetError::NeedMoreData(_))
        || text.contains("footer")
        || text.contains("magic")
}
