//! `SHALLOW CLONE`: a new table on the files of another one (spec: delta, section 7.1).

use serde::Serialize;

/// What a SHALLOW CLONE did. No file is copied or removed, so those numbers are always 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CloneReport {
    /// Bytes of the source's files.
    pub source_table_size: i64,
    /// Files of the source.
    pub source_num_of_files: i64,
    /// Files that left the clone.
    pub num_removed_files: i64,
    /// Files that were copied.
    pub num_copied_files: i64,
    /// Bytes of the files that left the clone.
    pub removed_files_size: i64,
    /// Bytes of the files that were copied.
    pub copied_files_size: i64,
}

impl CloneReport {
    /// The numbers under the names of the statement's columns.
    pub fn columns(&self) -> [(&'static str, i64); 6] {
        [
            ("source_table_size", self.source_table_size),
            ("source_num_of_files", self.source_num_of_files),
            ("num_removed_files", self.num_removed_files),
            ("num_copied_files", self.num_copied_files),
            ("removed_files_size", self.removed_files_size),
            ("copied_files_size", self.copied_files_size),
        ]
    }
}
