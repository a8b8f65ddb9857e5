//! The lowest layer: the file actions of a checkpoint, read when first asked for.

use std::sync::Arc;

use deltaic_protocol::action::Add;
use deltaic_protocol::error::Result;
use deltaic_storage::TableStore;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::OnceCell;

use super::{FileKey, FileState, Layer};
use crate::checkpoint::{self, CheckpointFiles};

/// A checkpoint that can be read when its files are needed.
#[derive(Debug, Clone)]
pub struct CheckpointSource {
    /// The table.
    pub store: TableStore,
    /// Which files the checkpoint consists of.
    pub files: Arc<CheckpointFiles>,
}

/// A live file and what it is known by.
pub(crate) type Keyed = (FileKey, Arc<Add>);

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

    /// The live files of the checkpoint with their keys, some at a time; read anew, unless somebody has read them before.
    pub(crate) fn add_chunks(&self) -> BoxStream<'static, Result<Vec<Keyed>>> {
        if let Some(layer) = self.adds.get() {
            let mut adds: Vec<(u64, FileKey, Arc<Add>)> = Vec::with_capacity(layer.len());
            for (key, entry) in &layer.entries {
                if let FileState::Live(add) = &entry.state {
                    adds.push((entry.order, key.clone(), Arc::clone(add)));
                }
            }
            adds.sort_by_key(|(order, ..)| *order);
            let adds = adds.into_iter().map(|(_, key, add)| (key, add)).collect();
            return stream::iter([Ok(adds)]).boxed();
        }
        let Some(source) = &self.source else {
            return stream::empty().boxed();
        };
        let root = source.store.root().clone();
        let keyed = move |add: Add| (FileKey::of_add(&root, &add), Arc::new(add));
        checkpoint::add_chunks(&source.store, &source.files)
            .map_ok(move |adds| adds.into_iter().map(&keyed).collect())
            .boxed()
    }

    /// What the live files of the checkpoint are known by, some at a time.
    pub(crate) fn key_chunks(&self) -> BoxStream<'static, Result<Vec<FileKey>>> {
        match (&self.source, self.adds.get()) {
            (Some(source), None) => {
                let root = source.store.root().clone();
                checkpoint::named_chunks(&source.store, &source.files, move |(path, vector)| {
                    FileKey::new(&root, path, vector)
                })
            }
            _ => self
                .add_chunks()
                .map_ok(|adds| adds.into_iter().map(|(key, _)| key).collect())
                .boxed(),
        }
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
