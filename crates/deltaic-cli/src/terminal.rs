//! The standard streams: is a person at the other end, does that person want to stop, and printing that survives an end
//! that is closed or full.

use std::io::{self, IsTerminal, Write};

use deltaic_protocol::error::{DeltaError, ErrorKind};

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

/// Wait for Ctrl-C. Where the signal can not be watched it never comes, and the system ends the process.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
