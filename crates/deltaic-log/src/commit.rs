//! Commit files: newline-delimited JSON, one action a line (protocol section "Delta Log Entries").

use deltaic_protocol::action::Action;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::file_name;
use deltaic_storage::{LOG_DIR, TableRoot, TableStore};

use crate::Version;

/// Reads the actions of a commit.
///
/// # Errors
/// The file is missing, not UTF-8, or a line is not an action (torn writes).
pub async fn read_commit(store: &TableStore, version: Version) -> Result<Vec<Action>> {
    let name = file_name::commit(version);
    let bytes = store.log().read(&name).await?;
    parse_actions(store.root(), &name, version, &bytes)
}

/// The actions in the text of a commit or a JSON checkpoint; blank lines and unknown actions are passed over.
///
/// # Errors
/// Bytes that are not UTF-8, or a line that is not a JSON object of an action; names the file and the version.
pub fn parse_actions(
    root: &TableRoot,
    name: &str,
    version: Version,
    bytes: &[u8],
) -> Result<Vec<Action>> {
    let mut out = Vec::new();
    each_action(
        root,
        name,
        version,
        bytes,
        |_| true,
        |action| out.push(action),
    )?;
    Ok(out)
}

/// The same, one action after the other: those of a large commit are not held together. Lines that are not `wanted` are passed over
/// unread.
///
/// # Errors
/// As [`parse_actions`]; what came before has been taken by then.
pub fn each_action(
    root: &TableRoot,
    name: &str,
    version: Version,
    bytes: &[u8],
    wanted: impl Fn(&str) -> bool,
    mut take: impl FnMut(Action),
) -> Result<()> {
    let path = || root.display(&format!("{LOG_DIR}/{name}"));
    let text =
        std::str::from_utf8(bytes).map_err(|e| unreadable(&path(), version).with_source(e))?;
    for line in text.lines().filter(|line| wanted(line)) {
        match Action::from_json_line(line) {
            Ok(Some(action)) => take(action),
            Ok(None) => {}
            Err(e) => return Err(e.with_path(path()).with_version(version)),
        }
    }
    Ok(())
}

/// The text of a commit: one action a line, each line ended.
pub fn commit_text(actions: &[Action]) -> String {
    let mut out = String::new();
    for action in actions {
        out.push_str(&action.to_json_line());
        out.push('\n');
    }
    out
}

fn unreadable(path: &str, version: Version) -> DeltaError {
    DeltaError::new("FAILED_READ_FILE.NO_HINT")
        .param("path", path)
        .with_kind(ErrorKind::Corrupt)
        .with_path(path)
        .with_version(version)
}
