//! Conflicts as the errors that the reference raises.

use deltaic_protocol::action::CommitInfo;
use deltaic_protocol::error::DeltaError;
use serde_json::Value;

use super::{CommitConflict, ConflictKind};

/// Where the reference sends readers of a conflict.
const DOC_LINK: &str = "https://docs.delta.io/latest/concurrency-control.html";

impl From<CommitConflict> for DeltaError {
    fn from(conflict: CommitConflict) -> Self {
        let info = conflict.commit_info.as_ref();
        let hinted = conflict.partition.is_some();
        let error = match conflict.kind {
            ConflictKind::ConcurrentWrite => with_commit(Self::new("DELTA_CONCURRENT_WRITE"), info),
            ConflictKind::MetadataChanged => with_commit(
                Self::new("DELTA_METADATA_CHANGED").param("tableName", &conflict.table),
                info,
            ),
            ConflictKind::ConcurrentTransaction => {
                with_commit(Self::new("DELTA_CONCURRENT_TRANSACTION"), info)
            }
            ConflictKind::ProtocolChanged => {
                let advice = if conflict.version == 0 {
                    "This happens when multiple writers are writing to an empty directory. Creating the table ahead of time will \
                     avoid this conflict. "
                } else {
                    ""
                };
                with_commit(
                    Self::new("DELTA_PROTOCOL_CHANGED").param("additionalInfo", advice),
                    info,
                )
            }
            ConflictKind::ConcurrentAppend => hint(
                hinted,
                [
                    "DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
                    "DELTA_CONCURRENT_APPEND.WITHOUT_HINT",
                ],
                &conflict,
            ),
            ConflictKind::ConcurrentDeleteRead => hint(
                hinted,
                [
                    "DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
                    "DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT",
                ],
                &conflict,
            ),
            ConflictKind::ConcurrentDeleteDelete => hint(
                hinted,
                [
                    "DELTA_CONCURRENT_DELETE_DELETE.WITH_PARTITION_HINT",
                    "DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT",
                ],
                &conflict,
            ),
        };
        error
            .with_table(conflict.table)
            .with_version(conflict.version)
    }
}

/// The classes that name operation, table, version and, in a partitioned table, the partition.
fn hint(hinted: bool, [with, without]: [&'static str; 2], conflict: &CommitConflict) -> DeltaError {
    let operation = conflict
        .commit_info
        .as_ref()
        .and_then(|info| info.operation.as_deref())
        .unwrap_or("unknown");
    let error = DeltaError::new(if hinted { with } else { without })
        .param("operation", operation)
        .param("tableName", &conflict.table)
        .param("version", conflict.version);
    let error = match &conflict.partition {
        Some(partition) => error.param("partitionValues", partition),
        None => error,
    };
    error.param("docLink", DOC_LINK)
}

/// The classes that end with the commit that was first.
fn with_commit(error: DeltaError, info: Option<&CommitInfo>) -> DeltaError {
    let text = info.map_or_else(String::new, |info| {
        format!("\nConflicting commit: {}", Value::Object(info.to_map()))
    });
    error
        .param("conflictingCommit", text)
        .param("docLink", DOC_LINK)
}
