//! Snapshots that a session keeps, so that a statement reads only what was committed since the last one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use deltaic_log::Snapshot;
use deltaic_protocol::error::{ErrorKind, Result};
use deltaic_storage::TableStore;

/// Tables kept at most; the one used longest ago goes first.
const CAPACITY: usize = 256;

/// The newest known snapshot of each table, by its root.
#[derive(Default)]
pub(crate) struct SnapshotCache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    turn: u64,
    tables: HashMap<String, (u64, Snapshot)>,
}

impl SnapshotCache {
    /// The newest snapshot of a table; nothing where there is no log. Commits of other processes are seen.
    pub(crate) async fn newest(&self, store: &TableStore) -> Result<Option<Snapshot>> {
        let key = store.root().to_string();
        let known = self
            .known(&key)
            .filter(|known| known.store().passes_compacted_logs() == store.passes_compacted_logs());
        let fresh = match known {
            Some(known) => match known.update().await {
                Ok(snapshot) => Some(snapshot),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Snapshot::try_load(store).await?
                }
                Err(error) => {
                    self.forget(&key);
                    return Err(error);
                }
            },
            None => Snapshot::try_load(store).await?,
        };
        match &fresh {
            Some(snapshot) => self.keep(snapshot.clone()),
            None => self.forget(&key),
        }
        Ok(fresh)
    }

    /// Remembers a snapshot, as after a commit.
    pub(crate) fn keep(&self, snapshot: Snapshot) {
        let mut inner = self.lock();
        inner.turn += 1;
        let turn = inner.turn;
        inner
            .tables
            .insert(snapshot.store().root().to_string(), (turn, snapshot));
        if inner.tables.len() > CAPACITY
            && let Some(oldest) = inner
                .tables
                .iter()
                .min_by_key(|(_, (turn, _))| *turn)
                .map(|(key, _)| key.clone())
        {
            inner.tables.remove(&oldest);
        }
    }

    /// Drops what is known of one table, as after DROP or RENAME.
    pub(crate) fn forget(&self, root: &str) {
        self.lock().tables.remove(root);
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        self.lock().tables.clear();
    }

    fn known(&self, key: &str) -> Option<Snapshot> {
        self.lock()
            .tables
            .get(key)
            .map(|(_, snapshot)| snapshot.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
