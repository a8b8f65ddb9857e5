//! Tables in object stores: S3 and what speaks its protocol, Azure Blob Storage (ADLS Gen2), OneLake.
//!
//! A commit is one conditional put (`If-None-Match: *`). Where its answer leaves open what happened, the store is asked
//! what is there now, so that a commit is reported once and as what it is. A listing that breaks off is taken up again or is
//! an error, and deletions are made in batches where the server takes batches.
//!
//! How long that may take is said by options (in any case, with `aws_` or `azure_` in front or without, or as a variable of
//! the environment with it):
//!
//! | option | meaning | unset |
//! |---|---|---|
//! | `timeout` | one request, with its body | 30 s, or `retry_timeout` where that is shorter |
//! | `retry_timeout` | an operation with all its repetitions | 60 s |
//! | `max_retries` | repetitions of one request | 8 |
//!
//! A server that answers 429 or 503 with `Retry-After` is not asked before that time, if the time is not longer than
//! `retry_timeout`.

mod deletes;
mod failure;
mod limits;
mod listing;
mod markers;
mod options;
mod plain;
mod stores;
mod versioning;
mod wire;

use std::sync::Arc;

use deltaic_protocol::error::Result;
use object_store::ObjectStore;

use limits::Limits;
pub use options::{CloudOptions, is_cloud_option};
pub use versioning::{Versioning, versioning};

use crate::root::{Scheme, TableRoot};
use crate::table::TableStore;

/// The client of one bucket or container.
#[derive(Debug, Clone)]
pub struct CloudBackend {
    store: Arc<dyn ObjectStore>,
    url: String,
    limits: Limits,
}

impl CloudBackend {
    /// Opens the bucket or container of a root. Nothing is asked of the store yet.
    ///
    /// # Errors
    /// Options that do not go together, or none at all where some are needed.
    pub fn open(root: &TableRoot, options: &CloudOptions) -> Result<CloudBackend> {
        let place = root.bucket();
        let limits = Limits::of(options)?;
        let store = match root.scheme() {
            Scheme::Azure => options::azure(&place, options, limits)?,
            _ => options::s3(&place, options, limits)?,
        };
        Ok(CloudBackend {
            store,
            url: root.prefix().to_owned(),
            limits,
        })
    }

    /// A backend on any object store, under what stands before a path in it: `s3://bucket`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> CloudBackend {
        CloudBackend {
            store,
            url: prefix.to_owned(),
            limits: Limits::default(),
        }
    }

    /// The table at a root of this backend.
    pub fn table(&self, root: TableRoot) -> TableStore {
        let table = Arc::new(stores::CloudTable::new(
            Arc::clone(&self.store),
            root.clone(),
            self.limits,
        ));
        TableStore::new(
            root,
            table.clone(),
            table,
            Arc::clone(&self.store),
            self.url.clone(),
        )
    }
}
