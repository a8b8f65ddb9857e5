//! Writing checkpoints: classic, or V2 with sidecars, and the pointer to them.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::{
    Add, CheckpointMetadata, DomainMetadata, Metadata, Protocol, Remove, SetTransaction, Sidecar,
};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::file_name::{self, LAST_CHECKPOINT, SIDECAR_DIR};
use deltaic_protocol::schema::StructType;
use deltaic_storage::{PutOutcome, TableStore};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use super::encode::{Row, batch, internal};
use super::schema::{CheckpointColumns, Layout};
use crate::Version;
use crate::arrow_schema::to_arrow;
use crate::commit::commit_text;
use crate::hint::LastCheckpoint;

/// Rows that are encoded at a time.
const CHUNK_ROWS: usize = 8_192;
/// File actions in one sidecar.
const SIDECAR_ACTIONS: usize = 50_000;
/// Longer lists are not repeated in the pointer.
const MAX_INLINE: usize = 30;

/// What a checkpoint holds.
#[derive(Debug, Clone)]
pub struct CheckpointContent {
    /// The version.
    pub version: Version,
    /// The protocol.
    pub protocol: Arc<Protocol>,
    /// The metadata.
    pub metadata: Arc<Metadata>,
    /// Application transactions that have not expired.
    pub txns: Vec<SetTransaction>,
    /// Domains that are not removed.
    pub domains: Vec<DomainMetadata>,
    /// Live files.
    pub adds: Vec<Arc<Add>>,
    /// Tombstones that have not expired.
    pub removes: Vec<Arc<Remove>>,
    /// Optional columns.
    pub columns: CheckpointColumns,
    /// Write a V2 checkpoint.
    pub v2: bool,
}

/// A checkpoint that was written.
#[derive(Debug, Clone)]
pub struct WrittenCheckpoint {
    /// The names of its files inside the log folder, the top file first.
    pub files: Vec<String>,
    /// The pointer that was written.
    pub hint: LastCheckpoint,
}

impl CheckpointContent {
    fn header_rows(&self) -> Vec<Row<'_>> {
        let mut rows = vec![Row::Protocol(&self.protocol), Row::Metadata(&self.metadata)];
        rows.extend(self.txns.iter().map(Row::Txn));
        rows.extend(self.domains.iter().map(Row::Domain));
        rows
    }

    fn file_rows(&self) -> Vec<Row<'_>> {
        let removes = self.removes.iter().map(|r| Row::Remove(r.as_ref()));
        removes
            .chain(self.adds.iter().map(|a| Row::Add(a.as_ref())))
            .collect()
    }

    fn header_actions(&self) -> Vec<Action> {
        let mut out = vec![
            Action::Protocol(self.protocol.as_ref().clone()),
            Action::Metadata(self.metadata.as_ref().clone()),
        ];
        out.extend(self.txns.iter().cloned().map(Action::Txn));
        out.extend(self.domains.iter().cloned().map(Action::DomainMetadata));
        out
    }
}

/// Writes a checkpoint and points `_last_checkpoint` to it. `uuid` names V2 files; each call gives a new one.
///
/// # Errors
/// The store fails. A checkpoint that another writer made first is kept.
pub async fn write_checkpoint(
    store: &TableStore,
    content: &CheckpointContent,
    uuid: &(dyn Fn() -> String + Sync),
) -> Result<WrittenCheckpoint> {
    let written = if content.v2 {
        write_v2(store, content, uuid).await?
    } else {
        write_classic(store, content).await?
    };
    store
        .log()
        .overwrite(LAST_CHECKPOINT, Bytes::from(written.hint.to_text()))
        .await?;
    Ok(written)
}

async fn write_classic(
    store: &TableStore,
    content: &CheckpointContent,
) -> Result<WrittenCheckpoint> {
    let schema = content.columns.schema(Layout::Classic);
    let mut rows = content.header_rows();
    rows.extend(content.file_rows());
    let bytes = parquet(&schema, &content.columns, &rows)?;
    let name = file_name::checkpoint(content.version);
    let mut hint = LastCheckpoint::new(content.version, rows.len() as i64);
    hint.size_in_bytes = Some(bytes.len() as i64);
    hint.num_of_add_files = Some(content.adds.len() as i64);
    hint.checkpoint_schema = serde_json::from_str(&schema.to_json()).ok();
    put(store, &name, bytes).await?;
    Ok(WrittenCheckpoint {
        files: vec![name],
        hint,
    })
}

async fn write_v2(
    store: &TableStore,
    content: &CheckpointContent,
    uuid: &(dyn Fn() -> String + Sync),
) -> Result<WrittenCheckpoint> {
    let schema = content.columns.schema(Layout::Sidecar);
    let rows = content.file_rows();
    let parts = rows.len().div_ceil(SIDECAR_ACTIONS);
    let mut sidecars = Vec::with_capacity(parts);
    let mut names = Vec::with_capacity(parts + 1);
    for (part, chunk) in rows.chunks(SIDECAR_ACTIONS).enumerate() {
        let bytes = parquet(&schema, &content.columns, chunk)?;
        let bare = format!(
            "{:020}.checkpoint.{:010}.{:010}.{}.parquet",
            content.version,
            part + 1,
            parts,
            uuid()
        );
        let name = format!("{SIDECAR_DIR}/{bare}");
        let size = bytes.len() as i64;
        put(store, &name, bytes).await?;
        let modified = store
            .log()
            .stat(&name)
            .await?
            .map_or(0, |file| file.modified_ms);
        sidecars.push(Sidecar {
            path: bare,
            size_in_bytes: size,
            modification_time: modified,
            tags: None,
        });
        names.push(name);
    }
    let sidecar_bytes: i64 = sidecars.iter().map(|s| s.size_in_bytes).sum();
    let metadata = checkpoint_metadata(content, rows.len(), sidecar_bytes, &schema);
    let mut small = content.header_actions();
    small.push(Action::CheckpointMetadata(metadata));
    let mut top = small.clone();
    top.extend(sidecars.iter().cloned().map(Action::Sidecar));
    let text = commit_text(&top);
    let name = format!("{:020}.checkpoint.{}.json", content.version, uuid());
    let top_bytes = text.len() as i64;
    put(store, &name, Bytes::from(text)).await?;
    let modified = store
        .log()
        .stat(&name)
        .await?
        .map_or(0, |file| file.modified_ms);

    let mut v2 = json!({"path": name, "sizeInBytes": top_bytes, "modificationTime": modified});
    if let Value::Object(map) = &mut v2 {
        if small.len() <= MAX_INLINE {
            let actions = small
                .iter()
                .filter_map(|a| serde_json::from_str(&a.to_json_line()).ok())
                .collect();
            map.insert("nonFileActions".to_owned(), Value::Array(actions));
        }
        if sidecars.len() <= MAX_INLINE {
            let list = sidecars
                .iter()
                .filter_map(|s| serde_json::to_value(s).ok())
                .collect();
            map.insert("sidecarFiles".to_owned(), Value::Array(list));
        }
    }
    let mut hint = LastCheckpoint::new(content.version, (rows.len() + top.len()) as i64);
    hint.size_in_bytes = Some(top_bytes + sidecar_bytes);
    hint.num_of_add_files = Some(content.adds.len() as i64);
    hint.v2_checkpoint = Some(v2);
    names.insert(0, name);
    Ok(WrittenCheckpoint { files: names, hint })
}

/// A V2 checkpoint under a classic name, naming sidecars that exist: readers that know only classic names then meet the protocol
/// and refuse the table, instead of seeing no checkpoint at all.
///
/// # Errors
/// The store fails.
pub async fn write_compatible(
    store: &TableStore,
    version: Version,
    header: &super::CheckpointHeader,
) -> Result<()> {
    let mut rows = Vec::new();
    rows.extend(
        header
            .checkpoint_metadata
            .as_ref()
            .map(Row::CheckpointMetadata),
    );
    rows.extend(header.protocol.as_ref().map(Row::Protocol));
    rows.extend(header.metadata.as_ref().map(Row::Metadata));
    rows.extend(header.txns.iter().map(Row::Txn));
    rows.extend(header.domains.iter().map(Row::Domain));
    rows.extend(header.sidecars.iter().map(Row::Sidecar));
    let columns = CheckpointColumns {
        stats_text: true,
        ..CheckpointColumns::default()
    };
    let bytes = parquet(&columns.schema(Layout::V2), &columns, &rows)?;
    put(store, &file_name::checkpoint(version), bytes).await
}

fn checkpoint_metadata(
    content: &CheckpointContent,
    actions: usize,
    bytes: i64,
    schema: &StructType,
) -> CheckpointMetadata {
    let tags = [
        ("sidecarNumActions", actions.to_string()),
        ("sidecarSizeInBytes", bytes.to_string()),
        ("numOfAddFiles", content.adds.len().to_string()),
        ("sidecarFileSchema", schema.to_json()),
    ];
    let tags = tags
        .into_iter()
        .map(|(k, v)| (k.to_owned(), Some(v)))
        .collect();
    CheckpointMetadata {
        version: content.version,
        tags: Some(tags),
    }
}

/// Creates a file; one that is there already is kept, unless it is empty.
async fn put(store: &TableStore, name: &str, bytes: Bytes) -> Result<()> {
    if store.log().create(name, bytes.clone()).await? == PutOutcome::AlreadyExists
        && store
            .log()
            .stat(name)
            .await?
            .is_some_and(|file| file.size == 0)
    {
        store.log().overwrite(name, bytes).await?;
    }
    Ok(())
}

fn parquet(schema: &StructType, columns: &CheckpointColumns, rows: &[Row<'_>]) -> Result<Bytes> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let fail = |e: parquet::errors::ParquetError| -> DeltaError { internal(e) };
    let mut writer =
        ArrowWriter::try_new_with_options(Vec::new(), to_arrow(schema), options).map_err(fail)?;
    for chunk in rows.chunks(CHUNK_ROWS) {
        writer
            .write(&batch(schema, columns, chunk)?)
            .map_err(fail)?;
    }
    Ok(Bytes::from(writer.into_inner().map_err(fail)?))
}
