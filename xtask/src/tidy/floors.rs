//! A crate imports only from floors below its own. The table is the one of `crates/README.md`.

use std::collections::BTreeMap;

use crate::metadata::Metadata;

/// Floor of each crate; `conformance` and `bench` stand above all, `xtask` and `deltaic-testing` import none.
const FLOORS: &[(&str, u8)] = &[
    ("deltaic-protocol", 0),
    ("deltaic-storage", 1),
    ("deltaic-command", 1),
    ("deltaic-log", 2),
    ("deltaic-sql", 2),
    ("deltaic-maintenance", 3),
    ("deltaic-datafusion", 4),
    ("deltaic-analyzer", 4),
    ("deltaic-session", 5),
    ("deltaic-connect", 6),
    ("deltaic-cli", 7),
    ("deltaic-bench", 8),
    ("deltaic-conformance", 8),
    (TESTING, 0),
    ("xtask", 0),
];

/// What only tests use.
const TESTING: &str = "deltaic-testing";

/// The lowest floor that may know DataFusion.
const DATAFUSION_FROM: u8 = 4;

/// Breaches, one line each.
pub fn check(metadata: &Metadata) -> Vec<String> {
    let edges = metadata.members().map(|package| {
        let names = package
            .dependencies
            .iter()
            .map(|d| (d.name.as_str(), d.kind.as_deref(), d.path.is_some()));
        (package.name.as_str(), names.collect::<Vec<_>>())
    });
    breaches(edges)
}

fn breaches<'a>(
    crates: impl Iterator<Item = (&'a str, Vec<(&'a str, Option<&'a str>, bool)>)>,
) -> Vec<String> {
    let floors: BTreeMap<&str, u8> = FLOORS.iter().copied().collect();
    let mut found = Vec::new();
    for (name, dependencies) in crates {
        let Some(&floor) = floors.get(name) else {
            found.push(format!(
                "{name}: not in the table of floors (xtask/src/tidy/floors.rs, crates/README.md)"
            ));
            continue;
        };
        for (dependency, kind, inside) in dependencies {
            if dependency.starts_with("datafusion") && floor < DATAFUSION_FROM {
                found.push(format!(
                    "{name} (floor {floor}): DataFusion lives on floor {DATAFUSION_FROM} and above"
                ));
            }
            // A crate may use itself as a dev-dependency, for its doc tests.
            if !inside || (kind == Some("dev") && dependency == name) {
                continue;
            }
            if dependency == TESTING && kind != Some("dev") && name != "deltaic-conformance" {
                found.push(format!(
                    "{name} imports {TESTING} outside tests: make it a dev-dependency"
                ));
            }
            if matches!(name, "xtask" | TESTING) {
                found.push(format!(
                    "{name} imports {dependency}: it imports none of ours"
                ));
            } else if floors.get(dependency).is_some_and(|below| *below >= floor) {
                found.push(format!(
                    "{name} (floor {floor}) imports {dependency}, which is not below it"
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::breaches;

    fn of(name: &'static str, dependency: &'static str, inside: bool) -> usize {
        breaches([(name, vec![(dependency, None, inside)])].into_iter()).len()
    }

    #[test]
    fn an_arrow_up_or_sideways_is_a_breach() {
        assert_eq!(of("deltaic-session", "deltaic-log", true), 0);
        assert_eq!(of("deltaic-log", "deltaic-session", true), 1);
        assert_eq!(of("deltaic-datafusion", "deltaic-analyzer", true), 1);
        assert_eq!(of("deltaic-log", "datafusion", false), 1);
        assert_eq!(of("xtask", "deltaic-protocol", true), 1);
        assert_eq!(of("deltaic-unheard-of", "serde", false), 1);
    }

    #[test]
    fn what_only_tests_use_is_a_dev_dependency_and_imports_none() {
        let testing = |name, kind| {
            breaches([(name, vec![("deltaic-testing", kind, true)])].into_iter()).len()
        };
        assert_eq!(testing("deltaic-storage", Some("dev")), 0);
        assert_eq!(testing("deltaic-storage", None), 1);
        assert_eq!(testing("deltaic-conformance", None), 0);
        assert_eq!(of("deltaic-testing", "deltaic-protocol", true), 1);
    }
}
