//! Deletions of many files: in batches, repeated where they failed for now, with an answer for each file.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::error::{DeltaError, Result};
use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore};
use tokio::time::Instant;

use super::failure::is_final;
use super::limits::Limits;

/// Files in one request of S3; Azure's client makes smaller ones of it.
pub(super) const BATCH: usize = 1000;

/// Deletes keys; the outcomes are in their order. A deletion can be repeated, so what failed for now or is unclear is
/// tried again. `failed` makes the error of a key. Whether there was something is not said: S3 does not know, and Azure,
/// asked again, does not know that it was the first request. Where it matters, the caller asks before.
pub(super) async fn delete_keys(
    store: &Arc<dyn ObjectStore>,
    limits: Limits,
    keys: &[Path],
    failed: impl Fn(&Path, &Error) -> DeltaError,
) -> Vec<Result<()>> {
    let mut outcomes: Vec<Option<Result<()>>> = keys.iter().map(|_| None).collect();
    let mut pending: Vec<usize> = (0..keys.len()).collect();
    let began = Instant::now();
    let mut number = 0;
    while !pending.is_empty() {
        let asked: Vec<Path> = pending.iter().map(|at| keys[*at].clone()).collect();
        let tried = try_batch(store, asked).await;
        let pause = limits.pause(number, began);
        let mut again = Vec::new();
        for (at, tried) in pending.into_iter().zip(tried) {
            outcomes[at] = Some(match tried {
                Tried::Gone => Ok(()),
                Tried::There(error) => {
                    if pause.is_some() && !is_final(&error) {
                        again.push(at);
                    }
                    Err(failed(&keys[at], &error))
                }
            });
        }
        pending = again;
        if let (Some(pause), false) = (pause, pending.is_empty()) {
            tokio::time::sleep(pause).await;
        }
        number += 1;
    }
    outcomes.into_iter().flatten().collect()
}

/// What one try made of a key.
enum Tried {
    Gone,
    /// Not known to be gone: it may be tried again, unless the refusal is final.
    There(Arc<Error>),
}

/// One try of all keys, in their order.
async fn try_batch(store: &Arc<dyn ObjectStore>, keys: Vec<Path>) -> Vec<Tried> {
    let asked = stream::iter(keys.clone().into_iter().map(Ok)).boxed();
    let results: Vec<_> = store.delete_stream(asked).collect().await;
    // One answer for each key, in their order: the store's promise, kept unless a request fails as a whole.
    if results.len() == keys.len() {
        return results.into_iter().map(tried).collect();
    }
    let mut gone = HashSet::new();
    let mut failure = None;
    for result in results {
        match result {
            Ok(key) => {
                gone.insert(key.to_string());
            }
            Err(Error::NotFound { path, .. }) => {
                gone.insert(path);
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    // Which request failed is not said: what is not known to be gone is taken to be there.
    let failure = Arc::new(failure.unwrap_or_else(|| Error::Generic {
        store: "delete",
        source: "the store gives no answer for this file".into(),
    }));
    keys.into_iter()
        .map(|key| match gone.contains(key.as_ref()) {
            true => Tried::Gone,
            false => Tried::There(Arc::clone(&failure)),
        })
        .collect()
}

fn tried(result: object_store::Result<Path>) -> Tried {
    match result {
        Ok(_) | Err(Error::NotFound { .. }) => Tried::Gone,
        Err(error) => Tried::There(Arc::new(error)),
    }
}
