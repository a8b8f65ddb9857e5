//! The scenarios of `deltaic-bench` beside other engines, on the same tables in the same run.

use std::process::Command;

use crate::emulators::install;
use crate::shell::{Outcome, cargo, step, target_folder, workspace_root};

/// The engines beside ours.
const PEERS: &[&str] = &[
    "deltalake==1.6.6",
    "polars==2.1.0",
    "duckdb==1.5.5",
    "duckdb-extension-delta==1.5.5",
    "pyarrow==26.0.1",
];

/// Makes the tables that are not there yet, measures, and prints a table in Markdown.
pub fn run(only: &[String], release: bool) -> Outcome {
    let mut build = cargo(["build", "--workspace", "--bin", "deltaic-bench"]);
    if release {
        build.arg("--release");
    }
    step("build deltaic-bench", &mut build)?;
    let profile = if release { "release" } else { "debug" };
    let python = install::venv("peers", PEERS)?;
    let mut compare = Command::new(python);
    compare
        .arg(workspace_root().join("bench").join("compare.py"))
        .arg(target_folder().join(profile).join("deltaic-bench"))
        .arg(target_folder().join("bench").join("tables"));
    if !only.is_empty() {
        compare.args(["--only", &only.join(",")]);
    }
    step("compare", &mut compare)
}
