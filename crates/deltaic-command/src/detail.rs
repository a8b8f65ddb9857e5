//! `DESCRIBE DETAIL` (spec: delta, section 4.2).

use serde::Serialize;

use crate::target::TableRef;

/// A DESCRIBE DETAIL as the user asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Detail {
    /// The table.
    pub target: TableRef,
}

/// The row, fields in the order of the result.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DetailReport {
    pub format: String,
    pub id: Option<String>,
    /// The catalog's name of the table; none for a table by path.
    pub name: Option<String>,
    pub description: Option<String>,
    pub location: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at_ms: Option<i64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub last_modified_ms: Option<i64>,
    pub partition_columns: Vec<String>,
    pub clustering_columns: Vec<String>,
    pub num_files: Option<i64>,
    pub size_in_bytes: Option<i64>,
    pub properties: Vec<(String, String)>,
    pub min_reader_version: Option<i32>,
    pub min_writer_version: Option<i32>,
    /// Sorted.
    pub table_features: Vec<String>,
}
