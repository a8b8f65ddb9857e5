//! From input/output errors to classed errors: every one names the path, and its kind is `NotFound` or `Storage`.

use std::io;

use deltaic_protocol::error::{DeltaError, ErrorKind};

/// The error of a missing file, with Hadoop's text.
pub(crate) fn not_found(path: &str) -> DeltaError {
    DeltaError::unclassed(
        "java.io.FileNotFoundException",
        format!("File {path} does not exist"),
    )
    .with_kind(ErrorKind::NotFound)
    .with_path(path)
}

/// The error of an operation (`"read"`, `"create"`, …) on a path as Hadoop prints it.
pub(crate) fn io_error(operation: &str, path: &str, error: io::Error) -> DeltaError {
    // What is written need not be there before; a folder that cannot be made is a failure of the place.
    if error.kind() == io::ErrorKind::NotFound && !matches!(operation, "create" | "write") {
        return not_found(path).with_source(error);
    }
    let java = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "java.nio.file.AccessDeniedException"
        }
        _ => "java.io.IOException",
    };
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("the disk is full: free space and run the statement again; nothing was committed")
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("check the permissions of the folder")
        }
        _ => None,
    };
    let built = DeltaError::unclassed(java, format!("Failed to {operation} {path}: {error}"))
        .with_kind(ErrorKind::Storage)
        .with_path(path)
        .with_source(error);
    match hint {
        Some(hint) => built.with_hint(hint),
        None => built,
    }
}

/// A background task ended without a result.
pub(crate) fn task_error(path: &str, error: tokio::task::JoinError) -> DeltaError {
    io_error("finish the work on", path, io::Error::other(error))
}
