//! Every error class that is raised stands in the table of classes, so that it has a text and a SQLSTATE.

use std::collections::BTreeSet;

use super::SourceFile;

/// The table's files.
const TABLE: &str = "crates/deltaic-protocol/src/error/";
const RAISED: &str = "DeltaError::new(";

/// Breaches, one line each.
pub fn check(files: &[SourceFile]) -> Vec<String> {
    let known: BTreeSet<String> = files
        .iter()
        .filter(|file| file.path.starts_with(TABLE) && file.path.ends_with(".classes"))
        .flat_map(|file| classes(&file.text))
        .collect();
    let mut found = Vec::new();
    for file in files {
        if file.is_test || !file.path.ends_with(".rs") || !file.path.starts_with("crates/") {
            continue;
        }
        for class in raised(&file.text) {
            if !known.contains(class) {
                found.push(format!("{}: no class {class} in {TABLE}", file.path));
            }
        }
    }
    found
}

/// The classes of a table: `NAME …` begins one, `.SUB` a part of the last one.
fn classes(text: &str) -> Vec<String> {
    let mut main = "";
    let mut found = Vec::new();
    for line in text.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        if name.starts_with('.') {
            found.push(format!("{main}{name}"));
        } else if name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') {
            main = name;
            found.push(name.to_owned());
        }
    }
    found
}

/// The literals that stand where a class is raised, outside of test modules.
fn raised(text: &str) -> Vec<&str> {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end]
        .split(RAISED)
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix('"'))
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, check};

    #[test]
    fn a_class_without_a_text_is_found() {
        let file = |path: &str, text: &str| SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
            is_test: false,
        };
        let files = [
            file(
                "crates/deltaic-protocol/src/error/x.classes",
                "A 42000 B\n| text\n.SUB\n| more\n",
            ),
            file(
                "crates/x/src/lib.rs",
                "DeltaError::new(\"A\"); DeltaError::new(\n    \"A.SUB\",\n); DeltaError::new(\"B\")",
            ),
        ];
        let found = check(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("no class B "), "{found:?}");
    }
}
