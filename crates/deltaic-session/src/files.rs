//! Whole folders: removing them, moving them, asking whether something is in them.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_storage::{DirOutcome, Scheme, TableStore};
use futures::{StreamExt, TryStreamExt};

/// Files that are deleted at the same time.
const CONCURRENCY: usize = 16;

/// Removes everything below a table's root but the file `keep`, and the root if it is empty then. Answers whether
/// nothing else is left.
pub(crate) async fn delete_tree(store: &TableStore, keep: Option<&str>) -> Result<bool> {
    let entries: Vec<_> = store.data().list("", None).try_collect().await?;
    let (mut folders, mut files): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| entry.is_dir);
    files.retain(|file| keep != Some(file.path.as_str()));
    futures::stream::iter(files)
        .map(|file| async move { store.data().delete_file(&file.path).await.map(|_| ()) })
        .buffer_unordered(CONCURRENCY)
        .try_collect::<Vec<()>>()
        .await?;
    // A folder goes after the folders in it.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.path.len()));
    let mut clean = true;
    for folder in folders {
        clean &= store.data().delete_empty_dir(&folder.path).await? != DirOutcome::NotEmpty;
    }
    let root = store.data().delete_empty_dir("").await?;
    Ok(clean && (keep.is_some() || root != DirOutcome::NotEmpty))
}

/// Moves a folder to a place that is free. Only on a local disk, where it is one step.
pub(crate) fn move_folder(from: &TableStore, to: &TableStore) -> Result<()> {
    if from.root().scheme() != Scheme::File || to.root().scheme() != Scheme::File {
        return Err(DeltaError::not_supported_yet(
            "Moving a table in an object store",
        ));
    }
    let (source, target) = (
        std::path::Path::new(from.root().path()),
        std::path::Path::new(to.root().path()),
    );
    if !source.exists() {
        return Ok(());
    }
    let failed = |error: std::io::Error| {
        DeltaError::new("DELTA_CANNOT_RENAME_PATH")
            .param("currentPath", from.root())
            .param("newPath", to.root())
            .with_path(from.root().to_string())
            .with_source(error)
    };
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    if target.exists() {
        return Err(failed(std::io::Error::from(
            std::io::ErrorKind::AlreadyExists,
        )));
    }
    std::fs::rename(source, target).map_err(failed)
}
