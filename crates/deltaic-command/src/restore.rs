//! `RESTORE`: a new version with the content of an old one (spec: delta, section 5).

use serde::Serialize;

use crate::target::{TableRef, TimeTravel};

/// A RESTORE as the user asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Restore {
    /// The table.
    pub target: TableRef,
    /// The moment to go back to.
    pub to: TimeTravel,
}

/// What a RESTORE did. All numbers are 0 and `version` is none where the target was the newest version already.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RestoreReport {
    /// Bytes of the table's files now.
    pub table_size_after_restore: i64,
    /// Files of the table now.
    pub num_of_files_after_restore: i64,
    /// Files that left.
    pub num_removed_files: i64,
    /// Files that came back.
    pub num_restored_files: i64,
    /// Bytes of the files that left.
    pub removed_files_size: i64,
    /// Bytes of the files that came back.
    pub restored_files_size: i64,
    /// The version that was restored.
    pub restored_version: i64,
    /// The version that the RESTORE made; none if there was nothing to do (then the statement answers no row).
    pub version: Option<i64>,
}
