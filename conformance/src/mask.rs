//! What no two runs share is masked on both sides before comparing: identifiers, times of the run, file names, engine
//! names, positions in the statement, Catalyst's expression ids.

use std::sync::OnceLock;

use regex::{NoExpand, Regex};
use serde_json::Value;

use crate::pytext;

/// The recordings were made from November 2026 on, and no data of a scenario lies there.
const RUN_DATE: &str = r"20(?:26-1[12]|2[7-9]-\d\d|[3-8]\d-\d\d)-\d\d";

struct Masks {
    everywhere: Vec<(Regex, &'static str)>,
    run_time: Regex,
}

fn masks() -> Option<&'static Masks> {
    static MASKS: OnceLock<Option<Masks>> = OnceLock::new();
    MASKS.get_or_init(|| build().ok()).as_ref()
}

fn build() -> Result<Masks, regex::Error> {
    // A run may happen before November 2026 by its own clock: its date counts too.
    let now = chrono::Utc::now();
    let days = [-1, 0, 1].map(|d| {
        (now + chrono::Duration::days(d))
            .format("%Y-%m-%d")
            .to_string()
    });
    let date = format!("(?:{RUN_DATE}|{})", days.join("|"));
    let name = r"(?:\.c\d+|-c\d+)?(?:\.[a-z0-9]+)*\.parquet";
    let rules = [
        (
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}".to_owned(),
            "<uuid>",
        ),
        (format!(r"\bpart-\d{{5}}-<uuid>{name}"), "<data-file>"),
        (format!(r"\bcdc-\d{{5}}-<uuid>{name}"), "<change-file>"),
        (r"deletion_vector_<uuid>\.bin".to_owned(), "<dv-file>"),
        (
            format!(r"\b{date}[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d| UTC)?"),
            "<time>",
        ),
        (r"\b1[6-9]\d{11}\b".to_owned(), "<millis>"),
        (
            r#"Apache-Spark/\S+ Delta-Lake/[^\s"]+|[Dd]eltaic[/-][^\s"]+"#.to_owned(),
            "<engine>",
        ),
        (r"(?:; )?line \d+,? pos \d+".to_owned(), ""),
        (r"(?s)\n\n?== SQL.*".to_owned(), ""),
        // The plan behind an analysis error.
        (
            r"(?s);?\n'[A-Z+].*|;\n[A-Z]\w*[ \[(].*|;\n[A-Z]\w*$".to_owned(),
            "",
        ),
        (r"\s+SQLSTATE: \w{5}\s*$".to_owned(), ""),
        (r"#\d+L?\b".to_owned(), ""),
    ];
    let everywhere = rules
        .into_iter()
        .map(|(pattern, to)| Ok((Regex::new(&pattern)?, to)))
        .collect::<Result<_, regex::Error>>()?;
    let run_time = Regex::new(&format!(r"^{date}T\d\d:\d\d:\d\d(?:\.\d+)?$"))?;
    Ok(Masks {
        everywhere,
        run_time,
    })
}

/// Mask one text.
pub fn text(value: &str) -> String {
    let mut out = value.to_owned();
    for (pattern, to) in masks().map(|m| m.everywhere.as_slice()).unwrap_or_default() {
        out = pattern.replace_all(&out, NoExpand(to)).into_owned();
    }
    out.trim().to_owned()
}

/// Mask a value of a command's answer: every text in it, keys too.
pub fn value(input: &Value) -> Value {
    match input {
        Value::String(s) => Value::String(text(s)),
        Value::Array(items) => items.iter().map(value).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (text(k), value(v))).collect()),
        other => data(other),
    }
}

/// Rows of a query are data: only the time of the run and names of files are masked, and floats count to 15 digits.
pub fn data(input: &Value) -> Value {
    match input {
        Value::String(s) if masks().is_some_and(|m| m.run_time.is_match(s)) => {
            Value::from("<time>")
        }
        Value::String(s) if s.ends_with(".parquet") => Value::String(text(s)),
        Value::Array(items) => items.iter().map(data).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(k, v)| (k.clone(), data(v))).collect())
        }
        Value::Number(number) if pytext::is_float(&number.to_string()) => number
            .as_f64()
            .map_or_else(|| input.clone(), |f| Value::from(pytext::fifteen_digits(f))),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{data, text};
    use serde_json::json;

    #[test]
    fn file_names_times_and_engines_are_masked() {
        let name = "x/part-00000-9cdb8652-e268-43d2-a738-5be85774ca4a-c000.snappy.parquet";
        assert_eq!(text(name), "x/<data-file>");
        assert_eq!(text("at 2026-11-30T02:59:17.129Z"), "at <time>");
        assert_eq!(text("at 2026-05-01 10:00:00"), "at 2026-05-01 10:00:00");
        assert_eq!(text("Apache-Spark/4.1.4 Delta-Lake/4.3.0"), "<engine>");
        assert_eq!(text("deltaic/0.1.0"), "<engine>");
    }

    #[test]
    fn plans_positions_and_states_of_errors_are_masked() {
        let error = "[X] Text. SQLSTATE: 42703; line 1 pos 7;\n'Project ['a]\n+- Relation";
        assert_eq!(text(error), "[X] Text.");
        assert_eq!(text("(v#12 = v5)"), "(v = v5)");
        assert_eq!(
            text("[P] bad. SQLSTATE: 42601 (line 1, pos 3)\n\n== SQL ==\nSELEC\n"),
            "[P] bad. SQLSTATE: 42601 (line 1, pos 3)".replace("line 1, pos 3", "")
        );
    }

    #[test]
    fn data_keeps_its_texts() {
        assert_eq!(
            data(&json!(["1600000000000", 0.1])),
            json!(["1600000000000", 0.1])
        );
        assert_eq!(data(&json!("2026-11-30T02:59:17.129000")), json!("<time>"));
    }
}
