//! Recordings: what an engine answered, step by step, as JSON (written by `reference/record.py`).

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::place::Store;

/// What an engine answered to one scenario.
#[derive(Clone, Debug, Deserialize)]
pub struct Recording {
    pub scenario: String,
    pub steps: Vec<Answer>,
}

/// What an engine answered to one step. Which fields are there depends on the step.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answer {
    #[serde(default)]
    pub n: usize,
    pub sql: Option<String>,
    pub directive: Option<String>,
    /// `[[name, type, nullable]]`
    pub columns: Option<Vec<(String, String, Value)>>,
    /// Arrays; objects where they come from a Parquet file.
    pub rows: Option<Vec<Value>>,
    pub error: Option<Failure>,
    /// The value of a `py` step.
    pub value: Option<Value>,
    /// `[[name, size]]` of a `files` step.
    pub files: Option<Vec<(String, u64)>>,
    /// Commit file to actions, of a `log` step.
    pub log: Option<serde_json::Map<String, Value>>,
    /// Content of a `cat` step.
    pub text: Option<String>,
    /// Schema of a `parquet` step.
    pub schema: Option<String>,
    /// Why the step was not run.
    pub skipped: Option<String>,
}

/// A failed step.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Failure {
    pub condition: Option<String>,
    pub message: String,
}

impl Recording {
    /// Read one recording.
    ///
    /// # Errors
    /// The file is missing or is no recording.
    pub fn read(path: &Path, store: Store) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_str(&store.mask(text)).map_err(|e| format!("{}: {e}", path.display()))
    }
}

impl Answer {
    /// The statement or the directive.
    pub fn step_text(&self) -> &str {
        self.sql
            .as_deref()
            .or(self.directive.as_deref())
            .unwrap_or_default()
    }
}
