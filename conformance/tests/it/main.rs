//! The data beside this crate holds together: every recording belongs to a scenario, every entry of the lists to a step.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use deltaic_cli::script;
use deltaic_conformance::lists::{self, Beyond, ExpectedFailures};
use deltaic_conformance::place::Store;
use deltaic_conformance::recording::Recording;
use deltaic_conformance::scenario;

const PROFILES: [&str; 2] = ["delta-4.3", "delta-4.0"];

fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Names and step counts of all scenarios and lessons.
fn cases() -> Vec<(String, usize, bool)> {
    let read = |folder: &Path| -> Vec<(String, String)> {
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files
            .map(|file| {
                (
                    file.file_stem().unwrap().to_string_lossy().into_owned(),
                    std::fs::read_to_string(file).unwrap(),
                )
            })
            .collect()
    };
    let scenarios = read(&home().join("scenarios"));
    let lessons = read(&home().join("../fixtures/lessons"));
    let scenarios = scenarios
        .into_iter()
        .map(|(name, text)| (name, scenario::steps(&text).unwrap().len(), false));
    let lessons = lessons
        .into_iter()
        .map(|(name, text)| (name, script::steps(&text).len(), true));
    scenarios.chain(lessons).collect()
}

#[test]
fn every_case_is_recorded_in_both_profiles_with_all_its_steps() {
    let cases = cases();
    assert!(cases.len() >= 20);
    for (name, steps, lesson) in cases {
        for profile in PROFILES {
            let folder = home().join("recordings").join(profile);
            let folder = if lesson {
                folder.join("lessons")
            } else {
                folder
            };
            let recording =
                Recording::read(&folder.join(format!("{name}.json")), Store::Local).unwrap();
            assert_eq!(recording.steps.len(), steps, "{profile} {name}");
        }
    }
}

#[test]
fn every_entry_of_the_lists_names_a_step_that_exists_and_a_reason() {
    let cases = cases();
    let steps = |name: &str| cases.iter().find(|case| case.0 == name).map(|case| case.1);
    let beyond: Beyond = lists::read(&home().join("beyond.toml"), Store::Local).unwrap();
    assert!(!beyond.step.is_empty());
    for entry in &beyond.step {
        assert!(
            steps(&entry.scenario).is_some_and(|count| entry.step < count),
            "{} {}",
            entry.scenario,
            entry.step
        );
        assert!(!entry.why.is_empty());
    }
    let expected: ExpectedFailures =
        lists::read(&home().join("expected-failures.toml"), Store::Local).unwrap();
    for case in expected.case {
        assert!(case.reason.len() > 8, "{} has no reason", case.scenario);
        assert!(
            case.profile
                .as_deref()
                .is_none_or(|p| PROFILES.contains(&p)),
            "{}",
            case.scenario
        );
        if case.suite == "golden" {
            continue;
        }
        for step in &case.steps {
            let number: usize = step.parse().unwrap();
            assert!(
                steps(&case.scenario).is_some_and(|count| number < count),
                "{} {step}",
                case.scenario
            );
            assert!(
                beyond
                    .find(&case.scenario, number, PROFILES[0])
                    .is_none_or(|entry| entry.rows.is_some()
                        || entry.error.is_some()
                        || entry.answers),
                "{} {step} is left out anyway",
                case.scenario
            );
        }
    }
}
