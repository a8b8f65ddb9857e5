//! The log of a Delta table: which files make up a version, replay, snapshots, history, data skipping, and transactions with their
//! conflict check, checkpoints, checksums and cleanup.
//!
//! Decisions are pure functions over values; thin asynchronous layers read and write through `deltaic_storage`. Nothing here
//! knows a query engine.

pub mod arrow_schema;
pub mod changes;
pub mod checkpoint;
pub mod checksum;
pub mod cleanup;
pub mod commit;
pub mod files;
pub mod hint;
pub mod history;
pub mod ids;
pub mod listing;
pub mod maintain;
pub mod manifest;
pub mod reconcile;
pub mod segment;
pub mod skipping;
pub mod snapshot;
pub mod transaction;

#[cfg(test)]
mod tests;

pub use files::FileSummary;
pub use ids::{Ids, RandomIds};
pub use snapshot::{Files, Snapshot};
pub use transaction::{
    Commit, CommitConflict, CommitContext, CommitResult, Later, Operation, ReadScope, Transaction,
};

/// The release whose answers are given where a text names it.
pub const REFERENCE_VERSION: &str = "4.3.0";

/// The number of a table version. Negative where there is none yet.
pub type Version = i64;
