//! A persistent stack of layers over a checkpoint base.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::action::{Add, Remove};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::error::Result;
use deltaic_storage::TableRoot;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

use super::key::canonical;
use super::layer::Entry;
use super::{Base, FileKey, FileState, Layer};
use crate::checkpoint::{AddChunk, Named};

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

/// The files that commits above a checkpoint name.
struct NamedAbove {
    keys: HashSet<FileKey>,
    paths: HashSet<Arc<str>>,
}

impl NamedAbove {
    fn of(keys: impl Iterator<Item = FileKey>) -> Self {
        let keys: HashSet<FileKey> = keys.collect();
        let paths = keys.iter().map(|key| Arc::clone(&key.path)).collect();
        Self { keys, paths }
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a file of the checkpoint is one of them. Most are not, by their path already.
    fn has(&self, root: &TableRoot, path: &str, vector: Option<&DeletionVectorDescriptor>) -> bool {
        !self.is_empty()
            && self.paths.contains(canonical(root, path).as_ref())
            && self.keys.contains(&FileKey::new(root, path, vector))
    }
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
    pub(crate) fn live_chunks(&self) -> BoxStream<'static, Result<AddChunk>> {
        let (named, newest) = self.above();
        let newest = newest.into_iter().map(|(_, add)| add).collect();
        let root = self.base.root().cloned();
        self.base
            .add_rows()
            .map(move |chunk| match (chunk?, &root) {
                (AddChunk::Rows(rows), Some(root)) if !named.is_empty() => {
                    let keep = |(path, vector): Named<'_>| !named.has(root, path, vector);
                    rows.filtered(keep).map(AddChunk::Rows)
                }
                (AddChunk::Files(mut adds), Some(root)) => {
                    adds.retain(|add| !named.has(root, &add.path, add.deletion_vector.as_ref()));
                    Ok(AddChunk::Files(adds))
                }
                (chunk, _) => Ok(chunk),
            })
            .chain(stream::iter([Ok(AddChunk::Files(newest))]))
            .boxed()
    }

    /// What `take` makes of path and deletion vector of each live file, in the same order, some at a time; of the checkpoint nothing
    /// else is read.
    pub(crate) fn live_named<T: Send + 'static>(
        &self,
        take: impl Fn(Named<'_>) -> T + Clone + Send + 'static,
    ) -> BoxStream<'static, Result<Vec<T>>> {
        let (named, newest) = self.above();
        let newest = newest
            .iter()
            .map(|(_, add)| take((&add.path, add.deletion_vector.as_ref())))
            .collect();
        let root = self.base.root().cloned();
        let named = Arc::new(named);
        let below = move |file: Named<'_>| {
            let above = root
                .as_ref()
                .is_some_and(|root| named.has(root, file.0, file.1));
            (!above).then(|| take(file))
        };
        self.base
            .named_chunks(below)
            .chain(stream::iter([Ok(newest)]))
            .boxed()
    }

    /// The tombstones, some at a time in the order in which the log names them; those of the checkpoint go by.
    pub(crate) fn tombstone_chunks(&self) -> BoxStream<'static, Result<Vec<Arc<Remove>>>> {
        let flattened = self.flattened();
        let mut newest: Vec<(u64, Arc<Remove>)> = Vec::new();
        for entry in flattened.values() {
            if let FileState::Removed(remove) = &entry.state {
                newest.push((entry.order, Arc::clone(remove)));
            }
        }
        newest.sort_by_key(|(order, _)| *order);
        let newest = newest.into_iter().map(|(_, remove)| remove).collect();
        let below = self.base.root().is_some();
        let named = flattened.into_keys().filter(|_| below).cloned();
        let named: HashSet<FileKey> = named.collect();
        self.base
            .remove_chunks()
            .map_ok(move |removes| {
                let kept = removes.into_iter().filter(|(key, _)| !named.contains(key));
                kept.map(|(_, remove)| remove).collect()
            })
            .chain(stream::iter([Ok(newest)]))
            .boxed()
    }

    /// The files that the layers name, and of those the live ones in the order of the log.
    fn above(&self) -> (NamedAbove, Vec<(FileKey, Arc<Add>)>) {
        let flattened = self.flattened();
        let mut newest: Vec<(u64, (FileKey, Arc<Add>))> = Vec::new();
        for (key, entry) in &flattened {
            if let FileState::Live(add) = &entry.state {
                newest.push((entry.order, ((*key).clone(), Arc::clone(add))));
            }
        }
        newest.sort_by_key(|(order, _)| *order);
        // Without a checkpoint there is nothing that they could take the place of.
        let below = self.base.root().is_some();
        let named = NamedAbove::of(flattened.into_keys().filter(|_| below).cloned());
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
