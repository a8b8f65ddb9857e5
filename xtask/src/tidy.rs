//! `cargo xtask tidy`: the rules of the house that no compiler checks.

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
}

/// Run all rules and fail with every breach.
pub fn run() -> Outcome {
    timed("tidy", || {
        let metadata = Metadata::read()?;
        let files = files()?;
        let mut breaches = floors::check(&metadata);
        breaches.extend(modules::check(&files));
        breaches.extend(text::check(&files));
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
            files.push(SourceFile { path, text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
