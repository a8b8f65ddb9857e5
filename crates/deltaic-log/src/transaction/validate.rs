//! What a commit must not do, checked before anything is written.

use std::collections::BTreeMap;

use deltaic_protocol::Action;
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;
use deltaic_storage::TableRoot;

use crate::files::FileKey;
use crate::snapshot::Snapshot;

/// Checks the staged actions against the table as it will be, and removes against the table as it stands: a statement that takes
/// away `delta.appendOnly` must not use at once what it allows.
///
/// # Errors
/// Features that cannot be written, removes in an append-only table, or two actions about one file.
pub(super) fn validate(
    root: &TableRoot,
    config: &TableConfig,
    standing: Option<&Snapshot>,
    actions: &[Action],
) -> Result<()> {
    config.check_writable(root.path(), crate::REFERENCE_VERSION)?;
    let removes_data = actions
        .iter()
        .any(|a| matches!(a, Action::Remove(remove) if remove.data_change));
    if let Some(standing) = standing.filter(|_| removes_data)
        && standing.config().is_append_only()?
    {
        let name = standing.metadata().name.as_deref();
        return Err(DeltaError::new("DELTA_CANNOT_MODIFY_APPEND_ONLY")
            .param("table_name", name.unwrap_or("null"))
            .param("config", key::APPEND_ONLY)
            .with_path(root.to_string()));
    }
    check_duplicates(root, actions)
}

/// At most one add and one remove for a path; both only where their deletion vectors differ.
fn check_duplicates(root: &TableRoot, actions: &[Action]) -> Result<()> {
    let mut adds: BTreeMap<_, (FileKey, &str)> = BTreeMap::new();
    let mut removes: BTreeMap<_, (FileKey, &str)> = BTreeMap::new();
    for action in actions {
        let (key, path, kind) = match action {
            Action::Add(add) => (FileKey::of_add(root, add), add.path.as_str(), "add"),
            Action::Remove(remove) => (
                FileKey::of_remove(root, remove),
                remove.path.as_str(),
                "remove",
            ),
            _ => continue,
        };
        let (same, other) = if kind == "add" {
            (&mut adds, &removes)
        } else {
            (&mut removes, &adds)
        };
        let clash = match (same.get(&key.path), other.get(&key.path)) {
            (Some((_, first)), _) => Some(*first),
            (None, Some((first_key, first))) if *first_key == key => Some(*first),
            _ => None,
        };
        if let Some(first) = clash {
            return Err(DeltaError::new("DELTA_DUPLICATE_ACTIONS_FOUND")
                .param("actionType", kind)
                .param("path", path)
                .param("conflictingPath", first)
                .with_path(root.to_string()));
        }
        same.insert(key.path.clone(), (key, path));
    }
    Ok(())
}
