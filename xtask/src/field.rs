//! `cargo xtask conformance --suite field`: the tests that hold the cases from the field, and which cases are right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;

use crate::emulators;
use crate::shell::{Outcome, cargo, workspace_root};

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// A case with its tests (`CRATE::TEST`), or what it waits for.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Case {
    id: String,
    #[serde(default)]
    tests: Vec<String>,
    waits_for: Option<String>,
}

/// Tests of this module need servers.
const ON_SERVERS: &str = "on_servers::";

/// Run the tests of all cases, or of those whose id holds a text.
pub fn run(only: Option<&str>) -> Outcome {
    let file = workspace_root().join("conformance/field-cases.toml");
    let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let cases: Cases = toml::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let cases: Vec<Case> = cases
        .case
        .into_iter()
        .filter(|case| only.is_none_or(|only| case.id.contains(only)))
        .collect();
    let names: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| &case.tests)
        .map(|test| name_of(test))
        .collect();
    let (served, plain): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| name.contains(ON_SERVERS));
    let mut ended = ran(&plain, &BTreeMap::new())?;
    if !served.is_empty() {
        emulators::serve(&emulators::DEFAULT, |variables| {
            ended.extend(ran(&served, &variables)?);
            Ok(())
        })?;
    }
    told(&cases, &ended)
}

/// The name of a test without its crate.
fn name_of(test: &str) -> &str {
    test.split_once("::").map_or(test, |(_, name)| name)
}

/// Runs tests by name; those that ran, by their full name, and whether they passed.
fn ran(names: &[&str], variables: &BTreeMap<String, String>) -> Outcome<BTreeMap<String, bool>> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    println!("== {} tests", names.len());
    let output = cargo([
        "test",
        "--workspace",
        "--no-fail-fast",
        "--lib",
        "--test",
        "it",
        "--",
    ])
    .args(names)
    .envs(variables)
    .output()
    .map_err(|e| format!("cargo test: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let ended: BTreeMap<String, bool> = text
        .lines()
        .filter_map(|line| {
            let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
            Some((name.to_owned(), outcome == "ok"))
        })
        .collect();
    if ended.is_empty() || ended.values().any(|passed| !passed) {
        print!("{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(ended)
}

fn told(cases: &[Case], ended: &BTreeMap<String, bool>) -> Outcome {
    let (mut right, mut wrong, mut waiting) = (0, 0, 0);
    for case in cases {
        let mut faults = Vec::new();
        for test in &case.tests {
            let name = name_of(test);
            let found = ended
                .iter()
                .find(|(full, _)| full.as_str() == name || full.ends_with(&format!("::{name}")));
            match found {
                Some((_, true)) => {}
                Some((_, false)) => faults.push(format!("{test} fails")),
                None => faults.push(format!("there is no test {test}")),
            }
        }
        if case.tests.is_empty() && case.waits_for.is_none() {
            faults.push("neither a test nor what it waits for".to_owned());
        }
        match (faults.is_empty(), &case.waits_for) {
            (false, _) => {
                wrong += 1;
                println!("   {}: {}", case.id, faults.join("; "));
            }
            (true, Some(what)) => {
                waiting += 1;
                println!("   {} waits for {what}", case.id);
            }
            (true, None) => right += 1,
        }
    }
    println!("   field: {right} right, {waiting} waiting, {wrong} wrong");
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} cases are not right")),
    }
}
