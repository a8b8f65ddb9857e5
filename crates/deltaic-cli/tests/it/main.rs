//! The program as its users see it: what it prints, and the status it ends with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commands;
mod crash;
mod memory;
mod on_servers;
mod pipe;
mod race;
mod scripts;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A warehouse of its own, and the program on it.
pub struct Place {
    folder: tempfile::TempDir,
}

/// The long forms of the tests: `cargo xtask test heavy`.
pub fn heavy() -> bool {
    std::env::var_os("DELTAIC_HEAVY").is_some()
}

/// How a run ended.
pub struct Ended {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deltaic"));
        command
            .args(words)
            .arg("--warehouse")
            .arg(self.folder.path().join("wh"));
        command
            .current_dir(self.folder.path())
            .env_remove("DELTAIC_CATALOG");
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        ended(self.command(words).stdin(Stdio::null()).output().unwrap())
    }

    pub fn run_with_input(&self, words: &[&str], input: &str) -> Ended {
        let mut child = self
            .command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        ended(child.wait_with_output().unwrap())
    }
}

fn ended(output: Output) -> Ended {
    Ended {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
