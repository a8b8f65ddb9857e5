//! The in-process store as an object store for a query engine.

use std::collections::BTreeSet;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyMode, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result, UploadPart,
};

use super::{MemoryBackend, MemoryFile};
use crate::object_path::{from_object_path, to_object_path};

const STORE: &str = "deltaic-memory";

/// All files of one in-process store by absolute path.
#[derive(Debug, Clone)]
pub struct MemoryObjectStore {
    backend: MemoryBackend,
}

impl MemoryObjectStore {
    pub(crate) fn new(backend: MemoryBackend) -> MemoryObjectStore {
        MemoryObjectStore { backend }
    }

    fn get(&self, location: &Path) -> Result<MemoryFile> {
        let path = from_object_path(location);
        let found = self.backend.files().get(&path).cloned();
        found.ok_or_else(|| Error::NotFound {
            source: format!("memory:{path} does not exist").into(),
            path,
        })
    }

    fn put(&self, location: &Path, content: Bytes, only_new: bool) -> Result<PutResult> {
        let path = from_object_path(location);
        let file = self.backend.file(content);
        let tag = file.tag;
        let mut files = self.backend.files();
        if only_new && files.contains_key(&path) {
            return Err(Error::AlreadyExists {
                source: format!("memory:{path} exists").into(),
                path,
            });
        }
        files.insert(path, file);
        Ok(PutResult {
            e_tag: Some(tag.to_string()),
            version: None,
        })
    }

    fn below(&self, prefix: Option<&Path>) -> Vec<(String, ObjectMeta)> {
        let base = prefix.map_or_else(|| "/".to_string(), from_object_path);
        let base = if base.ends_with('/') {
            base
        } else {
            format!("{base}/")
        };
        let files = self.backend.files();
        files
            .range(base.clone()..)
            .take_while(|(path, _)| path.starts_with(&base))
            .map(|(path, file)| {
                (
                    path[base.len()..].to_string(),
                    to_meta(to_object_path(path), file),
                )
            })
            .collect()
    }
}

impl std::fmt::Display for MemoryObjectStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemoryObjectStore")
    }
}

fn to_meta(location: Path, file: &MemoryFile) -> ObjectMeta {
    ObjectMeta {
        location,
        last_modified: DateTime::from_timestamp_millis(file.modified_ms).unwrap_or_default(),
        size: file.content.len() as u64,
        e_tag: Some(file.tag.to_string()),
        version: None,
    }
}

#[async_trait]
impl ObjectStore for MemoryObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let only_new = match options.mode {
            PutMode::Create => true,
            PutMode::Overwrite => false,
            PutMode::Update(_) => {
                return Err(Error::NotSupported {
                    source: "conditional updates are not needed by a table".into(),
                });
            }
        };
        self.put(location, Bytes::from(payload), only_new)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Ok(Box::new(MemoryUpload {
            store: self.clone(),
            location: location.clone(),
            parts: Vec::new(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let file = self.get(location)?;
        let meta = to_meta(location.clone(), &file);
        options.check_preconditions(&meta)?;
        let range = match &options.range {
            Some(range) => range.as_range(meta.size).map_err(|source| Error::Generic {
                store: STORE,
                source: Box::new(source),
            })?,
            None => 0..meta.size,
        };
        let to_index = |at: u64| {
            usize::try_from(at)
                .unwrap_or(usize::MAX)
                .min(file.content.len())
        };
        let part = file
            .content
            .slice(to_index(range.start)..to_index(range.end));
        let payload = GetResultPayload::Stream(stream::once(async move { Ok(part) }).boxed());
        Ok(GetResult {
            payload,
            meta,
            range,
            attributes: Attributes::default(),
        })
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        locations
            .map(move |location| {
                let location = location?;
                store.get(&location)?;
                store.backend.files().remove(&from_object_path(&location));
                Ok(location)
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::iter(self.below(prefix).into_iter().map(|(_, meta)| Ok(meta))).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let base = prefix
            .map(|prefix| format!("{}/", from_object_path(prefix)))
            .unwrap_or_else(|| "/".to_string());
        let mut folders = BTreeSet::new();
        let mut objects = Vec::new();
        for (relative, meta) in self.below(prefix) {
            match relative.split_once('/') {
                Some((folder, _)) => {
                    folders.insert(format!("{base}{folder}"));
                }
                None => objects.push(meta),
            }
        }
        Ok(ListResult {
            common_prefixes: folders
                .iter()
                .map(|folder| to_object_path(folder))
                .collect(),
            objects,
        })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let content = self.get(from)?.content;
        self.put(to, content, options.mode == CopyMode::Create)
            .map(|_| ())
    }
}

/// Parts wait here until the upload is complete.
#[derive(Debug)]
struct MemoryUpload {
    store: MemoryObjectStore,
    location: Path,
    parts: Vec<Bytes>,
}

#[async_trait]
impl MultipartUpload for MemoryUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.parts.push(Bytes::from(data));
        futures::future::ready(Ok(())).boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let parts = std::mem::take(&mut self.parts);
        self.store
            .put(&self.location, Bytes::from(parts.concat()), false)
    }

    async fn abort(&mut self) -> Result<()> {
        self.parts.clear();
        Ok(())
    }
}
