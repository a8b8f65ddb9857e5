//! The standard streams: is a person at the other end, does that person want to stop, and printing that survives an end
//! that is closed or full.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};

use deltaic_protocol::error::{DeltaError, ErrorKind};

use tokio::sync::Notify;

use crate::failure::Failed;

/// Exit status when the reader of standard output is gone: as a shell shows a program that SIGPIPE ended.
const READER_GONE: u8 = 141;

/// Print an answer.
///
/// # Errors
/// The stream can not be written: there is no use in going on.
pub fn print(text: &str) -> Result<(), Failed> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(broken)
}

/// Print to standard error. A failure there has no place where it could be told.
pub fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn broken(error: io::Error) -> Failed {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failed::Printed(READER_GONE);
    }
    let text = format!("cannot write to standard output: {error}");
    Failed::Error(DeltaError::unclassed("java.io.IOException", text).with_kind(ErrorKind::Storage))
}

/// Standard input is a terminal.
pub fn input_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Standard error is a terminal.
pub fn error_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Ctrl-C that nobody has answered yet. One watcher serves the whole run: a signal between two statements, when nobody
/// waits, is kept for the next one.
static INTERRUPT: OnceLock<Arc<Notify>> = OnceLock::new();

/// Wait for Ctrl-C, or find one that came since the last wait. Where the signal can not be watched it never comes, and the
/// system ends the process.
pub async fn interrupted() {
    let watched = INTERRUPT.get_or_init(|| {
        let notify = Arc::new(Notify::new());
        watch(Arc::clone(&notify));
        notify
    });
    watched.notified().await;
}

/// Whether Ctrl-C has come since the last wait; it counts as answered then.
pub async fn was_interrupted() -> bool {
    tokio::select! {
        biased;
        () = interrupted() => true,
        () = std::future::ready(()) => false,
    }
}

#[cfg(unix)]
fn watch(notify: Arc<Notify>) {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stands when this returns; a stream of its own loses no signal between two looks.
    if let Ok(mut signals) = signal(SignalKind::interrupt()) {
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                notify.notify_one();
            }
        });
    }
}

#[cfg(not(unix))]
fn watch(notify: Arc<Notify>) {
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            notify.notify_one();
        }
    });
}
