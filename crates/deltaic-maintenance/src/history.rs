//! DESCRIBE HISTORY (spec: delta, section 4.1).

#[cfg(test)]
mod tests;

use deltaic_command::HistoryRow;
use deltaic_command::history::JobInfo;
use deltaic_log::Snapshot;
use deltaic_log::history::{self, HistoryEntry};
use deltaic_protocol::action::CommitInfo;
use deltaic_protocol::error::Result;
use serde_json::{Map, Value};

/// The commits up to a version, newest first, at most `limit`. Commits whose files are gone are left out.
///
/// # Errors
/// The log cannot be read.
pub async fn rows(snapshot: &Snapshot, limit: Option<usize>) -> Result<Vec<HistoryRow>> {
    if limit == Some(0) {
        return Ok(Vec::new());
    }
    Ok(history::history(snapshot, limit)
        .await?
        .iter()
        .map(row)
        .collect())
}

/// One commit as a row.
pub fn row(entry: &HistoryEntry) -> HistoryRow {
    let base = HistoryRow {
        version: entry.version,
        timestamp_ms: entry.timestamp,
        ..HistoryRow::default()
    };
    match &entry.commit_info {
        Some(info) => fill(base, info),
        None => base,
    }
}

fn fill(base: HistoryRow, info: &CommitInfo) -> HistoryRow {
    HistoryRow {
        user_id: info.user_id.clone(),
        user_name: info.user_name.clone(),
        operation: info.operation.clone(),
        operation_parameters: info.operation_parameters.as_ref().map(texts),
        job: info.job.as_ref().and_then(Value::as_object).map(job),
        notebook_id: info
            .notebook
            .as_ref()
            .and_then(Value::as_object)
            .map(|notebook| text_of(notebook, "notebookId")),
        cluster_id: info.cluster_id.clone(),
        read_version: info.read_version,
        isolation_level: info.isolation_level.clone(),
        is_blind_append: info.is_blind_append,
        operation_metrics: info.operation_metrics.as_ref().map(|metrics| {
            metrics
                .iter()
                .map(|(name, value)| (name.clone(), Some(value.clone())))
                .collect()
        }),
        user_metadata: info.user_metadata.clone(),
        engine_info: info.engine_info.clone(),
        ..base
    }
}

/// Every value as the text that the history shows: strings as they are, everything else as JSON.
fn texts(map: &Map<String, Value>) -> Vec<(String, Option<String>)> {
    map.iter()
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn text_of(map: &Map<String, Value>, name: &str) -> Option<String> {
    map.get(name).and_then(text)
}

fn job(map: &Map<String, Value>) -> JobInfo {
    JobInfo {
        job_id: text_of(map, "jobId"),
        job_name: text_of(map, "jobName"),
        job_run_id: text_of(map, "jobRunId"),
        run_id: text_of(map, "runId"),
        job_owner_id: text_of(map, "jobOwnerId"),
        trigger_type: text_of(map, "triggerType"),
    }
}
