//! Manifests of a table's files for engines that read Parquet files by a list (Hive's `SymlinkTextInputFormat`; Presto,
//! Athena): a file `_symlink_format_manifest/[p=1/…/]manifest` for each partition, with a path on each line.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::PartitionValues;
use deltaic_protocol::config::{ColumnMappingMode, TableConfig};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::partition::partition_folder;
use deltaic_storage::TableStore;
use futures::TryStreamExt;

use crate::snapshot::Snapshot;

/// The folder of the manifests.
pub const MANIFESTS: &str = "_symlink_format_manifest";
/// Keeps the manifests up to date with every commit.
pub const KEPT: &str = "delta.compatibility.symlinkFormatManifest.enabled";

/// Whether commits bring the manifests up to date.
pub fn is_kept(snapshot: &Snapshot) -> bool {
    snapshot.config().boolean(KEPT).unwrap_or(false)
}

/// Writes the manifests of a version: all of them, or those of the partitions that the actions of its commit touch where there
/// are manifests already. Manifests of partitions without files go.
///
/// # Errors
/// Deletion vectors and column mapping, which those engines do not know; the store failed.
pub async fn write(snapshot: &Snapshot, touched: Option<&[Action]>) -> Result<()> {
    check_readable(snapshot).await?;
    let store = snapshot.store();
    let columns = snapshot.partition_columns();
    let touched = match touched {
        Some(actions) if store.data().exists(MANIFESTS).await? => folders_of(columns, actions),
        _ => None,
    };
    let wanted = |folder: &str| touched.as_ref().is_none_or(|all| all.contains(folder));
    let mut manifests: BTreeMap<String, String> = BTreeMap::new();
    if columns.is_empty() {
        manifests.insert(String::new(), String::new());
    }
    let mut live = BTreeSet::new();
    let mut files = snapshot.file_stream();
    while let Some(add) = files.try_next().await? {
        let folder = folder(columns, &add.partition_values);
        live.insert(folder.clone());
        if wanted(&folder) {
            let lines = manifests.entry(folder).or_default();
            lines.push_str(&store.resolve(&add.path)?.to_string());
            lines.push('\n');
        }
    }
    for (folder, lines) in manifests {
        store
            .overwrite(&manifest_of(&folder), Bytes::from(lines))
            .await?;
    }
    match touched {
        Some(touched) => {
            for folder in touched.difference(&live).filter(|f| !f.is_empty()) {
                remove(store, &manifest_of(folder)).await?;
            }
        }
        None => remove_others(store, &live).await?,
    }
    Ok(())
}

/// What cannot be read by a list of files.
async fn check_readable(snapshot: &Snapshot) -> Result<()> {
    if snapshot.summary().await?.num_deletion_vectors > 0 {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS")
                .with_path(snapshot.store().root().to_string()),
        );
    }
    if snapshot.config().column_mapping_mode()? != ColumnMappingMode::None {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING")
                .with_path(snapshot.store().root().to_string()),
        );
    }
    Ok(())
}

/// A table whose manifests are kept has no deletion vectors, and makes none.
///
/// # Errors
/// `DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED`.
pub(crate) async fn check_vectors(
    config: &TableConfig,
    base: Option<&Snapshot>,
    table: &str,
) -> Result<()> {
    if !config.boolean(KEPT).unwrap_or(false) {
        return Ok(());
    }
    let violated = |class| Err(DeltaError::new(class).param("table", table));
    if config.deletion_vectors_enabled()? {
        return violated(
            "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION",
        );
    }
    if let Some(base) = base
        && base.summary().await?.num_deletion_vectors > 0
    {
        return violated(
            "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED.EXISTING_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION",
        );
    }
    Ok(())
}

fn manifest_of(folder: &str) -> String {
    match folder {
        "" => format!("{MANIFESTS}/manifest"),
        folder => format!("{MANIFESTS}/{folder}/manifest"),
    }
}

fn folder(columns: &[String], values: &PartitionValues) -> String {
    let value = |column: &String| values.get(column).and_then(|value| value.as_deref());
    partition_folder(
        columns
            .iter()
            .map(|column| (column.as_str(), value(column))),
    )
}

/// The partitions that a commit touches; none where an action does not tell its own.
fn folders_of(columns: &[String], actions: &[Action]) -> Option<BTreeSet<String>> {
    let mut folders = BTreeSet::new();
    for action in actions {
        let values = match action {
            Action::Add(add) => &add.partition_values,
            Action::Remove(remove) => match &remove.partition_values {
                Some(values) => values,
                None if columns.is_empty() => continue,
                None => return None,
            },
            Action::Metadata(_) => return None,
            _ => continue,
        };
        folders.insert(folder(columns, values));
    }
    if columns.is_empty() {
        folders.insert(String::new());
    }
    Some(folders)
}

/// Takes manifests of partitions away that have no files any more.
async fn remove_others(store: &TableStore, live: &BTreeSet<String>) -> Result<()> {
    let mut gone = Vec::new();
    let mut listing = store.data().list(MANIFESTS, None);
    while let Some(entry) = listing.try_next().await? {
        let folder = entry
            .path
            .strip_prefix(MANIFESTS)
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|rest| rest.strip_suffix("/manifest"));
        if let Some(folder) = folder.filter(|folder| !entry.is_dir && !live.contains(*folder)) {
            gone.push(manifest_of(folder));
        }
    }
    for path in gone {
        remove(store, &path).await?;
    }
    Ok(())
}

/// Removes a manifest, and the folders above it that are empty then.
async fn remove(store: &TableStore, path: &str) -> Result<()> {
    store.data().delete_file(path).await?;
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if above == MANIFESTS {
            break;
        }
        // A folder that stays is in nobody's way.
        let _ = store.data().delete_empty_dir(above).await;
        folder = above;
    }
    Ok(())
}
