//! `CONVERT TO DELTA`: a log for a folder of Parquet files (spec: delta, section 7.1).

use serde::Serialize;

/// A CONVERT as its history tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Convert {
    /// The partition columns that the statement names.
    pub partitioned_by: Vec<String>,
    /// Whether the files' statistics are collected.
    pub collect_statistics: bool,
    /// The table in the catalog, each part in backticks; none for a folder by path.
    pub catalog_table: Option<String>,
}

/// What a CONVERT did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ConvertReport {
    /// Files that are now the table's.
    pub num_converted_files: i64,
}
