//! Bringing a snapshot up to date, from the commits after it alone.

use std::sync::Arc;
use std::time::Instant;

use deltaic_protocol::Action;
use deltaic_protocol::error::{DeltaError, Result};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::OnceCell;

use super::load::{self, assemble, commit_if_there};
use super::{Snapshot, table_not_found};
use crate::Version;
use crate::commit::parse_actions;
use crate::files::{FileStack, FileSummary};
use crate::listing::list_log;
use crate::reconcile::{FileSink, Header, replay};

/// From so many new commits on, listing and reading them in parallel beats asking one by one.
const FEW_COMMITS: usize = 64;

/// The newest version.
///
/// The commit of the known version must still be the one that was read: a table that was dropped and made anew at the same
/// place, or whose log was cleaned past this version, is loaded afresh.
pub(super) async fn update(known: &Snapshot) -> Result<Snapshot> {
    if known.store().root().scheme().is_cloud() {
        return update_by_listing(known).await;
    }
    if !anchor_holds(known).await? {
        return reload(known).await;
    }
    let mut commits = Vec::new();
    loop {
        let next = known.version() + 1 + commits.len() as Version;
        match commit_if_there(known.store(), next).await? {
            Some(_) if commits.len() == FEW_COMMITS => return reload(known).await,
            Some(actions) => commits.push((next, actions)),
            None => break,
        }
    }
    if commits.is_empty() {
        return Ok(known.clone());
    }
    apply(known, commits)
}

/// The same with one request where nothing is new: the end of the log's listing shows the known version's file and all
/// that follow it. A store on a disk would list the whole folder for that.
async fn update_by_listing(known: &Snapshot) -> Result<Snapshot> {
    let next = known.version() + 1;
    let looked = Instant::now();
    // One more than are taken here, so that it shows when there are too many.
    let last = known.version() + FEW_COMMITS as Version + 1;
    let listing = list_log(known.store(), known.version(), Some(last)).await?;
    let before = known.known_anchor().cloned();
    let newer: Vec<String> = listing
        .commits
        .iter()
        .filter(|commit| commit.version >= next)
        .map(|commit| commit.file.path.clone())
        .collect();
    let contiguous = listing
        .commits
        .iter()
        .filter(|commit| commit.version >= next)
        .zip(next..)
        .all(|(commit, version)| commit.version == version);
    let there = listing
        .commits
        .iter()
        .find(|commit| commit.version == known.version())
        .map(|commit| &commit.file);
    let holds = match (&before, there) {
        (Some(before), Some(there)) => before.is_same_file(there),
        // Vouched for by a checkpoint: its commit is gone.
        (Some(_), None) => anchor_holds(known).await?,
        (None, Some(there)) => {
            known.note_anchor(there);
            true
        }
        (None, None) => false,
    };
    if !holds || !contiguous || newer.len() > FEW_COMMITS {
        return reload(known).await;
    }
    if newer.is_empty() {
        known.note_seen(looked);
        return Ok(known.clone());
    }
    let store = known.store();
    let commits: Vec<(Version, Vec<Action>)> = futures::stream::iter(newer.into_iter().zip(next..))
        .map(|(name, version)| async move {
            let bytes = store.log().read(&name).await?;
            Ok::<_, DeltaError>((
                version,
                parse_actions(store.root(), &name, version, &bytes)?,
            ))
        })
        .buffered(FEW_COMMITS)
        .try_collect()
        .await?;
    let newest = apply(known, commits)?;
    newest.note_seen(looked);
    Ok(newest)
}

/// Whether the file that vouches for the version is still the one that was read.
pub(crate) async fn anchor_holds(known: &Snapshot) -> Result<bool> {
    let Some(before) = known.known_anchor() else {
        // Looked at just now, for the first time.
        return Ok(known.anchor().await?.is_some());
    };
    Ok(known
        .store()
        .log()
        .stat(&before.path)
        .await?
        .is_some_and(|now| now.is_same_file(before)))
}

async fn reload(known: &Snapshot) -> Result<Snapshot> {
    load::reload(known)
        .await?
        .ok_or_else(|| table_not_found(known.store()))
}

/// The snapshot after further commits, which follow the known version without a gap.
pub(crate) fn apply(known: &Snapshot, commits: Vec<(Version, Vec<Action>)>) -> Result<Snapshot> {
    let mut header = known.header().clone();
    let mut stack = known.file_state().clone();
    let mut summary = known.known_summary().cloned();
    let mut version = known.version();
    for (at, actions) in commits {
        let mut files = FileSink::new(known.store().root());
        replay(at, actions, &mut [&mut header, &mut files]);
        let layer = files.into_layer();
        summary = summary.and_then(|s| s.after(&stack, &layer)).map(Arc::new);
        stack.push(layer);
        version = at;
    }
    let snapshot = assemble(
        known.store(),
        version,
        header,
        stack,
        known.checkpoint_version(),
        None,
        Some(known),
    )?;
    Ok(with_summary(snapshot, summary))
}

/// The snapshot of the first commit of a new table.
pub(crate) fn first(
    store: &deltaic_storage::TableStore,
    version: Version,
    actions: Vec<Action>,
) -> Result<Snapshot> {
    let mut header = Header::default();
    let mut files = FileSink::new(store.root());
    replay(version, actions, &mut [&mut header, &mut files]);
    let mut stack = FileStack::new(crate::files::Base::empty());
    let layer = files.into_layer();
    let summary = FileSummary::default().after(&stack, &layer).map(Arc::new);
    stack.push(layer);
    Ok(with_summary(
        assemble(store, version, header, stack, None, None, None)?,
        summary,
    ))
}

fn with_summary(mut snapshot: Snapshot, summary: Option<Arc<FileSummary>>) -> Snapshot {
    if let (Some(inner), Some(summary)) = (Arc::get_mut(&mut snapshot.inner), summary) {
        inner.summary = OnceCell::new_with(Some(summary));
    }
    snapshot
}
