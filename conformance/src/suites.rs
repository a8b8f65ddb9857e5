//! The suites, and what one run of a case answers.

pub mod golden;
pub mod lessons;
pub mod reference;

use std::path::{Path, PathBuf};

use crate::lists::{Beyond, ExpectedFailures};
use crate::place::Store;
use crate::verdict::Verdict;

/// Where the data of the suites lies, and which profile runs.
pub struct Setting {
    /// The folder of this crate.
    pub home: PathBuf,
    /// `delta-4.3` or `delta-4.0`.
    pub profile: String,
    /// Where the tables lie.
    pub store: Store,
    /// Do names and counts of files count too?
    pub layout: bool,
    /// Only cases whose name holds this text.
    pub case: Option<String>,
    pub beyond: Beyond,
    pub expected: ExpectedFailures,
}

/// One step that was run and compared.
pub struct Outcome {
    pub suite: &'static str,
    pub case: String,
    /// Number of the step, or version of a golden table.
    pub step: String,
    /// Statement, directive or read.
    pub text: String,
    pub verdict: Verdict,
}

impl Setting {
    /// Is the case among those that were asked for?
    pub fn wants(&self, case: &str) -> bool {
        self.case.as_deref().is_none_or(|text| case.contains(text))
    }
}

/// The scenario files of a folder by name.
pub(crate) fn sql_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "sql"));
    files.sort();
    Ok(files)
}

/// Name of a file without folder and ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
