//! Listings of the local disk: sorted names of one folder, and the recursive walk of a table.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc::Sender;

use super::fs::modified_ms;
use crate::{Descend, FileMeta};

/// Entries per message of a walk.
const BATCH: usize = 256;

/// The names in a folder from `start` on, sorted by bytes; a missing folder is empty. Names that are not UTF-8 cannot
/// stand in a log and are left out.
pub(super) fn sorted_names(folder: &Path, start: &str) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Ok(name) = entry?.file_name().into_string()
            && name.as_str() >= start
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The entry of one path, `None` where it is missing. Links are followed for their size and time.
pub(super) fn entry(path: &Path, relative: &str) -> io::Result<Option<FileMeta>> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(to_meta(&metadata, relative))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn to_meta(metadata: &std::fs::Metadata, relative: &str) -> FileMeta {
    let is_dir = metadata.is_dir();
    FileMeta {
        path: relative.to_string(),
        size: if is_dir { 0 } else { metadata.len() },
        modified_ms: modified_ms(metadata),
        is_dir,
        e_tag: None,
    }
}

/// What a walk reports: a batch of entries, or the error that ended it with the path it happened at.
pub(super) type Step = Result<Vec<FileMeta>, (String, io::Error)>;

/// What a symbolic link is to a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// A link to a file is an entry of its own (only the link would be deleted); a link to a folder is passed over, because
    /// what lies behind it may belong to somebody else.
    Kept,
    /// A link is what it points to.
    Followed,
}

/// The folders that links on the way to a folder point to.
type Followed = Vec<PathBuf>;

/// Walks everything below `prefix`, depth first, each folder's entries sorted. Ends early when nobody listens.
pub(super) fn walk(
    root: &Path,
    prefix: &str,
    descend: Option<&Descend>,
    links: Links,
    out: &Sender<Step>,
) {
    let mut batch = Vec::new();
    let mut stack: Vec<(String, Followed)> = vec![(prefix.to_string(), Vec::new())];
    while let Some((folder, followed)) = stack.pop() {
        let place: PathBuf = if folder.is_empty() {
            root.to_path_buf()
        } else {
            root.join(&folder)
        };
        let children = match visit(&place, &folder, links, &followed) {
            Ok(children) => children,
            Err(error) => {
                let _ = out.blocking_send(Ok(std::mem::take(&mut batch)));
                let _ = out.blocking_send(Err((folder, error)));
                return;
            }
        };
        let mut folders = Vec::new();
        for (child, followed) in children {
            if child.is_dir && descend.is_none_or(|enter| enter(&child.path)) {
                folders.push((child.path.clone(), followed));
            }
            batch.push(child);
            if batch.len() >= BATCH && out.blocking_send(Ok(std::mem::take(&mut batch))).is_err() {
                return;
            }
        }
        stack.extend(folders.into_iter().rev());
    }
    if !batch.is_empty() {
        let _ = out.blocking_send(Ok(batch));
    }
}

/// The entries of one folder, each with the links on the way to what is in it.
fn visit(
    place: &Path,
    folder: &str,
    links: Links,
    followed: &Followed,
) -> io::Result<Vec<(FileMeta, Followed)>> {
    let mut found = Vec::new();
    for name in sorted_names(place, "")? {
        let path = place.join(&name);
        let relative = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let target = std::fs::metadata(&path);
                match (links, target) {
                    (Links::Kept, Ok(target)) if target.is_dir() => {}
                    (Links::Kept, _) => found.push((to_meta(&metadata, &relative), Vec::new())),
                    (Links::Followed, Ok(target)) => {
                        let followed = match target.is_dir() {
                            true => follow(place, &path, followed)?,
                            false => Vec::new(),
                        };
                        found.push((to_meta(&target, &relative), followed));
                    }
                    (Links::Followed, Err(error)) if error.kind() == ErrorKind::NotFound => {}
                    (Links::Followed, Err(error)) => return Err(error),
                }
            }
            Ok(metadata) => found.push((to_meta(&metadata, &relative), followed.clone())),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Notes that a link to a folder is followed. A walk that comes to a folder in which it already is would have no end.
fn follow(place: &Path, link: &Path, followed: &Followed) -> io::Result<Followed> {
    let target = std::fs::canonicalize(link)?;
    if std::fs::canonicalize(place)?.starts_with(&target) || followed.contains(&target) {
        return Err(io::Error::other(format!(
            "the link {} leads back to {}",
            link.display(),
            target.display()
        )));
    }
    let mut all = followed.clone();
    all.push(target);
    Ok(all)
}
