//! One layer of file state: what a run of commits (or a checkpoint) says last about each logical file.
//!
//! Layers are immutable once they are part of a snapshot. Adjacent ones merge, the newer winning.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_protocol::action::{Add, Remove};

use super::FileKey;

/// The last word of a layer about one file.
#[derive(Debug, Clone)]
pub enum FileState {
    /// The file is part of the table.
    Live(Arc<Add>),
    /// The file was removed; its tombstone.
    Removed(Arc<Remove>),
}

/// A state with its place in the log, which gives files their order.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Grows with version and line.
    pub(crate) order: u64,
    pub(crate) state: FileState,
}

/// File states by key.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    pub(crate) entries: HashMap<FileKey, Entry>,
}

impl Layer {
    /// An empty layer with room for `capacity` files.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: HashMap::with_capacity(capacity),
        }
    }

    /// How many files the layer speaks of.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Records the newest word about a file.
    pub(crate) fn put(&mut self, key: FileKey, order: u64, state: FileState) {
        self.entries.insert(key, Entry { order, state });
    }

    /// What the layer says about a file.
    pub(crate) fn get(&self, key: &FileKey) -> Option<&FileState> {
        self.entries.get(key).map(|e| &e.state)
    }

    /// The union of two layers, `newer` winning.
    pub(crate) fn merged(older: &Arc<Self>, newer: &Arc<Self>) -> Self {
        let mut out = Self::with_capacity(older.len() + newer.len());
        out.entries
            .extend(older.entries.iter().map(|(k, e)| (k.clone(), e.clone())));
        out.entries
            .extend(newer.entries.iter().map(|(k, e)| (k.clone(), e.clone())));
        out
    }
}
