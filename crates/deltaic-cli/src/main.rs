//! The program `deltaic`; everything it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    deltaic_cli::run(std::env::args_os())
}
