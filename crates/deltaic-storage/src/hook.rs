//! One wrapper around all stores of a table that tells a hook of every operation, before and after it.
//!
//! [`RequestCounter`] counts requests; [`FaultPlan`] makes the n-th operation fail, before or after it took effect, lets
//! every later one fail too (what a table looks like to others after a crash), or ends the process.

mod count;
mod data;
mod fault;
mod log;
mod object;

pub use count::RequestCounter;
pub use data::HookedDataStore;
pub use fault::{FaultMode, FaultPlan};
pub use log::HookedLogStore;
pub use object::HookedObjectStore;

use deltaic_protocol::error::Result;

/// What a store is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// Reading a file, whole or in part.
    Read,
    /// A listing (counted once, when it is asked for).
    List,
    /// Looking up one file.
    Stat,
    /// Making or replacing a file.
    Write,
    /// One part of a multipart write.
    WritePart,
    /// The end of a multipart write.
    WriteEnd,
    /// Removing a file or directory.
    Delete,
    /// Setting a modification time.
    Touch,
}

impl OpKind {
    /// Whether the operation changes the store.
    pub fn is_mutation(self) -> bool {
        !matches!(self, OpKind::Read | OpKind::List | OpKind::Stat)
    }
}

/// Through which store an operation came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// [`crate::LogStore`]; paths are names inside `_delta_log`.
    Log,
    /// [`crate::DataStore`]; paths are relative to the table.
    Data,
    /// The object store; paths are absolute.
    Object,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOp {
    /// What.
    pub kind: OpKind,
    /// Through which store.
    pub area: Area,
    /// On which path.
    pub path: String,
}

/// Called around every operation of a table's stores.
pub trait StoreHook: Send + Sync {
    /// Before the operation; an error is returned instead of doing it.
    ///
    /// # Errors
    /// Whatever the hook wants the caller to see.
    fn before(&self, op: &StoreOp) -> Result<()>;

    /// After the operation took effect; an error is returned instead of its result.
    ///
    /// # Errors
    /// Whatever the hook wants the caller to see.
    fn after(&self, _op: &StoreOp) -> Result<()> {
        Ok(())
    }
}
