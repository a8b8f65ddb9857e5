//! Names of the files in `_delta_log` (protocol: "Delta Log Entries", "Checkpoints", "Log Compaction Files", "Version Checksum").

use uuid::Uuid;

/// The folder of the log.
pub const LOG_DIR: &str = "_delta_log";
/// A file that names a later version is no file of the log: no table commits so often, and a version after the last one that a
/// number can name would have none.
const LAST_VERSION: i64 = i64::MAX / 2;
/// The folder of sidecars, inside the log's.
pub const SIDECAR_DIR: &str = "_sidecars";
/// The folder of commits that a catalog has yet to publish, inside the log's.
pub const STAGED_COMMITS_DIR: &str = "_staged_commits";
/// The folder of change files, at the table's root.
pub const CHANGE_DATA_DIR: &str = "_change_data";
/// The pointer to the newest checkpoint.
pub const LAST_CHECKPOINT: &str = "_last_checkpoint";
/// What VACUUM LITE remembers.
pub const LAST_VACUUM_INFO: &str = "_last_vacuum_info";

/// What the name of a file in the log's folder says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogFileName {
    /// `00000000000000000003.json`
    Commit { version: i64 },
    /// `00000000000000000003.checkpoint.parquet`; may hold a V1 or a V2 checkpoint.
    Checkpoint { version: i64 },
    /// `….checkpoint.0000000001.0000000003.parquet`; parts count from 1.
    MultiPartCheckpoint { version: i64, part: u32, parts: u32 },
    /// `….checkpoint.<uuid>.json` or `.parquet`
    V2Checkpoint {
        version: i64,
        uuid: String,
        json: bool,
    },
    /// `….crc`
    Checksum { version: i64 },
    /// `<start>.<end>.compacted.json`
    Compacted { start: i64, end: i64 },
    /// `_last_checkpoint`
    LastCheckpoint,
    /// Anything else: temporary, foreign or newer than this version. Never a commit.
    Other,
}

impl LogFileName {
    /// Reads a bare file name (no folders).
    pub fn parse(name: &str) -> LogFileName {
        if name == LAST_CHECKPOINT {
            return LogFileName::LastCheckpoint;
        }
        let Some((head, rest)) = name.split_once('.') else {
            return LogFileName::Other;
        };
        let Some(version) = version_number(head) else {
            return LogFileName::Other;
        };
        let parts: Vec<&str> = rest.split('.').collect();
        Self::by_parts(version, &parts).unwrap_or(LogFileName::Other)
    }

    fn by_parts(version: i64, parts: &[&str]) -> Option<LogFileName> {
        Some(match parts {
            ["json"] => LogFileName::Commit { version },
            ["crc"] => LogFileName::Checksum { version },
            ["checkpoint", "parquet"] => LogFileName::Checkpoint { version },
            ["checkpoint", uuid, format @ ("json" | "parquet")] => LogFileName::V2Checkpoint {
                version,
                uuid: Uuid::try_parse(uuid).ok().map(|_| (*uuid).to_owned())?,
                json: *format == "json",
            },
            ["checkpoint", part, parts, "parquet"] => {
                let part = u32::try_from(number(part, 10)?).ok()?;
                let parts = u32::try_from(number(parts, 10)?).ok()?;
                if part == 0 || part > parts {
                    return None;
                }
                LogFileName::MultiPartCheckpoint {
                    version,
                    part,
                    parts,
                }
            }
            [end, "compacted", "json"] => {
                let end = version_number(end)?;
                if end <= version {
                    return None;
                }
                LogFileName::Compacted {
                    start: version,
                    end,
                }
            }
            _ => return None,
        })
    }

    /// The version that the file belongs to; the last one of a compacted file.
    pub fn version(&self) -> Option<i64> {
        match self {
            LogFileName::Commit { version }
            | LogFileName::Checkpoint { version }
            | LogFileName::MultiPartCheckpoint { version, .. }
            | LogFileName::V2Checkpoint { version, .. }
            | LogFileName::Checksum { version } => Some(*version),
            LogFileName::Compacted { end, .. } => Some(*end),
            LogFileName::LastCheckpoint | LogFileName::Other => None,
        }
    }

    /// A checkpoint or a part of one.
    pub fn is_checkpoint(&self) -> bool {
        matches!(
            self,
            LogFileName::Checkpoint { .. }
                | LogFileName::MultiPartCheckpoint { .. }
                | LogFileName::V2Checkpoint { .. }
        )
    }
}

/// A version, if a table can have come to it.
fn version_number(text: &str) -> Option<i64> {
    number(text, 20).filter(|version| *version <= LAST_VERSION)
}

/// A number of at least `digits` digits, zero-filled.
fn number(text: &str, digits: usize) -> Option<i64> {
    let filled = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if filled { text.parse().ok() } else { None }
}

/// What all file names of a version begin with; to list from there.
pub fn version_prefix(version: i64) -> String {
    format!("{version:020}.")
}

/// Name of a commit.
pub fn commit(version: i64) -> String {
    format!("{version:020}.json")
}

/// Name of a checkpoint in one file.
pub fn checkpoint(version: i64) -> String {
    format!("{version:020}.checkpoint.parquet")
}

/// Name of one part of a checkpoint.
pub fn multi_part_checkpoint(version: i64, part: u32, parts: u32) -> String {
    format!("{version:020}.checkpoint.{part:010}.{parts:010}.parquet")
}

/// Name of a V2 checkpoint.
pub fn v2_checkpoint(version: i64, uuid: Uuid, json: bool) -> String {
    let format = if json { "json" } else { "parquet" };
    format!("{version:020}.checkpoint.{}.{format}", uuid.as_hyphenated())
}

/// Name of a version's checksum.
pub fn checksum(version: i64) -> String {
    format!("{version:020}.crc")
}

/// Name of a compacted log file.
pub fn compacted(start: i64, end: i64) -> String {
    format!("{start:020}.{end:020}.compacted.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_name_is_read_as_it_is_written() {
        let uuid = Uuid::from_u128(7);
        for (name, expected) in [
            (commit(3), LogFileName::Commit { version: 3 }),
            (checkpoint(3), LogFileName::Checkpoint { version: 3 }),
            (checksum(3), LogFileName::Checksum { version: 3 }),
            (compacted(3, 5), LogFileName::Compacted { start: 3, end: 5 }),
            (
                multi_part_checkpoint(3, 1, 2),
                LogFileName::MultiPartCheckpoint {
                    version: 3,
                    part: 1,
                    parts: 2,
                },
            ),
            (
                v2_checkpoint(3, uuid, true),
                LogFileName::V2Checkpoint {
                    version: 3,
                    uuid: uuid.to_string(),
                    json: true,
                },
            ),
            (LAST_CHECKPOINT.to_owned(), LogFileName::LastCheckpoint),
        ] {
            assert_eq!(LogFileName::parse(&name), expected, "{name}");
        }
        assert_eq!(commit(12), "00000000000000000012.json");
    }

    #[test]
    fn names_that_only_look_like_log_files_are_other() {
        for name in [
            "5.json",
            "00000000000000000005.json.tmp",
            "00000000000000000005.json~",
            ".00000000000000000005.json.crc",
            "00000000000000000005.d2c639aa-8816-431a-aaf6-d3fe2512ff61.json",
            "00000000000000000005.checkpoint.0000000003.0000000002.parquet",
            "00000000000000000005.checkpoint.0000000000.0000000002.parquet",
            "00000000000000000005.00000000000000000005.compacted.json",
            "00000000000000000005",
            "+0000000000000000005.json",
            "99999999999999999999.json",
            "_last_vacuum_info",
            "",
        ] {
            assert_eq!(LogFileName::parse(name), LogFileName::Other, "{name}");
        }
    }
}
