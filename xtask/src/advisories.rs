//! Security advisories of the RustSec database against the packages in use. The database is a folder of Markdown files
//! that begin with a TOML block; it is read from `DELTAIC_ADVISORY_DB`, from the cache folder, or fetched there with
//! git. Without it the check says that it did not happen, and fails where `DELTAIC_REQUIRE_ADVISORIES` is set.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use semver::{Version, VersionReq};
use serde::Deserialize;

use crate::metadata::Metadata;
use crate::shell::{Outcome, cache_folder};

const SOURCE: &str = "https://github.com/RustSec/advisory-db";

/// Advisories that are known and do not concern this project: (id, reason).
const ACCEPTED: &[(&str, &str)] = &[];

#[derive(Deserialize)]
struct Document {
    advisory: Advisory,
    #[serde(default)]
    versions: Versions,
}

#[derive(Deserialize)]
struct Advisory {
    id: String,
    package: String,
    withdrawn: Option<toml::Value>,
    informational: Option<String>,
}

#[derive(Deserialize, Default)]
struct Versions {
    #[serde(default)]
    patched: Vec<String>,
    #[serde(default)]
    unaffected: Vec<String>,
}

/// Check every package that is not ours.
pub fn check(metadata: &Metadata) -> Outcome {
    let Some(folder) = database()? else {
        let text =
            format!("advisories NOT checked: {SOURCE} is out of reach and no copy is at hand");
        println!("   {text}");
        return if std::env::var_os("DELTAIC_REQUIRE_ADVISORIES").is_some() {
            Err(text)
        } else {
            Ok(())
        };
    };
    let mut wrong = Vec::new();
    let mut read = 0;
    for package in metadata.others() {
        let Ok(version) = Version::parse(&package.version) else {
            continue;
        };
        let Ok(files) = fs::read_dir(folder.join("crates").join(&package.name)) else {
            continue;
        };
        for file in files.flatten() {
            let Some(document) = document(&file.path())? else {
                continue;
            };
            read += 1;
            let id = &document.advisory.id;
            if affects(&document, &package.name, &version)
                && !ACCEPTED.iter().any(|(known, _)| known == id)
            {
                match &document.advisory.informational {
                    Some(kind) => println!("   note: {id}: {} {version} ({kind})", package.name),
                    None => wrong.push(format!("{id}: {} {version}", package.name)),
                }
            }
        }
    }
    println!("   {read} advisories about packages in use");
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("advisories:\n  {}", wrong.join("\n  ")))
    }
}

/// The database's folder; `None` when it can not be had.
fn database() -> Outcome<Option<PathBuf>> {
    if let Some(folder) = std::env::var_os("DELTAIC_ADVISORY_DB") {
        return Ok(Some(PathBuf::from(folder)));
    }
    let folder = cache_folder()?.join("advisory-db");
    let mut git = Command::new("git");
    if folder.join("crates").is_dir() {
        git.arg("-C")
            .arg(&folder)
            .args(["pull", "--quiet", "--ff-only", "--depth", "1"]);
    } else {
        git.args(["clone", "--quiet", "--depth", "1", SOURCE])
            .arg(&folder);
    }
    let fetched = git
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .is_ok_and(|o| o.status.success());
    if !fetched && folder.join("crates").is_dir() {
        println!("   {SOURCE} is out of reach: the copy in the cache may be old");
    }
    Ok(Some(folder).filter(|f| f.join("crates").is_dir()))
}

fn document(path: &Path) -> Outcome<Option<Document>> {
    if path.extension().is_none_or(|e| e != "md") {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn parse(text: &str) -> Result<Option<Document>, String> {
    let Some((_, rest)) = text.split_once("```toml") else {
        return Ok(None);
    };
    let head = rest.split_once("```").map_or(rest, |(head, _)| head);
    toml::from_str(head).map(Some).map_err(|e| e.to_string())
}

fn affects(document: &Document, package: &str, version: &Version) -> bool {
    let matches = |texts: &[String]| {
        texts.iter().any(|text| {
            VersionReq::parse(text).is_ok_and(|requirement| requirement.matches(version))
        })
    };
    document.advisory.package == package
        && document.advisory.withdrawn.is_none()
        && !matches(&document.versions.patched)
        && !matches(&document.versions.unaffected)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::{affects, parse};
    use semver::Version;

    const TEXT: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2020-0001\"\npackage = \"thing\"\ndate = \"2020-01-01\"\n\n\
                        [versions]\npatched = [\">= 1.2.3\"]\nunaffected = [\"< 1.0\"]\n```\n\n# Title\n";

    #[test]
    fn a_version_between_unaffected_and_patched_is_affected() {
        let document = parse(TEXT).unwrap().unwrap();
        assert!(affects(&document, "thing", &Version::new(1, 1, 0)));
        assert!(!affects(&document, "thing", &Version::new(1, 2, 3)));
        assert!(!affects(&document, "thing", &Version::new(0, 9, 0)));
        assert!(!affects(&document, "other", &Version::new(1, 1, 0)));
    }
}
