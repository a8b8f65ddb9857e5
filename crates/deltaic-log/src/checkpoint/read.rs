//! Reading checkpoints: what is not a file first, files when somebody wants them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use deltaic_protocol::action::{
    Action, Add, CheckpointMetadata, DomainMetadata, Metadata, Protocol, Remove, SetTransaction,
    Sidecar,
};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::file_name::SIDECAR_DIR;
use deltaic_storage::{LOG_DIR, TableStore, decode_uri_path};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

use super::parquet_file::LogParquet;
use super::{AddChunk, AddRows, CheckpointFiles, CheckpointKind, Named, decode};
use crate::commit::parse_actions;

/// Parts and sidecars that are read at the same time.
const CONCURRENCY: usize = 8;

/// The tag of a V2 checkpoint that says how large its sidecars are together.
pub(super) const SIDECAR_BYTES: &str = "sidecarSizeInBytes";

/// What a checkpoint says besides files.
#[derive(Debug, Clone, Default)]
pub struct CheckpointHeader {
    /// The protocol.
    pub protocol: Option<Protocol>,
    /// The metadata.
    pub metadata: Option<Metadata>,
    /// Application transactions.
    pub txns: Vec<SetTransaction>,
    /// Domains.
    pub domains: Vec<DomainMetadata>,
    /// Sidecars of a V2 checkpoint.
    pub sidecars: Vec<Sidecar>,
    /// What a V2 checkpoint says about itself.
    pub checkpoint_metadata: Option<CheckpointMetadata>,
}

/// Reads everything but the files.
///
/// # Errors
/// A file is missing or damaged.
pub async fn read_header(store: &TableStore, files: &CheckpointFiles) -> Result<CheckpointHeader> {
    let mut header = CheckpointHeader::default();
    if files.kind == CheckpointKind::V2Json {
        for action in json_actions(store, files).await? {
            match action {
                Action::Protocol(protocol) => header.protocol = Some(protocol),
                Action::Metadata(metadata) => header.metadata = Some(metadata),
                Action::Txn(txn) => header.txns.push(txn),
                Action::DomainMetadata(domain) => header.domains.push(domain),
                Action::Sidecar(sidecar) => header.sidecars.push(sidecar),
                Action::CheckpointMetadata(own) => header.checkpoint_metadata = Some(own),
                _ => {}
            }
        }
        check_whole(store, files, &header)?;
        files.kept.keep_sidecars(&header.sidecars);
        return Ok(header);
    }
    let wanted = [
        "protocol",
        "metaData",
        "txn",
        "domainMetadata",
        "sidecar",
        "checkpointMetadata",
    ]
    .map(str::to_owned);
    for batch in read_parts(store, files, parts(files), |_| wanted.to_vec()).await? {
        header.protocol = header.protocol.or_else(|| decode::protocol(&batch));
        header.metadata = header.metadata.or_else(|| decode::metadata(&batch));
        decode::txns(&batch, &mut header.txns);
        decode::domains(&batch, &mut header.domains);
        decode::sidecars(&batch, &mut header.sidecars);
        header.checkpoint_metadata = header
            .checkpoint_metadata
            .or_else(|| decode::checkpoint_metadata(&batch));
    }
    check_whole(store, files, &header)?;
    files.kept.keep_sidecars(&header.sidecars);
    Ok(header)
}

/// A V2 checkpoint speaks of itself, once, and may say how large its sidecars are together. Text that was cut at the end of a line
/// would else read as a table of fewer files.
fn check_whole(
    store: &TableStore,
    files: &CheckpointFiles,
    header: &CheckpointHeader,
) -> Result<()> {
    let recorded = header.checkpoint_metadata.as_ref().and_then(|own| {
        let text = own.tags.as_ref()?.get(SIDECAR_BYTES)?.as_deref()?;
        text.parse::<i64>().ok()
    });
    let sizes = header.sidecars.iter().map(|s| s.size_in_bytes);
    let bytes = sizes.fold(0, i64::saturating_add);
    let lacks_itself = files.is_v2() && header.checkpoint_metadata.is_none();
    if !lacks_itself && recorded.is_none_or(|recorded| recorded == bytes) {
        return Ok(());
    }
    let name = files.files.first().map_or("", |file| file.path.as_str());
    let path = store.root().display(&format!("{LOG_DIR}/{name}"));
    Err(DeltaError::new("FAILED_READ_FILE.NO_HINT")
        .param("path", &path)
        .with_path(path)
        .with_kind(ErrorKind::Corrupt)
        .with_source(DeltaError::internal("the checkpoint was cut off")))
}

/// Reads the live files.
///
/// # Errors
/// A file is missing or damaged.
pub async fn read_adds(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Add>> {
    let mut out = match files.kind {
        CheckpointKind::V2Json => json_adds(store, files).await?,
        _ => Vec::new(),
    };
    let all = file_parts(store, files).await?;
    let plain = |file: &LogParquet| {
        let stats = if file.has(&["add", "stats"]) {
            "stats"
        } else {
            "stats_parsed"
        };
        add_columns(stats)
    };
    for batch in read_parts(store, files, all.clone(), plain).await? {
        decode::adds(&batch, &mut out);
    }
    if !out.is_empty() && out.iter().all(|add| add.stats.is_none()) {
        // A checkpoint may have the text column and leave it empty in favour of the typed one.
        let parsed = |file: &LogParquet| match file.has(&["add", "stats_parsed"])
            && file.has(&["add", "stats"])
        {
            true => add_columns("stats_parsed"),
            false => Vec::new(),
        };
        let mut again = Vec::new();
        for batch in read_parts(store, files, all, parsed).await? {
            decode::adds(&batch, &mut again);
        }
        if again.len() == out.len() {
            return Ok(again);
        }
    }
    Ok(out)
}

/// The live files as rows, some at a time, without holding more of them than a batch.
pub(crate) fn add_rows(
    store: &TableStore,
    files: &Arc<CheckpointFiles>,
) -> BoxStream<'static, Result<AddChunk>> {
    // Either column of statistics may be empty in favour of the other.
    let mut columns = add_columns("stats");
    columns.extend(["add.stats_parsed", "add.partitionValues_parsed"].map(str::to_owned));
    let inline = |adds: Vec<Add>| AddChunk::Files(adds.into_iter().map(Arc::new).collect());
    chunks(store, files, columns, inline, |batch| {
        let rows = AddRows::of_batch(batch)?;
        Ok(rows.map_or(AddChunk::Files(Vec::new()), AddChunk::Rows))
    })
}

/// What the live files are known by, some at a time; nothing else of them is read.
pub(crate) fn named_chunks<T: Send + 'static>(
    store: &TableStore,
    files: &Arc<CheckpointFiles>,
    name: impl Fn(Named<'_>) -> Option<T> + Clone + Send + 'static,
) -> BoxStream<'static, Result<Vec<T>>> {
    let columns = ["add.path", "add.deletionVector"].map(str::to_owned);
    let inline = name.clone();
    let own = move |add: &Add| inline((&add.path, add.deletion_vector.as_ref()));
    chunks(
        store,
        files,
        columns.to_vec(),
        move |adds| adds.iter().filter_map(own).collect::<Vec<T>>(),
        move |batch| Ok(decode::named(batch, &name)),
    )
}

/// Goes through the live files of a checkpoint: those that stand in its own JSON text, then batches of these columns.
fn chunks<C: Send + 'static>(
    store: &TableStore,
    files: &Arc<CheckpointFiles>,
    columns: Vec<String>,
    inline: impl FnOnce(Vec<Add>) -> C + Send + 'static,
    decode: impl Fn(&RecordBatch) -> Result<C> + Send + 'static,
) -> BoxStream<'static, Result<C>> {
    let (store, files) = (store.clone(), Arc::clone(files));
    let all = async move {
        let own = match files.kind {
            CheckpointKind::V2Json => json_adds(&store, &files).await?,
            _ => Vec::new(),
        };
        let own = inline(own);
        let parts = file_parts(&store, &files).await?;
        let batches = stream::iter(parts)
            .then(move |part| {
                let (store, columns) = (store.clone(), columns.clone());
                let files = Arc::clone(&files);
                async move {
                    let file = open_part(&store, &files, &part).await?;
                    file.batches(&columns)
                }
            })
            .try_flatten()
            .map(move |batch| decode(&batch?));
        Ok::<_, DeltaError>(stream::iter([Ok(own)]).chain(batches))
    };
    stream::once(all).try_flatten().boxed()
}

async fn json_adds(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Add>> {
    let actions = json_actions(store, files).await?;
    let adds = actions.into_iter().filter_map(|action| match action {
        Action::Add(add) => Some(add),
        _ => None,
    });
    Ok(adds.collect())
}

/// Reads the tombstones.
///
/// # Errors
/// A file is missing or damaged.
pub async fn read_removes(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Remove>> {
    let mut out = json_removes(store, files).await?;
    let all = file_parts(store, files).await?;
    for batch in read_parts(store, files, all, |_| vec!["remove".to_owned()]).await? {
        decode::removes(&batch, &mut out);
    }
    Ok(out)
}

/// The tombstones, some at a time, without holding more of them than a batch.
pub(crate) fn remove_chunks(
    store: &TableStore,
    files: &Arc<CheckpointFiles>,
) -> BoxStream<'static, Result<Vec<Remove>>> {
    let (own, from) = (store.clone(), Arc::clone(files));
    let inline = stream::once(async move { json_removes(&own, &from).await });
    let columns = vec!["remove".to_owned()];
    let parts = chunks(
        store,
        files,
        columns,
        |_| Vec::new(),
        |batch| {
            let mut out = Vec::new();
            decode::removes(batch, &mut out);
            Ok(out)
        },
    );
    inline.chain(parts).boxed()
}

async fn json_removes(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Remove>> {
    if files.kind != CheckpointKind::V2Json {
        return Ok(Vec::new());
    }
    let actions = json_actions(store, files).await?;
    let removes = actions.into_iter().filter_map(|action| match action {
        Action::Remove(remove) => Some(remove),
        _ => None,
    });
    Ok(removes.collect())
}

fn add_columns(stats: &str) -> Vec<String> {
    let plain = [
        "path",
        "partitionValues",
        "size",
        "modificationTime",
        "dataChange",
        "tags",
        "deletionVector",
        "baseRowId",
        "defaultRowCommitVersion",
        "clusteringProvider",
    ];
    plain
        .iter()
        .copied()
        .chain([stats])
        .map(|name| format!("add.{name}"))
        .collect()
}

/// A Parquet file inside the log folder.
#[derive(Debug, Clone)]
struct Part {
    name: String,
    size: u64,
}

fn parts(files: &CheckpointFiles) -> Vec<Part> {
    match files.kind {
        CheckpointKind::V2Json => Vec::new(),
        _ => files
            .files
            .iter()
            .map(|f| Part {
                name: f.path.clone(),
                size: f.size,
            })
            .collect(),
    }
}

/// All Parquet files that may hold file actions: the checkpoint's own and its sidecars.
async fn file_parts(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Part>> {
    let mut out = parts(files);
    for sidecar in read_sidecars(store, files).await? {
        let name = sidecar_name(&decode_uri_path(&sidecar.path)?);
        let size = match u64::try_from(sidecar.size_in_bytes) {
            Ok(size) if size > 0 => size,
            _ => store.log().stat(&name).await?.map_or(0, |meta| meta.size),
        };
        out.push(Part { name, size });
    }
    Ok(out)
}

/// The sidecars that a checkpoint names.
async fn read_sidecars(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Sidecar>> {
    if let Some(known) = files.kept.sidecars() {
        return Ok(known.to_vec());
    }
    let mut out = Vec::new();
    match files.kind {
        CheckpointKind::MultiPart { .. } => {}
        CheckpointKind::V2Json => {
            out.extend(
                json_actions(store, files)
                    .await?
                    .into_iter()
                    .filter_map(|a| match a {
                        Action::Sidecar(sidecar) => Some(sidecar),
                        _ => None,
                    }),
            );
        }
        CheckpointKind::Classic | CheckpointKind::V2Parquet => {
            let wanted = |_: &LogParquet| vec!["sidecar".to_owned()];
            for batch in read_parts(store, files, parts(files), wanted).await? {
                decode::sidecars(&batch, &mut out);
            }
        }
    }
    Ok(out)
}

/// The place of a sidecar below the log folder. Sidecars lie in one folder, so only the name of the file counts: a path that
/// leads elsewhere, as in a log that was copied, leads to no file of another table.
fn sidecar_name(decoded: &str) -> String {
    let bare = decoded.rsplit('/').next().unwrap_or_default();
    format!("{SIDECAR_DIR}/{bare}")
}

async fn json_actions(store: &TableStore, files: &CheckpointFiles) -> Result<Vec<Action>> {
    let mut out = Vec::new();
    for file in &files.files {
        let bytes = match files.kept.text() {
            Some(bytes) => bytes,
            None => store.log().read(&file.path).await?,
        };
        files.kept.keep_text(&bytes);
        out.extend(parse_actions(
            store.root(),
            &file.path,
            files.version,
            &bytes,
        )?);
    }
    Ok(out)
}

/// Opens a part or a sidecar. A checkpoint of one file is read from once, if it is small.
async fn open_part(store: &TableStore, files: &CheckpointFiles, part: &Part) -> Result<LogParquet> {
    let own = matches!(files.files.as_slice(), [only] if only.path == part.name);
    match files.kept.file() {
        Some(file) if own => return Ok(file),
        _ => {}
    }
    let file = LogParquet::open(store, &part.name, part.size).await?;
    if own {
        files.kept.keep_file(&file);
    }
    Ok(file)
}

/// Reads the columns that `wanted` names from each file, in the order of the files.
async fn read_parts(
    store: &TableStore,
    files: &CheckpointFiles,
    parts: Vec<Part>,
    wanted: impl Fn(&LogParquet) -> Vec<String>,
) -> Result<Vec<RecordBatch>> {
    let wanted = &wanted;
    let batches: Vec<Vec<RecordBatch>> = futures::stream::iter(parts)
        .map(|part| async move {
            let file = open_part(store, files, &part).await?;
            let columns = wanted(&file);
            if columns.is_empty() {
                Ok(Vec::new())
            } else {
                file.read(&columns).await
            }
        })
        .buffered(CONCURRENCY)
        .try_collect()
        .await?;
    Ok(batches.into_iter().flatten().collect())
}
