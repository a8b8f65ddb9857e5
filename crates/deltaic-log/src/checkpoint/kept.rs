//! What was read of a checkpoint and is asked for again: its header and its live files are read one after the other.

use std::sync::OnceLock;

use bytes::Bytes;
use deltaic_protocol::action::Sidecar;

use super::parquet_file::LogParquet;

/// Texts up to this size are kept.
const KEPT_TEXT_BYTES: usize = 1 << 20;

/// What is kept of a checkpoint of one file. Only whole files are: of a file that another writer may replace by one of the same
/// name, no later range fits an earlier footer.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    file: OnceLock<LogParquet>,
    text: OnceLock<Bytes>,
    sidecars: OnceLock<Vec<Sidecar>>,
}

impl Kept {
    /// The Parquet file, if it is held whole.
    pub(super) fn file(&self) -> Option<LogParquet> {
        self.file.get().cloned()
    }

    /// Keeps the Parquet file, if all of it is in memory.
    pub(super) fn keep_file(&self, file: &LogParquet) {
        if file.is_whole() {
            self.file.get_or_init(|| file.clone());
        }
    }

    /// The JSON text.
    pub(super) fn text(&self) -> Option<Bytes> {
        self.text.get().cloned()
    }

    /// Keeps the JSON text, unless it is large.
    pub(super) fn keep_text(&self, text: &Bytes) {
        if text.len() <= KEPT_TEXT_BYTES {
            self.text.get_or_init(|| text.clone());
        }
    }

    /// The sidecars that the checkpoint names.
    pub(super) fn sidecars(&self) -> Option<&[Sidecar]> {
        self.sidecars.get().map(Vec::as_slice)
    }

    /// Keeps the sidecars that the checkpoint names.
    pub(super) fn keep_sidecars(&self, sidecars: &[Sidecar]) {
        self.sidecars.get_or_init(|| sidecars.to_vec());
    }
}
