//! `cargo xtask`: the commands for people and for CI. It imports no crate of the workspace, so it builds in seconds
//! and can judge a tree that does not compile.

mod advisories;
mod bench;
mod check;
mod conformance;
mod emulators;
mod field;
mod interop;
mod licences;
mod metadata;
mod mutants;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::shell::Outcome;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Checks, tests and measurements of this workspace"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Formatting, clippy, tidy, licences and advisories. Example: cargo xtask check
    Check(check::Options),
    /// The house rules alone: floors, module cycles, file heads, panics, machine paths. Example: cargo xtask tidy
    Tidy,
    /// The tests. Example: cargo xtask test heavy
    Test(test::Options),
    /// Scenarios and lessons against the recordings. Example: cargo xtask conformance --suite reference --case restore
    Conformance(conformance::Options),
    /// Tables written here are read by delta_kernel, Spark + Delta and delta-rs, and the other way round. Example: cargo xtask interop
    Interop(interop::Options),
    /// Servers that speak S3 and Azure, for tests. Example: cargo xtask emulators run -- cargo test
    Emulators(emulators::Options),
    /// Plants bugs that break a safety rule, one at a time, in a copy of the tree; a test must find each. Example: cargo xtask mutants --only vacuum
    Mutants(mutants::Options),
    /// Measurements. Example: cargo xtask bench --only g_append
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Check(options) => check::run(&options),
        Command::Tidy => tidy::run(),
        Command::Test(options) => test::run(&options),
        Command::Conformance(options) => conformance::run(&options),
        Command::Interop(options) => interop::run(&options),
        Command::Emulators(options) => emulators::run(&options),
        Command::Mutants(options) => mutants::run(&options),
        Command::Bench(options) => bench::run(&options),
    };
    report(outcome)
}

fn report(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
