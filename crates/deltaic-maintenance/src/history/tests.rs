//! Unit tests of the rows of the history.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use deltaic_log::history::HistoryEntry;
use deltaic_protocol::Action;

use super::*;

fn of(commit_info: &str) -> HistoryRow {
    let line = format!("{{\"commitInfo\":{commit_info}}}");
    let Some(Action::CommitInfo(info)) = Action::from_json_line(&line).unwrap() else {
        panic!("no commitInfo")
    };
    row(&HistoryEntry {
        version: 3,
        timestamp: 5,
        commit_info: Some(Arc::new(*info)),
    })
}

#[test]
fn parameters_of_any_type_become_text() {
    let row = of(
        r#"{"operation":"X","operationParameters":{"s":"a","n":1,"b":false,"z":null,"o":{"k":[1]}},"readVersion":2}"#,
    );
    let texts: Vec<_> = row
        .operation_parameters
        .unwrap()
        .into_iter()
        .map(|(key, value)| (key, value.unwrap_or("-".to_string())))
        .collect();
    let wanted = [
        ("s", "a"),
        ("n", "1"),
        ("b", "false"),
        ("z", "-"),
        ("o", r#"{"k":[1]}"#),
    ];
    assert_eq!(
        texts,
        wanted.map(|(key, value)| (key.to_string(), value.to_string()))
    );
    assert_eq!(
        (row.version, row.timestamp_ms, row.read_version),
        (3, 5, Some(2))
    );
}

#[test]
fn jobs_and_notebooks_of_other_writers_are_shown() {
    let row = of(
        r#"{"operation":"X","job":{"jobId":"7","runId":"8"},"notebook":{"notebookId":"9"},"clusterId":"c","userId":"u"}"#,
    );
    assert_eq!(
        row.job.unwrap(),
        JobInfo {
            job_id: Some("7".into()),
            run_id: Some("8".into()),
            ..JobInfo::default()
        }
    );
    assert_eq!(row.notebook_id, Some(Some("9".to_string())));
    assert_eq!(
        (row.cluster_id.as_deref(), row.user_id.as_deref()),
        (Some("c"), Some("u"))
    );
}

#[test]
fn a_commit_that_says_nothing_is_a_row_of_nulls() {
    let row = row(&HistoryEntry {
        version: 1,
        timestamp: 2,
        commit_info: None,
    });
    assert_eq!(
        row,
        HistoryRow {
            version: 1,
            timestamp_ms: 2,
            ..HistoryRow::default()
        }
    );
}
