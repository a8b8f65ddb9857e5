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
use crate::DeleteOutcome;

/// Files in one request of S3; Azure's client makes smaller ones of it.
pub(super) const BATCH: usize = 1000;

/// Deletes keys; the outcomes are in their order. A deletion can be repeated, so what failed for now or is unclear is
/// tried again. `failed` makes the error of a key. Object stores do not say whether there was something; where it matters,
/// the caller asks before.
pub(super) async fn delete_keys(
    store: &Arc<dyn ObjectStore>,
    limits: Limits,
    keys: &[Path],
    failed: impl Fn(&Path, &Error) -> DeltaError,
) -> Vec<Result<DeleteOutcome>> {
    let mut outcomes: Vec<Option<Result<DeleteOutcome>>> = keys.iter().map(|_| None).collect();
    let mut pending: Vec<usize> = (0..keys.len()).collect();
    let mut failing = None;
    let mut number = 0;
    while !pending.is_empty() {
        let asked: Vec<Path> = pending.iter().map(|at| keys[*at].clone()).collect();
        let tried = try_batch(store, asked).await;
        let since = *failing.get_or_insert_with(Instant::now);
        let pause = limits.pause(number, since);
        let mut again = Vec::new();
        for (at, tried) in pending.into_iter().zip(tried) {
            outcomes[at] = Some(match tried {
                Tried::Gone(outcome) => Ok(outcome),
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
    Gone(DeleteOutcome),
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
    let mut missing = HashSet::new();
    let mut failure = None;
    for result in results {
        match result {
            Ok(key) => {
                gone.insert(key);
            }
            Err(Error::NotFound { path, .. }) => {
                missing.insert(path);
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
        .map(|key| match () {
            () if gone.contains(&key) => Tried::Gone(DeleteOutcome::Deleted),
            () if missing.contains(key.as_ref()) => Tried::Gone(DeleteOutcome::Missing),
            () => Tried::There(Arc::clone(&failure)),
        })
        .collect()
}

fn tried(result: object_store::Result<Path>) -> Tried {
    match result {
        Ok(_) => Tried::Gone(DeleteOutcome::Deleted),
        Err(Error::NotFound { .. }) => Tried::Gone(DeleteOutcome::Missing),
        Err(error) => Tried::There(Arc::new(error)),
    }
}
