//! Listings that end early are taken up again where they ended, or end with an error: never as if that were all, and never
//! again and again from the beginning.

use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, Result};
use tokio::time::Instant;

use super::failure::is_final;
use super::limits::Limits;
use super::odd::Odd;

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
    /// Something was shown since the listing began or was taken up again.
    shown: bool,
    limits: Limits,
    offsets: bool,
    done: bool,
    circle: Circle,
}

/// Tells that a listing shows again what it has shown, by one key: that of the entry whose number was the last power of two.
/// A circle of any length comes back to it, once the powers are larger than the circle.
#[derive(Default)]
struct Circle {
    shown: u64,
    kept: Option<Path>,
}

impl Circle {
    /// Whether the key was there before.
    fn closes_with(&mut self, key: &Path) -> bool {
        self.shown += 1;
        let again = self.kept.as_ref() == Some(key);
        if self.shown.is_power_of_two() {
            self.kept = Some(key.clone());
        }
        again
    }
}

/// The objects below a prefix whose keys come after `after`, in the store's order. Without `offsets` the store is asked for
/// all, and what comes before is left out here; so it is where the store answers an offset with nothing.
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
        shown: false,
        limits,
        offsets,
        done: false,
        circle: Circle::default(),
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
            let Some(entry) = self.entries.next().await else {
                if self.shown || self.after.is_none() || !self.offsets {
                    return None;
                }
                // Nothing may be an answer to the offset alone: some servers do not know a key that is not there.
                self.offsets = false;
                self.begin_again();
                continue;
            };
            let error = match entry {
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
            self.begin_again();
        }
    }

    fn begin_again(&mut self) {
        self.shown = false;
        self.entries = begin(
            &self.store,
            self.prefix.as_ref(),
            self.after.as_ref(),
            self.offsets,
        );
    }

    /// Notes a key that is shown. Where the listing was taken up again, one out of order may mean that others were left out.
    fn take(&mut self, entry: &ObjectMeta) -> Result<()> {
        self.shown = true;
        if self.circle.closes_with(&entry.location) {
            return Err(Error::Generic {
                store: "list",
                source: "the store lists the same objects again and again".into(),
            });
        }
        // Its key is another in the store; nothing can begin behind it.
        if Odd::of(&entry.location).is_some() {
            return Ok(());
        }
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

#[cfg(test)]
mod tests {
    use object_store::path::Path;

    use super::Circle;

    #[test]
    fn a_listing_that_repeats_itself_is_noticed_soon() {
        for before in 0..20_u64 {
            for length in 1..40 {
                let mut circle = Circle::default();
                let noticed = (0_u64..).find(|&n| {
                    let place = n.min(before + n.saturating_sub(before) % length);
                    circle.closes_with(&Path::from(format!("k{place}")))
                });
                let limit = 4 * (before + length);
                assert!(
                    noticed.is_some_and(|n| n >= length && n <= limit),
                    "{before} {length}: {noticed:?}"
                );
            }
        }
    }

    #[test]
    fn one_that_does_not_is_left_alone() {
        let mut circle = Circle::default();
        assert!(!(0..10_000).any(|n| circle.closes_with(&Path::from(format!("k{n}")))));
    }
}
