//! Is a person at the other end, and does that person want to stop?

use std::io::IsTerminal;

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
