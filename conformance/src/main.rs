//! The program that `cargo xtask conformance` starts: runs the suites, prints what differs, and fails when a step
//! differs that may not, or when one passes that is listed as an expected failure.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use deltaic_conformance::lists;
use deltaic_conformance::place::Store;
use deltaic_conformance::suites::{self, Outcome, Setting};
use deltaic_conformance::verdict::Kind;

/// Hold Deltaic against the recordings of Spark + Delta.
#[derive(Parser)]
struct Arguments {
    /// reference, lessons or golden; all when left out (golden only where its tables are at hand)
    #[arg(long)]
    suite: Option<String>,
    /// Only cases whose name holds this text
    #[arg(long)]
    case: Option<String>,
    /// delta-4.3 or delta-4.0; both when left out
    #[arg(long)]
    profile: Option<String>,
    /// Where the tables lie
    #[arg(long, value_enum, default_value = "local")]
    store: Store,
    /// Names and counts of files, and the log, count too
    #[arg(long)]
    layout: bool,
    /// Show at most this many differences
    #[arg(long, default_value_t = 30)]
    show: usize,
    /// Print what differs in the form of expected-failures.toml
    #[arg(long)]
    list: bool,
}

#[derive(Default)]
struct Tally {
    equal: usize,
    counted: usize,
    expected: usize,
    unexpected: usize,
    stale: Vec<String>,
    shown: usize,
    listed: BTreeMap<(String, String), Vec<String>>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("conformance: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// This crate's folder: the one of the workspace that the program is started in, else the one that it was built from. Two checkouts
/// that share a target folder may run each other's program.
fn home() -> PathBuf {
    let started_in = std::env::current_dir().map(|root| root.join("conformance"));
    match started_in {
        Ok(folder) if folder.join("beyond.toml").is_file() => folder,
        _ => PathBuf::from(env!("CARGO_MANIFEST_DIR")),
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let home = home();
    let mut passed = true;
    let profiles = ["delta-4.3", "delta-4.0"];
    for profile in profiles.iter().filter(|p| {
        arguments
            .profile
            .as_deref()
            .is_none_or(|chosen| chosen == **p)
    }) {
        let setting = Setting {
            home: home.clone(),
            profile: (*profile).to_owned(),
            store: arguments.store,
            layout: arguments.layout,
            case: arguments.case.clone(),
            beyond: lists::read(&home.join("beyond.toml"), arguments.store)?,
            expected: lists::read(&home.join("expected-failures.toml"), arguments.store)?,
        };
        for suite in ["reference", "lessons", "golden"] {
            if arguments
                .suite
                .as_deref()
                .is_none_or(|chosen| chosen == suite)
            {
                passed &= one(arguments, &setting, suite)?;
            }
        }
    }
    if let Some(suite) = arguments
        .suite
        .as_deref()
        .filter(|s| !["reference", "lessons", "golden"].contains(s))
    {
        return Err(format!("no such suite: {suite}"));
    }
    Ok(passed)
}

fn one(arguments: &Arguments, setting: &Setting, suite: &'static str) -> Result<bool, String> {
    println!(
        "== {suite}, profile {}, store {}",
        setting.profile,
        setting.store.name()
    );
    let start = Instant::now();
    let mut tally = Tally::default();
    let each = |outcomes: Vec<Outcome>| count(arguments, setting, &mut tally, &outcomes);
    match suite {
        "reference" => suites::reference::run(setting, each)?,
        "lessons" => suites::lessons::run(setting, each)?,
        _ if setting.profile != "delta-4.3" => {
            println!("   left out: what the tables must answer was recorded with delta-4.3");
            return Ok(true);
        }
        _ if arguments.suite.is_none() && suites::golden::folder(&setting.home).is_none() => {
            println!(
                "   left out: the golden tables are not at hand (DELTAIC_GOLDEN names their folder)"
            );
            return Ok(true);
        }
        _ => suites::golden::run(setting, each)?,
    }
    for stale in &tally.stale {
        println!("   passes, but stands in expected-failures.toml: {stale}");
    }
    if arguments.list {
        for ((case, reason), steps) in &tally.listed {
            println!(
                "[[case]]\nsuite = {suite:?}\nscenario = {case:?}\nsteps = {steps:?}\nreason = {reason:?}\n"
            );
        }
    }
    println!(
        "   {suite} {}: {} of {} equal, {} differ as expected, {} differ, {} expected to differ and do not ({:.1} s)",
        setting.profile,
        tally.equal,
        tally.counted,
        tally.expected,
        tally.unexpected,
        tally.stale.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(tally.unexpected == 0 && tally.stale.is_empty())
}

fn count(arguments: &Arguments, setting: &Setting, tally: &mut Tally, outcomes: &[Outcome]) {
    let (mut equal, mut counted) = (0, 0);
    for outcome in outcomes {
        let reason = setting.expected.reason(
            outcome.suite,
            &outcome.case,
            &outcome.step,
            &setting.profile,
            setting.store.name(),
        );
        counted += usize::from(outcome.verdict.kind != Kind::Skipped);
        equal += usize::from(outcome.verdict.kind == Kind::Equal);
        match (outcome.verdict.passes(), reason) {
            (true, None) => {}
            (true, Some(_)) => tally
                .stale
                .push(format!("{} step {}", outcome.case, outcome.step)),
            (false, Some(_)) => tally.expected += 1,
            (false, None) => {
                tally.unexpected += 1;
                tally
                    .listed
                    .entry((outcome.case.clone(), "?".to_owned()))
                    .or_default()
                    .push(outcome.step.clone());
                if tally.shown < arguments.show {
                    tally.shown += 1;
                    show(outcome);
                }
            }
        }
    }
    if let Some(first) = outcomes.first() {
        println!("   {}: {equal} of {counted} equal", first.case);
    }
    tally.equal += equal;
    tally.counted += counted;
}

fn show(outcome: &Outcome) {
    let text: String = outcome.text.chars().take(300).collect();
    println!(
        "--- {} step {} {:?}\n    {}",
        outcome.case,
        outcome.step,
        outcome.verdict.kind,
        text.replace('\n', "\n    ")
    );
    println!(
        "    want {}\n    got  {}",
        outcome.verdict.want, outcome.verdict.got
    );
}
