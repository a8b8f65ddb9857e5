//! `cargo xtask test`: the tests of all crates. `light` is what everyone runs; `heavy` adds the long forms of the
//! property, crash and race tests and the interop run; `all` adds conformance.

use clap::{Args, ValueEnum};

use crate::shell::{Outcome, all, at_hand, cargo, in_ci, step};
use crate::{conformance, interop};

/// Set for heavy runs; the tests that have a longer form read it.
pub const HEAVY: &str = "DELTAIC_HEAVY";

/// Cases of each property test in a heavy run.
const HEAVY_CASES: &str = "2000";

/// Which tests.
#[derive(Args)]
pub struct Options {
    #[arg(value_enum, default_value_t = Weight::Light)]
    weight: Weight,
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
    tests.env(HEAVY, "1").env("PROPTEST_CASES", HEAVY_CASES);
    let mut outcomes = vec![step("heavy tests", &mut tests)];
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
