//! From a table's columns to those of a data file and back: names, ids, types.

pub mod mapping;
pub mod reshape;
mod unshred;
