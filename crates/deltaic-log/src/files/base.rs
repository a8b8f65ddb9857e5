//! The lowest layer: the file actions of a checkpoint, read when first asked for.

use std::sync::Arc;

use deltaic_protocol::action::{Add, Remove};
use deltaic_protocol::error::Result;
use deltaic_storage::{TableRoot, TableStore};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::OnceCell;

use super::{FileKey, FileState, Layer};
use crate::checkpoint::{self, AddChunk, CheckpointFiles, Named};

/// A checkpoint that can be read when its files are needed.
#[derive(Debug, Clone)]
pub struct CheckpointSource {
    /// The table.
    pub store: TableStore,
    /// Which files the checkpoint consists of.
    pub files: Arc<CheckpointFiles>,
}

/// A tombstone and what it is known by.
pub(crate) type Keyed = (FileKey, Arc<Remove>);

/// The file actions of a checkpoint, adds and removes separately, since most readers want adds only.
#[derive(Debug)]
pub(crate) struct Base {
    source: Option<CheckpointSource>,
    adds: OnceCell<Arc<Layer>>,
    removes: OnceCell<Arc<Layer>>,
}

impl Base {
    /// No checkpoint below the commits.
    pub(crate) fn empty() -> Self {
        Self {
            source: None,
            adds: OnceCell::new_with(Some(Arc::default())),
            removes: OnceCell::new_with(Some(Arc::default())),
        }
    }

    /// A checkpoint, not read yet.
    pub(crate) fn checkpoint(source: CheckpointSource) -> Self {
        Self {
            source: Some(source),
            adds: OnceCell::new(),
            removes: OnceCell::new(),
        }
    }

    /// The live files, if somebody has read them before.
    pub(crate) fn loaded_adds(&self) -> Option<&Arc<Layer>> {
        self.adds.get()
    }

    /// The live files of the checkpoint.
    pub(crate) async fn adds(&self) -> Result<Arc<Layer>> {
        let layer = self.adds.get_or_try_init(|| async {
            let Some(source) = &self.source else {
                return Ok(Arc::default());
            };
            let adds = checkpoint::read_adds(&source.store, &source.files).await?;
            let root = source.store.root();
            let mut layer = Layer::with_capacity(adds.len());
            for (order, add) in adds.into_iter().enumerate() {
                layer.put(
                    FileKey::of_add(root, &add),
                    order as u64,
                    FileState::Live(Arc::new(add)),
                );
            }
            Ok(Arc::new(layer))
        });
        layer.await.cloned()
    }

    /// The root of the table, if there is a checkpoint.
    pub(crate) fn root(&self) -> Option<&TableRoot> {
        self.source.as_ref().map(|source| source.store.root())
    }

    /// The live files that somebody has read before, in the order of the checkpoint.
    fn held(&self) -> Option<Vec<Arc<Add>>> {
        let layer = self.adds.get()?;
        let mut adds: Vec<(u64, &Arc<Add>)> = Vec::with_capacity(layer.len());
        for entry in layer.entries.values() {
            if let FileState::Live(add) = &entry.state {
                adds.push((entry.order, add));
            }
        }
        adds.sort_by_key(|(order, _)| *order);
        Some(adds.into_iter().map(|(_, add)| Arc::clone(add)).collect())
    }

    /// The live files of the checkpoint, some at a time; read anew, unless somebody has read them before.
    pub(crate) fn add_rows(&self) -> BoxStream<'static, Result<AddChunk>> {
        match (self.held(), &self.source) {
            (Some(adds), _) => stream::iter([Ok(AddChunk::Files(adds))]).boxed(),
            (None, Some(source)) => checkpoint::add_rows(&source.store, &source.files),
            (None, None) => stream::empty().boxed(),
        }
    }

    /// What `take` makes of the path and the deletion vector of each live file of the checkpoint, some at a time.
    pub(crate) fn named_chunks<T: Send + 'static>(
        &self,
        take: impl Fn(Named<'_>) -> Option<T> + Clone + Send + 'static,
    ) -> BoxStream<'static, Result<Vec<T>>> {
        match (self.held(), &self.source) {
            (Some(adds), _) => {
                let named = adds
                    .iter()
                    .filter_map(|add| take((&add.path, add.deletion_vector.as_ref())));
                stream::iter([Ok(named.collect())]).boxed()
            }
            (None, Some(source)) => checkpoint::named_chunks(&source.store, &source.files, take),
            (None, None) => stream::empty().boxed(),
        }
    }

    /// The tombstones of the checkpoint with their keys, some at a time; read anew, unless somebody has read them before.
    pub(crate) fn remove_chunks(&self) -> BoxStream<'static, Result<Vec<Keyed>>> {
        let Some(source) = &self.source else {
            return stream::empty().boxed();
        };
        if let Some(layer) = self.removes.get() {
            let mut removes: Vec<(u64, FileKey, Arc<Remove>)> = Vec::with_capacity(layer.len());
            for (key, entry) in &layer.entries {
                if let FileState::Removed(remove) = &entry.state {
                    removes.push((entry.order, key.clone(), Arc::clone(remove)));
                }
            }
            removes.sort_by_key(|(order, ..)| *order);
            let removes = removes.into_iter().map(|(_, key, remove)| (key, remove));
            return stream::iter([Ok(removes.collect())]).boxed();
        }
        let root = source.store.root().clone();
        let keyed = move |remove: Remove| (FileKey::of_remove(&root, &remove), Arc::new(remove));
        checkpoint::remove_chunks(&source.store, &source.files)
            .map_ok(move |removes| removes.into_iter().map(&keyed).collect())
            .boxed()
    }

    /// The tombstones of the checkpoint.
    pub(crate) async fn removes(&self) -> Result<Arc<Layer>> {
        let layer = self.removes.get_or_try_init(|| async {
            let Some(source) = &self.source else {
                return Ok(Arc::default());
            };
            let removes = checkpoint::read_removes(&source.store, &source.files).await?;
            let root = source.store.root();
            let mut layer = Layer::with_capacity(removes.len());
            for (order, remove) in removes.into_iter().enumerate() {
                layer.put(
                    FileKey::of_remove(root, &remove),
                    order as u64,
                    FileState::Removed(Arc::new(remove)),
                );
            }
            Ok(Arc::new(layer))
        });
        layer.await.cloned()
    }
}
