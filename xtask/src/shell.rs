//! Running other programs: each step says what it does before and how long it took after.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Success, or one line that says what failed.
pub type Outcome<T = ()> = Result<T, String>;

/// The root of the workspace: the parent of this crate's folder. Where two checkouts share a target folder, cargo may run the
/// program that the other one has built; it says at run time whose it is meant to be.
pub fn workspace_root() -> PathBuf {
    let told = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = told
        .filter(|folder| folder.file_name() == Some(OsStr::new("xtask")))
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    here.parent().unwrap_or(&here).to_path_buf()
}

/// The folder that Cargo builds into.
pub fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => workspace_root().join("target"),
    }
}

/// The cache folder of this project: downloads, virtual environments, jars.
pub fn cache_folder() -> Outcome<PathBuf> {
    if let Some(folder) = std::env::var_os("XDG_CACHE_HOME").filter(|v| !v.is_empty()) {
        return Ok(PathBuf::from(folder).join("deltaic"));
    }
    let home = std::env::var_os("HOME").ok_or("HOME is not set, so there is no cache folder")?;
    Ok(PathBuf::from(home).join(".cache").join("deltaic"))
}

/// Does a CI system run this?
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|v| !v.is_empty() && v != "false")
}

/// A `cargo` command line, started in the root of the workspace.
pub fn cargo<I, S>(arguments: I) -> Command
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace_root());
    as_from_a_shell(&mut command);
    command
}

/// Takes away the variables that describe the run of xtask itself. A build script may ask to run again when one of them changes
/// (ring's does), and half of the workspace would be built anew whenever a build is started by hand after one through xtask.
pub fn as_from_a_shell(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let of_a_package = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ];
        if of_a_package.iter().any(|start| text.starts_with(start)) {
            command.env_remove(&name);
        }
    }
}

/// Announce, run, and report the time of one external command.
pub fn step(title: &str, command: &mut Command) -> Outcome {
    timed(title, || {
        println!("   {}", line(command));
        let status = command.status().map_err(|e| {
            format!(
                "{title}: cannot start {}: {e}",
                command.get_program().to_string_lossy()
            )
        })?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{title}: {status}"))
        }
    })
}

/// Announce, run, and report the time of one piece of work.
pub fn timed<T>(title: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("-- {title}");
    let start = Instant::now();
    let outcome = work();
    let took = start.elapsed().as_secs_f64();
    match &outcome {
        Ok(_) => println!("   {title}: done in {took:.1} s"),
        Err(_) => println!("   {title}: FAILED after {took:.1} s"),
    }
    outcome
}

/// Run every step even when one fails, then fail with all their reasons.
pub fn all(outcomes: Vec<Outcome>) -> Outcome {
    let failed: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.join("\nxtask: "))
    }
}

/// Is the program at hand?
pub fn at_hand(program: &str, probe: &str) -> bool {
    Command::new(program)
        .arg(probe)
        .output()
        .is_ok_and(|o| o.status.success())
}

fn line(command: &Command) -> String {
    let mut words = vec![
        Path::new(command.get_program())
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    ];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}
