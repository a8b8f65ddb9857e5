//! The directives of scenario files that look at the warehouse's files, or change them behind the engine's back.
//! What they answer has the form of the recordings.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::{Map, Value};

use crate::recording::Answer;

/// Run one directive; `None` for one that needs the engine (`sql`, `py`).
///
/// # Errors
/// A file is missing, or the directive is none.
pub fn run(warehouse: &Path, verb: &str, words: &[&str]) -> Result<Option<Answer>, String> {
    let path = |n: usize| {
        words
            .get(n)
            .map(|word| warehouse.join(word))
            .ok_or(format!("{verb}: too few words"))
    };
    let answer = match verb {
        "files" => Answer {
            files: Some(files(&path(0)?)?),
            ..Answer::default()
        },
        "log" => Answer {
            log: Some(log(&path(0)?.join("_delta_log"))?),
            ..Answer::default()
        },
        "cat" => Answer {
            text: Some(read(&path(0)?)?),
            ..Answer::default()
        },
        // Column for column the schema is the writer's own; a reader of the reference checks it in the interop run.
        "parquet" => path(0)?
            .metadata()
            .map(|_| skipped("no schema text of pyarrow"))
            .map_err(|e| e.to_string())?,
        "stray" => stray(&path(0)?, words.get(1).copied())?,
        "rm" => remove(&path(0)?)?,
        "mtime" => mtime(&path(0)?, words.get(1).copied(), words.get(2).copied())?,
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

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn files(base: &Path) -> Result<Vec<(String, u64)>, String> {
    let mut found = Vec::new();
    let mut folders = vec![base.to_path_buf()];
    while let Some(folder) = folders.pop() {
        // As os.walk does: a folder that is not there has no files.
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !(name.starts_with('.') && name.ends_with(".crc")) {
                let relative = path
                    .strip_prefix(base)
                    .unwrap_or(&path)
                    .to_string_lossy()
                    .into_owned();
                let size = entry
                    .metadata()
                    .map_err(|e| format!("{}: {e}", path.display()))?
                    .len();
                found.push((relative, size));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn log(folder: &Path) -> Result<Map<String, Value>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_commit(path))
        .collect();
    names.sort();
    let mut out = Map::new();
    for path in names {
        let lines = read(&path)?;
        let actions: Result<Vec<Value>, _> = lines.lines().map(serde_json::from_str).collect();
        let actions = actions.map_err(|e| format!("{}: {e}", path.display()))?;
        out.insert(
            path.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            Value::Array(actions),
        );
    }
    Ok(out)
}

fn is_commit(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".json")
        .is_some_and(|stem| stem.len() == 20 && stem.bytes().all(|b| b.is_ascii_digit()))
}

fn stray(path: &Path, days: Option<&str>) -> Result<Answer, String> {
    let days: f64 = days
        .and_then(|d| d.parse().ok())
        .ok_or("stray: how many days?")?;
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|e| e.to_string())?;
    }
    fs::write(path, b"junk").map_err(|e| e.to_string())?;
    set_time(
        path,
        SystemTime::now() - Duration::from_secs_f64(days * 86_400.0),
    )
}

fn remove(path: &Path) -> Result<Answer, String> {
    fs::remove_file(path).map_err(|e| format!("{}: {e}", path.display()))?;
    if let Some(name) = path.file_name() {
        let checksum = path.with_file_name(format!(".{}.crc", name.to_string_lossy()));
        if checksum.exists() {
            fs::remove_file(&checksum).map_err(|e| format!("{}: {e}", checksum.display()))?;
        }
    }
    Ok(Answer::default())
}

fn mtime(table: &Path, version: Option<&str>, moment: Option<&str>) -> Result<Answer, String> {
    let version: u64 = version
        .and_then(|v| v.parse().ok())
        .ok_or("mtime: which version?")?;
    let moment = moment.and_then(instant).ok_or("mtime: what time?")?;
    set_time(
        &table.join(format!("_delta_log/{version:020}.json")),
        moment,
    )
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

fn set_time(path: &Path, time: SystemTime) -> Result<Answer, String> {
    let file = fs::OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    file.set_modified(time)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Answer::default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::time::{Duration, SystemTime};

    use super::{instant, run};

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
        run(folder.path(), "stray", &["t/a/b.parquet", "3"]).unwrap();
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
        let listed = run(folder.path(), "files", &["t"]).unwrap().unwrap().files;
        assert_eq!(listed, Some(vec![("a/b.parquet".to_owned(), 4)]));
        run(folder.path(), "rm", &["t/a/b.parquet"]).unwrap();
        assert_eq!(
            run(folder.path(), "files", &["t"]).unwrap().unwrap().files,
            Some(vec![])
        );
        assert!(run(folder.path(), "dance", &[]).is_err());
    }
}
