//! `cargo xtask interop`: Deltaic writes one table per kind of statement and Spark + Delta (and delta-rs) read them;
//! then the other way round. The driver is `conformance/interop/run.py`.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::shell::{Outcome, cargo, step, target_folder, timed, workspace_root};

/// What to run.
#[derive(Args, Default)]
pub struct Options {
    /// Only tables whose name holds this text.
    #[arg(long)]
    only: Option<String>,
}

/// The reference engine in the cache.
pub struct Reference {
    python: PathBuf,
    /// Delta's jars, joined by commas.
    pub jars: String,
}

impl Reference {
    /// A command that starts its Python.
    pub fn python(&self) -> Command {
        Command::new(&self.python)
    }
}

/// Fetch the reference engine of a profile, or use what is there.
pub fn reference(profile: &str) -> Outcome<Reference> {
    timed(&format!("reference engine {profile}"), || {
        let script = workspace_root().join("conformance/reference/setup.sh");
        let output = Command::new("bash")
            .arg(script)
            .arg(profile)
            .stderr(std::process::Stdio::inherit())
            .output()
            .map_err(|e| format!("cannot start bash: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines();
        match (output.status.success(), lines.next(), lines.next()) {
            (true, Some(python), Some(jars)) => Ok(Reference {
                python: python.into(),
                jars: jars.to_owned(),
            }),
            _ => Err(format!(
                "conformance/reference/setup.sh {profile}: {}",
                output.status
            )),
        }
    })
}

/// The binary `deltaic`, built now.
pub fn build_deltaic(release: bool) -> Outcome<PathBuf> {
    // With the features of the whole workspace, as the tests have it: nothing is built twice.
    let mut words = vec!["build", "--workspace", "--bin", "deltaic"];
    if release {
        words.push("--release");
    }
    step("build deltaic", &mut cargo(words))?;
    Ok(target_folder()
        .join(if release { "release" } else { "debug" })
        .join("deltaic"))
}

/// Build, fetch, and drive both engines.
pub fn run(options: &Options) -> Outcome {
    let deltaic = build_deltaic(false)?;
    let engine = reference("delta-4.3")?;
    let mut driver = engine.python();
    driver.arg(workspace_root().join("conformance/interop/run.py"));
    driver
        .arg("--deltaic")
        .arg(deltaic)
        .arg("--jars")
        .arg(&engine.jars);
    if let Some(only) = &options.only {
        driver.arg("--only").arg(only);
    }
    step("interop", &mut driver)
}
