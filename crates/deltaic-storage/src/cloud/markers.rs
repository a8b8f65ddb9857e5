//! Empty objects that other programs make to stand for folders: `folder/` (consoles of S3, s3a), `folder_$folder$` (old
//! Hadoop), and on Azure `folder` with the metadata `hdi_isfolder`. They are no files, so a listing leaves them out.
//!
//! A listing shows names without their last slash, and no metadata. An empty object that the next entry lies below is a
//! folder; for any other empty object the store is asked, one HEAD each.

use std::pin::Pin;
use std::sync::Arc;

use deltaic_protocol::error::Result;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::{Attribute, GetOptions, ObjectStore};

use super::failure::to_delta;
use crate::object_path::to_object_path;
use crate::root::TableRoot;
use crate::{FileMeta, FileStream};

/// Questions under way at the same time.
const PARALLEL: usize = 16;
/// Set to `true` on what the drivers of Hadoop make on Azure.
const IS_FOLDER: &str = "hdi_isfolder";

/// The entries that are files. Their paths are relative to `folder`, an absolute path.
pub(super) fn without_markers(
    entries: FileStream,
    store: Arc<dyn ObjectStore>,
    root: TableRoot,
    folder: String,
) -> FileStream {
    with_doubts(entries)
        .map(move |entry| {
            let (store, root, folder) = (Arc::clone(&store), root.clone(), folder.clone());
            async move {
                match entry? {
                    (meta, false) => Ok(Some(meta)),
                    (meta, true) => is_file(&meta, &store, &root, &folder)
                        .await
                        .map(|file| file.then_some(meta)),
                }
            }
        })
        .buffered(PARALLEL)
        .try_filter_map(|entry| async move { Ok(entry) })
        .boxed()
}

/// The entries less folders that show by the next one, each with whether the store must be asked about it.
fn with_doubts(entries: FileStream) -> stream::BoxStream<'static, Result<(FileMeta, bool)>> {
    stream::unfold(entries.peekable(), |mut entries| async move {
        loop {
            let meta = match entries.next().await? {
                Ok(meta) => meta,
                Err(error) => return Some((Err(error), entries)),
            };
            if meta.size > 0 {
                return Some((Ok((meta, false)), entries));
            }
            let inside = format!("{}/", meta.path);
            match Pin::new(&mut entries).peek().await {
                Some(Ok(next)) if next.path.starts_with(&inside) => {}
                _ => return Some((Ok((meta, true)), entries)),
            }
        }
    })
    .boxed()
}

async fn is_file(
    meta: &FileMeta,
    store: &Arc<dyn ObjectStore>,
    root: &TableRoot,
    folder: &str,
) -> Result<bool> {
    let path = format!("{}/{}", folder.trim_end_matches('/'), meta.path);
    let options = GetOptions {
        head: true,
        ..GetOptions::default()
    };
    match store.get_opts(&to_object_path(&path), options).await {
        Ok(found) => {
            let mark = found.attributes.get(&Attribute::Metadata(IS_FOLDER.into()));
            Ok(mark.is_none_or(|mark| !mark.eq_ignore_ascii_case("true")))
        }
        // There is one with a slash only; or it has just gone.
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(to_delta("look up", &root.place(&path), &error)),
    }
}
