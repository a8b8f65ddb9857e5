//! Writing checkpoints: classic, or V2 with sidecars, and the pointer to them.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use deltaic_protocol::Action;
use deltaic_protocol::action::{
    Add, CheckpointMetadata, DomainMetadata, Metadata, Protocol, Remove, SetTransaction, Sidecar,
};
use deltaic_protocol::error::Result;
use deltaic_protocol::file_name::{self, LAST_CHECKPOINT, SIDECAR_DIR};
use deltaic_protocol::schema::StructType;
use deltaic_storage::{PutOutcome, TableStore};
use futures::TryStreamExt;
use futures::stream::BoxStream;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use super::AddChunk;
use super::encode::{Row, batch, internal};
use super::read::SIDECAR_BYTES;
use super::rows::batch_of_rows;
use super::schema::{CheckpointColumns, Layout};
use crate::Version;
use crate::arrow_schema::to_arrow;
use crate::commit::commit_text;
use crate::hint::LastCheckpoint;

/// Rows that are encoded at a time.
const CHUNK_ROWS: usize = 1_024;
/// Rows that readers, this one too, must hold at a time.
const GROUP_ROWS: usize = 32_768;
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
    /// How many live files there are, as far as is known beforehand; V2 sidecars are numbered by it.
    pub num_adds: usize,
    /// Tombstones that have not expired.
    pub removes: Vec<Arc<Remove>>,
    /// Optional columns.
    pub columns: CheckpointColumns,
    /// Write a V2 checkpoint.
    pub v2: bool,
}

/// The live files of a checkpoint, some at a time.
pub type AddChunks<'a> = BoxStream<'a, Result<AddChunk>>;

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

    fn remove_rows(&self) -> Vec<Row<'_>> {
        let removes = self.removes.iter();
        removes.map(|r| Row::Remove(r.as_ref())).collect()
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

/// Writes a checkpoint and points `_last_checkpoint` to it. Of the live files no more are held than `adds` gives at a time. `uuid`
/// names V2 files; each call gives a new one.
///
/// # Errors
/// The store fails, or `adds` does: then there is no checkpoint. One that another writer made first is kept.
pub async fn write_checkpoint(
    store: &TableStore,
    content: &CheckpointContent,
    adds: AddChunks<'_>,
    uuid: &(dyn Fn() -> String + Sync),
) -> Result<WrittenCheckpoint> {
    let written = if content.v2 {
        write_v2(store, content, adds, uuid).await?
    } else {
        write_classic(store, content, adds).await?
    };
    store
        .log()
        .overwrite(LAST_CHECKPOINT, Bytes::from(written.hint.to_text()))
        .await?;
    Ok(written)
}

fn add_rows(adds: &[Arc<Add>]) -> Vec<Row<'_>> {
    adds.iter().map(|a| Row::Add(a.as_ref())).collect()
}

async fn write_classic(
    store: &TableStore,
    content: &CheckpointContent,
    mut adds: AddChunks<'_>,
) -> Result<WrittenCheckpoint> {
    let schema = content.columns.schema(Layout::Classic);
    let mut file = ParquetOut::new(&schema, &content.columns)?;
    file.write(&content.header_rows())?;
    file.write(&content.remove_rows())?;
    let mut num_adds = 0;
    while let Some(chunk) = adds.try_next().await? {
        num_adds += chunk.len();
        file.write_adds(&chunk)?;
    }
    let (rows, bytes) = file.finish()?;
    let name = file_name::checkpoint(content.version);
    let mut hint = LastCheckpoint::new(content.version, rows as i64);
    hint.size_in_bytes = Some(bytes.len() as i64);
    hint.num_of_add_files = Some(num_adds as i64);
    hint.checkpoint_schema = serde_json::from_str(&schema.to_json()).ok();
    put(store, &name, bytes).await?;
    Ok(WrittenCheckpoint {
        files: vec![name],
        hint,
    })
}

/// Sidecars that are being written, one after the other.
struct Sidecars<'a> {
    store: &'a TableStore,
    content: &'a CheckpointContent,
    schema: &'a StructType,
    uuid: &'a (dyn Fn() -> String + Sync),
    parts: usize,
    open: Option<ParquetOut<'a>>,
    actions: usize,
    written: Vec<Sidecar>,
}

impl Sidecars<'_> {
    /// Adds actions; each sidecar takes so many and no more.
    async fn take(&mut self, mut rows: &[Row<'_>]) -> Result<()> {
        while !rows.is_empty() {
            let file = match &mut self.open {
                Some(file) => file,
                None => self
                    .open
                    .insert(ParquetOut::new(self.schema, &self.content.columns)?),
            };
            let room = SIDECAR_ACTIONS.saturating_sub(file.rows).min(rows.len());
            let (now, later) = rows.split_at(room);
            file.write(now)?;
            self.actions += room;
            rows = later;
            if file.rows >= SIDECAR_ACTIONS {
                self.close().await?;
            }
        }
        Ok(())
    }

    /// Adds live files. Rows go into a sidecar together, so that one may have some more than it takes of actions.
    async fn take_adds(&mut self, chunk: AddChunk) -> Result<()> {
        let rows = match chunk {
            AddChunk::Files(adds) => return self.take(&add_rows(&adds)).await,
            AddChunk::Rows(rows) => AddChunk::Rows(rows),
        };
        if rows.is_empty() {
            return Ok(());
        }
        let file = match &mut self.open {
            Some(file) => file,
            None => self
                .open
                .insert(ParquetOut::new(self.schema, &self.content.columns)?),
        };
        file.write_adds(&rows)?;
        self.actions += rows.len();
        if file.rows >= SIDECAR_ACTIONS {
            self.close().await?;
        }
        Ok(())
    }

    /// Ends the sidecar that is open, if one is.
    async fn close(&mut self) -> Result<()> {
        let Some(file) = self.open.take() else {
            return Ok(());
        };
        let (_, bytes) = file.finish()?;
        let bare = format!(
            "{:020}.checkpoint.{:010}.{:010}.{}.parquet",
            self.content.version,
            self.written.len() + 1,
            self.parts,
            (self.uuid)()
        );
        let name = format!("{SIDECAR_DIR}/{bare}");
        let size = bytes.len() as i64;
        put(self.store, &name, bytes).await?;
        let entry = self.store.log().stat(&name).await?;
        self.written.push(Sidecar {
            path: bare,
            size_in_bytes: size,
            modification_time: entry.map_or(0, |file| file.modified_ms),
            tags: None,
        });
        Ok(())
    }
}

async fn write_v2(
    store: &TableStore,
    content: &CheckpointContent,
    mut adds: AddChunks<'_>,
    uuid: &(dyn Fn() -> String + Sync),
) -> Result<WrittenCheckpoint> {
    let schema = content.columns.schema(Layout::Sidecar);
    let mut out = Sidecars {
        store,
        content,
        schema: &schema,
        uuid,
        parts: (content.removes.len() + content.num_adds).div_ceil(SIDECAR_ACTIONS),
        open: None,
        actions: 0,
        written: Vec::new(),
    };
    out.take(&content.remove_rows()).await?;
    let mut num_adds = 0;
    while let Some(chunk) = adds.try_next().await? {
        num_adds += chunk.len();
        out.take_adds(chunk).await?;
    }
    out.close().await?;
    let (actions, sidecars) = (out.actions, out.written);
    let sidecar_bytes: i64 = sidecars.iter().map(|s| s.size_in_bytes).sum();
    let metadata = checkpoint_metadata(content, actions, num_adds, sidecar_bytes, &schema);
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
    let mut hint = LastCheckpoint::new(content.version, (actions + top.len()) as i64);
    hint.size_in_bytes = Some(top_bytes + sidecar_bytes);
    hint.num_of_add_files = Some(num_adds as i64);
    hint.v2_checkpoint = Some(v2);
    let mut names = vec![name];
    names.extend(sidecars.iter().map(|s| format!("{SIDECAR_DIR}/{}", s.path)));
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
    let schema = columns.schema(Layout::V2);
    let mut file = ParquetOut::new(&schema, &columns)?;
    file.write(&rows)?;
    let (_, bytes) = file.finish()?;
    put(store, &file_name::checkpoint(version), bytes).await
}

fn checkpoint_metadata(
    content: &CheckpointContent,
    actions: usize,
    num_adds: usize,
    bytes: i64,
    schema: &StructType,
) -> CheckpointMetadata {
    let tags = [
        ("sidecarNumActions", actions.to_string()),
        (SIDECAR_BYTES, bytes.to_string()),
        ("numOfAddFiles", num_adds.to_string()),
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

/// Texts of which many files have the same: a dictionary is worth it for them, and for nothing else in a checkpoint.
fn repeats(path: &str) -> bool {
    const NAMES: [&str; 6] = [
        "key",
        "value",
        "clusteringProvider",
        "storageType",
        "provider",
        "domain",
    ];
    let last = path.rsplit('.').next().unwrap_or(path);
    NAMES.contains(&last) || path.starts_with("add.partitionValues_parsed.")
}

fn properties(schema: &SchemaRef) -> Result<WriterProperties> {
    let columns = ArrowSchemaConverter::new()
        .convert(schema)
        .map_err(internal)?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(GROUP_ROWS));
    for column in columns.columns() {
        if repeats(&column.path().string()) {
            properties = properties.set_column_dictionary_enabled(column.path().clone(), true);
        }
    }
    Ok(properties.build())
}

/// A Parquet file of the log that is being written.
struct ParquetOut<'a> {
    schema: &'a StructType,
    columns: &'a CheckpointColumns,
    arrow: SchemaRef,
    writer: ArrowWriter<Vec<u8>>,
    rows: usize,
}

impl<'a> ParquetOut<'a> {
    fn new(schema: &'a StructType, columns: &'a CheckpointColumns) -> Result<Self> {
        let arrow = to_arrow(schema);
        let options = ArrowWriterOptions::new()
            .with_properties(properties(&arrow)?)
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), Arc::clone(&arrow), options);
        Ok(Self {
            schema,
            columns,
            arrow,
            writer: writer.map_err(internal)?,
            rows: 0,
        })
    }

    fn write(&mut self, rows: &[Row<'_>]) -> Result<()> {
        for chunk in rows.chunks(CHUNK_ROWS) {
            let batch = batch(self.schema, self.columns, chunk)?;
            self.writer.write(&batch).map_err(internal)?;
            self.rows += chunk.len();
        }
        Ok(())
    }

    /// Live files: rows of another checkpoint as they are, unless they have to be taken apart.
    fn write_adds(&mut self, chunk: &AddChunk) -> Result<()> {
        let rows = match chunk {
            AddChunk::Files(adds) => return self.write(&add_rows(adds)),
            AddChunk::Rows(rows) => rows,
        };
        let length = chunk.len();
        let Some(batch) = batch_of_rows(&self.arrow, self.columns, rows, length) else {
            return self.write(&add_rows(&rows.to_adds()));
        };
        self.writer.write(&batch).map_err(internal)?;
        self.rows += length;
        Ok(())
    }

    /// How many rows there are, and the file.
    fn finish(self) -> Result<(usize, Bytes)> {
        let bytes = self.writer.into_inner().map_err(internal)?;
        Ok((self.rows, Bytes::from(bytes)))
    }
}
