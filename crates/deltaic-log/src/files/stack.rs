//! A persistent stack of layers over a checkpoint base.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::action::{Add, Remove};
use deltaic_protocol::error::Result;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

use super::base::Keyed;
use super::layer::Entry;
use super::{Base, FileKey, FileState, Layer};

/// What is known about a file without reading anything.
#[derive(Debug)]
pub(crate) enum Known<'a> {
    /// It is live.
    Live(&'a Arc<Add>),
    /// It is not in the table.
    Gone,
    /// Only the checkpoint, which is not read yet, could tell.
    Unknown,
}

/// File state of one table version; cloning copies a few pointers.
#[derive(Debug, Clone)]
pub(crate) struct FileStack {
    base: Arc<Base>,
    /// Oldest first.
    layers: Vec<Arc<Layer>>,
}

impl FileStack {
    /// A stack on a checkpoint (or on nothing).
    pub(crate) fn new(base: Base) -> Self {
        Self {
            base: Arc::new(base),
            layers: Vec::new(),
        }
    }

    /// Puts the outcome of newer commits on top. Costs in proportion to `layer`, amortised.
    pub(crate) fn push(&mut self, layer: Layer) {
        if layer.len() == 0 {
            return;
        }
        let mut top = Arc::new(layer);
        while let Some(below) = self.layers.last()
            && below.len() < 2 * top.len()
        {
            top = Arc::new(Layer::merged(below, &top));
            self.layers.pop();
        }
        self.layers.push(top);
    }

    /// What memory knows about a file.
    pub(crate) fn known(&self, key: &FileKey) -> Known<'_> {
        if let Some(state) = self.layers.iter().rev().find_map(|l| l.get(key)) {
            return match state {
                FileState::Live(add) => Known::Live(add),
                FileState::Removed(_) => Known::Gone,
            };
        }
        match self.base.loaded_adds() {
            None => Known::Unknown,
            Some(adds) => match adds.get(key) {
                Some(FileState::Live(add)) => Known::Live(add),
                _ => Known::Gone,
            },
        }
    }

    /// The live files, in the order in which the log names them.
    pub(crate) async fn live(&self) -> Result<Vec<Arc<Add>>> {
        let base = self.base.adds().await?;
        let above = self.flattened();
        let mut found: Vec<(u64, Arc<Add>)> = Vec::with_capacity(base.len() + above.len());
        let below = base
            .entries
            .iter()
            .filter(|(key, _)| !above.contains_key(key))
            .map(|(_, e)| e);
        for entry in below.chain(above.values().copied()) {
            if let FileState::Live(add) = &entry.state {
                found.push((entry.order, Arc::clone(add)));
            }
        }
        found.sort_by_key(|(order, _)| *order);
        Ok(found.into_iter().map(|(_, add)| add).collect())
    }

    /// The live files in the same order, some at a time: those of the checkpoint go by, unless somebody holds them already.
    pub(crate) fn live_chunks(&self) -> BoxStream<'static, Result<Vec<Arc<Add>>>> {
        let (named, newest) = self.above();
        let newest = newest.into_iter().map(|(_, add)| add).collect();
        self.base
            .add_chunks()
            .map_ok(move |adds| {
                let kept = adds.into_iter().filter(|(key, _)| !named.contains(key));
                kept.map(|(_, add)| add).collect()
            })
            .chain(stream::iter([Ok(newest)]))
            .boxed()
    }

    /// The paths of the live files in the same order, some at a time; of the checkpoint nothing else is read.
    pub(crate) fn live_paths(&self) -> BoxStream<'static, Result<Vec<Arc<str>>>> {
        let (named, newest) = self.above();
        let newest = newest.into_iter().map(|(key, _)| key.path).collect();
        self.base
            .key_chunks()
            .map_ok(move |keys| {
                let kept = keys.into_iter().filter(|key| !named.contains(key));
                kept.map(|key| key.path).collect()
            })
            .chain(stream::iter([Ok(newest)]))
            .boxed()
    }

    /// The files that the layers name, and of those the live ones in the order of the log.
    fn above(&self) -> (HashSet<FileKey>, Vec<Keyed>) {
        let flattened = self.flattened();
        let mut newest: Vec<(u64, Keyed)> = Vec::new();
        for (key, entry) in &flattened {
            if let FileState::Live(add) = &entry.state {
                newest.push((entry.order, ((*key).clone(), Arc::clone(add))));
            }
        }
        newest.sort_by_key(|(order, _)| *order);
        let named = flattened.into_keys().cloned().collect();
        (named, newest.into_iter().map(|(_, keyed)| keyed).collect())
    }

    /// The tombstones, expired or not, in the order in which the log names them.
    pub(crate) async fn tombstones(&self) -> Result<Vec<Arc<Remove>>> {
        let base = self.base.removes().await?;
        let above = self.flattened();
        let mut found: Vec<(u64, Arc<Remove>)> = Vec::new();
        let below = base
            .entries
            .iter()
            .filter(|(key, _)| !above.contains_key(key))
            .map(|(_, e)| e);
        for entry in below.chain(above.values().copied()) {
            if let FileState::Removed(remove) = &entry.state {
                found.push((entry.order, Arc::clone(remove)));
            }
        }
        found.sort_by_key(|(order, _)| *order);
        Ok(found.into_iter().map(|(_, remove)| remove).collect())
    }

    /// The newest word of the layers about every file that they name.
    fn flattened(&self) -> HashMap<&FileKey, &Entry> {
        let mut out = HashMap::with_capacity(self.layers.iter().map(|l| l.len()).sum());
        for layer in &self.layers {
            out.extend(layer.entries.iter());
        }
        out
    }

    /// How many layers there are; it stays logarithmic.
    #[cfg(test)]
    pub(crate) fn depth(&self) -> usize {
        self.layers.len()
    }
}
