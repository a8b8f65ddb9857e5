//! The local disk as an object store for a query engine: rooted at `/`, exact for every file name.
//!
//! `object_store`'s own local store percent-encodes some characters of names and hides others, so it cannot name every
//! file that a log can.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path as OsPath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyMode, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};

use super::failure::{STORE, object_error};
use super::fs::Folders;
use super::upload::LocalUpload;
use super::{fs, os_path, walk};
use crate::object_path::{from_object_path, to_object_path};
use crate::{Descend, FileMeta};

/// All files of the machine by absolute path.
#[derive(Debug, Clone)]
pub struct LocalObjectStore {
    durable: bool,
}

impl LocalObjectStore {
    /// `durable`: sync files before a write counts as done.
    pub fn new(durable: bool) -> LocalObjectStore {
        LocalObjectStore { durable }
    }
}

impl std::fmt::Display for LocalObjectStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalObjectStore(/)")
    }
}

/// The operating system's path of a location.
fn place(location: &Path) -> PathBuf {
    os_path(&from_object_path(location))
}

async fn blocking<T, F>(path: PathBuf, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce(&OsPath) -> io::Result<T> + Send + 'static,
{
    tokio::task::spawn_blocking(move || work(&path).map_err(|error| object_error(&path, error)))
        .await
        .map_err(|source| Error::JoinError { source })?
}

/// The tag of a file's state, from its size, time and identity.
fn e_tag(metadata: &std::fs::Metadata) -> String {
    #[cfg(unix)]
    let identity = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let identity = 0u64;
    let nanos = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |distance| distance.as_nanos());
    format!("{identity:x}-{nanos:x}-{:x}", metadata.len())
}

fn to_object_meta(metadata: &std::fs::Metadata, location: Path) -> ObjectMeta {
    ObjectMeta {
        location,
        last_modified: timestamp(fs::modified_ms(metadata)),
        size: metadata.len(),
        e_tag: Some(e_tag(metadata)),
        version: None,
    }
}

fn timestamp(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

#[async_trait]
impl ObjectStore for LocalObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let durable = self.durable;
        let mode = options.mode;
        blocking(place(location), move |path| {
            let content: Vec<Bytes> = payload.into_iter().collect();
            match mode {
                PutMode::Create => {
                    if !fs::create(path, &content, durable, Folders::Make)? {
                        return Err(ErrorKind::AlreadyExists.into());
                    }
                }
                // A new file is written in place: if the process dies, VACUUM finds the rest under its final name.
                PutMode::Overwrite => {
                    if !fs::create_in_place(path, &content, durable)? {
                        fs::replace(path, &content, durable, Folders::Make)?;
                    }
                }
                PutMode::Update(_) => return Err(ErrorKind::Unsupported.into()),
            }
            Ok(PutResult {
                e_tag: Some(e_tag(&std::fs::metadata(path)?)),
                version: None,
            })
        })
        .await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let durable = self.durable;
        let upload = blocking(place(location), move |path| {
            LocalUpload::start(path, durable)
        })
        .await?;
        Ok(Box::new(upload))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let location = location.clone();
        let path = place(&location);
        let (file, meta) = blocking(path.clone(), move |path| {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(ErrorKind::NotFound.into());
            }
            let meta = to_object_meta(&metadata, location);
            Ok((file, meta))
        })
        .await?;
        options.check_preconditions(&meta)?;
        let range = match &options.range {
            Some(range) => range.as_range(meta.size).map_err(|source| Error::Generic {
                store: STORE,
                source: Box::new(source),
            })?,
            None => 0..meta.size,
        };
        Ok(GetResult {
            payload: GetResultPayload::File(file, path),
            attributes: Attributes::default(),
            range,
            meta,
        })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let ranges = ranges.to_vec();
        blocking(place(location), move |path| {
            use std::io::{Read, Seek, SeekFrom};
            let mut file = File::open(path)?;
            let mut parts = Vec::with_capacity(ranges.len());
            for range in ranges {
                file.seek(SeekFrom::Start(range.start))?;
                let length = usize::try_from(range.end.saturating_sub(range.start))
                    .map_err(io::Error::other)?;
                let mut part = vec![0; length];
                file.read_exact(&mut part)?;
                parts.push(Bytes::from(part));
            }
            Ok(parts)
        })
        .await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        locations
            .map(|location| async move {
                let location = location?;
                blocking(place(&location), |path| std::fs::remove_file(path)).await?;
                Ok(location)
            })
            .buffered(10)
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.entries(prefix, None)
            .try_filter(|meta| futures::future::ready(!meta.is_dir))
            .map_ok(listed)
            .boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let entries: Vec<FileMeta> = self
            .entries(prefix, Some(Arc::new(|_| false)))
            .try_collect()
            .await?;
        let mut result = ListResult {
            common_prefixes: Vec::new(),
            objects: Vec::new(),
        };
        for entry in entries {
            if entry.is_dir {
                result.common_prefixes.push(to_object_path(&entry.path));
            } else {
                result.objects.push(listed(entry));
            }
        }
        Ok(result)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let from = place(from);
        let durable = self.durable;
        let mode = options.mode;
        blocking(place(to), move |path| {
            let content = [fs::read(&from)?];
            match mode {
                CopyMode::Overwrite => fs::replace(path, &content, durable, Folders::Make),
                CopyMode::Create if fs::create(path, &content, durable, Folders::Make)? => Ok(()),
                CopyMode::Create => Err(ErrorKind::AlreadyExists.into()),
            }
        })
        .await
    }
}

fn listed(entry: FileMeta) -> ObjectMeta {
    ObjectMeta {
        location: to_object_path(&entry.path),
        last_modified: timestamp(entry.modified_ms),
        size: entry.size,
        e_tag: None,
        version: None,
    }
}

impl LocalObjectStore {
    /// Everything below a prefix, with absolute paths.
    fn entries(
        &self,
        prefix: Option<&Path>,
        descend: Option<Descend>,
    ) -> BoxStream<'static, Result<FileMeta>> {
        let base = prefix.map_or_else(|| "/".to_string(), from_object_path);
        let start = async move {
            let (send, receive) = tokio::sync::mpsc::channel::<walk::Step>(4);
            let place = os_path(&base);
            tokio::task::spawn_blocking(move || {
                walk::walk(&place, "", descend.as_ref(), walk::Links::Kept, &send)
            });
            let base = base.trim_end_matches('/').to_string();
            stream::unfold(receive, |mut receive| async move {
                receive.recv().await.map(|step| (step, receive))
            })
            .flat_map(move |step| {
                let absolute = |path: &str| format!("{base}/{path}");
                let entries: Vec<Result<FileMeta>> = match step {
                    Ok(entries) => entries
                        .into_iter()
                        .map(|meta| {
                            Ok(FileMeta {
                                path: absolute(&meta.path),
                                ..meta
                            })
                        })
                        .collect(),
                    Err((path, error)) => {
                        vec![Err(object_error(&os_path(&absolute(&path)), error))]
                    }
                };
                stream::iter(entries)
            })
        };
        stream::once(start).flatten().boxed()
    }
}
