//! What must stay: files of the newest version, and files that left it less than the retention ago (spec: delta, section
//! 2.4, step 1).

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

use deltaic_log::Snapshot;
use deltaic_protocol::action::Remove;
use deltaic_protocol::deletion_vector::{DeletionVectorDescriptor, DeletionVectorLocation};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{DataPath, LOG_DIR, TableStore, decode_uri_path};
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
        match Keep::streamed(snapshot, cutoff_ms).await {
            // A damaged checkpoint: what can stand in for it is found when all files are asked for.
            Err(error)
                if snapshot.checkpoint_version().is_some()
                    && matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::NotFound) =>
            {
                Keep::of_all(snapshot, cutoff_ms).await
            }
            keep => keep,
        }
    }

    /// Nothing of the version is held but the marks.
    async fn streamed(snapshot: &Snapshot, cutoff_ms: i64) -> Result<Keep> {
        let mut keep = Keep::default();
        let table = snapshot.store().clone();
        let mut files = snapshot.file_names(move |(path, vector)| protected(&table, path, vector));
        while let Some(chunk) = files.try_next().await? {
            for paths in chunk {
                paths?
                    .into_iter()
                    .flatten()
                    .for_each(|path| keep.insert(path));
            }
        }
        let mut tombstones = snapshot.tombstone_chunks();
        while let Some(chunk) = tombstones.try_next().await? {
            for remove in chunk {
                keep.protect_removed(snapshot.store(), &remove, cutoff_ms)?;
            }
        }
        Ok(keep)
    }

    async fn of_all(snapshot: &Snapshot, cutoff_ms: i64) -> Result<Keep> {
        let table = snapshot.store();
        let mut keep = Keep::default();
        for add in snapshot.files().await?.iter() {
            let paths = protected(table, &add.path, add.deletion_vector.as_ref())?;
            paths
                .into_iter()
                .flatten()
                .for_each(|path| keep.insert(path));
        }
        for remove in snapshot.tombstones().await? {
            keep.protect_removed(table, &remove, cutoff_ms)?;
        }
        Ok(keep)
    }

    fn protect_removed(
        &mut self,
        table: &TableStore,
        remove: &Remove,
        cutoff_ms: i64,
    ) -> Result<()> {
        let time = remove.deletion_timestamp.unwrap_or(0);
        if time < cutoff_ms {
            return Ok(());
        }
        self.removed += 1;
        self.oldest_removed_ms = Some(
            self.oldest_removed_ms
                .map_or(time, |oldest| oldest.min(time)),
        );
        let paths = protected(table, &remove.path, remove.deletion_vector.as_ref())?;
        paths
            .into_iter()
            .flatten()
            .for_each(|path| self.insert(path));
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

/// A file of the log and that of its deletion vector. Files outside of the table (those of a shallow clone's source) are never
/// candidates, so nothing is to be noted for them.
fn protected(
    table: &TableStore,
    path: &str,
    vector: Option<&DeletionVectorDescriptor>,
) -> Result<[Option<String>; 2]> {
    let mut kept = [relative_path(table, path)?, None];
    if let Some(vector) = vector {
        // A name that goes out of the table may come back into it: whether it does is not for a guess.
        if let DeletionVectorLocation::Relative(place) = vector.location()? {
            table.data_path(&place)?;
        }
        kept[1] = vector_path(table, vector)?;
    }
    Ok(kept)
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
/// The path cannot be decoded, or may be a file of this table by another name (a host that may be this machine, another spelling of
/// the bucket, a scheme that nobody knows here).
pub(super) fn relative_path(table: &TableStore, path: &str) -> Result<Option<String>> {
    decode_uri_path(path)?;
    const UNCLEAR: &str = "the log names a file in a form that is not understood here; it may be one of this table's, so nothing is deleted";
    match table.resolve(path) {
        Ok(place) if place.relative().is_none() && table.root().may_be_below(&place.absolute()) => {
            Err(DeltaError::unclassed(
                "java.lang.IllegalArgumentException",
                format!(
                    "The file {path} may lie in the table {} by another name",
                    table.root()
                ),
            )
            .with_path(table.root().to_string())
            .with_hint(UNCLEAR))
        }
        Ok(resolved) => Ok(own(&resolved)),
        Err(error) if table.root().may_hold(path) => Err(error.with_hint(UNCLEAR)),
        Err(_) => Ok(None),
    }
}

/// The path of a file that can be one of the table's: in its folder and not in its log, of which no file is ever VACUUM's
/// business, whoever names it.
fn own(place: &DataPath) -> Option<String> {
    let path = place.relative()?;
    let first = path.split('/').next();
    (!path.is_empty() && first != Some(LOG_DIR)).then(|| path.to_owned())
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
        // The prefix of a name may be anything that a log says, `..` too: such a file is none of this table's.
        DeletionVectorLocation::Relative(path) => {
            Ok(table.data_path(&path).ok().as_ref().and_then(own))
        }
        DeletionVectorLocation::Absolute(path) => relative_path(table, &path),
    }
}
