//! Deletions of many files: in batches, repeated where they failed for now, with an answer for each file.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::error::Result;
use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore};
use tokio::time::Instant;

use super::failure::is_final;
use super::stores::CloudTable;
use crate::{DeleteOutcome, DeleteStream};

/// Files in one request of S3; Azure's client makes smaller ones of it.
pub(super) const BATCH: usize = 1000;

/// Deletes files, `parallel` batches at a time; each file comes back once, with what became of it.
pub(super) fn delete_files(
    table: &CloudTable,
    paths: Vec<String>,
    parallel: usize,
) -> DeleteStream<'_> {
    let batches: Vec<Vec<String>> = paths.chunks(BATCH).map(<[String]>::to_vec).collect();
    stream::iter(batches)
        .map(move |batch| async move {
            let keys = batch.iter().map(|path| table.key(path)).collect();
            let outcomes = delete_keys(table, keys).await;
            stream::iter(batch.into_iter().zip(outcomes))
        })
        .buffer_unordered(parallel.max(1))
        .flatten()
        .boxed()
}

/// Deletes one file. Object stores do not say whether there was something; where it matters, the caller asks before.
pub(super) async fn delete_one(table: &CloudTable, key: Path) -> Result<DeleteOutcome> {
    match delete_keys(table, vec![key]).await.pop() {
        Some(outcome) => outcome,
        None => Ok(DeleteOutcome::Missing),
    }
}

/// What one try made of a key.
enum Tried {
    Gone(DeleteOutcome),
    /// Not known to be gone: it may be tried again, unless the refusal is final.
    There(Arc<Error>),
}

/// Deletes keys; the outcomes are in their order. A deletion can be repeated, so what failed for now or is unclear is
/// tried again.
async fn delete_keys(table: &CloudTable, keys: Vec<Path>) -> Vec<Result<DeleteOutcome>> {
    let mut outcomes: Vec<Option<Result<DeleteOutcome>>> = keys.iter().map(|_| None).collect();
    let mut pending: Vec<usize> = (0..keys.len()).collect();
    let mut failing = None;
    let mut number = 0;
    while !pending.is_empty() {
        let asked: Vec<Path> = pending.iter().map(|at| keys[*at].clone()).collect();
        let tried = try_batch(table, asked).await;
        let since = *failing.get_or_insert_with(Instant::now);
        let pause = table.limits.pause(number, since);
        let mut again = Vec::new();
        for (at, tried) in pending.into_iter().zip(tried) {
            outcomes[at] = Some(match tried {
                Tried::Gone(outcome) => Ok(outcome),
                Tried::There(error) => {
                    if pause.is_some() && !is_final(&error) {
                        again.push(at);
                    }
                    Err(table.failed("delete", &keys[at], &error))
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

/// One try of all keys, in their order.
async fn try_batch(table: &CloudTable, keys: Vec<Path>) -> Vec<Tried> {
    let asked = stream::iter(keys.clone().into_iter().map(Ok)).boxed();
    let results: Vec<_> = table.store.delete_stream(asked).collect().await;
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
