//! From a path or URL to a table's stores.

use std::sync::Arc;

use deltaic_protocol::error::Result;

use crate::hook::StoreHook;
use crate::local::LocalBackend;
use crate::memory::MemoryBackend;
use crate::root::{Scheme, TableRoot};
use crate::table::TableStore;

/// How the backends work.
#[derive(Debug, Clone)]
pub struct StorageOptions {
    /// Wait until the disk has a log file before it counts as written (local disk only).
    pub durable: bool,
}

impl Default for StorageOptions {
    fn default() -> Self {
        StorageOptions { durable: true }
    }
}

/// Opens tables. Clones share the in-process store; other backends join here.
#[derive(Clone)]
pub struct StorageFactory {
    local: LocalBackend,
    memory: MemoryBackend,
    hooks: Vec<Arc<dyn StoreHook>>,
}

impl StorageFactory {
    /// A factory with an in-process store of its own.
    pub fn new(options: &StorageOptions) -> StorageFactory {
        StorageFactory {
            local: LocalBackend::new(options.durable),
            memory: MemoryBackend::new(),
            hooks: Vec::new(),
        }
    }

    /// The factory with another in-process store.
    pub fn with_memory(mut self, memory: MemoryBackend) -> StorageFactory {
        self.memory = memory;
        self
    }

    /// The factory whose tables all call this hook, inside of the hooks added before.
    pub fn with_hook(mut self, hook: Arc<dyn StoreHook>) -> StorageFactory {
        self.hooks.push(hook);
        self
    }

    /// Opens a location (see [`TableRoot::parse`]); nothing is read or made.
    ///
    /// # Errors
    /// A scheme without a backend.
    pub fn open(&self, location: &str) -> Result<TableStore> {
        Ok(self.open_root(TableRoot::parse(location)?))
    }

    /// Opens a root.
    pub fn open_root(&self, root: TableRoot) -> TableStore {
        let table = match root.scheme() {
            Scheme::File => self.local.table(root),
            Scheme::Memory => self.memory.table(root),
        };
        self.hooks
            .iter()
            .rev()
            .fold(table, |table, hook| table.hooked(Arc::clone(hook)))
    }
}

impl Default for StorageFactory {
    fn default() -> Self {
        StorageFactory::new(&StorageOptions::default())
    }
}

impl std::fmt::Debug for StorageFactory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StorageFactory({} hooks)", self.hooks.len())
    }
}
