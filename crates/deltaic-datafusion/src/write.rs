//! Writing: from a query's rows to data files with statistics.

pub mod checks;
pub(crate) mod collector;
pub mod identity;
pub mod job;
pub(crate) mod shape;
mod show;
pub(crate) mod target;
pub(crate) mod task;
