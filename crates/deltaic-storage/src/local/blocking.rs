//! Blocking file system calls on the runtime's threads for such work.

use deltaic_protocol::error::Result;

use crate::error::{io_error, task_error};

/// Runs `work` on a blocking thread; `operation` and `path` (as Hadoop prints it) go into the error.
pub(super) async fn run<T, F>(operation: &'static str, path: String, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> std::io::Result<T> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(io_error(operation, &path, error)),
        Err(error) => Err(task_error(&path, error)),
    }
}
