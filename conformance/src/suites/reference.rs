//! The suite `reference`: scenarios against the recordings of Spark + Delta.

use std::fs;
use std::path::Path;

use super::{Outcome, Setting, sql_files, stem};
use crate::compare::compare;
use crate::engine::Engine;
use crate::recording::{Answer, Recording};
use crate::scenario::{self, Step};
use crate::verdict::{Kind, Verdict};

/// Run every scenario.
///
/// # Errors
/// Scenarios or recordings are missing or broken.
pub fn run(setting: &Setting, mut each: impl FnMut(Vec<Outcome>)) -> Result<(), String> {
    for file in sql_files(&setting.home.join("scenarios"))? {
        if setting.wants(&stem(&file)) {
            each(case(setting, &file)?);
        }
    }
    Ok(())
}

fn case(setting: &Setting, file: &Path) -> Result<Vec<Outcome>, String> {
    let name = stem(file);
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let steps = scenario::steps(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let recorded = setting
        .home
        .join("recordings")
        .join(&setting.profile)
        .join(format!("{name}.json"));
    let recording = Recording::read(&recorded, setting.store)?;
    if recording.steps.len() != steps.len() {
        return Err(format!(
            "{name}: the scenario has {} steps, its recording {}: record it anew",
            steps.len(),
            recording.steps.len()
        ));
    }
    let engine = Engine::start(&setting.profile, setting.store)?;
    let compared = steps
        .iter()
        .zip(&recording.steps)
        .enumerate()
        .map(|(n, (step, reference))| {
            let ours = engine.step(step);
            Outcome {
                suite: "reference",
                case: name.clone(),
                step: n.to_string(),
                text: step.text().to_owned(),
                verdict: verdict(setting, &name, n, reference, &ours, step),
            }
        });
    Ok(compared.collect())
}

fn verdict(
    setting: &Setting,
    name: &str,
    n: usize,
    reference: &Answer,
    ours: &Answer,
    step: &Step,
) -> Verdict {
    if reference.step_text() != setting.store.mask(step.text().to_owned()) {
        return Verdict::differs(
            Kind::Wrong,
            format!("the recording is of {}", reference.step_text()),
            "this step",
        );
    }
    match setting.beyond.find(name, n, &setting.profile) {
        Some(beyond) => beyond.verdict(ours),
        None => compare(reference, ours, setting.layout),
    }
}
