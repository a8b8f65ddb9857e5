//! `cargo xtask interop`: Deltaic writes one table per kind of statement; `delta_kernel`, Spark + Delta and delta-rs read
//! them; then Spark writes and Deltaic reads. The drivers are `conformance/interop/kernel.py` and `run.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::shell::{Outcome, all, cargo, step, target_folder, timed, workspace_root};

/// What to run.
#[derive(Args, Default)]
pub struct Options {
    /// Only tables whose name holds this text.
    #[arg(long)]
    only: Option<String>,
    /// Only with this engine; the kernel needs no Java.
    #[arg(long)]
    with: Option<Partner>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Partner {
    Kernel,
    Spark,
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

/// Build, fetch, and drive the engines.
pub fn run(options: &Options) -> Outcome {
    let deltaic = build_deltaic(false)?;
    let mut outcomes = Vec::new();
    if options.with != Some(Partner::Spark) {
        outcomes.push(with_kernel(&deltaic, options));
    }
    if options.with != Some(Partner::Kernel) {
        outcomes.push(with_spark(&deltaic, options));
    }
    all(outcomes)
}

/// The kernel's reader is built in a workspace of its own, beside the rest.
fn with_kernel(deltaic: &Path, options: &Options) -> Outcome {
    const READER: &str = "deltaic-crosscheck-kernel";
    let mut build = cargo([
        "build",
        "--locked",
        "--manifest-path",
        "crosscheck/Cargo.toml",
    ]);
    build.args(["--package", READER, "--target-dir"]);
    step("build the kernel's reader", build.arg(target_folder()))?;
    let mut driver = driver(Command::new("python3"), "kernel.py", deltaic, options);
    driver.arg("--kernel");
    driver.arg(target_folder().join("debug").join(READER));
    step("interop with delta_kernel", &mut driver)
}

fn with_spark(deltaic: &Path, options: &Options) -> Outcome {
    let engine = reference("delta-4.3")?;
    let mut driver = driver(engine.python(), "run.py", deltaic, options);
    driver.arg("--jars").arg(&engine.jars);
    step("interop with Spark", &mut driver)
}

fn driver(mut python: Command, script: &str, deltaic: &Path, options: &Options) -> Command {
    python.arg(workspace_root().join("conformance/interop").join(script));
    python.arg("--deltaic").arg(deltaic);
    if let Some(only) = &options.only {
        python.arg("--only").arg(only);
    }
    python
}
