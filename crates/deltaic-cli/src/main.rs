//! The program `deltaic`; everything it does is in the library beside it.

use std::process::ExitCode;

/// Actions of a log are many small values, read by several threads; the system's allocator also keeps what was given back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    deltaic_cli::run(std::env::args_os())
}
