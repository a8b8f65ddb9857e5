//! Reading: from a version's files to batches.

pub mod adapter;
pub mod ahead;
pub mod build;
pub(crate) mod failure;
pub(crate) mod footer;
pub mod metadata;
pub(crate) mod morsel;
pub mod pinned;
pub(crate) mod predicate;
pub mod prune;
pub mod rows;
pub mod source;
pub(crate) mod stats;
pub mod vector;
