//! The files of a table version: a checkpoint's content below, the commits after it in layers above.
//!
//! Cloning is cheap and adding a commit costs in proportion to that commit: layers are shared, and a new one merges with its
//! neighbours only while they are of like size, so that a table with n commits in memory has about log n layers. The
//! checkpoint's own rows are read when somebody asks for files, not before.

mod base;
mod key;
mod layer;
mod stack;
mod summary;

pub(crate) use base::Base;
pub use base::CheckpointSource;
pub use key::{FileKey, canonical_path};
pub use layer::{FileState, Layer};
pub(crate) use stack::FileStack;
pub use summary::{FileSummary, SizeHistogram};
