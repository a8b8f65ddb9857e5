//! What is encoded beside a plain scan: JSON in front of the protocol buffer of the plain scan.

use std::sync::Arc;

use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use deltaic_protocol::deletion_vector::{DeletionVector, DeletionVectorDescriptor};
use deltaic_storage::{StorageFactory, TableStore};
use roaring::RoaringTreemap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::columns::mapping::ColumnMap;
use crate::error::wrap;
use crate::scan::rows::FileRows;
use crate::scan::vector::VectorFile;

/// A scan.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ScanMessage {
    /// How columns are found.
    pub columns: ColumnMap,
    /// Files stay in their groups and order.
    pub preserve_order: bool,
    /// For each file, group by group.
    pub files: Vec<FileMessage>,
}

/// A scan's files are read ahead.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AheadMessage {
    /// How many at the same time.
    pub ahead: usize,
}

/// What is attached to a file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileMessage {
    /// The table that the deletion vector belongs to, as a location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<DeletionVectorDescriptor>,
    /// The vector that alone is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked: Option<DeletionVectorDescriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_rows: Option<u64>,
    /// Payloads of row sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<Vec<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<u8>>,
}

impl FileMessage {
    /// Of a file's restriction.
    pub(crate) fn of(rows: Option<&FileRows>, physical_rows: Option<u64>) -> FileMessage {
        let payload = |set: &Option<Arc<RoaringTreemap>>| {
            set.as_ref().map(|set| {
                DeletionVector {
                    rows: set.as_ref().clone(),
                }
                .to_payload()
            })
        };
        let descriptor =
            |vector: &Option<VectorFile>| vector.as_ref().map(|v| v.descriptor().clone());
        match rows {
            None => FileMessage {
                physical_rows,
                ..FileMessage::default()
            },
            Some(rows) => FileMessage {
                table: [&rows.vector, &rows.marked]
                    .into_iter()
                    .flatten()
                    .map(|vector| vector.store().root().to_string())
                    .next(),
                vector: descriptor(&rows.vector),
                marked: descriptor(&rows.marked),
                physical_rows,
                without: payload(&rows.without),
                only: payload(&rows.only),
            },
        }
    }

    /// The restriction. Stores are opened through `factory`.
    pub(crate) fn rows(&self, factory: &StorageFactory) -> Result<Option<FileRows>> {
        let set = |payload: &Option<Vec<u8>>| -> Result<Option<Arc<RoaringTreemap>>> {
            match payload {
                Some(payload) => Ok(Some(Arc::new(
                    DeletionVector::from_payload(payload).map_err(wrap)?.rows,
                ))),
                None => Ok(None),
            }
        };
        let vector = |descriptor: &Option<DeletionVectorDescriptor>| -> Result<Option<VectorFile>> {
            match (descriptor, &self.table) {
                (Some(descriptor), Some(table)) => {
                    let store: TableStore = factory.open(table).map_err(wrap)?;
                    Ok(Some(VectorFile::new(&store, descriptor.clone())))
                }
                _ => Ok(None),
            }
        };
        let rows = FileRows {
            vector: vector(&self.vector)?,
            marked: vector(&self.marked)?,
            without: set(&self.without)?,
            only: set(&self.only)?,
        };
        Ok((!rows.is_all()).then_some(rows))
    }
}

/// Puts a message and bytes together.
pub(crate) fn frame(message: &impl Serialize, rest: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let head = serde_json::to_vec(message)
        .map_err(|error| exec_datafusion_err!("a scan cannot be encoded: {error}"))?;
    let length = u32::try_from(head.len())
        .map_err(|_| exec_datafusion_err!("a scan of more than 4 GiB cannot be encoded"))?;
    out.extend(length.to_le_bytes());
    out.extend(head);
    out.extend(rest);
    Ok(())
}

/// Takes them apart.
pub(crate) fn unframe<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8])> {
    let short = || exec_datafusion_err!("an encoded Delta scan ends too early");
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
    let length = u32::from_le_bytes(*length) as usize;
    let head = rest.get(..length).ok_or_else(short)?;
    let message = serde_json::from_slice(head)
        .map_err(|error| exec_datafusion_err!("an encoded Delta scan is damaged: {error}"))?;
    Ok((message, rest.get(length..).unwrap_or_default()))
}
