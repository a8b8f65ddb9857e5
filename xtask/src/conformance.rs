//! `cargo xtask conformance`: starts the conformance crate's program, or the recorder on the reference engine.

use std::process::Command;

use clap::Args;

use crate::emulators;
use crate::field;
use crate::interop::reference;
use crate::shell::{Outcome, all, cargo, step, target_folder, workspace_root};

/// The reference's profiles, the default one first.
pub const PROFILES: [&str; 2] = ["delta-4.3", "delta-4.0"];

/// What to run.
#[derive(Args, Default)]
pub struct Options {
    /// reference, lessons or golden; all of these when left out; or field, the tests of cases from the field.
    #[arg(long)]
    suite: Option<String>,
    /// Only cases whose name holds this text.
    #[arg(long)]
    case: Option<String>,
    /// delta-4.3 or delta-4.0; both when left out.
    #[arg(long)]
    profile: Option<String>,
    /// local, memory, s3, azure or onelake; the servers are started for the run.
    #[arg(long)]
    store: Option<String>,
    /// Show at most this many differences.
    #[arg(long)]
    show: Option<usize>,
    /// Make the recordings anew with real Spark and Delta (needs Java 17, Python and Maven).
    #[arg(long)]
    record: bool,
}

/// Run the suites, or record.
pub fn run(options: &Options) -> Outcome {
    if options.record {
        return record(options);
    }
    if options.suite.as_deref() == Some("field") {
        return field::run(options.case.as_deref());
    }
    // With the features of the whole workspace, as the tests have it: nothing is built twice.
    step(
        "build conformance",
        &mut cargo(["build", "--workspace", "--bin", "deltaic-conformance"]),
    )?;
    let mut program = Command::new(target_folder().join("debug").join("deltaic-conformance"));
    program.current_dir(workspace_root());
    for (flag, value) in [
        ("--suite", &options.suite),
        ("--case", &options.case),
        ("--profile", &options.profile),
        ("--store", &options.store),
    ] {
        if let Some(value) = value {
            program.args([flag, value.as_str()]);
        }
    }
    if let Some(show) = options.show {
        program.args(["--show", &show.to_string()]);
    }
    match options.store.as_deref() {
        Some("s3" | "azure" | "onelake") => emulators::serve(&emulators::DEFAULT, |variables| {
            program.envs(variables);
            step("conformance", &mut program)
        }),
        _ => step("conformance", &mut program),
    }
}

fn record(options: &Options) -> Outcome {
    let profiles = PROFILES.iter().filter(|p| {
        options
            .profile
            .as_deref()
            .is_none_or(|chosen| chosen == **p)
    });
    let mut outcomes = Vec::new();
    for profile in profiles {
        let engine = reference(profile)?;
        let home = workspace_root().join("conformance");
        let recordings = home.join("recordings").join(profile);
        let scenarios = (home.join("scenarios"), recordings.clone(), None);
        let lessons = (
            workspace_root().join("fixtures/lessons"),
            recordings.join("lessons"),
            Some("--lessons"),
        );
        for (source, target, flag) in [scenarios, lessons] {
            let mut recorder = engine.python();
            recorder
                .arg(home.join("reference/record.py"))
                .arg("--jars")
                .arg(&engine.jars);
            recorder.arg("--out").arg(target).args(flag).arg(source);
            if let Some(case) = &options.case {
                recorder.arg("--case").arg(case);
            }
            outcomes.push(step(&format!("record {profile}"), &mut recorder));
        }
    }
    all(outcomes)
}
