//! What must stay: files of the newest version, and files that left it less than the retention ago (spec: delta, section
//! 2.4, step 1).

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

use deltaic_log::Snapshot;
use deltaic_protocol::deletion_vector::{DeletionVectorDescriptor, DeletionVectorLocation};
use deltaic_protocol::error::Result;
use deltaic_storage::{Scheme, TableStore, decode_uri_path};
use futures::TryStreamExt;

/// Files that must stay, and all directories above them, by marks of their relative decoded paths. A mark takes 16 bytes
/// whatever the length of the path; should two paths ever share one, a file stays that could have gone, never the
/// other way round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keep {
    files: HashSet<u128>,
    directories: HashSet<u128>,
    /// Tombstones that still protect their files.
    pub(super) removed: u64,
    /// The oldest of them; milliseconds since 1970-01-01 UTC.
    pub(super) oldest_removed_ms: Option<i64>,
}

impl Keep {
    /// What a version protects: its files, and its tombstones from `cutoff_ms` on.
    ///
    /// # Errors
    /// The version cannot be read, or names a file that cannot be understood (then nothing may be deleted).
    pub async fn of(snapshot: &Snapshot, cutoff_ms: i64) -> Result<Keep> {
        let table = snapshot.store();
        let mut keep = Keep::default();
        let mut files = snapshot.file_stream();
        while let Some(add) = files.try_next().await? {
            keep.protect(table, &add.path, add.deletion_vector.as_ref())?;
        }
        for remove in snapshot.tombstones().await? {
            let time = remove.deletion_timestamp.unwrap_or(0);
            if time >= cutoff_ms {
                keep.removed += 1;
                keep.oldest_removed_ms = Some(
                    keep.oldest_removed_ms
                        .map_or(time, |oldest| oldest.min(time)),
                );
                keep.protect(table, &remove.path, remove.deletion_vector.as_ref())?;
            }
        }
        Ok(keep)
    }

    /// Protects a file of the log and its deletion vector. Files outside of the table (those of a shallow clone's source)
    /// are never candidates, so nothing is to be noted for them.
    fn protect(
        &mut self,
        table: &TableStore,
        path: &str,
        vector: Option<&DeletionVectorDescriptor>,
    ) -> Result<()> {
        if let Some(relative) = relative_path(table, path)? {
            self.insert(relative);
        }
        if let Some(relative) = vector
            .map(|vector| vector_path(table, vector))
            .transpose()?
            .flatten()
        {
            self.insert(relative);
        }
        Ok(())
    }

    /// Protects one relative decoded path and the directories above it.
    pub fn insert(&mut self, path: String) {
        for (at, _) in path
            .match_indices('/')
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            if !self.directories.insert(mark(&path[..at])) {
                break;
            }
        }
        self.files.insert(mark(&path));
    }

    /// Whether a file must stay.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(&mark(path))
    }

    /// Whether a directory has something that must stay.
    pub fn has_directory(&self, path: &str) -> bool {
        self.directories.contains(&mark(path))
    }
}

/// 128 bits that stand for a path.
fn mark(path: &str) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(path.as_bytes());
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// The path of an action below the table's root, decoded; none if it lies elsewhere.
///
/// # Errors
/// The path cannot be decoded, or is a file of another machine: that may be a name of this one, and the file one of these.
pub(super) fn relative_path(table: &TableStore, path: &str) -> Result<Option<String>> {
    decode_uri_path(path)?;
    let local = |path: &str| {
        let scheme = path.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"))
    };
    match table.resolve(path) {
        Ok(resolved) => Ok(resolved.relative().map(ToString::to_string)),
        Err(error) if table.root().scheme() == Scheme::File && local(path) => Err(error),
        // What is left to fail is a place outside of this table or of this backend.
        Err(_) => Ok(None),
    }
}

/// The file of a deletion vector below the table's root; none if it lies elsewhere or in the log itself.
///
/// # Errors
/// The descriptor cannot be understood.
pub(crate) fn vector_path(
    table: &TableStore,
    vector: &DeletionVectorDescriptor,
) -> Result<Option<String>> {
    match vector.location()? {
        DeletionVectorLocation::Inline(_) => Ok(None),
        DeletionVectorLocation::Relative(path) => Ok(Some(path)),
        DeletionVectorLocation::Absolute(path) => relative_path(table, &path),
    }
}
