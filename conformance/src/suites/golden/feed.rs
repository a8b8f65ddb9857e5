//! The change feed of golden tables: the rows of one version and the changes after it must give those of every later one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::Outcome;
use crate::engine::Engine;
use crate::pytext;
use crate::recording::Answer;
use crate::verdict::{Kind, Verdict};

/// How often each row is there.
type Counted = BTreeMap<String, i64>;

/// Checks every pair of these versions.
pub fn outcomes(engine: &Engine, name: &str, path: &str, versions: &[i64]) -> Vec<Outcome> {
    let mut out = Vec::new();
    for (at, from) in versions.iter().enumerate() {
        for to in &versions[at + 1..] {
            let query = format!("table_changes_by_path('{path}', {}, {to})", from + 1);
            let verdict = match differing(engine, path, &query, (*from, *to)) {
                Ok(rows) if rows.is_empty() => Verdict::equal(),
                Ok(rows) => Verdict::differs(
                    Kind::Wrong,
                    format!("the rows of version {to}"),
                    format!("too many or, below zero, too few: {rows:?}"),
                ),
                Err(text) => Verdict::differs(Kind::Wrong, "changes", text),
            };
            out.push(Outcome {
                suite: "golden",
                case: name.to_owned(),
                step: format!("{from}-{to}"),
                text: query.replace(path, "@TABLE@"),
                verdict,
            });
        }
    }
    out
}

/// Rows that the changes of a range leave over or miss.
fn differing(
    engine: &Engine,
    path: &str,
    changes: &str,
    (from, to): (i64, i64),
) -> Result<Counted, String> {
    let ask = |sql: &str| rows(engine.sql(sql, &Value::Null));
    let version = |v: i64| ask(&format!("SELECT * FROM delta.`{path}` VERSION AS OF {v}"));
    let mut counted = Counted::new();
    for row in version(from)? {
        note(&mut counted, &row, 1);
    }
    for mut row in ask(&format!("SELECT * FROM {changes}"))? {
        // Kind of change, version and time stand at the end.
        let behind = row.split_off(row.len().saturating_sub(3));
        let by = match behind.first().and_then(Value::as_str) {
            Some("insert") => 1,
            Some("delete") => -1,
            // Old writers cut the words off.
            Some(kind) if kind.starts_with("update_post") => 1,
            Some(kind) if kind.starts_with("update_pre") => -1,
            other => return Err(format!("a change of kind {other:?}")),
        };
        note(&mut counted, &row, by);
    }
    for row in version(to)? {
        note(&mut counted, &row, -1);
    }
    counted.retain(|_, count| *count != 0);
    Ok(counted)
}

fn note(counted: &mut Counted, row: &[Value], by: i64) {
    let text = pytext::dumps(&Value::Array(row.to_vec()));
    *counted.entry(text).or_default() += by;
}

fn rows(answer: Answer) -> Result<Vec<Vec<Value>>, String> {
    if let Some(failure) = answer.error {
        return Err(failure.message);
    }
    let rows = answer.rows.into_iter().flatten();
    Ok(rows.filter_map(|row| row.as_array().cloned()).collect())
}
