//! Every statement of the recorded scenarios parses, or fails with the recorded text.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Statements that this project takes although the reference's parser does not.
const BETTER: [&str; 3] = [
    "SELECT * FROM t@v2 ORDER BY id",
    "DESCRIBE HISTORY IDENTIFIER(:t) LIMIT 1",
    "ANALYZE TABLE",
];

fn recordings() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places =
        ["conformance/recordings", "../shared/reference/recordings"].map(|place| root.join(place));
    let found = places
        .iter()
        .find(|place| place.join("delta-4.3.0").is_dir())
        .cloned();
    if found.is_none() {
        assert!(std::env::var("CI").is_err(), "no recordings at {places:?}");
        eprintln!("no recordings at {places:?}: nothing compared");
    }
    found
}

/// The statement of a step: its SQL, or the query of a `sql` directive.
fn statement(step: &Value) -> Option<String> {
    if let Some(sql) = step.get("sql") {
        return sql.as_str().map(str::to_owned);
    }
    let arguments = step.get("directive")?.as_str()?.strip_prefix("sql ")?;
    let parsed: Value = serde_json::from_str(arguments).unwrap();
    parsed["q"].as_str().map(str::to_owned)
}

#[test]
fn every_recorded_statement_parses_or_fails_as_recorded() {
    let Some(root) = recordings() else { return };
    let mut problems = Vec::new();
    let mut seen = 0;
    for profile in ["delta-4.3.0", "delta-4.0.1"] {
        for file in std::fs::read_dir(root.join(profile)).unwrap() {
            let path = file.unwrap().path();
            let recording: Value =
                serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            for step in recording["steps"].as_array().unwrap() {
                let Some(sql) = statement(step) else { continue };
                seen += 1;
                let refused = step["error"]["python"] == "ParseException";
                let recorded =
                    refused.then(|| step["error"]["message"].as_str().unwrap().to_owned());
                let got = deltaic_sql::parse(&sql)
                    .err()
                    .map(|error| error.to_string());
                let better = got.is_none() && BETTER.iter().any(|text| sql.starts_with(text));
                if got != recorded && !better {
                    problems.push(format!(
                        "{}: {sql}\n  recorded {recorded:?}\n  got      {got:?}",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(seen > 900, "only {seen} statements");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
