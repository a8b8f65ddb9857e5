//! Tables by path.

use std::sync::Arc;

use datafusion::error::Result;
use deltaic_log::Snapshot;
use deltaic_log::changes::ChangeBound;
use deltaic_log::history;
use deltaic_protocol::error::Result as DeltaResult;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::{StorageFactory, TableStore};

use super::inserts::Inserts;
use crate::changes::DeltaChanges;
use crate::error::wrap;
use crate::provider::DeltaTableProvider;

/// Which version of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// The newest.
    #[default]
    Latest,
    /// That one.
    At(i64),
    /// The one that was the newest at that time (milliseconds since 1970-01-01 UTC).
    AsOf(i64),
}

/// The newest version of the table at a path or URL, pinned.
///
/// # Errors
/// There is no table, or it cannot be read.
pub async fn open(location: &str) -> Result<DeltaTableProvider> {
    open_version(location, Version::Latest).await
}

/// A version of the table at a path or URL, pinned.
///
/// # Errors
/// There is no table or no such version, or it cannot be read.
pub async fn open_version(location: &str, version: Version) -> Result<DeltaTableProvider> {
    let store = StorageFactory::default().open(location).map_err(wrap)?;
    provider(&store, version).await.map_err(wrap)
}

/// The changes of the table at a path or URL from one version or moment to another, both inclusive; no end means the newest.
///
/// # Errors
/// There is no table, it cannot be read, or the range is not in its history.
pub async fn open_changes(
    location: &str,
    start: ChangeBound,
    end: Option<ChangeBound>,
) -> Result<DeltaChanges> {
    let store = StorageFactory::default().open(location).map_err(wrap)?;
    let newest = Snapshot::load(&store, None).await.map_err(wrap)?;
    DeltaChanges::between(&newest, start, end)
        .await
        .map_err(wrap)
}

/// A version of a table, pinned.
///
/// # Errors
/// As [`open_version`].
pub async fn provider(store: &TableStore, version: Version) -> DeltaResult<DeltaTableProvider> {
    let snapshot = match version {
        Version::Latest => Snapshot::load(store, None).await?,
        Version::At(version) => Snapshot::load(store, Some(version)).await?,
        Version::AsOf(millis) => {
            let version = history::latest_version_at(store, millis).await?;
            let version = version.into_version(millis, &Zone::utc())?;
            Snapshot::load(store, Some(version)).await?
        }
    };
    Ok(DeltaTableProvider::try_new(snapshot)?.with_inserts(Arc::new(Inserts)))
}
