//! The directives of scenario files that look at the warehouse's files, or change them behind the engine's back.
//! What they answer has the form of the recordings.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::{Map, Value};

use crate::place::Files;
use crate::recording::Answer;

/// Run one directive; `None` for one that needs the engine (`sql`, `py`).
///
/// # Errors
/// A file is missing, or the directive is none.
pub fn run(warehouse: &dyn Files, verb: &str, words: &[&str]) -> Result<Option<Answer>, String> {
    let path = |n: usize| {
        words
            .get(n)
            .copied()
            .ok_or(format!("{verb}: too few words"))
    };
    let answer = match verb {
        "files" => Answer {
            files: Some(files(warehouse, path(0)?)?),
            ..Answer::default()
        },
        "log" => Answer {
            log: Some(log(warehouse, &format!("{}/_delta_log", path(0)?))?),
            ..Answer::default()
        },
        "cat" => Answer {
            text: Some(warehouse.read(path(0)?)?),
            ..Answer::default()
        },
        // Column for column the schema is the writer's own; a reader of the reference checks it in the interop run.
        "parquet" => parquet(warehouse, path(0)?)?,
        "stray" => stray(warehouse, path(0)?, words.get(1).copied())?,
        "rm" => {
            warehouse.remove(path(0)?)?;
            Answer::default()
        }
        "mtime" => mtime(
            warehouse,
            path(0)?,
            words.get(1).copied(),
            words.get(2).copied(),
        )?,
        "sql" | "py" => return Ok(None),
        _ => return Err(format!("no such directive: {verb}")),
    };
    Ok(Some(answer))
}

/// An answer that says why there is none.
pub fn skipped(reason: &str) -> Answer {
    Answer {
        skipped: Some(reason.to_owned()),
        ..Answer::default()
    }
}

/// As the reference lists them: without the checksums of Hadoop's local file system.
fn files(warehouse: &dyn Files, folder: &str) -> Result<Vec<(String, u64)>, String> {
    let mut found = warehouse.list(folder)?;
    found.retain(|(path, _)| {
        let name = path.rsplit('/').next().unwrap_or_default();
        !(name.starts_with('.') && name.ends_with(".crc"))
    });
    Ok(found)
}

fn parquet(warehouse: &dyn Files, path: &str) -> Result<Answer, String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let there = warehouse.list(folder)?.iter().any(|(file, _)| file == name);
    match there {
        true => Ok(skipped("no schema text of pyarrow")),
        false => Err(format!("{path}: not there")),
    }
}

fn log(warehouse: &dyn Files, folder: &str) -> Result<Map<String, Value>, String> {
    let mut out = Map::new();
    for (name, _) in warehouse.list(folder)? {
        if !is_commit(&name) {
            continue;
        }
        let lines = warehouse.read(&format!("{folder}/{name}"))?;
        let actions: Result<Vec<Value>, _> = lines.lines().map(serde_json::from_str).collect();
        let actions = actions.map_err(|e| format!("{name}: {e}"))?;
        out.insert(name, Value::Array(actions));
    }
    if out.is_empty() {
        return Err(format!("{folder}: no commits"));
    }
    Ok(out)
}

fn is_commit(name: &str) -> bool {
    name.strip_suffix(".json")
        .is_some_and(|stem| stem.len() == 20 && stem.bytes().all(|b| b.is_ascii_digit()))
}

fn stray(warehouse: &dyn Files, path: &str, days: Option<&str>) -> Result<Answer, String> {
    let days: f64 = days
        .and_then(|d| d.parse().ok())
        .ok_or("stray: how many days?")?;
    warehouse.write(path, b"junk")?;
    let age = Duration::from_secs_f64(days * 86_400.0);
    warehouse.set_time(path, SystemTime::now() - age)?;
    Ok(Answer::default())
}

fn mtime(
    warehouse: &dyn Files,
    table: &str,
    version: Option<&str>,
    moment: Option<&str>,
) -> Result<Answer, String> {
    let version: u64 = version
        .and_then(|v| v.parse().ok())
        .ok_or("mtime: which version?")?;
    let moment = moment.and_then(instant).ok_or("mtime: what time?")?;
    warehouse.set_time(&format!("{table}/_delta_log/{version:020}.json"), moment)?;
    Ok(Answer::default())
}

/// A moment in ISO form, in UTC where it names no zone.
fn instant(text: &str) -> Option<SystemTime> {
    let micros = DateTime::parse_from_rfc3339(text)
        .map(|t| t.timestamp_micros())
        .ok()
        .or_else(|| {
            let day = || {
                NaiveDate::parse_from_str(text, "%Y-%m-%d")
                    .ok()?
                    .and_hms_opt(0, 0, 0)
            };
            let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f")
                .ok()
                .or_else(day)?;
            Some(time.and_utc().timestamp_micros())
        })?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::time::{Duration, SystemTime};

    use super::{instant, run};
    use crate::place::Disk;

    #[test]
    fn moments_are_in_utc_unless_they_say_otherwise() {
        let at = |text| {
            instant(text)
                .unwrap()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap()
        };
        assert_eq!(at("1970-01-02"), Duration::from_secs(86_400));
        assert_eq!(
            at("1970-01-01T01:00:00.5"),
            Duration::from_millis(3_600_500)
        );
        assert_eq!(at("1970-01-01T01:00:00Z"), at("1970-01-01T02:00:00+01:00"));
        assert_eq!(instant("yesterday"), None);
    }

    #[test]
    fn a_stray_file_is_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk(folder.path().to_path_buf());
        run(&disk, "stray", &["t/a/b.parquet", "3"]).unwrap();
        let age = folder
            .path()
            .join("t/a/b.parquet")
            .metadata()
            .unwrap()
            .modified()
            .unwrap()
            .elapsed()
            .unwrap();
        assert!(age > Duration::from_secs(3 * 86_400 - 60));
        let listed = run(&disk, "files", &["t"]).unwrap().unwrap().files;
        assert_eq!(listed, Some(vec![("a/b.parquet".to_owned(), 4)]));
        run(&disk, "rm", &["t/a/b.parquet"]).unwrap();
        assert_eq!(
            run(&disk, "files", &["t"]).unwrap().unwrap().files,
            Some(vec![])
        );
        assert!(run(&disk, "dance", &[]).is_err());
    }
}
