//! Failures of the local disk as errors of the object store interface.

use std::io::{self, ErrorKind};
use std::path::Path as OsPath;

use object_store::Error;

/// The name of this store in its errors.
pub(super) const STORE: &str = "deltaic-file";

/// The classed error of a failed call.
pub(super) fn object_error(path: &OsPath, error: io::Error) -> Error {
    let path = path.to_string_lossy().into_owned();
    let source = Box::new(io::Error::new(error.kind(), format!("{path}: {error}")));
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::NotFound { path, source },
        ErrorKind::AlreadyExists => Error::AlreadyExists { path, source },
        ErrorKind::PermissionDenied => Error::PermissionDenied { path, source },
        _ => Error::Generic {
            store: STORE,
            source,
        },
    }
}
