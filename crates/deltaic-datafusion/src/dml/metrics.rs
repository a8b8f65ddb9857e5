//! The metrics of DELETE and UPDATE as the history shows them.

use deltaic_log::transaction::Operation;

/// Counts of one statement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DmlMetrics {
    pub removed_files: usize,
    pub removed_bytes: i64,
    pub added_files: usize,
    pub added_bytes: i64,
    pub vectors_added: usize,
    pub vectors_updated: usize,
    pub vectors_removed: usize,
    pub copied_rows: u64,
    pub change_files: usize,
    pub scan_ms: u128,
    pub rewrite_ms: u128,
    pub total_ms: u128,
}

impl DmlMetrics {
    /// Writes them down; `rows` is the statement's own count (`numDeletedRows`, `numUpdatedRows`).
    pub(crate) fn record(&self, operation: &mut Operation, rows: (&str, u64)) {
        operation.set_metric("numRemovedFiles", self.removed_files);
        operation.set_metric("numRemovedBytes", self.removed_bytes);
        operation.set_metric("numAddedFiles", self.added_files);
        operation.set_metric("numAddedBytes", self.added_bytes);
        operation.set_metric("numDeletionVectorsAdded", self.vectors_added);
        operation.set_metric("numDeletionVectorsUpdated", self.vectors_updated);
        operation.set_metric("numDeletionVectorsRemoved", self.vectors_removed);
        operation.set_metric("numCopiedRows", self.copied_rows);
        operation.set_metric("numAddedChangeFiles", self.change_files);
        operation.set_metric(rows.0, rows.1);
        operation.set_metric("executionTimeMs", self.total_ms);
        operation.set_metric("scanTimeMs", self.scan_ms);
        operation.set_metric("rewriteTimeMs", self.rewrite_ms);
    }
}
