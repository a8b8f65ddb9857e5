//! The data store of the local disk.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::StreamExt;
use futures::stream;

use super::walk::{self, Links};
use super::{blocking, fs, os_path};
use crate::error::io_error;
use crate::root::TableRoot;
use crate::{DataStore, DeleteOutcome, Descend, DirOutcome, FileMeta, FileStream, PutOutcome};

/// Messages of a walk that wait for the listener.
const WALK_AHEAD: usize = 4;

/// All files of one table.
#[derive(Debug, Clone)]
pub(super) struct LocalDataStore {
    root: TableRoot,
    durable: bool,
}

impl LocalDataStore {
    pub(super) fn new(root: TableRoot, durable: bool) -> LocalDataStore {
        LocalDataStore { root, durable }
    }

    fn place(&self, path: &str) -> (PathBuf, String) {
        (os_path(&self.root.absolute(path)), self.root.display(path))
    }
}

impl LocalDataStore {
    fn walked(&self, prefix: &str, descend: Option<Descend>, links: Links) -> FileStream {
        let root = self.root.clone();
        let prefix = prefix.trim_end_matches('/').to_string();
        let start = async move {
            let (send, receive) = tokio::sync::mpsc::channel::<walk::Step>(WALK_AHEAD);
            let place = os_path(root.path());
            tokio::task::spawn_blocking(move || {
                walk::walk(&place, &prefix, descend.as_ref(), links, &send)
            });
            stream::unfold(receive, |mut receive| async move {
                receive.recv().await.map(|step| (step, receive))
            })
            .map(move |step| {
                step.map_err(|(path, error)| io_error("list", &root.display(&path), error))
            })
        };
        stream::once(start)
            .flatten()
            .flat_map(|step| match step {
                Ok(entries) => stream::iter(entries.into_iter().map(Ok)).boxed(),
                Err(error) => stream::once(async move { Err(error) }).boxed(),
            })
            .boxed()
    }
}

#[async_trait]
impl DataStore for LocalDataStore {
    fn list(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        self.walked(prefix, descend, Links::Kept)
    }

    fn list_through_links(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        self.walked(prefix, descend, Links::Followed)
    }

    async fn stat(&self, path: &str) -> Result<Option<FileMeta>> {
        let (place, shown) = self.place(path);
        let relative = path.to_string();
        blocking::run("look up", shown, move || walk::entry(&place, &relative)).await
    }

    async fn read(&self, path: &str) -> Result<Bytes> {
        let (place, shown) = self.place(path);
        blocking::run("read", shown, move || fs::read(&place)).await
    }

    async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        let (place, shown) = self.place(path);
        blocking::run("read", shown, move || fs::read_range(&place, range)).await
    }

    async fn create(&self, path: &str, content: Bytes) -> Result<PutOutcome> {
        let (place, shown) = self.place(path);
        let durable = self.durable;
        let created = blocking::run("create", shown, move || {
            fs::create_in_place(&place, &[content], durable)
        })
        .await?;
        Ok(if created {
            PutOutcome::Created
        } else {
            PutOutcome::AlreadyExists
        })
    }

    async fn delete_file(&self, path: &str) -> Result<DeleteOutcome> {
        let (place, shown) = self.place(path);
        blocking::run("delete", shown, move || delete(&place)).await
    }

    async fn delete_empty_dir(&self, path: &str) -> Result<DirOutcome> {
        let (place, shown) = self.place(path);
        blocking::run("delete", shown, move || match std::fs::remove_dir(&place) {
            Ok(()) => Ok(DirOutcome::Deleted),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(DirOutcome::Missing),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
                ) =>
            {
                Ok(DirOutcome::NotEmpty)
            }
            // A link to a folder goes when the folder is empty; the folder itself lies elsewhere and stays.
            Err(error) if error.kind() == ErrorKind::NotADirectory && place.is_symlink() => {
                if std::fs::read_dir(&place)?.next().is_some() {
                    return Ok(DirOutcome::NotEmpty);
                }
                std::fs::remove_file(&place).map(|()| DirOutcome::Deleted)
            }
            Err(error) => Err(error),
        })
        .await
    }

    async fn leads_through_link(&self, folder: &str) -> Result<bool> {
        let (mut place, shown) = self.place("");
        let folder = folder.to_owned();
        blocking::run("look up", shown, move || {
            for name in folder.split('/') {
                place.push(os_path(name));
                match std::fs::symlink_metadata(&place) {
                    Ok(found) if found.is_symlink() => return Ok(true),
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
            Ok(false)
        })
        .await
    }

    async fn set_modified(&self, path: &str, modified_ms: i64) -> Result<()> {
        let (place, shown) = self.place(path);
        blocking::run("touch", shown, move || {
            fs::set_modified(&place, modified_ms)
        })
        .await
    }
}

/// Removes a file or a link.
pub(super) fn delete(place: &Path) -> io::Result<DeleteOutcome> {
    match std::fs::remove_file(place) {
        Ok(()) => Ok(DeleteOutcome::Deleted),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(DeleteOutcome::Missing)
        }
        Err(error) => Err(error),
    }
}
