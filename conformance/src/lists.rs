//! The two lists beside the recordings: `beyond.toml`, steps where Deltaic answers better than the reference and what
//! it must answer there, and `expected-failures.toml`, steps that differ and should not, with the reason.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::mask;
use crate::place::Store;
use crate::recording::Answer;
use crate::verdict::{Kind, Verdict};

/// `beyond.toml`.
#[derive(Debug, Default, Deserialize)]
pub struct Beyond {
    #[serde(default)]
    pub step: Vec<BeyondStep>,
}

/// One step where the recording is not the goal.
#[derive(Debug, Deserialize)]
pub struct BeyondStep {
    pub scenario: String,
    pub step: usize,
    /// The only profile it holds for.
    pub profile: Option<String>,
    /// What is right, and why the recording is not.
    pub why: String,
    /// The rows that must come, as JSON text.
    pub rows: Option<String>,
    /// The error class that must come.
    pub error: Option<String>,
    /// Any answer but an error must come.
    #[serde(default)]
    pub answers: bool,
}

/// `expected-failures.toml`.
#[derive(Debug, Default, Deserialize)]
pub struct ExpectedFailures {
    #[serde(default)]
    pub case: Vec<ExpectedFailure>,
}

/// Steps of one scenario that differ for one reason.
#[derive(Debug, Deserialize)]
pub struct ExpectedFailure {
    pub suite: String,
    pub scenario: String,
    /// The only profile it holds for.
    pub profile: Option<String>,
    /// The only stores it holds for (`s3`, `azure`, …).
    pub stores: Option<Vec<String>>,
    /// Step numbers, or versions of a golden table.
    pub steps: Vec<String>,
    pub reason: String,
}

/// Read one of the lists, with places masked as on a store.
///
/// # Errors
/// The file is missing or not in its form.
pub fn read<T: for<'a> Deserialize<'a>>(path: &Path, store: Store) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    toml::from_str(&store.mask(text)).map_err(|e| format!("{}: {e}", path.display()))
}

impl Beyond {
    /// The entry for a step.
    pub fn find(&self, scenario: &str, step: usize, profile: &str) -> Option<&BeyondStep> {
        self.step.iter().find(|entry| {
            entry.scenario == scenario
                && entry.step == step
                && entry.profile.as_deref().is_none_or(|p| p == profile)
        })
    }
}

impl BeyondStep {
    /// Hold the answer against what must come; skipped where the entry only explains.
    pub fn verdict(&self, ours: &Answer) -> Verdict {
        let got = || match (&ours.error, &ours.rows) {
            (Some(error), _) => format!("error {:?}: {}", error.condition, error.message),
            (None, rows) => serde_json::to_string(rows).unwrap_or_default(),
        };
        if let Some(class) = &self.error {
            let came = ours
                .error
                .as_ref()
                .and_then(|error| error.condition.as_ref());
            if came == Some(class) {
                return Verdict::equal();
            }
            return Verdict::differs(Kind::Wrong, format!("error {class} ({})", self.why), got());
        }
        if self.answers {
            let want = format!("an answer ({})", self.why);
            return if ours.error.is_none() {
                Verdict::equal()
            } else {
                Verdict::differs(Kind::Wrong, want, got())
            };
        }
        let Some(rows) = &self.rows else {
            return Verdict::skipped();
        };
        let same = match (serde_json::from_str::<Vec<Value>>(rows), &ours.rows) {
            (Ok(want), Some(came)) => {
                let data = |rows: &[Value]| -> Vec<Value> { rows.iter().map(mask::data).collect() };
                data(&want) == data(came)
            }
            _ => false,
        };
        if same {
            Verdict::equal()
        } else {
            Verdict::differs(Kind::Wrong, format!("{rows} ({})", self.why), got())
        }
    }
}

impl ExpectedFailures {
    /// The reason why a step is expected to differ.
    pub fn reason(
        &self,
        suite: &str,
        scenario: &str,
        step: &str,
        profile: &str,
        store: &str,
    ) -> Option<&str> {
        let found = self.case.iter().find(|case| {
            case.suite == suite
                && case.scenario == scenario
                && case.profile.as_deref().is_none_or(|p| p == profile)
                && case
                    .stores
                    .as_ref()
                    .is_none_or(|stores| stores.iter().any(|s| s == store))
                && case.steps.iter().any(|s| s == step)
        });
        found.map(|case| case.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use serde_json::json;

    use super::{Beyond, ExpectedFailures};
    use crate::recording::Answer;
    use crate::verdict::Kind;

    fn check(entry: &str, answer: serde_json::Value) -> Kind {
        let text = format!("[[step]]\nscenario = 's'\nstep = 1\nwhy = 'w'\n{entry}");
        let beyond: Beyond = toml::from_str(&text).unwrap();
        let answer: Answer = serde_json::from_value(answer).unwrap();
        beyond
            .find("s", 1, "delta-4.3")
            .unwrap()
            .verdict(&answer)
            .kind
    }

    #[test]
    fn what_must_come_instead_is_checked() {
        let rows = || json!({"n": 1, "columns": [["a", "int", true]], "rows": [[1]]});
        let error = || json!({"n": 1, "error": {"condition": "X", "message": "x"}});
        assert_eq!(check("rows = '[[1]]'", rows()), Kind::Equal);
        assert_eq!(check("rows = '[[2]]'", rows()), Kind::Wrong);
        assert_eq!(check("rows = '[[1]]'", error()), Kind::Wrong);
        assert_eq!(check("error = 'X'", error()), Kind::Equal);
        assert_eq!(check("error = 'Y'", error()), Kind::Wrong);
        assert_eq!(check("error = 'X'", rows()), Kind::Wrong);
        assert_eq!(check("answers = true", rows()), Kind::Equal);
        assert_eq!(check("answers = true", error()), Kind::Wrong);
        assert_eq!(check("", error()), Kind::Skipped);
    }

    #[test]
    fn an_expected_failure_holds_for_its_step_its_profile_and_its_stores() {
        let text = "[[case]]\nsuite = 'reference'\nscenario = 's'\nsteps = ['3']\nprofile = 'delta-4.0'\nstores = ['s3']\nreason = 'r'";
        let list: ExpectedFailures = toml::from_str(text).unwrap();
        let reason = |step, profile, store| list.reason("reference", "s", step, profile, store);
        assert_eq!(reason("3", "delta-4.0", "s3"), Some("r"));
        assert_eq!(reason("3", "delta-4.3", "s3"), None);
        assert_eq!(reason("4", "delta-4.0", "s3"), None);
        assert_eq!(reason("3", "delta-4.0", "local"), None);
    }
}
