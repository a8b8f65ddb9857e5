//! `cargo xtask check`: everything that judges the tree without running it.

use clap::Args;

use crate::shell::{Outcome, all, cargo, step, timed};
use crate::{advisories, licences, metadata, mutants, tidy};

/// What to leave out.
#[derive(Args)]
pub struct Options {
    /// Leave out clippy, the only slow part.
    #[arg(long)]
    no_clippy: bool,
}

/// Run every check; fail with all that is wrong, not only the first.
pub fn run(options: &Options) -> Outcome {
    let mut outcomes = vec![
        step("format", &mut cargo(["fmt", "--all", "--check"])),
        tidy::run(),
        mutants::check_list(),
    ];
    match timed("metadata", metadata::Metadata::read) {
        Ok(metadata) => {
            outcomes.push(timed("licences", || licences::check(&metadata)));
            outcomes.push(timed("advisories", || advisories::check(&metadata)));
        }
        Err(reason) => outcomes.push(Err(reason)),
    }
    if !options.no_clippy {
        let words = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ];
        outcomes.push(step("clippy", &mut cargo(words)));
    }
    all(outcomes)
}
