//! Names of objects that are no content of a table: writes of ours that are under way, or whose process has died.

use crate::LOG_DIR;

/// How the names of the objects begin on which a store is probed, inside `_delta_log`. Readers of Delta pass over what does
/// not look like a file of the log; a leading dot hides the name from Hadoop's listings too.
pub(crate) const PROBE_PREFIX: &str = ".probe-";
/// Where commits that go through a lock wait for their name, inside `_delta_log`.
pub(crate) const TEMP_DIR: &str = ".tmp";

/// Whether a file, by its path relative to the table, belongs to a write that is not finished: an object of a probe, a
/// commit that waits for its name, a file that is to replace another on a local disk. None of them makes a place one that
/// holds something; [`LogStore::remove_unfinished`](crate::LogStore::remove_unfinished) removes those of the log.
pub fn is_unfinished_write(path: &str) -> bool {
    let in_log = path
        .strip_prefix(LOG_DIR)
        .and_then(|rest| rest.strip_prefix('/'));
    if let Some(name) = in_log
        && (is_of_probe(name) || is_in_temp_dir(name))
    {
        return true;
    }
    is_temporary(path.rsplit('/').next().unwrap_or(path))
}

/// Whether a name inside `_delta_log` is that of an object of a probe: `.probe-ID-NUMBER`.
pub(crate) fn is_of_probe(name: &str) -> bool {
    name.strip_prefix(PROBE_PREFIX)
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(id, number)| {
            !id.is_empty()
                && id.bytes().all(|b| b.is_ascii_hexdigit())
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        })
}

fn is_in_temp_dir(name: &str) -> bool {
    name.strip_prefix(TEMP_DIR)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a name is that of a file on a local disk that waits for its own: `.ID.tmp`.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.strip_prefix('.')
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .is_some_and(|id| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::is_unfinished_write;

    #[test]
    fn what_is_on_its_way_is_told_from_what_is_there() {
        for path in [
            "_delta_log/.probe-0a1b2c3d4e5f-12",
            "_delta_log/.tmp/00000000000000000003.json.7b1c",
            "_delta_log/.0123456789abcdef0123456789abcdef.tmp",
            "p=1/.0123456789abcdef0123456789abcdef.tmp",
        ] {
            assert!(is_unfinished_write(path), "{path}");
        }
        for path in [
            "_delta_log/00000000000000000000.json",
            "_delta_log/.probe-notes",
            "_delta_log/.probe-0a-1.json",
            "_delta_log/x/.probe-0a-1",
            ".probe-0a1b2c-1",
            "_delta_log/.tmp",
            ".tmp/x",
            "_delta_log2/.tmp/x",
            ".notes.tmp",
            "part-00000.parquet",
        ] {
            assert!(!is_unfinished_write(path), "{path}");
        }
    }
}
