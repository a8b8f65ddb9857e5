//! The identity of a logical file during replay: its canonical path and the deletion vector it carries
//! (protocol section "Action Reconciliation").
//!
//! Paths in the log are URIs; `a.parquet`, `/table/a.parquet` and `file:/table/a.parquet` may name one file. The canonical
//! form is decoded once and relative to the table where the file lies in it.

use std::borrow::Cow;
use std::sync::Arc;

use deltaic_protocol::action::{Add, Remove};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_storage::{DataPath, TableRoot};
use uuid::Uuid;

/// The key of a logical file. Two actions with equal keys speak of the same rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileKey {
    /// Canonical path, see [`canonical_path`].
    pub path: Arc<str>,
    /// Unique id of the deletion vector, if any.
    pub deletion_vector: Option<Arc<str>>,
}

impl FileKey {
    /// The key of an `add`.
    pub fn of_add(root: &TableRoot, add: &Add) -> Self {
        Self::new(root, &add.path, add.deletion_vector.as_ref())
    }

    /// The key of a `remove`.
    pub fn of_remove(root: &TableRoot, remove: &Remove) -> Self {
        Self::new(root, &remove.path, remove.deletion_vector.as_ref())
    }

    /// The key of a path as it stands in the log, with its deletion vector.
    pub fn new(
        root: &TableRoot,
        log_path: &str,
        vector: Option<&DeletionVectorDescriptor>,
    ) -> Self {
        Self {
            path: Arc::from(canonical(root, log_path)),
            deletion_vector: vector.map(|v| Arc::from(vector_id(root, v).as_str())),
        }
    }
}

/// The unique id of a deletion vector. A file of the table that is named by its path has the id that its UUID gives it, so that
/// both spellings are one vector, and a file whose vector is replaced does not stay with the old one.
fn vector_id(root: &TableRoot, vector: &DeletionVectorDescriptor) -> String {
    let named_by_path = vector.storage_type == "p";
    let by_uuid = named_by_path.then(|| {
        let path = canonical_path(root, &vector.path_or_inline_dv);
        let (prefix, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let uuid = name
            .strip_prefix("deletion_vector_")?
            .strip_suffix(".bin")?;
        let uuid = Uuid::try_parse(uuid)
            .ok()
            .filter(|_| !path.starts_with('/'))?;
        Some(DeletionVectorDescriptor {
            offset: vector.offset,
            ..DeletionVectorDescriptor::on_disk(prefix, uuid, 0, 0, 0)
        })
    });
    by_uuid.flatten().as_ref().unwrap_or(vector).unique_id()
}

/// The canonical form of a path in the log: decoded, relative to the table, or absolute (`/…`) outside of it.
///
/// A path that this build cannot resolve (another backend's scheme) stands for itself.
pub fn canonical_path(root: &TableRoot, log_path: &str) -> String {
    canonical(root, log_path).into_owned()
}

pub(super) fn canonical<'a>(root: &TableRoot, log_path: &'a str) -> Cow<'a, str> {
    let plain = !log_path.starts_with('/') && !log_path.bytes().any(|b| matches!(b, b'%' | b':'));
    if plain && !log_path.contains("//") && !log_path.starts_with('.') && !log_path.contains("/.") {
        return Cow::Borrowed(log_path);
    }
    match DataPath::resolve(root, log_path) {
        Ok(path) => Cow::Owned(path.as_str().to_owned()),
        Err(_) => Cow::Borrowed(log_path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaic_storage::Scheme;

    fn check(log_path: &str, expected: &str) {
        let root = TableRoot::new(Scheme::File, "/data/t");
        assert_eq!(canonical_path(&root, log_path), expected);
    }

    #[test]
    fn all_spellings_of_one_file_are_one_key() {
        for spelling in [
            "p=1/a b.parquet",
            "p=1/a%20b.parquet",
            "/data/t/p=1/a%20b.parquet",
        ] {
            check(spelling, "p=1/a b.parquet");
        }
        for spelling in [
            "file:/data/t/a.parquet",
            "file:///data/t/a.parquet",
            "a.parquet",
            "./a.parquet",
        ] {
            check(spelling, "a.parquet");
        }
    }

    #[test]
    fn files_outside_of_the_table_keep_their_absolute_path() {
        check("file:/other/p@%23h", "/other/p@#h");
        check("/other/p@%23h", "/other/p@#h");
        check("s3://bucket/x.parquet", "s3://bucket/x.parquet");
    }

    #[test]
    fn escapes_are_decoded_exactly_once() {
        check("p=a%253Ab/x.parquet", "p=a%3Ab/x.parquet");
    }
}
