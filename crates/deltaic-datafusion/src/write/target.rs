//! Where and how data files are written: the facts of the table that the writer needs, and nothing of its log.

use std::num::NonZeroU64;
use std::sync::Arc;

use deltaic_log::Ids;
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableStore;

use super::collector::StatsPlan;
use super::shape::Shaper;

/// Random letters and digits for a folder prefix.
pub(crate) fn random_prefix(ids: &dyn Ids, length: usize) -> String {
    const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    (0..length)
        .map(|_| char::from(ALPHABET[usize::try_from(ids.below(62)).unwrap_or_default() % 62]))
        .collect()
}

/// What files are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Rows of the table: `part-…`.
    Data,
    /// Changes, in a folder of their own: `_change_data/cdc-…`.
    Change,
}

/// A table as its writer sees it.
#[derive(Debug, Clone)]
pub struct WriteTarget {
    /// The files.
    pub store: TableStore,
    /// The logical schema.
    pub schema: StructType,
    /// The partition columns' positions in the schema, physical names and types, in partitioning order.
    pub partitions: Vec<PartitionColumn>,
    /// What the files are for.
    pub kind: FileKind,
    /// Column conversions.
    pub shaper: Arc<Shaper>,
    /// Statistics; none where the caller wants none (tables without a log).
    pub stats: Option<Arc<StatsPlan>>,
    /// Letters of a random folder in front of each file, in place of partition folders.
    pub random_prefix: Option<usize>,
    /// The session's zone.
    pub zone: Zone,
    /// A file of this size is closed and another one begun (bytes).
    pub max_file_bytes: usize,
    /// A file of so many rows is closed; any number if `None`.
    pub max_file_rows: Option<NonZeroU64>,
    /// Ids of files.
    pub ids: Arc<dyn Ids>,
}

/// A partition column.
#[derive(Debug, Clone)]
pub struct PartitionColumn {
    /// Position in the logical schema.
    pub at: usize,
    /// The name in the log and in folders.
    pub physical: String,
    /// Its type.
    pub data_type: DataType,
}
