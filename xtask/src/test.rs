//! `cargo xtask test`: the tests of all crates. `light` is what everyone runs; `heavy` adds the long forms of the
//! property, crash and race tests and the interop run; `all` adds conformance.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};

use crate::shell::{Outcome, all, at_hand, cargo, in_ci, step};
use crate::{conformance, interop};

/// Set for heavy runs; the tests that have a longer form read it.
pub const HEAVY: &str = "DELTAIC_HEAVY";

/// The one seed that seeded tests run with: a single schedule of writers, one course of a kill test.
const SEED: &str = "DELTAIC_SEED";

/// The seed that a heavy run of schedules begins with.
const FIRST_SEED: &str = "DELTAIC_FIRST_SEED";

/// The schedules of writers; a heavy run has so many of them that they are built with optimisation.
const SCHEDULES: [&str; 4] = ["-p", "deltaic-maintenance", "--test", "schedules"];

/// Cases of each property test in a heavy run.
const HEAVY_CASES: &str = "2000";

/// Which tests.
#[derive(Args)]
pub struct Options {
    #[arg(value_enum, default_value_t = Weight::Light)]
    weight: Weight,
    /// Run the schedules of writers that follow from this seed alone: the one that failed, with its steps.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Weight {
    /// Unit, property and integration tests of all crates.
    Light,
    /// The same with many more cases, real crashes and races, and interop where Java is at hand.
    Heavy,
    /// Everything: heavy and conformance of both profiles.
    All,
}

/// Run the tests.
pub fn run(options: &Options) -> Outcome {
    if let Some(seed) = options.seed {
        return replay(seed);
    }
    let mut words = vec!["test", "--workspace", "--no-fail-fast"];
    if in_ci() {
        words.push("--locked");
    }
    // They need servers, which `cargo xtask emulators run` starts; CI does.
    words.extend(["--", "--skip", "on_servers::"]);
    println!(
        "-- left out: the tests on S3 and Azure servers (cargo xtask emulators run -- cargo test --workspace --test it on_servers)"
    );
    let mut tests = cargo(words);
    if options.weight == Weight::Light {
        return step("tests", &mut tests);
    }
    tests.args(["--skip", "no_schedule_loses_or_invents_anything"]);
    tests.env(HEAVY, "1").env("PROPTEST_CASES", HEAVY_CASES);
    let mut outcomes = vec![step("heavy tests", &mut tests), schedules()];
    if at_hand("java", "-version") {
        outcomes.push(interop::run(&interop::Options::default()));
    } else {
        println!(
            "-- interop: left out, there is no Java here (Debian: apt-get install openjdk-17-jre-headless)"
        );
    }
    if options.weight == Weight::All {
        outcomes.push(conformance::run(&conformance::Options::default()));
    }
    all(outcomes)
}

/// Many schedules, from a new seed on each time. The one that fails prints its own seed.
fn schedules() -> Outcome {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let first = now.map_or(0, |since| since.as_secs());
    println!(
        "-- schedules: the first seed is {first}; cargo xtask test heavy --seed N repeats one"
    );
    let mut tests = cargo(["test", "--release"]);
    tests.args(SCHEDULES).args(["--", "--nocapture"]);
    tests.env(HEAVY, "1").env(FIRST_SEED, first.to_string());
    step("schedules", &mut tests)
}

/// One schedule, with all its steps.
fn replay(seed: u64) -> Outcome {
    let mut tests = cargo(["test"]);
    tests.args(SCHEDULES);
    tests.args(["no_schedule_loses_or_invents_anything", "--", "--nocapture"]);
    tests.env(SEED, seed.to_string());
    step(&format!("the schedule of seed {seed}"), &mut tests)
}
