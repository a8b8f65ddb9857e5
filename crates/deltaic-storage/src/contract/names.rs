//! Every file name that a log can carry round-trips through all stores.

use bytes::Bytes;
use futures::{FutureExt, TryStreamExt};
use object_store::ObjectStoreExt;

use super::{Check, Outcome, ensure, same};
use crate::{TableStore, encode_uri_path, from_object_path, to_object_path};

/// Names that stores have mangled before.
pub const STRANGE_NAMES: &[&str] = &[
    "with space",
    "100%",
    "%20",
    "%25 %41",
    "a#b",
    "a?b=c&d",
    "quote\"'`",
    "[a]{b}(c)<d>|e^f~g*",
    "semi;colon:comma,plus+at@",
    "ünï/cödé/日本/🙂",
    "e\u{301}",
    ".hidden",
    "..two",
    "...",
    "_under",
    "trailing.",
    "trailing ",
    " leading",
    "a#1",
    "tab\tand\nline",
    "\u{f8ff}apple\u{f8ff}0a",
    "\u{f8ff}\u{f8fd}0a",
    "\u{f8ff}\u{f8ff}\u{f8fd}\n",
    "p=a%2Fb/x=y=z/c.parquet",
    "-dash",
];

pub(super) fn checks() -> Vec<Check> {
    vec![Check {
        name: "files of any name are written, listed, read and deleted",
        run: |t| all(t).boxed(),
    }]
}

async fn all(table: TableStore) -> Outcome {
    for name in STRANGE_NAMES {
        round_trip(&table, name).await?;
        round_trip(&table, &format!("p={name}/part-0.parquet")).await?;
    }
    Ok(())
}

/// Checks one relative decoded path on an otherwise empty table.
pub async fn round_trip(table: &TableStore, path: &str) -> Outcome {
    let content = Bytes::from(path.as_bytes().to_vec());
    table.data().create(path, content.clone()).await?;
    let listed: Vec<_> = table.data().list("", None).try_collect().await?;
    let files: Vec<_> = listed
        .iter()
        .filter(|meta| !meta.is_dir)
        .map(|meta| meta.path.as_str())
        .collect();
    same("listed", files, vec![path])?;
    same("read", table.data().read(path).await?, content.clone())?;

    let resolved = table.resolve(&encode_uri_path(path))?;
    same("resolved", resolved.relative(), Some(path))?;
    let place = resolved.object_path();
    let absolute = table.root().absolute(path);
    if !path.contains("\u{f8ff}\u{f8fd}") && !path.contains(|c: char| c.is_ascii_control()) {
        // The name by which other engines ask for it.
        same("key", place.as_ref(), absolute.trim_matches('/'))?;
    }
    same(
        "object path back",
        from_object_path(&place),
        table.root().absolute(path),
    )?;
    let store = table.object_store();
    same(
        "object read",
        store.get(&place).await?.bytes().await?,
        content.clone(),
    )?;
    let root = to_object_path(table.root().path());
    let objects: Vec<_> = store
        .list(Some(&root))
        .map_ok(|meta| meta.location)
        .try_collect()
        .await?;
    same("object listed", objects, vec![place.clone()])?;
    store.delete(&place).await?;
    ensure(!table.data().exists(path).await?, || {
        format!("{path} is still there after the object was deleted")
    })?;
    store.put(&place, content.clone().into()).await?;
    same(
        "read what the object store wrote",
        table.data().read(path).await?,
        content,
    )?;
    table.data().delete_file(path).await?;
    let rest: Vec<_> = table.data().list("", None).try_collect().await?;
    for folder in rest.iter().rev().filter(|meta| meta.is_dir) {
        table.data().delete_empty_dir(&folder.path).await?;
    }
    Ok(())
}
