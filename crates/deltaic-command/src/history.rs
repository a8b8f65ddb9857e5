//! `DESCRIBE HISTORY` (spec: delta, section 4.1).

use serde::Serialize;

use crate::target::TableRef;

/// A DESCRIBE HISTORY as the user asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The table.
    pub target: TableRef,
    /// At most so many rows, newest first.
    pub limit: Option<usize>,
}

/// One row, fields in the order of the result. Maps keep the order of the commit.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct HistoryRow {
    /// The version.
    pub version: i64,
    /// Milliseconds since 1970-01-01 UTC; adjusted so that it never goes back.
    pub timestamp_ms: i64,
    pub user_id: Option<String>,
    pub user_name: Option<String>,
    /// None for a commit that says nothing about itself.
    pub operation: Option<String>,
    /// Every value as text; none for a JSON null.
    pub operation_parameters: Option<Vec<(String, Option<String>)>>,
    pub job: Option<JobInfo>,
    pub notebook_id: Option<Option<String>>,
    pub cluster_id: Option<String>,
    pub read_version: Option<i64>,
    pub isolation_level: Option<String>,
    pub is_blind_append: Option<bool>,
    pub operation_metrics: Option<Vec<(String, Option<String>)>>,
    pub user_metadata: Option<String>,
    pub engine_info: Option<String>,
}

/// The job that made a commit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct JobInfo {
    pub job_id: Option<String>,
    pub job_name: Option<String>,
    pub job_run_id: Option<String>,
    pub run_id: Option<String>,
    pub job_owner_id: Option<String>,
    pub trigger_type: Option<String>,
}
