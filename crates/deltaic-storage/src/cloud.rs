//! Tables in object stores: S3 and what speaks its protocol, Azure Blob Storage (ADLS Gen2), OneLake.
//!
//! A commit is one conditional put (`If-None-Match: *`). Where its answer leaves open what happened, the store is asked
//! what is there now, so that a commit is reported once and as what it is. A listing that breaks off is taken up again
//! or is an error, and deletions are made in batches where the server takes batches. A server that answers 429 or 503
//! with `Retry-After` is not asked before that time, if the time is not longer than a quarter of `retry_timeout`.
//!
//! # Stores that do not keep two commits apart
//! Some servers that speak the protocol of S3 take the condition and ignore it, or look first and write then; there one
//! commit can replace another. So the first commit through a client to an endpoint that is not AWS's own is preceded by
//! a probe: on objects named `_delta_log/.probe-…`, one is created twice, and twelve are created by two requests at the
//! same time. That is 40 small requests in five round trips, once per client. A store that fails is refused for
//! writing, and can be read. A server that ignores the condition is always found; one that looks first and writes then
//! is found with a probability only. AWS and Azure are not probed.
//!
//! `aws_conditional_put=etag` says that the store is right, `disabled` that it is not; neither is probed.
//!
//! # Commits through DynamoDB
//! With `S3_LOCKING_PROVIDER=dynamodb` commits go through a table of DynamoDB as Delta's `S3DynamoDBLogStore` lays it
//! out, so that Spark, deltalake (up to the versions that had it) and Deltaic write one table at the same time, on any
//! store. All who write a table must use the same table of DynamoDB and the same scheme in its location: `s3://b/t` and
//! `s3a://b/t` are two keys. A lifecycle rule of the bucket must not remove `_delta_log/.tmp/` files younger than a
//! day.
//!
#![doc = include_str!("cloud/options.md")]

mod azure;
mod checked;
mod credentials;
mod deletes;
mod dynamo;
mod failure;
mod known;
mod limits;
mod listing;
mod lock;
mod markers;
mod odd;
mod options;
mod plain;
mod probe;
mod profile;
mod s3;
mod secrets;
mod settings;
mod stores;
mod upload;
mod versioning;
mod wire;

use std::sync::Arc;

use deltaic_protocol::error::Result;
use object_store::ObjectStore;

pub use failure::{hint_of_failure, of_failure};
pub use known::{is_known_option, similar_option};
pub use lock::{CommitLock, LockEntry};
pub use options::{REDACTED, is_cloud_option, is_secret, is_secret_property};
pub use settings::CloudOptions;
pub use versioning::{Versioning, versioning};

use crate::LogStore;
use crate::root::{Scheme, TableRoot};
use crate::table::TableStore;
use checked::Checked;
use limits::Limits;
use probe::{Gate, Rule};
use settings::Settings;
use wire::Kept;

/// The client of one bucket or container.
#[derive(Clone)]
pub struct CloudBackend {
    store: Arc<dyn ObjectStore>,
    url: String,
    gate: Arc<Gate>,
    lock: Option<Arc<dyn CommitLock>>,
    limits: Limits,
    kept: Kept,
    /// The account of options, on Azure.
    account: Option<String>,
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
            let container = azure::open(&place, &settings)?;
            return Ok(CloudBackend {
                limits: container.limits,
                kept: container.kept,
                account: azure::account(&settings)?,
                ..CloudBackend::new(container.store, root.prefix())
            });
        }
        let bucket = s3::open(&place, &settings)?;
        Ok(CloudBackend {
            gate: Arc::new(Gate::new(bucket.rule)),
            lock: bucket.lock,
            limits: bucket.limits,
            ..CloudBackend::new(bucket.store, root.prefix())
        })
    }

    /// A backend on any object store that keeps the condition of a put, under what stands before a path in it:
    /// `s3://bucket`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> CloudBackend {
        CloudBackend {
            store: Arc::new(Checked::new(store)),
            url: prefix.to_owned(),
            gate: Arc::new(Gate::new(Rule::Trust)),
            lock: None,
            limits: Limits::default(),
            kept: Kept::default(),
            account: None,
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
        let root = root.with_account(self.account.clone());
        let opened = |gate: Arc<Gate>| {
            stores::CloudTable::new(Arc::clone(&self.store), root.clone(), gate, self.limits)
                .noting(self.kept.clone())
        };
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
            .telling(failure::to_delta)
    }
}

impl std::fmt::Debug for CloudBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CloudBackend({})", self.url)
    }
}
