//! The suite `golden`: tables that other engines wrote, read at their newest versions, against what Spark + Delta reads
//! from them or refuses; of tables with a change feed, whether it leads from version to version. The tables are not part of this repository: they lie in the folder that
//! `DELTAIC_GOLDEN` names, or beside the repository in `../shared/golden`.

mod feed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Outcome, Setting};
use crate::engine::Engine;
use crate::pytext;
use crate::recording::{Answer, Failure};
use crate::verdict::{Kind, Verdict};

/// The tables are old: without this the policy of time travel would refuse most of their versions.
const OLD_TABLES: &str =
    "SET spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration = false";

/// The recordings hold this many rows of a table at most.
const RECORDED: usize = 200_000;

/// Names of tables with a change feed begin so.
const FEED_TABLES: &str = "cdf-";

/// What the reference reads from one version.
#[derive(Deserialize)]
struct Expected {
    columns: Option<Vec<(String, String)>>,
    count: Option<usize>,
    digest: Option<String>,
    error: Option<Failure>,
}

/// The folder of the tables, if they are at hand.
pub fn folder(home: &Path) -> Option<PathBuf> {
    let named = std::env::var_os("DELTAIC_GOLDEN").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| home.join("../../shared/golden"));
    folder.join("expected.json").exists().then_some(folder)
}

/// Read every table.
///
/// # Errors
/// The tables are missing or can not be unpacked.
pub fn run(setting: &Setting, mut each: impl FnMut(Vec<Outcome>)) -> Result<(), String> {
    let folder = folder(&setting.home)
        .ok_or("the golden tables are not at hand: DELTAIC_GOLDEN names their folder")?;
    let text = fs::read_to_string(folder.join("expected.json")).map_err(|e| e.to_string())?;
    let expected: BTreeMap<String, BTreeMap<String, Expected>> =
        serde_json::from_str(&text).map_err(|e| format!("expected.json: {e}"))?;
    let engine = Engine::start(&setting.profile, setting.store)?;
    engine.sql(OLD_TABLES, &Value::Null);
    for (name, reads) in &expected {
        if !setting.wants(name) {
            continue;
        }
        let place = tempfile::tempdir().map_err(|e| e.to_string())?;
        let table = unpack(&folder.join(format!("{name}.tar.zst")), place.path(), name)?;
        let path = engine.upload(&table, name)?;
        let outcomes = reads.iter().map(|(version, want)| {
            let travel = if version == "latest" {
                String::new()
            } else {
                format!(" VERSION AS OF {version}")
            };
            let query = format!("SELECT * FROM delta.`{path}`{travel}");
            let ours = engine.sql(&query, &Value::Null);
            Outcome {
                suite: "golden",
                case: name.clone(),
                step: version.clone(),
                text: query.replace(&path, "@TABLE@"),
                verdict: verdict(want, &ours, &path),
            }
        });
        let mut outcomes: Vec<Outcome> = outcomes.collect();
        if name.starts_with(FEED_TABLES) {
            let mut versions: Vec<i64> = reads.keys().filter_map(|v| v.parse().ok()).collect();
            versions.sort_unstable();
            outcomes.extend(feed::outcomes(&engine, name, &path, &versions));
        }
        each(outcomes);
    }
    Ok(())
}

fn unpack(archive: &Path, place: &Path, name: &str) -> Result<PathBuf, String> {
    let status = Command::new("tar")
        .arg("--zstd")
        .arg("-xf")
        .arg(archive)
        .arg("-C")
        .arg(place)
        .status();
    match status {
        Ok(status) if status.success() => {}
        other => return Err(format!("tar --zstd -xf {}: {other:?}", archive.display())),
    }
    let table = place.join(name).join("delta");
    let table = if table.is_dir() {
        table
    } else {
        place.join(name)
    };
    let table = table
        .canonicalize()
        .map_err(|e| format!("{}: {e}", table.display()))?;
    Ok(table)
}

fn verdict(want: &Expected, ours: &Answer, path: &str) -> Verdict {
    let place = |text: &str| {
        text.replace(&format!("file:{path}"), "@TABLE@")
            .replace(path, "@TABLE@")
    };
    match (&want.error, &ours.error) {
        (Some(want), Some(got)) => {
            let cut = |text: &str| text.chars().take(400).collect::<String>();
            let text_equal = want.condition.is_some() || place(&cut(&got.message)) == want.message;
            if want.condition == got.condition && text_equal {
                return Verdict::equal();
            }
            Verdict::differs(Kind::Wrong, show(want), show(got))
        }
        (Some(want), None) => Verdict::differs(Kind::Wrong, show(want), "rows"),
        (None, Some(got)) => Verdict::differs(Kind::Wrong, "rows", show(got)),
        (None, None) => rows(want, ours),
    }
}

fn show(failure: &Failure) -> String {
    format!(
        "error {}: {}",
        failure.condition.as_deref().unwrap_or("without class"),
        failure.message
    )
}

fn rows(want: &Expected, ours: &Answer) -> Verdict {
    let columns: Vec<(String, String)> = ours
        .columns
        .iter()
        .flatten()
        .map(|(n, t, _)| (n.clone(), t.clone()))
        .collect();
    if want.columns.as_ref() != Some(&columns) {
        return Verdict::differs(
            Kind::Wrong,
            format!("{:?}", want.columns),
            format!("{columns:?}"),
        );
    }
    let mut texts: Vec<String> = ours
        .rows
        .iter()
        .flatten()
        .take(RECORDED)
        .map(|row| pytext::dumps(&canonical(row)))
        .collect();
    texts.sort();
    let digest: String = Sha256::digest(texts.join("\n"))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if want.count == Some(texts.len()) && want.digest.as_ref() == Some(&digest) {
        return Verdict::equal();
    }
    let got = format!(
        "{} rows, digest {digest}, first {:?}",
        texts.len(),
        texts.first()
    );
    Verdict::differs(
        Kind::Wrong,
        format!("{:?} rows, digest {:?}", want.count, want.digest),
        got,
    )
}

/// Values in the one form that digests are made of.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) if pytext::is_float(&number.to_string()) => {
            number.as_f64().map_or_else(
                || value.clone(),
                |float| Value::from(pytext::float_repr(float)),
            )
        }
        Value::String(text) => Value::from(instant(text).unwrap_or_else(|| text.clone())),
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(k, v)| (k.clone(), canonical(v)))
                .collect::<Map<String, Value>>(),
        ),
        other => other.clone(),
    }
}

/// A timestamp without zone and without trailing zeros, if the text is one.
fn instant(text: &str) -> Option<String> {
    let bare = text
        .strip_suffix("+00:00")
        .or(text.strip_suffix('Z'))
        .unwrap_or(text);
    let (seconds, fraction) = bare
        .split_once('.')
        .map_or((bare, None), |(s, f)| (s, Some(f)));
    let shape = |text: &str| {
        text.chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect::<String>()
    };
    if shape(seconds) != "0000-00-00T00:00:00" {
        return None;
    }
    match fraction {
        None => Some(bare.to_owned()),
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            // Only trailing zeros go, as in the digests.
            let kept = digits.trim_end_matches('0');
            let point = if kept.is_empty() { "" } else { "." };
            if kept.len() == digits.len() {
                Some(bare.to_owned())
            } else {
                Some(format!("{seconds}{point}{kept}"))
            }
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::instant;

    #[test]
    fn timestamps_lose_zone_and_trailing_zeros() {
        assert_eq!(
            instant("2024-01-01T00:00:00.250000Z").as_deref(),
            Some("2024-01-01T00:00:00.25")
        );
        assert_eq!(
            instant("2024-01-01T00:00:00.000000").as_deref(),
            Some("2024-01-01T00:00:00")
        );
        assert_eq!(
            instant("2024-01-01T00:00:00+00:00").as_deref(),
            Some("2024-01-01T00:00:00")
        );
        assert_eq!(instant("2024-01-01"), None);
    }
}
