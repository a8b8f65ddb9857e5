//! `FSCK REPAIR TABLE`: entries of files that are gone leave the log.

use serde::Serialize;

/// A live file of the log, of which something is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingFile {
    /// The path as the log has it.
    pub data_file_path: String,
    /// Whether the data file is gone.
    pub data_file_missing: bool,
    /// The file of its deletion vector, absolute, if it has one.
    pub deletion_vector_path: Option<String>,
    /// Whether that is gone.
    pub deletion_vector_file_missing: bool,
}

/// What FSCK REPAIR TABLE found, and did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RepairReport {
    /// What is missing, in the order of the log.
    pub missing: Vec<MissingFile>,
    /// Files that were looked for.
    pub num_files_scanned: i64,
    /// The version in which the entries are gone; none in a dry run, and where nothing was missing.
    pub version: Option<i64>,
}
