//! From a path or URL to a table's stores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use deltaic_protocol::error::Result;

use crate::cloud::{CloudBackend, CloudOptions};
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
    /// How object stores are reached; see [`crate::cloud`].
    pub cloud: CloudOptions,
}

impl Default for StorageOptions {
    fn default() -> Self {
        StorageOptions {
            durable: true,
            cloud: CloudOptions::new(),
        }
    }
}

/// Opens tables. Clones share the in-process store; other backends join here.
#[derive(Clone)]
pub struct StorageFactory {
    local: LocalBackend,
    memory: MemoryBackend,
    cloud: Arc<Cloud>,
    hooks: Vec<Arc<dyn StoreHook>>,
}

impl StorageFactory {
    /// A factory with an in-process store of its own.
    pub fn new(options: &StorageOptions) -> StorageFactory {
        StorageFactory {
            local: LocalBackend::new(options.durable),
            memory: MemoryBackend::new(),
            cloud: Arc::new(Cloud {
                options: options.cloud.clone(),
                ..Cloud::default()
            }),
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
        self.open_root(TableRoot::parse(location)?)
    }

    /// Opens a root.
    ///
    /// # Errors
    /// An object store that cannot be reached with the options that there are.
    pub fn open_root(&self, root: TableRoot) -> Result<TableStore> {
        let table = match root.scheme() {
            Scheme::File => self.local.table(root),
            Scheme::Memory => self.memory.table(root),
            Scheme::S3 | Scheme::Azure => self.cloud.backend(&root)?.table(root),
        };
        Ok(self
            .hooks
            .iter()
            .rev()
            .fold(table, |table, hook| table.hooked(Arc::clone(hook))))
    }

    /// The factory with more options for object stores; nothing that is open already changes.
    pub fn with_cloud_options(
        mut self,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> StorageFactory {
        let mut all = self.cloud.options.clone();
        all.extend(options);
        self.cloud = Arc::new(Cloud {
            options: all,
            given: self.cloud.given.clone(),
            open: Mutex::default(),
        });
        self
    }

    /// The factory with an object store under a bucket's location (`s3://bucket`), such as one that fails on purpose. No
    /// options change it.
    pub fn with_bucket(mut self, prefix: &str, backend: CloudBackend) -> StorageFactory {
        let mut given = self.cloud.given.clone();
        given.insert(prefix.to_owned(), backend);
        self.cloud = Arc::new(Cloud {
            options: self.cloud.options.clone(),
            given,
            open: Mutex::default(),
        });
        self
    }
}

/// Object stores that are open, by what stands before a path in them and the region. Tables of one bucket share a client.
#[derive(Default)]
struct Cloud {
    options: CloudOptions,
    given: HashMap<String, CloudBackend>,
    open: Mutex<HashMap<(String, Option<String>), CloudBackend>>,
}

impl Cloud {
    fn backend(&self, root: &TableRoot) -> Result<CloudBackend> {
        if let Some(given) = self.given.get(root.prefix()) {
            return Ok(given.clone());
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // A web address may name the region of its bucket.
        let key = (root.prefix().to_owned(), root.bucket().region);
        if let Some(known) = open.get(&key) {
            return Ok(known.clone());
        }
        let fresh = CloudBackend::open(root, &self.options)?;
        open.insert(key, fresh.clone());
        Ok(fresh)
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
