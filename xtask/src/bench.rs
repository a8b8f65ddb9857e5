//! `cargo xtask bench`: measurements through one held session, over the pipe of `deltaic sql --pipe`, so that what is
//! timed is the statement and not the start of a process.

mod latency;
mod log;
mod pipe;
mod requests;
mod scenarios;

use std::fs;

use clap::Args;

use crate::interop::build_deltaic;
use crate::shell::{Outcome, all, target_folder, timed};

/// What to measure.
#[derive(Args)]
pub struct Options {
    /// Names of scenarios, separated by commas; all when left out.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Measure the release build (its first build takes long).
    #[arg(long)]
    release: bool,
    /// Run the scenarios of deltaic-bench beside deltalake, polars and DuckDB instead; the tables take 3 GB and stay.
    #[arg(long)]
    log: bool,
    /// Count requests on an S3 server instead, beside deltalake.
    #[arg(long)]
    requests: bool,
    /// Scan a table of 1 GiB on an S3 server with and without a latency of 50 ms instead.
    #[arg(long)]
    latency: bool,
    /// Print the names of the scenarios and stop.
    #[arg(long)]
    list: bool,
}

/// Build, then run the scenarios one after the other, each in a warehouse of its own.
pub fn run(options: &Options) -> Outcome {
    let known = scenarios::ALL;
    if options.requests {
        return requests::run(options.release);
    }
    if options.log {
        return log::run(&options.only, options.release);
    }
    if options.latency {
        return latency::run(options.release);
    }
    if options.list {
        for scenario in known {
            println!("{:<14} {}", scenario.name, scenario.about);
        }
        return Ok(());
    }
    if let Some(name) = options
        .only
        .iter()
        .find(|name| !known.iter().any(|s| s.name == name.as_str()))
    {
        return Err(format!("no scenario {name}; --list prints their names"));
    }
    let deltaic = build_deltaic(options.release)?;
    let folder = target_folder().join("bench");
    let mut outcomes = Vec::new();
    for scenario in known
        .iter()
        .filter(|s| options.only.is_empty() || options.only.iter().any(|n| n == s.name))
    {
        let warehouse = folder.join(scenario.name);
        outcomes.push(timed(scenario.name, || {
            println!("   {}", scenario.about);
            if warehouse.exists() {
                fs::remove_dir_all(&warehouse)
                    .map_err(|e| format!("{}: {e}", warehouse.display()))?;
            }
            fs::create_dir_all(&warehouse).map_err(|e| format!("{}: {e}", warehouse.display()))?;
            let mut session = pipe::Pipe::start(&deltaic, &warehouse)?;
            let outcome = (scenario.run)(&mut session);
            session.stop()?;
            fs::remove_dir_all(&warehouse).map_err(|e| format!("{}: {e}", warehouse.display()))?;
            outcome
        }));
    }
    all(outcomes)
}
