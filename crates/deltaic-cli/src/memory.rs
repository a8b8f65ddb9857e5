//! The memory of the process, watched: a statement that needs more than it is allowed ends with an error, before the system ends
//! the process.
//!
//! The engine's operators share out their part of it and spill. What else a statement holds (the rows of an answer, a table's
//! files, buffers of a writer) is not counted anywhere, so the process itself is looked at. Systems that do not tell (other than
//! Linux) leave it at the engine's share.

use std::future::pending;
use std::time::Duration;

use deltaic_protocol::error::DeltaError;
use tokio::sync::oneshot;

/// Between two looks. In that time a statement fills no more than what is kept free.
const PERIOD: Duration = Duration::from_millis(10);
/// One in so many bytes of the limit is kept free.
const FREE: u64 = 16;

/// Waits until the process holds nearly `limit` bytes, and tells so.
pub async fn exceeded(limit: Option<u64>) -> DeltaError {
    let Some(limit) = limit else {
        return pending().await;
    };
    let allowed = limit - limit / FREE;
    let (tell, told) = oneshot::channel();
    // A thread of its own: those of the engine may all be busy with what fills the memory.
    std::thread::spawn(move || {
        while !tell.is_closed() {
            match held() {
                Some(held) if held > allowed => {
                    let _ = tell.send(held);
                    return;
                }
                Some(_) => std::thread::sleep(PERIOD),
                None => return,
            }
        }
    });
    match told.await {
        Ok(held) => DeltaError::out_of_memory(held, allowed),
        Err(_) => pending().await,
    }
}

/// Bytes of its own that the process holds in memory, files that are mapped into it aside; `None` where the system does not tell.
fn held() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = told.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
