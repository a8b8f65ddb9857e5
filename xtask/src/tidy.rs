//! `cargo xtask tidy`: the rules of the house that no compiler checks.

mod classes;
mod floors;
mod lexer;
mod modules;
mod text;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::metadata::Metadata;
use crate::shell::{Outcome, timed, workspace_root};

/// One tracked or new file, with its path from the root of the workspace.
pub struct SourceFile {
    pub path: String,
    pub text: String,
    /// Only tests see it.
    pub is_test: bool,
}

/// Run all rules and fail with every breach.
pub fn run() -> Outcome {
    timed("tidy", || {
        let metadata = Metadata::read()?;
        let files = files()?;
        let mut breaches = floors::check(&metadata);
        breaches.extend(modules::check(&files));
        breaches.extend(text::check(&files));
        breaches.extend(classes::check(&files));
        println!("   {} files", files.len());
        if breaches.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} breaches of the house rules:\n  {}",
            breaches.len(),
            breaches.join("\n  ")
        ))
    })
}

/// All text files that git knows or would add.
fn files() -> Outcome<Vec<SourceFile>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(workspace_root())
        .output()
        .map_err(|e| format!("cannot start git: {e}"))?;
    if !output.status.success() {
        return Err(format!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    let mut files = Vec::new();
    for name in output.stdout.split(|b| *b == 0).filter(|n| !n.is_empty()) {
        let path = String::from_utf8_lossy(name).into_owned();
        let full: PathBuf = workspace_root().join(&path);
        // Deleted but not yet committed, or not text: nothing to judge.
        let Ok(bytes) = fs::read(&full) else { continue };
        if let Ok(text) = String::from_utf8(bytes) {
            let is_test = is_test_name(&path);
            files.push(SourceFile {
                path,
                text,
                is_test,
            });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    mark_test_modules(&mut files);
    Ok(files)
}

/// Files that are tests by their name or their folder.
fn is_test_name(path: &str) -> bool {
    let named = |part: &str| {
        matches!(part, "tests" | "tests.rs" | "benches" | "examples") || part.ends_with("_tests.rs")
    };
    path.split('/').any(named)
}

/// Files that are tests because their parent declares them under `#[cfg(test)]`, and the files below them.
fn mark_test_modules(files: &mut [SourceFile]) {
    let mut folders = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let stem = file.path.trim_end_matches(".rs");
        let folder = match stem.rsplit_once('/') {
            Some((folder, "lib" | "main" | "mod")) => folder,
            _ => stem,
        };
        let modules = lexer::test_modules(&file.text);
        folders.extend(
            modules
                .into_iter()
                .map(|module| format!("{folder}/{module}")),
        );
    }
    for file in files {
        let inside = |folder: &String| {
            file.path
                .strip_prefix(folder.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        file.is_test |= folders.iter().any(inside);
    }
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, is_test_name, mark_test_modules};

    #[test]
    fn modules_declared_for_tests_only_are_tests_with_all_below_them() {
        let make = |path: &str, text: &str| SourceFile {
            path: path.into(),
            text: text.into(),
            is_test: is_test_name(path),
        };
        let mut files = [
            make(
                "c/src/lib.rs",
                "mod a; #[cfg(test)] mod help; #[cfg(test)] mod inline { }",
            ),
            make("c/src/a.rs", "#[cfg(test)]\npub(crate) mod more;"),
            make("c/src/a/more.rs", ""),
            make("c/src/help.rs", ""),
            make("c/src/help/below.rs", ""),
            make("c/src/helper.rs", ""),
            make("c/src/a/tests.rs", ""),
        ];
        mark_test_modules(&mut files);
        let marked: Vec<bool> = files.iter().map(|file| file.is_test).collect();
        assert_eq!(marked, [false, false, true, true, true, false, true]);
    }
}
