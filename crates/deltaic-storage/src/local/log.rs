//! The log store of the local disk.

use std::ops::Range;
use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use deltaic_protocol::file_name::LogFileName;
use futures::StreamExt;
use futures::stream;

use super::fs::Folders;
use super::{blocking, fs, os_path, walk};
use crate::error::io_error;
use crate::root::TableRoot;
use crate::unfinished::is_temporary;
use crate::{DeleteOutcome, FileMeta, FileStream, LogStore, PutOutcome};

/// Entries looked up at once while listing.
const STAT_BATCH: usize = 512;

/// `_delta_log` of one table.
#[derive(Debug, Clone)]
pub(super) struct LocalLogStore {
    folder: PathBuf,
    shown: String,
    durable: bool,
}

impl LocalLogStore {
    pub(super) fn new(root: &TableRoot, log_dir: &str, durable: bool) -> LocalLogStore {
        LocalLogStore {
            folder: os_path(&root.absolute(log_dir)),
            shown: root.display(log_dir),
            durable,
        }
    }

    fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.shown)
    }
}

#[async_trait]
impl LogStore for LocalLogStore {
    async fn read(&self, name: &str) -> Result<Bytes> {
        let path = self.folder.join(name);
        blocking::run("read", self.shown(name), move || fs::read(&path)).await
    }

    /// One task for all: for small files a task costs more than the file.
    async fn read_each(&self, names: Vec<String>) -> Result<Vec<Result<Bytes>>> {
        let (folder, files) = (self.folder.clone(), names.clone());
        let read = blocking::run("read", self.shown.clone(), move || {
            let contents = files.iter().map(|name| fs::read(&folder.join(name)));
            Ok(contents.collect::<Vec<_>>())
        });
        let named = read.await?.into_iter().zip(names);
        let shown = named
            .map(|(content, name)| content.map_err(|e| io_error("read", &self.shown(&name), e)));
        Ok(shown.collect())
    }

    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        let path = self.folder.join(name);
        blocking::run("read", self.shown(name), move || {
            fs::read_range(&path, range)
        })
        .await
    }

    fn list_from(&self, start: &str) -> FileStream {
        let folder = self.folder.clone();
        let shown = self.shown.clone();
        let start = start.to_string();
        let names = {
            let (folder, shown) = (folder.clone(), shown.clone());
            async move {
                blocking::run("list", shown, move || {
                    let mut names = walk::sorted_names(&folder, &start)?;
                    names.retain(|name| !is_temporary(name));
                    Ok(names)
                })
                .await
            }
        };
        stream::once(names)
            .flat_map(move |names| {
                let (folder, shown) = (folder.clone(), shown.clone());
                match names {
                    Err(error) => stream::once(async move { Err(error) }).boxed(),
                    Ok(names) => stream::iter(chunks(names))
                        .then(move |chunk| stat_all(folder.clone(), shown.clone(), chunk))
                        .flat_map(|batch| match batch {
                            Ok(entries) => stream::iter(entries.into_iter().map(Ok)).boxed(),
                            Err(error) => stream::once(async move { Err(error) }).boxed(),
                        })
                        .boxed(),
                }
            })
            .boxed()
    }

    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        let (path, durable) = (self.folder.join(name), self.durable);
        let folders = folders(name);
        let operation = match folders {
            Folders::Make => "create",
            Folders::Need => "commit",
        };
        let created = blocking::run(operation, self.shown(name), move || {
            fs::create(&path, &[content], durable, folders)
        })
        .await?;
        Ok(if created {
            PutOutcome::Created
        } else {
            PutOutcome::AlreadyExists
        })
    }

    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()> {
        let (path, durable) = (self.folder.join(name), self.durable);
        let folders = folders(name);
        blocking::run("write", self.shown(name), move || {
            fs::replace(&path, &[content], durable, folders)
        })
        .await
    }

    async fn delete(&self, name: &str) -> Result<DeleteOutcome> {
        let path = self.folder.join(name);
        blocking::run("delete", self.shown(name), move || {
            super::data::delete(&path)
        })
        .await
    }

    async fn stat(&self, name: &str) -> Result<Option<FileMeta>> {
        let (path, relative) = (self.folder.join(name), name.to_string());
        blocking::run("look up", self.shown(name), move || {
            walk::entry(&path, &relative)
        })
        .await
    }

    async fn remove_unfinished(&self, before_ms: i64) -> Result<u64> {
        let folder = self.folder.clone();
        blocking::run("clean", self.shown.clone(), move || {
            let mut removed = 0;
            for name in walk::sorted_names(&folder, ".")?
                .into_iter()
                .filter(|name| is_temporary(name))
            {
                let path = folder.join(&name);
                let old =
                    std::fs::metadata(&path).is_ok_and(|found| fs::modified_ms(&found) < before_ms);
                if old && std::fs::remove_file(&path).is_ok() {
                    removed += 1;
                }
            }
            Ok(removed)
        })
        .await
    }
}

fn chunks(mut names: Vec<String>) -> Vec<Vec<String>> {
    let mut chunks = Vec::new();
    while names.len() > STAT_BATCH {
        let rest = names.split_off(STAT_BATCH);
        chunks.push(std::mem::replace(&mut names, rest));
    }
    if !names.is_empty() {
        chunks.push(names);
    }
    chunks
}

/// Looks the names up; one that has vanished since is left out.
async fn stat_all(folder: PathBuf, shown: String, names: Vec<String>) -> Result<Vec<FileMeta>> {
    blocking::run("list", shown, move || {
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            entries.extend(walk::entry(&folder.join(&name), &name)?);
        }
        Ok(entries)
    })
    .await
}

/// Only the first commit begins a log. Any other of its files, written into a folder that is gone, would bring back a
/// dropped table as one without its beginning.
fn folders(name: &str) -> Folders {
    match LogFileName::parse(name) {
        LogFileName::Commit { version: 0 } | LogFileName::Other => Folders::Make,
        _ => Folders::Need,
    }
}
