//! The in-process store: flat, without directories, for tests and for tables that need no disk.

mod object;
mod stores;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use deltaic_protocol::clock::{Clock, SystemClock};

pub use object::MemoryObjectStore;

use crate::root::TableRoot;
use crate::table::TableStore;

/// One file in memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryFile {
    pub(crate) content: Bytes,
    pub(crate) modified_ms: i64,
    /// Number of the write, unique within the store.
    pub(crate) tag: u64,
}

/// A store in memory; clones share the files.
#[derive(Clone)]
pub struct MemoryBackend {
    files: Arc<Mutex<BTreeMap<String, MemoryFile>>>,
    clock: Arc<dyn Clock>,
    writes: Arc<AtomicU64>,
    url: String,
}

impl MemoryBackend {
    /// An empty store whose files are dated by the system's clock.
    pub fn new() -> MemoryBackend {
        MemoryBackend::with_clock(Arc::new(SystemClock))
    }

    /// An empty store whose files are dated by `clock`.
    pub fn with_clock(clock: Arc<dyn Clock>) -> MemoryBackend {
        MemoryBackend {
            files: Arc::default(),
            clock,
            writes: Arc::default(),
            url: format!("deltaic-memory://{}", uuid::Uuid::new_v4().simple()),
        }
    }

    /// The table at a root of this backend.
    pub fn table(&self, root: TableRoot) -> TableStore {
        let store = Arc::new(stores::MemoryTable::new(self.clone(), root.clone()));
        TableStore::new(
            root,
            store.clone(),
            store,
            Arc::new(MemoryObjectStore::new(self.clone())),
            self.url.clone(),
        )
    }

    /// The paths of all files, absolute, sorted.
    pub fn paths(&self) -> Vec<String> {
        self.files().keys().cloned().collect()
    }

    pub(crate) fn files(&self) -> MutexGuard<'_, BTreeMap<String, MemoryFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn file(&self, content: Bytes) -> MemoryFile {
        MemoryFile {
            content,
            modified_ms: self.clock.now_ms(),
            tag: self.writes.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl Default for MemoryBackend {
    fn default() -> Self {
        MemoryBackend::new()
    }
}

impl std::fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryBackend({})", self.url)
    }
}
