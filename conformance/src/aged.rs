//! An object store whose objects can be given an age. Object stores date objects themselves; the cases of VACUUM and of time
//! travel need old ones, so a run keeps the dates that it was told beside the store and answers with them.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

type Dates = Arc<Mutex<HashMap<Path, DateTime<Utc>>>>;

/// The store, and the dates that it was told.
#[derive(Debug)]
pub struct AgedStore {
    inner: Arc<dyn ObjectStore>,
    dates: Dates,
}

impl AgedStore {
    /// A store on another one; all dates are the other one's at first.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            dates: Dates::default(),
        }
    }

    /// Gives an object a date, until it is written or deleted.
    pub fn set_modified(&self, at: &Path, time: DateTime<Utc>) {
        self.dates().insert(at.clone(), time);
    }

    fn dates(&self) -> MutexGuard<'_, HashMap<Path, DateTime<Utc>>> {
        lock(&self.dates)
    }

    fn dated(
        &self,
        listed: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let dates = Arc::clone(&self.dates);
        listed.map_ok(move |meta| date(&dates, meta)).boxed()
    }
}

fn lock(dates: &Dates) -> MutexGuard<'_, HashMap<Path, DateTime<Utc>>> {
    dates.lock().unwrap_or_else(PoisonError::into_inner)
}

fn date(dates: &Dates, meta: ObjectMeta) -> ObjectMeta {
    match lock(dates).get(&meta.location) {
        Some(told) => ObjectMeta {
            last_modified: *told,
            ..meta
        },
        None => meta,
    }
}

impl fmt::Display for AgedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.inner)
    }
}

#[async_trait]
impl ObjectStore for AgedStore {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let done = self.inner.put_opts(at, payload, options).await?;
        self.dates().remove(at);
        Ok(done)
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.dates().remove(at);
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        let mut found = self.inner.get_opts(at, options).await?;
        found.meta = date(&self.dates, found.meta);
        Ok(found)
    }

    async fn get_ranges(&self, at: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(at, ranges).await
    }

    fn delete_stream(
        &self,
        places: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let dates = Arc::clone(&self.dates);
        self.inner
            .delete_stream(places)
            .inspect_ok(move |gone| {
                lock(&dates).remove(gone);
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.dated(self.inner.list(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.dated(self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut found = self.inner.list_with_delimiter(prefix).await?;
        found.objects = found
            .objects
            .into_iter()
            .map(|meta| date(&self.dates, meta))
            .collect();
        Ok(found)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.dates().remove(to);
        self.inner.copy_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use std::sync::Arc;

    use chrono::DateTime;
    use futures::TryStreamExt;
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use object_store::{ObjectStore, ObjectStoreExt};

    use super::AgedStore;

    #[tokio::test]
    async fn an_object_has_the_date_that_was_told_until_it_is_written_again() {
        let store = AgedStore::new(Arc::new(InMemory::new()));
        let (at, old) = (Path::from("t/a"), DateTime::UNIX_EPOCH);
        store.put(&at, "1".into()).await.unwrap();
        store.set_modified(&at, old);
        assert_eq!(store.head(&at).await.unwrap().last_modified, old);
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(listed[0].last_modified, old);
        store.put(&at, "2".into()).await.unwrap();
        assert!(store.head(&at).await.unwrap().last_modified > old);
    }
}
