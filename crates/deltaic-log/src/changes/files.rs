//! Which files of one commit hold its changes, and which of their rows: pure, from the commit's actions.

use std::collections::BTreeMap;

use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, AddCdcFile, CommitInfo, Remove};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_storage::TableRoot;

use crate::files::canonical_path;

/// What happened to the rows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file says it itself, row by row, in its column `_change_type`.
    Recorded,
    /// They were inserted.
    Insert,
    /// They were deleted.
    Delete,
}

/// A file that holds changed rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedFile {
    /// What happened to them.
    pub kind: ChangeKind,
    /// The file as it is read; rows of its deletion vector are left out.
    pub file: Add,
    /// If set, only rows that are marked here have changed.
    pub marked: Option<DeletionVectorDescriptor>,
}

/// The files that hold the changes of a commit.
///
/// # Errors
/// `DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA` for a removed file whose size or partition is not known.
pub(super) fn changed_files(root: &TableRoot, actions: Vec<Action>) -> Result<Vec<ChangedFile>> {
    let mut recorded: Vec<AddCdcFile> = Vec::new();
    let mut adds: Vec<Add> = Vec::new();
    let mut removes: Vec<Remove> = Vec::new();
    let mut without_changes = false;
    for action in actions {
        match action {
            Action::Cdc(file) => recorded.push(file),
            Action::Add(add) if add.data_change => adds.push(add),
            Action::Remove(remove) if remove.data_change => removes.push(remove),
            Action::CommitInfo(info) => without_changes = is_idle_merge(&info),
            _ => {}
        }
    }
    if !recorded.is_empty() {
        return Ok(recorded.into_iter().map(recorded_file).collect());
    }
    if without_changes {
        return Ok(Vec::new());
    }
    let mut removed: BTreeMap<String, Remove> = removes
        .into_iter()
        .map(|remove| (canonical_path(root, &remove.path), remove))
        .collect();
    let mut out = Vec::new();
    for add in adds {
        match removed.remove(&canonical_path(root, &add.path)) {
            None => out.push(ChangedFile {
                kind: ChangeKind::Insert,
                file: add,
                marked: None,
            }),
            Some(remove) => out.extend(difference(add, remove.deletion_vector)),
        }
    }
    for remove in removed.into_values() {
        out.push(ChangedFile {
            kind: ChangeKind::Delete,
            file: as_read(remove)?,
            marked: None,
        });
    }
    Ok(out)
}

/// Rows that the new vector of a file marks and the old one does not were deleted; the other way round they came back.
fn difference(add: Add, old: Option<DeletionVectorDescriptor>) -> Vec<ChangedFile> {
    let new = add.deletion_vector.clone();
    let part = |kind, marked: &Option<DeletionVectorDescriptor>, without| {
        marked.as_ref().map(|marked| ChangedFile {
            kind,
            file: Add {
                deletion_vector: without,
                ..add.clone()
            },
            marked: Some(marked.clone()),
        })
    };
    if old.as_ref().map(DeletionVectorDescriptor::unique_id)
        == new.as_ref().map(DeletionVectorDescriptor::unique_id)
    {
        return Vec::new();
    }
    [
        part(ChangeKind::Delete, &new, old.clone()),
        part(ChangeKind::Insert, &old, new.clone()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A MERGE may write files anew without changing a row; it says so in its metrics.
fn is_idle_merge(info: &CommitInfo) -> bool {
    let none = |metric: &str| {
        info.operation_metrics
            .as_ref()
            .and_then(|metrics| metrics.get(metric))
            .is_some_and(|count| count == "0")
    };
    info.operation.as_deref() == Some("MERGE")
        && [
            "numTargetRowsInserted",
            "numTargetRowsUpdated",
            "numTargetRowsDeleted",
        ]
        .into_iter()
        .all(none)
}

fn recorded_file(file: AddCdcFile) -> ChangedFile {
    ChangedFile {
        kind: ChangeKind::Recorded,
        file: Add {
            path: file.path,
            partition_values: file.partition_values,
            size: file.size,
            tags: file.tags,
            ..Add::default()
        },
        marked: None,
    }
}

/// A removed file as it was read before.
fn as_read(remove: Remove) -> Result<Add> {
    match (remove.partition_values, remove.size) {
        (Some(partition_values), Some(size)) => Ok(Add {
            path: remove.path,
            partition_values,
            size,
            stats: remove.stats,
            deletion_vector: remove.deletion_vector,
            ..Add::default()
        }),
        _ => Err(
            DeltaError::new("DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA")
                .param("file", &remove.path)
                .with_path(remove.path),
        ),
    }
}
