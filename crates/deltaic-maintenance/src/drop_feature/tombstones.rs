//! Tombstones of deletion vector files: a VACUUM that does not know deletion vectors finds the files of old versions named
//! there, and leaves them.

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_protocol::action::Remove;
use deltaic_protocol::deletion_vector::DeletionVectorLocation;
use deltaic_protocol::error::Result;
use deltaic_storage::encode_uri_path;

/// The tombstones that are not there yet, for the vectors of all tombstones that the retention protects.
pub(super) async fn missing(snapshot: &Snapshot, now_ms: i64) -> Result<Vec<Remove>> {
    let tombstones = snapshot.live_tombstones(now_ms).await?;
    let known: BTreeSet<&str> = tombstones
        .iter()
        .filter(|remove| remove.deletion_vector.is_none())
        .map(|remove| remove.path.as_str())
        .collect();
    let mut wanted = BTreeSet::new();
    for vector in tombstones
        .iter()
        .filter_map(|remove| remove.deletion_vector.as_ref())
    {
        match vector.location()? {
            DeletionVectorLocation::Inline(_) => {}
            DeletionVectorLocation::Relative(path) => {
                wanted.insert(encode_uri_path(&path));
            }
            DeletionVectorLocation::Absolute(path) => {
                wanted.insert(path);
            }
        }
    }
    Ok(wanted
        .into_iter()
        .filter(|path| !known.contains(path.as_str()))
        .map(|path| Remove {
            path,
            deletion_timestamp: Some(now_ms),
            ..Remove::default()
        })
        .collect())
}
