//! Folders of managed tables, and what a process that died leaves in them.
//!
//! A managed table begins in an empty folder and takes its files with it when it is dropped. A process that dies in
//! between leaves files without a name, onto which the same name could never be made again. So the folder carries a
//! marker meanwhile, which says whose work it was: the next CREATE of that name goes on from there.
//!
//! Statements that make, drop or rename a table wait for each other, so a marker that is found was left by the dead.

use std::fs::File;
use std::time::{Duration, Instant};

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::file_name::{self, LogFileName};
use deltaic_storage::{FileMeta, PutOutcome, TableStore, is_unfinished_write};
use futures::StreamExt;
use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, ObjectName};
use crate::files;

/// Hidden, as everything that begins so, from readers and VACUUM.
const CREATING: &str = ".creating.deltaic";
const DROPPING: &str = ".dropping.deltaic";

/// How long a statement waits for others on the same name.
const PATIENCE: Duration = Duration::from_secs(300);

/// Lock files; names share them, so that there is an end to their number.
const LOCKS: u32 = 256;

/// The right to make, drop or rename tables of some names, among all processes with this catalog. It ends with the
/// value, and with the process.
pub(crate) struct NameLock {
    _files: Vec<File>,
}

impl NameLock {
    /// Waits until no other statement holds one of the names.
    pub(crate) async fn take(catalog: &Catalog, names: &[&ObjectName]) -> Result<NameLock> {
        let folder = catalog.file().with_file_name("locks");
        let failed = |error: std::io::Error| {
            DeltaError::unclassed(
                "java.io.IOException",
                format!("The folder {} cannot be used: {error}", folder.display()),
            )
            .with_kind(ErrorKind::Storage)
            .with_path(folder.display().to_string())
        };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        // Always in the same order: two statements never wait for each other.
        let mut numbers: Vec<u32> = names.iter().map(|name| number(name)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let until = Instant::now() + PATIENCE;
        let mut held = Vec::new();
        for number in numbers {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(folder.join(format!("{number:03}.lock")))
                .map_err(failed)?;
            while let Err(refused) = file.try_lock() {
                match refused {
                    std::fs::TryLockError::Error(error) => return Err(failed(error)),
                    std::fs::TryLockError::WouldBlock if Instant::now() > until => {
                        return Err(busy(names));
                    }
                    std::fs::TryLockError::WouldBlock => {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                }
            }
            held.push(file);
        }
        Ok(NameLock { _files: held })
    }
}

fn number(name: &ObjectName) -> u32 {
    let text = name.parts().join(".");
    let hash = text.bytes().fold(0_u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    hash % LOCKS
}

fn busy(names: &[&ObjectName]) -> DeltaError {
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    DeltaError::unclassed(
        "java.util.concurrent.TimeoutException",
        format!(
            "Another statement has been making, dropping or renaming {} for {} s; nothing was changed",
            names.join(" or "),
            PATIENCE.as_secs()
        ),
    )
    .with_kind(ErrorKind::Conflict)
}

/// What a marker says: which work it belongs to, and, for people, on which table. A marker counts only where the catalog
/// has begun that work itself: another one may lie at the same path of another machine.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    work: String,
    table: String,
}

/// Whether this catalog has left the marker there, for this name.
async fn marked(
    catalog: &Catalog,
    name: &ObjectName,
    store: &TableStore,
    marker: &str,
) -> Result<bool> {
    if !store.data().exists(marker).await? {
        return Ok(false);
    }
    let text = store.data().read(marker).await?;
    match serde_json::from_slice::<Marker>(&text) {
        Ok(found) => catalog.has_work(&found.work, name),
        Err(_) => Ok(false),
    }
}

/// Takes away a marker that its writer died over, so that it says nothing: it is ours where this catalog has a work on the name that
/// has not ended, and nobody's place as long as nothing else lies there. Says whether there was one.
async fn forget_torn(catalog: &Catalog, name: &ObjectName, store: &TableStore) -> Result<bool> {
    let mut forgot = false;
    for marker in [CREATING, DROPPING] {
        if !store.data().exists(marker).await? {
            continue;
        }
        let text = store.data().read(marker).await?;
        let torn = serde_json::from_slice::<Marker>(&text).is_err();
        if torn && catalog.has_works_on(name)? && !holds_files_but(store, marker).await? {
            store.data().delete_file(marker).await?;
            forgot = true;
        }
    }
    Ok(forgot)
}

/// Leaves a marker; false where there is one already.
async fn mark(
    catalog: &Catalog,
    name: &ObjectName,
    store: &TableStore,
    marker: &str,
) -> Result<bool> {
    let content = Marker {
        work: uuid::Uuid::new_v4().to_string(),
        table: name.parts().join("."),
    };
    // First here: a marker that nobody knows would keep the name from being used again.
    catalog.begin_work(&content.work, name)?;
    let text = serde_json::to_vec(&content).unwrap_or_default();
    let outcome = store.data().create(marker, text.into()).await?;
    Ok(outcome == PutOutcome::Created)
}

/// Takes the place of a managed table of that name, if nothing is there but what a dead process left of a table of
/// this name; the rest of a broken-off DROP is taken away first. The caller holds the name's lock.
pub(crate) async fn claim(
    catalog: &Catalog,
    name: &ObjectName,
    store: &TableStore,
) -> Result<bool> {
    forget_torn(catalog, name, store).await?;
    if marked(catalog, name, store, DROPPING).await? {
        // Whoever has written here since has made it his own.
        if !only_older(store, DROPPING).await? {
            return Ok(false);
        }
        remove(store).await?;
    }
    if marked(catalog, name, store, CREATING).await? {
        // A CREATE commits once: what comes after that is somebody else's.
        return Ok(only_ours(store).await? && newest_commit(store).await?.is_none_or(|n| n == 0));
    }
    if holds_files(store).await? {
        return Ok(false);
    }
    // Of two catalogs that come at the same time one is first.
    mark(catalog, name, store, CREATING).await
}

/// Whether all that lies here is older than the marker.
async fn only_older(store: &TableStore, marker: &str) -> Result<bool> {
    let Some(mark) = store.data().stat(marker).await? else {
        return Ok(false);
    };
    // Object stores may date to the second: what is as old as the marker may have come after it.
    let limit = match store.root().scheme().is_cloud() {
        true => mark.modified_ms - 1,
        false => mark.modified_ms,
    };
    let mut entries = store.data().list("", None);
    while let Some(entry) = entries.next().await {
        let entry = entry?;
        if is_content(&entry) && entry.path != marker && entry.modified_ms > limit {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The newest version that was committed here.
async fn newest_commit(store: &TableStore) -> Result<Option<i64>> {
    let mut newest = None;
    let mut entries = store.log().list_from("0");
    while let Some(entry) = entries.next().await {
        if let LogFileName::Commit { version } = LogFileName::parse(&entry?.path) {
            newest = newest.max(Some(version));
        }
    }
    Ok(newest)
}

/// Takes the markers away from a table that has got a name again: what a broken-off statement left there is nobody's to
/// remove any more.
pub(crate) async fn keep(store: &TableStore) -> Result<()> {
    for marker in [DROPPING, CREATING] {
        store.data().delete_file(marker).await?;
    }
    Ok(())
}

/// Whether nothing lies here but what making a table writes.
async fn only_ours(store: &TableStore) -> Result<bool> {
    let mut entries = store.data().list("", None);
    while let Some(entry) = entries.next().await {
        let entry = entry?;
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        let ours = entry.path.starts_with("_delta_log/")
            || (name.starts_with("part-") && name.ends_with(".parquet"))
            || name.starts_with('.');
        if !entry.is_dir && !ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes away what a dead process left where a table is about to be moved to. The caller holds the name's lock.
pub(crate) async fn clear(catalog: &Catalog, name: &ObjectName, store: &TableStore) -> Result<()> {
    let torn = forget_torn(catalog, name, store).await?;
    let dropped =
        marked(catalog, name, store, DROPPING).await? && only_older(store, DROPPING).await?;
    let begun = marked(catalog, name, store, CREATING).await?
        && only_ours(store).await?
        && newest_commit(store).await?.is_none();
    if torn || dropped || begun {
        remove(store).await?;
        catalog.end_works(name)?;
    }
    Ok(())
}

/// The table at a claimed place has its name. The marker means nothing from here on, so it may also stay.
///
/// # Errors
/// The marker cannot be deleted.
pub(crate) async fn done(catalog: &Catalog, name: &ObjectName, store: &TableStore) -> Result<()> {
    catalog.end_works(name)?;
    store.data().delete_file(CREATING).await.map(|_| ())
}

/// The table at a claimed place did not come to be. Where something was written already, the marker stays for the next
/// attempt.
pub(crate) async fn abandon(
    catalog: &Catalog,
    name: &ObjectName,
    store: &TableStore,
) -> Result<()> {
    if holds_files_but(store, CREATING).await? {
        return Ok(());
    }
    files::delete_tree(store, None).await?;
    catalog.end_works(name)
}

/// Takes the first commit of a dead clone away from a claimed place, which holds no row of its own; false, and nothing is
/// touched, where that commit is another's or of another kind.
pub(crate) async fn forget_clone(store: &TableStore) -> Result<bool> {
    let first = file_name::commit(0);
    let text = store.log().read(&first).await?;
    let text = String::from_utf8_lossy(&text);
    let is_clone = text.lines().any(|line| {
        let action: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let info = &action["commitInfo"];
        let ours = info["engineInfo"].as_str();
        info["operation"] == "CLONE" && ours.is_some_and(|name| name.starts_with("Deltaic/"))
    });
    if is_clone {
        store.log().delete(&file_name::checksum(0)).await?;
        store.log().delete(&first).await?;
    }
    Ok(is_clone)
}

/// Whether any file lies below a root. Folders do not count, nor do writes that are not finished: they are somebody's who
/// makes a table at this moment, or who has died over it.
pub(crate) async fn holds_files(store: &TableStore) -> Result<bool> {
    holds_files_but(store, "").await
}

/// Whether any other file lies there than `known`.
async fn holds_files_but(store: &TableStore, known: &str) -> Result<bool> {
    let mut entries = store.data().list("", None);
    while let Some(entry) = entries.next().await {
        let entry = entry?;
        if is_content(&entry) && entry.path != known {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_content(entry: &FileMeta) -> bool {
    !entry.is_dir && !is_unfinished_write(&entry.path)
}

/// Takes a table's name away by `unname`, and then its files. The caller holds the name's lock.
pub(crate) async fn drop_files(
    catalog: &Catalog,
    name: &ObjectName,
    store: &TableStore,
    unname: impl FnOnce() -> Result<bool>,
) -> Result<()> {
    // A folder that is gone needs no marker, which would make it anew.
    if store.data().exists("").await? {
        mark(catalog, name, store, DROPPING).await?;
        // Where nothing may be deleted the table keeps its name. A marker from before says nothing about this time.
        store.data().delete_file(DROPPING).await?;
        mark_after_all(catalog, name, store).await?;
        if unname()? {
            remove(store)
                .await
                .map_err(|error| half_dropped(error, name, store))?;
        }
        return catalog.end_works(name);
    }
    unname().map(|_| ())
}

/// Leaves the marker of a DROP, with a date after those of all files: what comes later is told from them by that. Object stores
/// may date to the second, so where the last file was written just now the marker is written once more a second later.
async fn mark_after_all(catalog: &Catalog, name: &ObjectName, store: &TableStore) -> Result<()> {
    for _ in 0..3 {
        let free = mark(catalog, name, store, DROPPING).await?;
        if free && (!store.root().scheme().is_cloud() || only_older(store, DROPPING).await?) {
            return Ok(());
        }
        store.data().delete_file(DROPPING).await?;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    mark(catalog, name, store, DROPPING).await.map(|_| ())
}

/// The name is gone and files are left: what to do about them.
fn half_dropped(error: DeltaError, name: &ObjectName, store: &TableStore) -> DeltaError {
    error.with_hint(format!(
        "{name} has no name any more, and some of its files are left in {}: CREATE TABLE of the same name takes them away, or \
         remove the folder",
        store.root()
    ))
}

/// Everything; the marker goes after all that is there. Writers that have not noticed yet may bring something more, until
/// the folders are gone.
async fn remove(store: &TableStore) -> Result<()> {
    for _ in 0..5 {
        if files::delete_tree(store, Some(DROPPING)).await? {
            break;
        }
    }
    for _ in 0..5 {
        if files::delete_tree(store, None).await? {
            break;
        }
    }
    Ok(())
}
