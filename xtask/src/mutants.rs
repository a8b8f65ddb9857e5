//! `cargo xtask mutants`: plants the bugs of `testing/mutants.toml`, one at a time, in a copy of the tree, and runs the tests
//! that must find them. A rule that no test guards shows as a mutant that survives.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde::Deserialize;

use crate::shell::{Outcome, cargo, target_folder, timed, workspace_root};

/// The list, below the workspace's root.
const LIST: &str = "testing/mutants.toml";

/// Which mutants.
#[derive(Args)]
pub struct Options {
    /// Only those whose name, rule or file has this text; may be given more than once.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Print the list and stop.
    #[arg(long)]
    list: bool,
}

#[derive(Deserialize)]
struct List {
    mutant: Vec<Mutant>,
}

/// A bug and the tests that find it.
#[derive(Deserialize)]
struct Mutant {
    name: String,
    /// The safety rule that it breaks.
    rule: String,
    /// The file, below the workspace's root.
    file: PathBuf,
    /// The text that goes; it stands once in the file.
    find: String,
    /// The text that comes.
    replace: String,
    /// The words after `cargo test`.
    tests: String,
}

impl Mutant {
    fn is_meant_by(&self, words: &[String]) -> bool {
        let file = self.file.to_string_lossy();
        words.is_empty()
            || words.iter().any(|word| {
                [self.name.as_str(), self.rule.as_str(), &file]
                    .iter()
                    .any(|text| text.contains(word.as_str()))
            })
    }
}

/// Plants them and tells which of them no test has found.
pub fn run(options: &Options) -> Outcome {
    let root = workspace_root();
    let mutants = listed(&root)?;
    let chosen: Vec<&Mutant> = mutants
        .iter()
        .filter(|mutant| mutant.is_meant_by(&options.only))
        .collect();
    if chosen.is_empty() {
        return Err("no such mutant; --list prints all of them".to_owned());
    }
    if options.list {
        for mutant in chosen {
            println!("{:<18} {:<52} {}", mutant.rule, mutant.name, mutant.tests);
        }
        return Ok(());
    }
    check_texts(&root, chosen.iter().copied())?; // before anything is built
    let copy = place().join("tree");
    timed("copy of the tree", || copy_tree(&root, &copy))?;
    let suites: BTreeSet<&str> = chosen.iter().map(|m| m.tests.as_str()).collect();
    for tests in suites {
        timed(&format!("without a mutant: {tests}"), || {
            match verdict(&copy, tests)? {
                Verdict::Passed => Ok(()),
                Verdict::Failed => Err(format!("cargo test {tests} fails without a mutant")),
                Verdict::DoesNotBuild => Err(format!("cargo test {tests} does not build")),
            }
        })?;
    }
    let mut survivors = Vec::new();
    for mutant in &chosen {
        if !is_found(&copy, mutant)? {
            survivors.push(mutant.name.as_str());
        }
    }
    println!(
        "-- {} of {} mutants were found",
        chosen.len() - survivors.len(),
        chosen.len()
    );
    if survivors.is_empty() {
        Ok(())
    } else {
        Err(format!("no test has found {}", survivors.join(", ")))
    }
}

/// That the list and the code have not come apart: each text that a mutant replaces stands once in its file.
pub fn check_list() -> Outcome {
    let root = workspace_root();
    timed("mutants", || check_texts(&root, listed(&root)?.iter()))
}

fn listed(root: &Path) -> Outcome<Vec<Mutant>> {
    let text = fs::read_to_string(root.join(LIST)).map_err(|e| format!("{LIST}: {e}"))?;
    let list: List = toml::from_str(&text).map_err(|e| format!("{LIST}: {e}"))?;
    check_names(&list.mutant)?;
    Ok(list.mutant)
}

fn check_texts<'a>(root: &Path, mutants: impl Iterator<Item = &'a Mutant>) -> Outcome {
    let lost: Vec<String> = mutants
        .filter_map(|mutant| planted(root, mutant).err())
        .collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(lost.join("\nxtask: ")),
    }
}

fn check_names(mutants: &[Mutant]) -> Outcome {
    let mut seen = BTreeSet::new();
    match mutants.iter().find(|m| !seen.insert(m.name.as_str())) {
        Some(twice) => Err(format!("{LIST}: two mutants are named {}", twice.name)),
        None => Ok(()),
    }
}

/// The file of a mutant, as it is and with the bug.
fn planted(root: &Path, mutant: &Mutant) -> Outcome<(String, String)> {
    let Mutant { name, file, .. } = mutant;
    let before = fs::read_to_string(root.join(file))
        .map_err(|e| format!("{name}: {}: {e}", file.display()))?;
    match before.matches(&mutant.find).count() {
        1 if mutant.find == mutant.replace => Err(format!("{name} changes nothing")),
        1 => {
            let after = before.replacen(&mutant.find, &mutant.replace, 1);
            Ok((before, after))
        }
        count => Err(format!(
            "{name}: its text stands {count} times in {}, not once",
            file.display()
        )),
    }
}

/// Plants a mutant in the copy, runs its tests, and takes it out again.
fn is_found(copy: &Path, mutant: &Mutant) -> Outcome<bool> {
    let start = Instant::now();
    let (before, after) = planted(copy, mutant)?;
    let place = copy.join(&mutant.file);
    let write = |text: &str| fs::write(&place, text).map_err(|e| format!("{}: {e}", mutant.name));
    write(&after)?;
    let verdict = verdict(copy, &mutant.tests);
    write(&before)?;
    let told = match verdict? {
        Verdict::Failed => "found",
        Verdict::Passed => "SURVIVES",
        Verdict::DoesNotBuild => return Err(format!("{} does not build", mutant.name)),
    };
    println!(
        "   {told:<9} {:<18} {:<52} {:.0} s",
        mutant.rule,
        mutant.name,
        start.elapsed().as_secs_f64()
    );
    Ok(told == "found")
}

enum Verdict {
    Passed,
    Failed,
    DoesNotBuild,
}

/// Where the copy is, and what is built of it. Cargo takes a copy for the same workspace, so that builds of the two in one folder
/// would be taken for each other.
fn place() -> PathBuf {
    target_folder().join("mutants")
}

/// What tests say about the copy. What they print is of no interest: a mutant's failures are what is wanted.
fn verdict(copy: &Path, tests: &str) -> Outcome<Verdict> {
    let words = |first: &[&'static str]| {
        let first = std::iter::once("test").chain(first.iter().copied());
        cargo(first.chain(tests.split_whitespace()))
    };
    let quiet = |mut command: Command| {
        command
            .current_dir(copy)
            .env("CARGO_TARGET_DIR", place().join("target"))
            .env("RUST_BACKTRACE", "0")
            // The same cases with every mutant: what chance finds one time must not depend on the time.
            .env("PROPTEST_RNG_SEED", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|e| format!("cargo test {tests}: {e}"))
    };
    if !quiet(words(&["--no-run"]))?.success() {
        return Ok(Verdict::DoesNotBuild);
    }
    match quiet(words(&[]))?.success() {
        true => Ok(Verdict::Passed),
        false => Ok(Verdict::Failed),
    }
}

/// Copies what belongs to the tree: all that git knows, and new files that it is not told to ignore.
fn copy_tree(root: &Path, copy: &Path) -> Outcome {
    if copy.exists() {
        fs::remove_dir_all(copy).map_err(|e| format!("{}: {e}", copy.display()))?;
    }
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .map_err(|e| format!("git ls-files: {e}"))?;
    if !listed.status.success() {
        return Err("git ls-files failed: mutants need a working copy of git".to_owned());
    }
    for name in listed.stdout.split(|byte| *byte == 0) {
        let name = Path::new(OsStr::new(std::str::from_utf8(name).unwrap_or_default()));
        let (from, to) = (root.join(name), copy.join(name));
        // Files that were deleted and links are no part of what is built.
        if name.as_os_str().is_empty() || !from.is_file() {
            continue;
        }
        let folder = to.parent().unwrap_or(copy);
        fs::create_dir_all(folder)
            .and_then(|()| fs::copy(&from, &to))
            .map_err(|e| format!("{}: {e}", to.display()))?;
    }
    Ok(())
}
