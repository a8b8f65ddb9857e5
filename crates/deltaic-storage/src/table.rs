//! One table's stores together.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use object_store::{ObjectStore, ObjectStoreExt};

use crate::hook::{HookedDataStore, HookedLogStore, HookedObjectStore, StoreHook};
use crate::path::DataPath;
use crate::root::TableRoot;
use crate::{DataStore, LogStore};

/// The stores of one table; cheap to clone.
#[derive(Clone)]
pub struct TableStore {
    inner: Arc<Inner>,
    passes_compacted_logs: bool,
    failed: Failed,
}

/// The error of an operation on a place.
pub(crate) type Failed = fn(&str, &str, &object_store::Error) -> DeltaError;

fn failed(operation: &str, place: &str, error: &object_store::Error) -> DeltaError {
    DeltaError::unclassed(
        "java.io.IOException",
        format!("Failed to {operation} {place}: {error}"),
    )
    .with_kind(ErrorKind::Storage)
    .with_path(place)
}

struct Inner {
    root: TableRoot,
    log: Arc<dyn LogStore>,
    data: Arc<dyn DataStore>,
    object: Arc<dyn ObjectStore>,
    object_url: String,
}

impl TableStore {
    /// Puts a table together. `object` is rooted at the backend's root (paths are absolute there), `object_url` the
    /// scheme and authority under which a query engine registers it.
    pub fn new(
        root: TableRoot,
        log: Arc<dyn LogStore>,
        data: Arc<dyn DataStore>,
        object: Arc<dyn ObjectStore>,
        object_url: impl Into<String>,
    ) -> TableStore {
        TableStore {
            inner: Arc::new(Inner {
                root,
                log,
                data,
                object,
                object_url: object_url.into(),
            }),
            passes_compacted_logs: false,
            failed,
        }
    }

    /// The same table, whose object store's failures are told in another way.
    pub(crate) fn telling(mut self, failed: Failed) -> TableStore {
        self.failed = failed;
        self
    }

    /// The same table, of whose log every commit is read: compacted log files are passed over.
    #[must_use]
    pub fn without_compacted_logs(mut self) -> TableStore {
        self.passes_compacted_logs = true;
        self
    }

    /// Whether compacted log files are passed over.
    pub fn passes_compacted_logs(&self) -> bool {
        self.passes_compacted_logs
    }

    /// Where the table is; prints as Hadoop prints paths (`file:/a/b`).
    pub fn root(&self) -> &TableRoot {
        &self.inner.root
    }

    /// The files of `_delta_log`.
    pub fn log(&self) -> &dyn LogStore {
        self.inner.log.as_ref()
    }

    /// All files of the table.
    pub fn data(&self) -> &dyn DataStore {
        self.inner.data.as_ref()
    }

    /// The backend as an object store. One store serves all tables of the backend: its paths are absolute
    /// ([`DataPath::object_path`]), so a cache keyed by path never mixes two tables.
    pub fn object_store(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.inner.object)
    }

    /// Scheme and authority of [`TableStore::object_store`], such as `deltaic-file://`.
    pub fn object_store_url(&self) -> &str {
        &self.inner.object_url
    }

    /// Decodes the path of an action.
    ///
    /// # Errors
    /// See [`DataPath::resolve`].
    pub fn resolve(&self, log_path: &str) -> Result<DataPath> {
        DataPath::resolve(&self.inner.root, log_path)
    }

    /// A path relative to the table that is decoded already.
    ///
    /// # Errors
    /// A relative path that leaves the table.
    pub fn data_path(&self, decoded: &str) -> Result<DataPath> {
        DataPath::from_decoded(&self.inner.root, decoded)
    }

    /// Puts a file in the place of whatever is there, whole or not at all. `path` is as [`DataStore`] takes it.
    ///
    /// # Errors
    /// A path that leaves the table; the store failed.
    pub async fn overwrite(&self, path: &str, content: Bytes) -> Result<()> {
        let place = self.data_path(path)?;
        let object = place.object_path();
        let put = self.inner.object.put(&object, content.into()).await;
        put.map(|_| ())
            .map_err(|error| (self.failed)("write", &place.to_string(), &error))
    }

    /// The same table with a hook before and after every operation.
    pub fn hooked(&self, hook: Arc<dyn StoreHook>) -> TableStore {
        let inner = &self.inner;
        let hooked = TableStore::new(
            inner.root.clone(),
            Arc::new(HookedLogStore::new(
                Arc::clone(&inner.log),
                Arc::clone(&hook),
            )),
            Arc::new(HookedDataStore::new(
                Arc::clone(&inner.data),
                Arc::clone(&hook),
            )),
            Arc::new(HookedObjectStore::new(Arc::clone(&inner.object), hook)),
            inner.object_url.clone(),
        );
        TableStore {
            passes_compacted_logs: self.passes_compacted_logs,
            failed: self.failed,
            ..hooked
        }
    }
}

impl std::fmt::Debug for TableStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TableStore({})", self.inner.root)
    }
}
