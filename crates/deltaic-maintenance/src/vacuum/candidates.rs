//! What may go: everything that was found, less what must stay (spec: delta, section 2.4, steps 2 to 4).
//!
//! Pure but for the listing that feeds it: found entries go in one by one, and only those that may still become
//! candidates are held.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use deltaic_protocol::error::Result;
use deltaic_storage::{FileMeta, LOG_DIR, Scheme, TableStore};
use futures::TryStreamExt;

use super::{HiddenNames, Keep};

/// The folder of files of changes.
const CHANGE_DIR: &str = "_change_data";

/// A file or directory that may go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// Relative decoded path.
    pub path: String,
    /// Bytes; 0 for a directory.
    pub bytes: u64,
    /// Last modification, or the moment it left the table; milliseconds since 1970-01-01 UTC. 0 for a directory.
    pub time_ms: i64,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// Collects entries as they are found.
#[derive(Debug)]
pub struct Candidates<'a> {
    keep: &'a Keep,
    cutoff_ms: i64,
    files: Vec<Candidate>,
    directories: Vec<String>,
    above_old_files: HashSet<String>,
    nested_tables: BTreeSet<String>,
    unnameable: BTreeSet<String>,
    directories_seen: u64,
}

/// The candidates, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Files and directories that may go.
    pub found: Vec<Candidate>,
    /// Directories seen.
    pub directories: u64,
    /// Folders of other tables below this one; nothing in them is a candidate.
    pub nested_tables: Vec<String>,
    /// Objects that are left alone because no request can name them.
    pub unnameable: Vec<String>,
}

impl Found {
    /// Bytes of all candidates.
    pub fn bytes(&self) -> u64 {
        let sizes = self.found.iter().map(|candidate| candidate.bytes);
        sizes.fold(0, u64::saturating_add)
    }
}

impl<'a> Candidates<'a> {
    /// Nothing found yet. Files modified at `cutoff_ms` or later stay.
    pub fn new(keep: &'a Keep, cutoff_ms: i64) -> Candidates<'a> {
        Candidates {
            keep,
            cutoff_ms,
            files: Vec::new(),
            directories: Vec::new(),
            above_old_files: HashSet::new(),
            nested_tables: BTreeSet::new(),
            unnameable: BTreeSet::new(),
            directories_seen: 0,
        }
    }

    /// Notes that a folder below this table is a table of its own, whose files are that table's business.
    pub fn nested_table(&mut self, folder: &str) {
        if !self.nested_tables.contains(folder) {
            self.nested_tables.insert(folder.to_string());
        }
    }

    /// Notes an object that no request can name, unless it is hidden. It is never a candidate.
    pub fn pass_over(&mut self, name: String, hidden: &HiddenNames) {
        if let Some(table) = nested_table_of(&name) {
            self.nested_table(table);
            return;
        }
        // `.` and `..` are odd, not hidden.
        let parts: Vec<&str> = name
            .split('/')
            .filter(|part| !matches!(*part, "" | "." | ".."))
            .collect();
        if !hidden.hides_path(&parts.join("/")) {
            self.unnameable.insert(name);
        }
    }

    /// Takes an entry that is not hidden.
    pub fn push(&mut self, entry: FileMeta) {
        if entry.is_dir {
            self.directories_seen += 1;
            if !self.keep.has_directory(&entry.path) {
                self.directories.push(entry.path);
            }
            return;
        }
        if entry.modified_ms >= self.cutoff_ms {
            return;
        }
        // A directory goes only in a run in which nothing below it may go: first the files, next time the directory.
        for (at, _) in entry
            .path
            .match_indices('/')
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            if !self.above_old_files.insert(entry.path[..at].to_string()) {
                break;
            }
        }
        if !self.keep.has_file(&entry.path) {
            self.files.push(Candidate {
                path: entry.path,
                bytes: entry.size,
                time_ms: entry.modified_ms,
                is_dir: false,
            });
        }
    }

    /// Notes a folder of a store that knows folders only by the names of what is in them. It is never a candidate: it goes
    /// with its last file.
    fn implied_directory(&mut self) {
        self.directories_seen += 1;
    }

    /// The candidates of everything that was found.
    pub fn finish(self) -> Found {
        let mut found = self.files;
        let above = self.above_old_files;
        found.extend(
            self.directories
                .into_iter()
                .filter(|path| !above.contains(path))
                .map(|path| Candidate {
                    path,
                    bytes: 0,
                    time_ms: 0,
                    is_dir: true,
                }),
        );
        let nested = self.nested_tables;
        found.retain(|candidate| {
            !nested
                .iter()
                .any(|table| is_at_or_below(&candidate.path, table))
        });
        found.sort();
        found.dedup_by(|a, b| a.path == b.path);
        Found {
            found,
            directories: self.directories_seen,
            nested_tables: nested.into_iter().collect(),
            unnameable: self.unnameable.into_iter().collect(),
        }
    }
}

/// Lists the table's folder. Hidden folders are not entered, but for the logs of tables below this one where a store shows folders
/// only by what is in them: they are what tells that a table is there.
///
/// # Errors
/// The listing is not complete.
pub(super) async fn list(
    table: &TableStore,
    hidden: &HiddenNames,
    cutoff_ms: i64,
    keep: &Keep,
) -> Result<Found> {
    let mut candidates = Candidates::new(keep, cutoff_ms);
    let rule = hidden.clone();
    let implied = table.root().scheme() != Scheme::File;
    let enters = move |path: &str| {
        let name = last_name(path);
        !rule.hides(name) || (implied && name == LOG_DIR && path != LOG_DIR)
    };
    let odd = Arc::new(Mutex::new(BTreeSet::new()));
    let told = Arc::clone(&odd);
    let mut entries = table.data().list_noting(
        "",
        Some(Arc::new(enters)),
        Arc::new(move |name: &str| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.insert(name.to_owned());
        }),
    );
    let mut previous = String::new();
    while let Some(entry) = entries.try_next().await? {
        if implied {
            for folder in folders_entered(&previous, &entry.path) {
                if !hidden.hides_path(folder) {
                    candidates.implied_directory();
                }
            }
            previous.clone_from(&entry.path);
        }
        if let Some(table) = nested_table_of(&entry.path) {
            candidates.nested_table(table);
        }
        // A store without directories shows all segments of a path at once.
        if !hidden.hides_path(&entry.path) {
            candidates.push(entry);
        }
    }
    let odd = std::mem::take(&mut *odd.lock().unwrap_or_else(PoisonError::into_inner));
    for name in odd {
        candidates.pass_over(name, hidden);
    }
    Ok(candidates.finish())
}

/// Leaves out what lies behind a symbolic link. A listing does not show it, but a log or an inventory may name it, and a
/// deletion would go through.
///
/// # Errors
/// A folder cannot be looked at.
pub(super) async fn without_links(table: &TableStore, found: Found) -> Result<Found> {
    let folder = |candidate: &Candidate| {
        let cut = candidate.path.rfind('/')?;
        Some(candidate.path[..cut].to_owned())
    };
    let folders: BTreeSet<String> = found.found.iter().filter_map(folder).collect();
    let mut elsewhere = HashSet::new();
    for folder in folders {
        if table.data().leads_through_link(&folder).await? {
            elsewhere.insert(folder);
        }
    }
    let is_here = |candidate: &Candidate| folder(candidate).is_none_or(|f| !elsewhere.contains(&f));
    Ok(Found {
        found: found.found.into_iter().filter(is_here).collect(),
        ..found
    })
}

/// Leaves out what lies in a table below this one. A listing shows such a table by its log, but a log or an inventory may name its
/// files alone. Folders of partitions, which are many, are taken to hold none.
///
/// # Errors
/// A folder cannot be looked at.
pub(super) async fn without_tables_below(table: &TableStore, found: Found) -> Result<Found> {
    let known: BTreeSet<&str> = found.nested_tables.iter().map(String::as_str).collect();
    let unusual = |folder: &str| {
        let name = last_name(folder);
        !name.contains('=') && name != CHANGE_DIR && !known.contains(folder)
    };
    let mut folders = BTreeSet::new();
    for candidate in &found.found {
        let above = candidate.path.match_indices('/');
        let above = above.map(|(at, _)| &candidate.path[..at]);
        let own = candidate.is_dir.then_some(candidate.path.as_str());
        folders.extend(above.chain(own).filter(|folder| unusual(folder)));
    }
    let mut nested: Vec<String> = Vec::new();
    for folder in folders {
        let is_in_one = nested.iter().any(|table| is_at_or_below(folder, table));
        if !is_in_one && table.data().exists(&format!("{folder}/{LOG_DIR}")).await? {
            nested.push(folder.to_owned());
        }
    }
    let is_own = |candidate: &Candidate| {
        !nested
            .iter()
            .any(|table| is_at_or_below(&candidate.path, table))
    };
    let own = found.found.into_iter().filter(is_own).collect();
    nested.extend(found.nested_tables);
    Ok(Found {
        found: own,
        nested_tables: nested,
        directories: found.directories,
        unnameable: found.unnameable,
    })
}

/// The folders of a path that the path before it in the listing is not in. Names below one folder follow each other.
fn folders_entered<'a>(previous: &str, path: &'a str) -> impl Iterator<Item = &'a str> {
    let common = previous
        .bytes()
        .zip(path.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    path.match_indices('/')
        .filter(move |(at, _)| *at >= common)
        .map(|(at, _)| &path[..at])
}

/// The folder whose log an entry is or belongs to, if that is not the listed table's own.
pub(crate) fn nested_table_of(path: &str) -> Option<&str> {
    let (at, log) = path
        .match_indices(LOG_DIR)
        .find(|(at, _)| *at > 0 && path.as_bytes()[at - 1] == b'/')?;
    let after = &path[at + log.len()..];
    (after.is_empty() || after.starts_with('/')).then(|| &path[..at - 1])
}

fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
