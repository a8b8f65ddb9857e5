//! Listings that end early are taken up again where they ended, or end with an error: never as if that were all.

use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, Result};
use tokio::time::Instant;

use super::failure::is_final;
use super::limits::Limits;

struct Listing {
    store: Arc<dyn ObjectStore>,
    prefix: Option<Path>,
    /// Where the listing began, or the last key that it has shown.
    after: Option<Path>,
    entries: BoxStream<'static, Result<ObjectMeta>>,
    /// Keys have come in the order of their bytes, so that those after the last are those not shown.
    sorted: bool,
    /// Taken up again at some point.
    resumed: bool,
    /// Taken up again since the last key.
    tries: usize,
    limits: Limits,
    offsets: bool,
    done: bool,
}

/// The objects below a prefix whose keys come after `after`, in the store's order. Without `offsets` the store is asked for
/// all, and what comes before is left out here.
pub(super) fn listing(
    store: Arc<dyn ObjectStore>,
    prefix: Option<Path>,
    after: Option<Path>,
    limits: Limits,
    offsets: bool,
) -> BoxStream<'static, Result<ObjectMeta>> {
    let entries = begin(&store, prefix.as_ref(), after.as_ref(), offsets);
    let state = Listing {
        store,
        prefix,
        after,
        entries,
        sorted: true,
        resumed: false,
        tries: 0,
        limits,
        offsets,
        done: false,
    };
    stream::unfold(state, |mut state| async move {
        let entry = state.next().await?;
        Some((entry, state))
    })
    .boxed()
}

fn begin(
    store: &Arc<dyn ObjectStore>,
    prefix: Option<&Path>,
    after: Option<&Path>,
    offsets: bool,
) -> BoxStream<'static, Result<ObjectMeta>> {
    match after {
        Some(after) if offsets => store.list_with_offset(prefix, after),
        Some(after) => {
            let after = after.clone();
            store
                .list(prefix)
                .try_filter(move |entry| std::future::ready(entry.location > after))
                .boxed()
        }
        None => store.list(prefix),
    }
}

impl Listing {
    async fn next(&mut self) -> Option<Result<ObjectMeta>> {
        if self.done {
            return None;
        }
        let asked = Instant::now();
        loop {
            let error = match self.entries.next().await? {
                Ok(entry) => match self.take(&entry) {
                    Ok(()) => return Some(Ok(entry)),
                    Err(error) => return self.end(error),
                },
                Err(error) => error,
            };
            let pause = self.limits.pause(self.tries, asked);
            match pause.filter(|_| self.sorted && !is_final(&error)) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return self.end(error),
            }
            self.tries += 1;
            self.resumed = true;
            self.entries = begin(
                &self.store,
                self.prefix.as_ref(),
                self.after.as_ref(),
                self.offsets,
            );
        }
    }

    /// Notes a key that is shown. Where the listing was taken up again, one out of order may mean that others were left out.
    fn take(&mut self, entry: &ObjectMeta) -> Result<()> {
        let rises = self
            .after
            .as_ref()
            .is_none_or(|last| *last < entry.location);
        self.sorted &= rises;
        if !rises && self.resumed {
            return Err(Error::Generic {
                store: "list",
                source:
                    "the listing was interrupted, and the store does not list in the order of keys"
                        .into(),
            });
        }
        self.after = Some(entry.location.clone());
        self.tries = 0;
        Ok(())
    }

    fn end(&mut self, error: Error) -> Option<Result<ObjectMeta>> {
        self.done = true;
        Some(Err(error))
    }
}
