//! Log store and data store of one table in memory.

use std::collections::btree_map::Entry;
use std::ops::{Bound, Range};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_protocol::error::Result;
use futures::{StreamExt, stream};

use super::{MemoryBackend, MemoryFile};
use crate::error::not_found;
use crate::root::TableRoot;
use crate::{
    DataStore, DeleteOutcome, Descend, DirOutcome, FileMeta, FileStream, LOG_DIR, LogStore,
    PutOutcome,
};

/// Entries copied out of the map at once while listing.
const PAGE: usize = 1000;

/// A table's view of the store.
#[derive(Debug, Clone)]
pub(super) struct MemoryTable {
    backend: MemoryBackend,
    root: TableRoot,
}

impl MemoryTable {
    pub(super) fn new(backend: MemoryBackend, root: TableRoot) -> MemoryTable {
        MemoryTable { backend, root }
    }

    fn log_path(&self, name: &str) -> String {
        self.root.absolute(&format!("{LOG_DIR}/{name}"))
    }

    fn get(&self, absolute: &str) -> Result<MemoryFile> {
        let shown = || self.root.place(absolute);
        self.backend
            .files()
            .get(absolute)
            .cloned()
            .ok_or_else(|| not_found(&shown()))
    }

    fn put_new(&self, absolute: String, content: Bytes) -> PutOutcome {
        let file = self.backend.file(content);
        match self.backend.files().entry(absolute) {
            Entry::Occupied(_) => PutOutcome::AlreadyExists,
            Entry::Vacant(slot) => {
                slot.insert(file);
                PutOutcome::Created
            }
        }
    }

    fn remove(&self, absolute: &str) -> DeleteOutcome {
        match self.backend.files().remove(absolute) {
            Some(_) => DeleteOutcome::Deleted,
            None => DeleteOutcome::Missing,
        }
    }

    fn meta(&self, absolute: &str, shown: &str) -> Option<FileMeta> {
        self.backend
            .files()
            .get(absolute)
            .map(|file| to_meta(shown.to_string(), file))
    }

    /// A folder is there as long as something is in it.
    fn implied_folder(&self, absolute: &str, shown: &str) -> Option<FileMeta> {
        let base = format!("{}/", absolute.trim_end_matches('/'));
        let files = self.backend.files();
        let (first, _) = files.range(base.clone()..).next()?;
        first.starts_with(&base).then(|| FileMeta {
            path: shown.to_owned(),
            size: 0,
            modified_ms: 0,
            is_dir: true,
            e_tag: None,
        })
    }

    /// Pages of the files below `base` (ends with `/`) from `base + start` on; paths relative to `base`.
    fn pages(
        &self,
        base: String,
        start: &str,
        keep: impl Fn(&str) -> bool + Send + 'static,
    ) -> FileStream {
        let backend = self.backend.clone();
        let first = Bound::Included(format!("{base}{start}"));
        stream::unfold(Some(first), move |from| {
            let page = from.map(|from| next_page(&backend, &base, from, &keep));
            async move { page }
        })
        .flat_map(|entries: Vec<FileMeta>| stream::iter(entries.into_iter().map(Ok)))
        .boxed()
    }
}

type Page = (Vec<FileMeta>, Option<Bound<String>>);

fn next_page(
    backend: &MemoryBackend,
    base: &str,
    from: Bound<String>,
    keep: &impl Fn(&str) -> bool,
) -> Page {
    let files = backend.files();
    let mut entries = Vec::new();
    let mut last = None;
    for (seen, (path, file)) in files.range((from, Bound::Unbounded)).enumerate() {
        let Some(relative) = path.strip_prefix(base) else {
            return (entries, None);
        };
        if seen == PAGE {
            return (entries, last);
        }
        if keep(relative) {
            entries.push(to_meta(relative.to_string(), file));
        }
        last = Some(Bound::Excluded(path.clone()));
    }
    (entries, None)
}

fn to_meta(path: String, file: &MemoryFile) -> FileMeta {
    FileMeta {
        path,
        size: file.content.len() as u64,
        modified_ms: file.modified_ms,
        is_dir: false,
        e_tag: None,
    }
}

fn cut(content: &Bytes, range: Range<u64>) -> Bytes {
    let end = usize::try_from(range.end)
        .unwrap_or(usize::MAX)
        .min(content.len());
    let start = usize::try_from(range.start).unwrap_or(usize::MAX).min(end);
    content.slice(start..end)
}

#[async_trait]
impl LogStore for MemoryTable {
    async fn read(&self, name: &str) -> Result<Bytes> {
        Ok(self.get(&self.log_path(name))?.content)
    }

    async fn read_range(&self, name: &str, range: Range<u64>) -> Result<Bytes> {
        Ok(cut(&self.get(&self.log_path(name))?.content, range))
    }

    fn list_from(&self, start: &str) -> FileStream {
        self.pages(self.log_path(""), start, |name| !name.contains('/'))
    }

    async fn create(&self, name: &str, content: Bytes) -> Result<PutOutcome> {
        Ok(self.put_new(self.log_path(name), content))
    }

    async fn overwrite(&self, name: &str, content: Bytes) -> Result<()> {
        let file = self.backend.file(content);
        self.backend.files().insert(self.log_path(name), file);
        Ok(())
    }

    async fn delete(&self, name: &str) -> Result<DeleteOutcome> {
        Ok(self.remove(&self.log_path(name)))
    }

    async fn stat(&self, name: &str) -> Result<Option<FileMeta>> {
        Ok(self.meta(&self.log_path(name), name))
    }

    async fn remove_unfinished(&self, _: i64) -> Result<u64> {
        Ok(0)
    }
}

#[async_trait]
impl DataStore for MemoryTable {
    fn list(&self, prefix: &str, descend: Option<Descend>) -> FileStream {
        let prefix = prefix.trim_end_matches('/');
        let base = self.root.absolute(prefix);
        let base = if base.ends_with('/') {
            base
        } else {
            format!("{base}/")
        };
        let shown = if prefix.is_empty() {
            String::new()
        } else {
            format!("{prefix}/")
        };
        let enters = shown.clone();
        let entered = move |relative: &str| match &descend {
            None => true,
            Some(enter) => relative
                .match_indices('/')
                .all(|(at, _)| enter(&format!("{enters}{}", &relative[..at]))),
        };
        self.pages(base, "", entered)
            .map(move |meta| {
                meta.map(|meta| FileMeta {
                    path: format!("{shown}{}", meta.path),
                    ..meta
                })
            })
            .boxed()
    }

    async fn stat(&self, path: &str) -> Result<Option<FileMeta>> {
        let absolute = self.root.absolute(path);
        Ok(self
            .meta(&absolute, path)
            .or_else(|| self.implied_folder(&absolute, path)))
    }

    async fn read(&self, path: &str) -> Result<Bytes> {
        Ok(self.get(&self.root.absolute(path))?.content)
    }

    async fn read_range(&self, path: &str, range: Range<u64>) -> Result<Bytes> {
        Ok(cut(&self.get(&self.root.absolute(path))?.content, range))
    }

    async fn create(&self, path: &str, content: Bytes) -> Result<PutOutcome> {
        Ok(self.put_new(self.root.absolute(path), content))
    }

    async fn delete_file(&self, path: &str) -> Result<DeleteOutcome> {
        Ok(self.remove(&self.root.absolute(path)))
    }

    async fn delete_empty_dir(&self, _: &str) -> Result<DirOutcome> {
        Ok(DirOutcome::Missing)
    }

    async fn set_modified(&self, path: &str, modified_ms: i64) -> Result<()> {
        let absolute = self.root.absolute(path);
        match self.backend.files().get_mut(&absolute) {
            Some(file) => file.modified_ms = modified_ms,
            None => return Err(not_found(&self.root.display(path))),
        }
        Ok(())
    }
}
