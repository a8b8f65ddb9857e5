//! Delta tables in a plain DataFusion application: a session that understands them, tables by path, catalogs by folder.

pub mod catalog;
pub mod checks;
mod exec;
pub mod factory;
pub mod inserts;
pub mod open;
mod planner;
mod rule;
pub mod session;
mod travel;

use deltaic_log::transaction::{CommitContext, Later};

/// The surroundings of a statement's commit. On an object store the statement does not wait for the version checksum.
fn commit_context() -> CommitContext {
    CommitContext {
        later: Some(Later::default()),
        ..CommitContext::default()
    }
}
