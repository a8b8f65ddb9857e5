//! `VACUUM`: deleting files that no protected version needs (spec of the statement: delta, section 2).

use serde::Serialize;

use crate::target::TableRef;

/// A VACUUM as the user asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vacuum {
    /// The table.
    pub target: TableRef,
    /// FULL or LITE; the session's default where neither was written.
    pub mode: Option<VacuumMode>,
    /// `RETAIN n HOURS`.
    pub retain_hours: Option<f64>,
    /// `DRY RUN`: only say what would be deleted.
    pub dry_run: bool,
    /// `USING INVENTORY`: candidates from a table or query instead of a listing.
    pub inventory: Option<InventorySource>,
}

/// Where candidates for deletion come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VacuumMode {
    /// From a listing of the table's folder.
    Full,
    /// From the log alone.
    Lite,
}

/// What stands behind `USING INVENTORY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InventorySource {
    /// A table by name.
    Table(Vec<String>),
    /// The text of a query.
    Query(String),
}

/// One row of an inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InventoryRow {
    /// Fully qualified path.
    pub path: String,
    /// Bytes.
    pub length: i64,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Milliseconds since 1970-01-01 UTC.
    pub modification_time: i64,
}

/// What a VACUUM did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VacuumReport {
    /// The table as Hadoop prints it.
    pub table: String,
    /// The mode that ran.
    pub mode: VacuumMode,
    /// Nothing was deleted.
    pub dry_run: bool,
    /// Files and directories that may go: absolute, decoded, sorted. Filled by a dry run.
    pub paths: Vec<String>,
    /// How many files and directories may go.
    pub candidates: u64,
    /// Bytes of the files that may go.
    pub candidate_bytes: u64,
    /// How many files and directories went (a file that was gone already counts).
    pub deleted: u64,
    /// Directories seen, the table's own included.
    pub directories: u64,
    /// Files that could not be deleted, as Hadoop prints them, with the reason.
    pub failed: Vec<(String, String)>,
    /// Files younger than this moment stay; milliseconds since 1970-01-01 UTC.
    pub cutoff_ms: i64,
    /// Files that have left the table and are kept for old versions.
    pub kept_removed: u64,
    /// When the first of them may go; milliseconds since 1970-01-01 UTC.
    pub next_expiry_ms: Option<i64>,
    /// The version of the VACUUM END commit, where one was written.
    pub end_version: Option<i64>,
    /// What the user should know: options without effect, files left alone and why.
    pub notes: Vec<String>,
}
