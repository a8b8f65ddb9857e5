//! Tables in object stores: S3 and what speaks its protocol, Azure Blob Storage (ADLS Gen2), OneLake.
//!
//! A commit is one conditional put (`If-None-Match: *`). Where its answer leaves open what happened, the store is asked
//! what is there now, so that a commit is reported once and as what it is.

mod failure;
mod markers;
mod options;
mod stores;
mod versioning;

use std::sync::Arc;

use deltaic_protocol::error::Result;
use object_store::ObjectStore;

pub use options::{CloudOptions, is_cloud_option};
pub use versioning::{Versioning, versioning};

use crate::root::{Scheme, TableRoot};
use crate::table::TableStore;

/// The client of one bucket or container.
#[derive(Debug, Clone)]
pub struct CloudBackend {
    store: Arc<dyn ObjectStore>,
    url: String,
}

impl CloudBackend {
    /// Opens the bucket or container of a root. Nothing is asked of the store yet.
    ///
    /// # Errors
    /// Options that do not go together, or none at all where some are needed.
    pub fn open(root: &TableRoot, options: &CloudOptions) -> Result<CloudBackend> {
        let place = root.bucket();
        let store = match root.scheme() {
            Scheme::Azure => options::azure(
                &place.container,
                place.account.as_deref(),
                place.fabric,
                options,
            )?,
            _ => options::s3(&place.container, options)?,
        };
        Ok(CloudBackend::new(store, root.prefix()))
    }

    /// A backend on any object store, under what stands before a path in it: `s3://bucket`.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> CloudBackend {
        CloudBackend {
            store,
            url: prefix.to_owned(),
        }
    }

    /// The table at a root of this backend.
    pub fn table(&self, root: TableRoot) -> TableStore {
        let table = Arc::new(stores::CloudTable::new(
            Arc::clone(&self.store),
            root.clone(),
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
