//! Whether a bucket or container keeps what is deleted in it.
//!
//! A store with versions names the version of an object in the answer to every request for it (`x-amz-version-id`,
//! `x-ms-version-id`). That takes one HEAD and no right that a reader has not; asking for the bucket's settings would need
//! rights that those who may delete often lack. Soft delete of Azure without versions shows in the answers to deletions alone
//! ([`DataStore::keeps_deleted`](crate::DataStore::keeps_deleted)).

use object_store::ObjectStoreExt;

use crate::object_path::to_object_path;
use crate::{LOG_DIR, TableStore};

/// Versions of objects in a bucket or container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versioning {
    /// What is deleted stays as an old version.
    On,
    /// S3: it was on. What was written since then is deleted for good; what was written before stays as an old version.
    Suspended,
}

/// What a file of the log says about versions; one that was written just now says most. None where the store keeps no
/// versions, has none at all as a local disk, or does not answer: this is for reports, and no reason to fail.
pub async fn versioning(table: &TableStore, name: &str) -> Option<Versioning> {
    if !table.root().scheme().is_cloud() {
        return None;
    }
    let key = to_object_path(&table.root().absolute(&format!("{LOG_DIR}/{name}")));
    let version = table.object_store().head(&key).await.ok()?.version?;
    Some(match version.as_str() {
        "null" => Versioning::Suspended,
        _ => Versioning::On,
    })
}
