//! The standard streams: is a person at the other end, does that person want to stop, and printing that survives an end
//! that is closed or full.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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

/// A pause that ends in time even while all threads of the engine compute: its own timers wait for one of them.
pub async fn pause(time: Duration) {
    let over = Arc::new(Notify::new());
    let waker = Arc::clone(&over);
    std::thread::spawn(move || {
        std::thread::sleep(time);
        waker.notify_one();
    });
    over.notified().await;
}

/// Watches on a thread of its own: the threads of the engine may all be busy for long. The handler stands when this
/// returns, and one stream loses no signal between two looks.
fn watch(notify: Arc<Notify>) {
    let (ready, standing) = mpsc::channel();
    let watcher = std::thread::Builder::new().name("ctrl-c".to_owned());
    let started = watcher.spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(signals(&notify, &ready));
        }
    });
    if started.is_ok() {
        // An error means that there is nothing to watch with.
        let _ = standing.recv();
    }
}

#[cfg(unix)]
async fn signals(notify: &Notify, ready: &Sender<()>) {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut signals) = signal(SignalKind::interrupt()) {
        let _ = ready.send(());
        while signals.recv().await.is_some() {
            notify.notify_one();
        }
    }
}

#[cfg(not(unix))]
async fn signals(notify: &Notify, ready: &Sender<()>) {
    let _ = ready.send(());
    while tokio::signal::ctrl_c().await.is_ok() {
        notify.notify_one();
    }
}
