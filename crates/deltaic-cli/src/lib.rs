//! Arguments and terminal of the program `deltaic`. Each command opens a session, hands it a statement or a command,
//! and prints what it answers; nothing here knows how a table is read or written.

mod arguments;
mod commands;
mod complete;
mod engine;
mod failure;
mod memory;
mod output;
mod pipe;
mod progress;
mod prompt;
pub mod script;
mod secret;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command, Output};
use failure::Failed;

/// Parse the command line, run the command, print its failure if it fails, and give the exit status.
pub fn run<I, T>(words: I) -> ExitCode
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version come this way too, with status 0. A closed pipe behind them is no failure.
            let status = u8::try_from(error.exit_code()).unwrap_or(2);
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::complain(&format!("error: cannot start the runtime: {error}\n"));
            return ExitCode::from(1);
        }
    };
    let output = arguments.common.output;
    let ended = runtime.block_on(async {
        match arguments.command {
            Command::Sql(options) => commands::sql::run(&arguments.common, options).await,
            Command::Vacuum(options) => commands::vacuum::run(&arguments.common, options).await,
            Command::Restore(options) => commands::restore::run(&arguments.common, options).await,
            Command::History(options) => commands::history::run(&arguments.common, options).await,
            Command::Detail(options) => commands::detail::run(&arguments.common, options).await,
            Command::Properties(options) => {
                commands::properties::run(&arguments.common, options).await
            }
        }
    });
    // A task that still waits (for a key, say) must not hold the process.
    runtime.shutdown_background();
    ExitCode::from(match ended {
        Ok(()) => 0,
        Err(failed) => status(failed, output),
    })
}

/// Say why the command ended, where it has not been said, and give the exit status.
fn status(failed: Failed, output: Output) -> u8 {
    match failed {
        Failed::Printed(status) => status,
        Failed::Error(error) => match output::print_error(&error, output) {
            Err(Failed::Printed(status)) => status,
            Ok(()) | Err(_) => error.kind().exit_code(),
        },
        Failed::Usage(text) => {
            terminal::complain(&format!("error: {text}\n"));
            2
        }
    }
}

/// Deep expressions recurse in the planner; the default of 2 MiB ends some that Spark accepts.
const STACK: usize = 64 * 1024 * 1024;
