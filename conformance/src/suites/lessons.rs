//! The suite `lessons`: the scripts of `fixtures/lessons`. Their marks must come true (in the default profile, for
//! which they are written), and their answers must equal those of the reference (in both).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use deltaic_cli::script::{self, Step};
use serde_json::{Map, Value};

use super::{Outcome, Setting, sql_files, stem};
use crate::compare::compare;
use crate::engine::Engine;
use crate::recording::{Answer, Recording};
use crate::verdict::{Kind, Verdict};

/// The profile whose errors the marks name.
const WRITTEN_FOR: &str = "delta-4.3";

/// Run every lesson.
///
/// # Errors
/// Lessons or recordings are missing or broken.
pub fn run(setting: &Setting, mut each: impl FnMut(Vec<Outcome>)) -> Result<(), String> {
    let folder = setting.home.join("../fixtures/lessons");
    for file in sql_files(&folder)? {
        if setting.wants(&stem(&file)) {
            each(case(setting, &file)?);
        }
    }
    Ok(())
}

fn case(setting: &Setting, file: &Path) -> Result<Vec<Outcome>, String> {
    let name = stem(file);
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let steps = script::steps(&text);
    let recorded = setting
        .home
        .join("recordings")
        .join(&setting.profile)
        .join("lessons")
        .join(format!("{name}.json"));
    let recording = Recording::read(&recorded, setting.store)?;
    if recording.steps.len() != steps.len() {
        return Err(format!(
            "{name}: {} steps, {} of them recorded",
            steps.len(),
            recording.steps.len()
        ));
    }
    let engine = Engine::start(&setting.profile, setting.store)?;
    let mut parameters = BTreeMap::new();
    let mut outcomes = Vec::new();
    for (n, (step, reference)) in steps.iter().zip(&recording.steps).enumerate() {
        let ours = one(&engine, step, &mut parameters);
        let mut verdict = match setting.beyond.find(&name, n, &setting.profile) {
            Some(beyond) => beyond.verdict(&ours),
            None => compare(reference, &ours, setting.layout),
        };
        if setting.profile == WRITTEN_FOR && verdict.passes() {
            verdict = marks(step, &ours).unwrap_or(verdict);
        }
        outcomes.push(Outcome {
            suite: "lessons",
            case: name.clone(),
            step: n.to_string(),
            text: step.sql.clone(),
            verdict,
        });
    }
    Ok(outcomes)
}

fn one(engine: &Engine, step: &Step, parameters: &mut BTreeMap<String, Value>) -> Answer {
    for (name, value) in &step.parameters {
        parameters.insert(name.clone(), Value::from(value.as_str()));
    }
    // Only those that the statement names: another one is an error to some commands.
    let named = parameters
        .iter()
        .filter(|(name, _)| step.sql.contains(&format!(":{name}")));
    let arguments: Map<String, Value> = named
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let answer = engine.sql(&step.sql, &Value::Object(arguments));
    for (name, column) in &step.keeps {
        let at = answer
            .columns
            .iter()
            .flatten()
            .position(|(title, ..)| title == column);
        let value = at.and_then(|at| answer.rows.as_ref()?.first()?.get(at));
        parameters.insert(name.clone(), value.cloned().unwrap_or_default());
    }
    answer
}

/// What breaks the script's own promise, if anything does.
fn marks(step: &Step, ours: &Answer) -> Option<Verdict> {
    let class = |answer: &Answer| {
        answer
            .error
            .as_ref()
            .map(|e| e.condition.clone().unwrap_or_default())
    };
    match (&step.expected_error, class(ours)) {
        (None, None) => None,
        (Some(expected), Some(came)) if came.split('.').next() == expected.split('.').next() => {
            None
        }
        (expected, came) => Some(Verdict::differs(
            Kind::Wrong,
            format!("mark {expected:?}"),
            format!("error {came:?}"),
        )),
    }
}
