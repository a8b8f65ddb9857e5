//! Two answers to one step, held against each other.
//!
//! - Rows: same names and types of columns, same rows; their order counts where the statement ends in ORDER BY and in
//!   DESCRIBE and SHOW.
//! - Errors: same class and, after masking, same message.
//! - Layout (files, commits, text files): only on demand, because engines may cut files differently.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::mask;
use crate::pytext;
use crate::recording::{Answer, Failure};
use crate::verdict::{Kind, Verdict};

/// Columns of DESCRIBE HISTORY that belong to the run.
const HISTORY_NOISE: &[&str] = &[
    "timestamp",
    "job",
    "notebook",
    "clusterId",
    "userId",
    "userName",
    "engineInfo",
];

/// Columns of DESCRIBE DETAIL that belong to the run.
const DETAIL_NOISE: &[&str] = &["id", "createdAt", "lastModified", "numFiles", "sizeInBytes"];

/// Fields of actions that belong to the run.
const LOG_NOISE: &[&str] = &[
    "timestamp",
    "txnId",
    "engineInfo",
    "size",
    "modificationTime",
    "deletionTimestamp",
    "id",
    "createdTime",
    "path",
    "stats",
    "isolationLevel",
    "baseRowId",
    "clusteringProvider",
];

/// Rows that count at most; recordings hold no more.
const MOST_ROWS: usize = 200;

/// Compare `ours` with what the reference answered.
pub fn compare(reference: &Answer, ours: &Answer, layout_counts: bool) -> Verdict {
    if ours.skipped.is_some() {
        return Verdict::skipped();
    }
    match (&reference.error, &ours.error) {
        (Some(want), Some(got)) => return errors(want, got),
        (Some(want), None) => {
            return Verdict::differs(
                Kind::Wrong,
                format!("error {}", label(want)),
                "an answer without error",
            );
        }
        (None, Some(got)) => {
            return Verdict::differs(
                Kind::Wrong,
                "an answer",
                format!("error {}: {}", label(got), got.message),
            );
        }
        (None, None) => {}
    }
    if reference.columns.is_some() {
        return rows(reference, ours);
    }
    if let Some(value) = &reference.value {
        let got = ours.value.as_ref().map(mask::value);
        if got.as_ref() == Some(&mask::value(value)) {
            return Verdict::equal();
        }
        return Verdict::differs(Kind::Wrong, value.to_string(), format!("{got:?}"));
    }
    if !layout_counts {
        return Verdict::skipped();
    }
    match (layout(reference), layout(ours)) {
        (None, _) => Verdict::skipped(),
        (Some(want), Some(got)) if want == got => Verdict::equal(),
        (Some(want), got) => layouts(&want, &got.unwrap_or_default()),
    }
}

fn label(failure: &Failure) -> &str {
    failure.condition.as_deref().unwrap_or("without class")
}

fn errors(want: &Failure, got: &Failure) -> Verdict {
    let kind = if want.condition != got.condition {
        Kind::Wrong
    } else if mask::text(&want.message) != mask::text(&got.message) {
        Kind::Text
    } else {
        return Verdict::equal();
    };
    let show = |failure: &Failure| format!("{}: {}", label(failure), mask::text(&failure.message));
    Verdict::differs(kind, show(want), show(got))
}

fn rows(reference: &Answer, ours: &Answer) -> Verdict {
    if ours.columns.is_none() {
        return Verdict::differs(Kind::Wrong, "rows", "no rows");
    }
    let types = |answer: &Answer| -> Vec<(String, String)> {
        answer
            .columns
            .iter()
            .flatten()
            .map(|(name, kind, _)| (name.clone(), kind.clone()))
            .collect()
    };
    let (want, got) = (types(reference), types(ours));
    if want != got {
        return Verdict::differs(
            Kind::Wrong,
            format!("columns {want:?}"),
            format!("columns {got:?}"),
        );
    }
    let text = reference.step_text().trim().to_lowercase();
    let (want, got) = (
        canonical_rows(reference, &text),
        canonical_rows(ours, &text),
    );
    if want == got {
        return Verdict::equal();
    }
    let missing = without(&want, &got);
    let extra = without(&got, &want);
    let sample = |rows: &[String]| rows.iter().take(3).cloned().collect::<Vec<_>>().join(" ; ");
    Verdict::differs(
        Kind::Wrong,
        format!("{} rows, missing {}", want.len(), sample(&missing)),
        format!("{} rows, extra {}", got.len(), sample(&extra)),
    )
}

/// The rows of `left` that `right` lacks, counted.
fn without(left: &[String], right: &[String]) -> Vec<String> {
    let mut rest: BTreeMap<&str, usize> = BTreeMap::new();
    for row in right {
        *rest.entry(row).or_default() += 1;
    }
    let mut out = Vec::new();
    for row in left {
        match rest.get_mut(row.as_str()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => out.push(row.clone()),
        }
    }
    out
}

fn canonical_rows(answer: &Answer, text: &str) -> Vec<String> {
    let names: Vec<&str> = answer
        .columns
        .iter()
        .flatten()
        .map(|(name, ..)| name.as_str())
        .collect();
    let is_query = [
        "select", "with", "(", "values", "table ", "spark.", "py ", "sql ",
    ]
    .iter()
    .any(|w| text.starts_with(w));
    let all = answer.rows.iter().flatten().take(MOST_ROWS);
    let mut out: Vec<String> = all
        .map(|row| {
            pytext::dumps(&canonical_row(
                row.as_array().map(Vec::as_slice).unwrap_or_default(),
                &names,
                is_query,
            ))
        })
        .collect();
    if !is_ordered(text) {
        out.sort();
    }
    out
}

fn canonical_row(row: &[Value], names: &[&str], is_query: bool) -> Value {
    let mut cells: Vec<Value> = row
        .iter()
        .map(if is_query { mask::data } else { mask::value })
        .collect();
    let named = || names.iter().copied();
    if names.contains(&"operationMetrics") {
        for (name, cell) in named().zip(&mut cells) {
            if HISTORY_NOISE.contains(&name) {
                *cell = json!("<noise>");
            } else if name == "operationMetrics" {
                *cell = metrics(cell);
            }
        }
    } else if names.contains(&"sizeInBytes") && names.contains(&"numFiles") {
        for (name, cell) in named().zip(&mut cells) {
            if DETAIL_NOISE.contains(&name) {
                *cell = json!("<noise>");
            }
        }
    } else if names.contains(&"num_removed_files") {
        for (name, cell) in named().zip(&mut cells) {
            if name.contains("size") {
                *cell = json!("<n>");
            }
        }
    } else if names.starts_with(&["path", "metrics"])
        && let Some(Value::Object(map)) = cells.get(1)
    {
        let mut keys: Vec<String> = map.keys().cloned().collect();
        keys.sort();
        cells.truncate(1);
        cells.push(json!(keys));
    }
    Value::Array(cells)
}

/// Metrics that measure the run are equal when they are there.
fn metrics(cell: &Value) -> Value {
    const NOISE: &[&str] = &["bytes", "size", "time", "files", "batches", "bins"];
    match cell {
        Value::Object(map) => {
            let masked = map.iter().map(|(key, value)| {
                let low = key.to_lowercase();
                let noise = low.ends_with("ms") || NOISE.iter().any(|word| low.contains(word));
                (
                    key.clone(),
                    if noise { json!("<n>") } else { value.clone() },
                )
            });
            Value::Object(masked.collect())
        }
        Value::Null => json!({}),
        other => other.clone(),
    }
}

/// Does the statement itself end in ORDER BY, and not a subquery of it?
fn is_ordered(text: &str) -> bool {
    if ["describe", "desc ", "show"]
        .iter()
        .any(|word| text.starts_with(word))
    {
        return true;
    }
    text.rfind("order by").is_some_and(|at| {
        let tail = &text[at..];
        tail.matches('(').count() == tail.matches(')').count()
    })
}

/// What a step says about files: name of a file or of a commit, to what is in it.
type Layout = BTreeMap<String, Vec<String>>;

fn layout(answer: &Answer) -> Option<Layout> {
    if let Some(files) = &answer.files {
        let mut out = Layout::new();
        for (name, _) in files {
            out.entry(mask::text(name))
                .or_default()
                .push("file".to_owned());
        }
        return Some(out);
    }
    if let Some(log) = &answer.log {
        let commit = |(name, lines): (&String, &Value)| (name.clone(), actions(lines));
        return Some(log.iter().map(commit).collect());
    }
    if let Some(schema) = &answer.schema {
        return Some(Layout::from([(
            "schema".to_owned(),
            vec![mask::text(schema)],
        )]));
    }
    let text = answer.text.as_ref()?;
    let content = match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(map) => {
            let mut keys: Vec<String> = map.keys().cloned().collect();
            keys.sort();
            keys
        }
        Err(_) => vec![mask::text(text)],
    };
    Some(Layout::from([("text".to_owned(), content)]))
}

fn actions(lines: &Value) -> Vec<String> {
    let lines = lines
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flatten();
    let mut out: Vec<String> = lines
        .map(|(kind, action)| pytext::dumps(&json!([kind, fields(kind, action)])))
        .collect();
    out.sort();
    out
}

fn fields(kind: &str, action: &Value) -> Value {
    let Some(map) = action.as_object() else {
        return action.clone();
    };
    let kept = map
        .iter()
        .filter(|(key, _)| !LOG_NOISE.contains(&key.as_str()))
        .map(|(key, value)| {
            let value = match value {
                Value::Array(items) if key.ends_with("Features") => {
                    let mut names: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                    names.sort_unstable();
                    json!(names)
                }
                Value::Object(_) if kind == "commitInfo" && key == "operationMetrics" => {
                    metrics(&mask::value(value))
                }
                other => mask::value(other),
            };
            (key.clone(), value)
        });
    Value::Object(kept.collect())
}

fn layouts(want: &Layout, got: &Layout) -> Verdict {
    let names = want.keys().chain(got.keys());
    let first = names.filter(|name| want.get(*name) != got.get(*name)).min();
    let show = |side: &Layout| {
        let name = first.cloned().unwrap_or_default();
        match side.get(&name) {
            Some(content) => format!("{name}: {}", content.join(" ; ")),
            None => format!("{name}: not there"),
        }
    };
    Verdict::differs(Kind::Layout, show(want), show(got))
}

#[cfg(test)]
mod tests;
