//! What `cargo metadata` says about the packages of this workspace and their dependencies.

use serde::Deserialize;

use crate::shell::{Outcome, cargo};

/// The whole answer of `cargo metadata`.
#[derive(Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub workspace_members: Vec<String>,
}

/// One package, ours or another's.
#[derive(Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    pub license: Option<String>,
    pub license_file: Option<String>,
    pub dependencies: Vec<Dependency>,
}

/// One line of a `[dependencies]` table.
#[derive(Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub kind: Option<String>,
    /// The folder, for a dependency inside the workspace.
    pub path: Option<String>,
}

impl Metadata {
    /// Ask Cargo for the resolved tree.
    pub fn read() -> Outcome<Self> {
        let output = cargo(["metadata", "--format-version", "1"])
            .output()
            .map_err(|e| format!("cannot start cargo metadata: {e}"))?;
        if !output.status.success() {
            return Err(format!(
                "cargo metadata: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|e| format!("cargo metadata answered something else: {e}"))
    }

    /// The packages of this workspace.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|p| self.workspace_members.contains(&p.id))
    }

    /// The packages of others.
    pub fn others(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|p| !self.workspace_members.contains(&p.id))
    }
}
