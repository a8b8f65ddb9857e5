//! The local disk.
//!
//! A log file is written under a name of its own (`.<uuid>.tmp`, in the same folder), synced, and hard-linked to its final
//! name: the link fails if the name is taken, so no lock is needed and none can be left behind. Where hard links are not
//! supported the file is renamed without replacing; where that is missing too it is created exclusively and written in
//! place, which keeps "exactly one winner" and gives up "whole or not at all" if the process dies in the middle.

mod blocking;
mod data;
mod failure;
mod fs;
mod log;
mod object;
mod upload;
mod walk;

use std::path::PathBuf;
use std::sync::Arc;

pub use object::LocalObjectStore;

use crate::LOG_DIR;
use crate::root::TableRoot;
use crate::table::TableStore;

/// Opens tables on the local disk.
#[derive(Debug, Clone)]
pub struct LocalBackend {
    durable: bool,
    object: Arc<LocalObjectStore>,
}

impl LocalBackend {
    /// `durable`: sync files and their folder before a write counts as done.
    pub fn new(durable: bool) -> LocalBackend {
        LocalBackend {
            durable,
            object: Arc::new(LocalObjectStore::new(durable)),
        }
    }

    /// The table at a root of this backend.
    pub fn table(&self, root: TableRoot) -> TableStore {
        let log = log::LocalLogStore::new(&root, LOG_DIR, self.durable);
        let data = data::LocalDataStore::new(root.clone(), self.durable);
        TableStore::new(
            root,
            Arc::new(log),
            Arc::new(data),
            self.object.clone(),
            "deltaic-file://",
        )
    }
}

/// The operating system's path of an absolute decoded path.
fn os_path(absolute: &str) -> PathBuf {
    PathBuf::from(absolute)
}
