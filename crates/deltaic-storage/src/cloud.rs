//! Tables in object stores: S3 and what speaks its protocol, Azure Blob Storage (ADLS Gen2), OneLake.
//!
//! A commit is one conditional put (`If-None-Match: *`). Where its answer leaves open what happened, the store is asked
//! what is there now, so that a commit is reported once and as what it is.

mod azure;
mod dynamo;
mod failure;
mod lock;
mod options;
mod probe;
mod s3;
mod settings;
mod stores;

use std::sync::Arc;

use deltaic_protocol::error::Result;
use object_store::ObjectStore;

pub use lock::{CommitLock, LockEntry};
pub use options::is_cloud_option;
pub use settings::CloudOptions;

use crate::LogStore;
use crate::root::{Scheme, TableRoot};
use crate::table::TableStore;
use probe::{Gate, Rule};
use settings::Settings;

/// The client of one bucket or container.
#[derive(Debug, Clone)]
pub struct CloudBackend {
    store: Arc<dyn ObjectStore>,
    url: String,
    gate: Arc<Gate>,
    lock: Option<Arc<dyn CommitLock>>,
}

impl CloudBackend {
    /// Opens the bucket or container of a root. Nothing is asked of the store yet.
    ///
    /// # Errors
    /// Options that do not go together, or none at all where some are needed.
    pub fn open(root: &TableRoot, options: &CloudOptions) -> Result<CloudBackend> {
        let place = root.bucket();
        let settings = Settings::new(options);
        if root.scheme() == Scheme::Azure {
            let account = place.account.as_deref();
            let store = azure::open(&place.container, account, place.fabric, &settings)?;
            return Ok(CloudBackend::new(store, root.prefix()));
        }
        let bucket = s3::open(&place.container, &settings)?;
        Ok(CloudBackend {
            gate: Arc::new(Gate::new(bucket.rule)),
            lock: bucket.lock,
            ..CloudBackend::new(bucket.store, root.prefix())
        })
    }

    /// A backend on any object store that keeps the condition of a put, under what stands before a path in it:
    /// `s3://bucket`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> CloudBackend {
        CloudBackend {
            store,
            url: prefix.to_owned(),
            gate: Arc::new(Gate::new(Rule::Trust)),
            lock: None,
        }
    }

    /// The same backend, whose commits go through a lock; the store need not keep the condition of a put then.
    pub fn locked(self, lock: Arc<dyn CommitLock>) -> CloudBackend {
        CloudBackend {
            lock: Some(lock),
            ..self
        }
    }

    /// The same backend, whose store is probed before the first commit: see the module.
    pub fn probed(self) -> CloudBackend {
        CloudBackend {
            gate: Arc::new(Gate::new(Rule::Probe)),
            ..self
        }
    }

    /// The lock through which commits go, if they do.
    pub fn lock(&self) -> Option<Arc<dyn CommitLock>> {
        self.lock.clone()
    }

    /// The table at a root of this backend.
    pub fn table(&self, root: TableRoot) -> TableStore {
        let opened =
            |gate: Arc<Gate>| stores::CloudTable::new(Arc::clone(&self.store), root.clone(), gate);
        let table = Arc::new(opened(Arc::clone(&self.gate)));
        let log: Arc<dyn LogStore> = match &self.lock {
            Some(lock) => Arc::new(lock::LockedLog::new(
                opened(Arc::new(Gate::new(Rule::Trust))),
                Arc::clone(lock),
                root.clone(),
                self.gate.may_ask(),
            )),
            None => table.clone(),
        };
        TableStore::new(root, log, table, Arc::clone(&self.store), self.url.clone())
    }
}
