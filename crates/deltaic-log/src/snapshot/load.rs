//! Loading a version from the log folder.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_storage::{FileMeta, LOG_DIR, TableStore};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::OnceCell;

use super::{Inner, Snapshot};
use crate::checkpoint::{CheckpointHeader, read_header};
use crate::commit::{each_action, parse_actions, read_commit};
use crate::files::{Base, CheckpointSource, FileStack};
use crate::hint::read_hint;
use crate::listing::{CommitFile, CompactedFile, list_log};
use crate::reconcile::{CommitReplay, FileSink, Header, Position, Sink, replay};
use crate::segment::{LogSegment, SegmentRequest, recreatable_range};
use crate::{REFERENCE_VERSION, Version};

/// Runs of commits that are read at the same time.
const CONCURRENCY: usize = 4;
/// Commits of a run that no compacted file sums up; a store reads them together.
const RUN: usize = 16;
/// How often a load starts again because files vanished under it (log cleanup).
const ATTEMPTS: usize = 3;

/// Loads a version or the newest; `None` where there is no log.
pub(super) async fn load(store: &TableStore, wanted: Option<Version>) -> Result<Option<Snapshot>> {
    let loaded = load_once(store, request(wanted)).await;
    let Some(wanted) = wanted else { return loaded };
    match loaded {
        Ok(Some(snapshot)) if snapshot.version() == wanted => Ok(Some(snapshot)),
        Err(e) if e.kind() == ErrorKind::Unsupported => Err(e),
        other => {
            // Out of range, or damaged? The range tells.
            let listing = list_log(store, 0, None).await?;
            let Some((earliest, latest)) = recreatable_range(&listing) else {
                return if listing.newest().is_none() {
                    Ok(None)
                } else {
                    other
                };
            };
            if (earliest..=latest).contains(&wanted) && other.is_err() {
                return other;
            }
            Err(version_not_found(store, wanted, earliest, latest))
        }
    }
}

/// The error for a version outside of what the log can reconstruct.
fn version_not_found(
    store: &TableStore,
    wanted: Version,
    earliest: Version,
    latest: Version,
) -> DeltaError {
    DeltaError::new("DELTA_VERSION_NOT_FOUND")
        .param("userVersion", wanted)
        .param("earliest", earliest)
        .param("latest", latest)
        .with_path(store.root().to_string())
        .with_version(wanted)
}

/// Loads the newest version anew; `known` is what the table was before.
pub(super) async fn reload(known: &Snapshot) -> Result<Option<Snapshot>> {
    let config = known.config();
    let retention = match (config.log_retention(), config.checkpoint_retention()) {
        (Ok(log), Ok(checkpoint)) => Some((log.to_string(), checkpoint.to_string())),
        _ => None,
    };
    let request = SegmentRequest {
        retention,
        ..SegmentRequest::default()
    };
    load_once(known.store(), request).await
}

/// Loads a version without any checkpoint that is newer than, or as new as, `checkpoint`.
pub(super) async fn load_below(
    store: &TableStore,
    version: Version,
    checkpoint: Version,
) -> Result<Option<Snapshot>> {
    let request = SegmentRequest {
        damaged: (checkpoint..=version).collect(),
        ..request(Some(version))
    };
    load_once(store, request).await
}

fn request(version: Option<Version>) -> SegmentRequest {
    SegmentRequest {
        version,
        ..SegmentRequest::default()
    }
}

async fn load_once(store: &TableStore, mut request: SegmentRequest) -> Result<Option<Snapshot>> {
    let wanted = request.version;
    let hint = read_hint(store)
        .await
        .filter(|h| wanted.is_none_or(|w| h.version <= w))
        .filter(|h| !request.damaged.contains(&h.version));
    let mut start = hint.map_or(0, |h| h.version);
    let mut damage: Option<DeltaError> = None;
    let mut attempts = 0;
    loop {
        let looked = Instant::now();
        let mut listing = list_log(store, start, wanted).await?;
        if store.passes_compacted_logs() {
            listing.compacted.clear();
        }
        let segment = match LogSegment::try_new(store.root(), &listing, &request) {
            Ok(Some(segment)) if start == 0 || segment.checkpoint.is_some() => segment,
            _ if start > 0 => {
                start = 0; // the hint did not lead to a checkpoint
                continue;
            }
            Ok(Some(segment)) => segment,
            Ok(None) => return damage.map_or(Ok(None), Err),
            Err(e) => return Err(damage.unwrap_or(e)),
        };
        // At the same time: on an object store each costs a round trip or more.
        let (header, commits) =
            futures::join!(checkpoint_header(store, &segment), commits(store, &segment));
        let header = match (header, &segment.checkpoint) {
            (Ok(header), _) => header,
            (Err(e), Some(files))
                if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::NotFound) =>
            {
                // Commits and older checkpoints may still tell all that a damaged checkpoint told.
                request.damaged.insert(files.version);
                damage.get_or_insert(e.with_version(files.version));
                start = 0;
                continue;
            }
            (Err(e), _) => return Err(e),
        };
        match commits.and_then(|commits| build(store, &segment, header, commits)) {
            Err(e) if e.kind() == ErrorKind::NotFound && attempts < ATTEMPTS => {
                attempts += 1; // cleaned up between listing and reading
                start = 0;
            }
            built => {
                return built.map(|snapshot| {
                    snapshot.note_seen(looked);
                    Some(snapshot)
                });
            }
        }
    }
}

async fn checkpoint_header(store: &TableStore, segment: &LogSegment) -> Result<CheckpointHeader> {
    match &segment.checkpoint {
        Some(files) => read_header(store, files).await,
        None => Ok(CheckpointHeader::default()),
    }
}

/// What commits say, by the (last) version that it belongs to, ascending.
type Commits = Vec<(Version, Told)>;

/// What a commit says.
enum Told {
    /// The content of its file, of this name. The actions of a large commit take much more memory than their text.
    Text(String, Bytes),
    /// Its actions.
    Actions(Vec<Action>),
}

/// Reads the commits of a segment, of those that a compacted file sums up that file alone.
async fn commits(store: &TableStore, segment: &LogSegment) -> Result<Commits> {
    // Owned names: a closure over references would make the future of every load impossible to send between threads.
    let mut runs: Vec<(Option<CompactedFile>, Vec<CommitFile>)> = Vec::new();
    for commit in &segment.commits {
        let sums_up = |file: &&CompactedFile| (file.start..=file.end).contains(&commit.version);
        let file = segment.compacted.iter().find(sums_up);
        match runs.last_mut() {
            Some((last, commits))
                if last.as_ref() == file && (file.is_some() || commits.len() < RUN) =>
            {
                commits.push(commit.clone());
            }
            _ => runs.push((file.cloned(), vec![commit.clone()])),
        }
    }
    let read: Vec<Commits> = futures::stream::iter(runs)
        .map(|(compacted, commits)| async move { read_run(store, compacted, commits).await })
        .buffered(CONCURRENCY)
        .try_collect()
        .await?;
    Ok(read.into_iter().flatten().collect())
}

/// Reads a compacted file, or where it is missing or damaged the commits that it sums up.
async fn read_run(
    store: &TableStore,
    compacted: Option<CompactedFile>,
    commits: Vec<CommitFile>,
) -> Result<Commits> {
    if let Some(compacted) = compacted {
        match read_compacted(store, &compacted).await {
            Ok(actions) => return Ok(vec![(compacted.end, Told::Actions(actions))]),
            Err(e) if matches!(e.kind(), ErrorKind::Corrupt | ErrorKind::NotFound) => {}
            Err(e) => return Err(e),
        }
    }
    let names = commits.iter().map(|commit| commit.file.path.clone());
    let contents = store.log().read_each(names.collect()).await?;
    commits
        .iter()
        .zip(contents)
        .map(|(commit, bytes)| Ok((commit.version, Told::Text(commit.file.path.clone(), bytes?))))
        .collect()
}

/// The actions of a compacted file. What it may say of a commit is left out: that commit speaks for itself.
async fn read_compacted(store: &TableStore, compacted: &CompactedFile) -> Result<Vec<Action>> {
    let name = &compacted.file.path;
    let bytes = store.log().read(name).await?;
    let mut actions = parse_actions(store.root(), name, compacted.end, &bytes)?;
    if actions.is_empty() {
        // Commits are never empty, so neither is their sum: a write that was broken off.
        return Err(
            DeltaError::internal("an empty compacted log file").with_kind(ErrorKind::Corrupt)
        );
    }
    actions.retain(|action| !matches!(action, Action::CommitInfo(_) | Action::Cdc(_)));
    Ok(actions)
}

/// Puts the state together.
fn build(
    store: &TableStore,
    segment: &LogSegment,
    base: CheckpointHeader,
    commits: Commits,
) -> Result<Snapshot> {
    let mut header = Header::default();
    let at = Position {
        version: segment.checkpoint.as_ref().map_or(-1, |c| c.version),
        line: 0,
    };
    for action in header_actions(base) {
        header.accept(at, action);
    }
    let mut files = FileSink::new(store.root());
    for (version, told) in commits {
        let sinks: &mut [&mut dyn Sink] = &mut [&mut header, &mut files];
        match told {
            Told::Actions(actions) => replay(version, actions, sinks),
            Told::Text(name, text) => {
                let mut commit = CommitReplay::new(version);
                let take = |action| commit.take(action, sinks);
                each_action(store.root(), &name, version, &text, |_| true, take)?;
            }
        }
    }
    let base = match &segment.checkpoint {
        Some(checkpoint) => Base::checkpoint(CheckpointSource {
            store: store.clone(),
            files: Arc::clone(checkpoint),
        }),
        None => Base::empty(),
    };
    let mut stack = FileStack::new(base);
    stack.push(files.into_layer());
    let checkpoint = segment.checkpoint.as_ref().map(|c| c.version);
    assemble(
        store,
        segment.version,
        header,
        stack,
        checkpoint,
        Some(segment.anchor.clone()),
        None,
    )
}

fn header_actions(header: CheckpointHeader) -> Vec<Action> {
    let mut out = Vec::new();
    out.extend(header.protocol.map(Action::Protocol));
    out.extend(header.metadata.map(Action::Metadata));
    out.extend(header.txns.into_iter().map(Action::Txn));
    out.extend(header.domains.into_iter().map(Action::DomainMetadata));
    out
}

/// Checks the state and makes a snapshot of it. `previous` lends its parsed configuration where nothing changed.
pub(super) fn assemble(
    store: &TableStore,
    version: Version,
    header: Header,
    files: FileStack,
    checkpoint: Option<Version>,
    anchor: Option<FileMeta>,
    previous: Option<&Snapshot>,
) -> Result<Snapshot> {
    let lost = |what: &str| {
        DeltaError::new("DELTA_STATE_RECOVER_ERROR")
            .param("operation", what)
            .param("version", version)
            .with_path(store.root().display(LOG_DIR))
            .with_version(version)
    };
    let protocol: Arc<Protocol> = header.protocol.clone().ok_or_else(|| lost("protocol"))?;
    let metadata: Arc<Metadata> = header.metadata.clone().ok_or_else(|| lost("metadata"))?;
    let unchanged = previous
        .filter(|p| Arc::ptr_eq(p.protocol(), &protocol) && Arc::ptr_eq(p.metadata(), &metadata));
    let (config, schema) = match unchanged {
        Some(previous) => (Arc::clone(previous.config()), Arc::clone(previous.schema())),
        None => {
            let config = TableConfig::new(&metadata, &protocol);
            config
                .check_readable(store.root().path(), REFERENCE_VERSION)
                .map_err(|e| e.with_version(version))?;
            (Arc::new(config), Arc::new(metadata.schema()?))
        }
    };
    Ok(Snapshot {
        inner: Arc::new(Inner {
            store: store.clone(),
            version,
            protocol,
            metadata,
            schema,
            config,
            header,
            files,
            checkpoint,
            anchor: anchor.map_or_else(OnceCell::new, |file| OnceCell::new_with(Some(file))),
            seen: Mutex::new(Instant::now()),
            commit_info: OnceCell::new(),
            live: OnceCell::new(),
            summary: OnceCell::new(),
        }),
    })
}

/// Reads a commit; `None` where there is none.
pub(super) async fn commit_if_there(
    store: &TableStore,
    version: Version,
) -> Result<Option<Vec<Action>>> {
    match read_commit(store, version).await {
        Ok(actions) => Ok(Some(actions)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
