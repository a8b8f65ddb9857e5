//! Maintenance commands on a table: VACUUM, RESTORE, SHALLOW CLONE, CONVERT, FSCK REPAIR, history, detail, properties and columns.
//!
//! Every command is decided by pure functions over values (a snapshot's content, a listing, a clock's time) and carried out
//! by a thin asynchronous layer. No query engine is involved.

pub mod alter;
pub mod clone;
pub mod clustering;
pub mod constraints;
pub mod convert;
pub mod detail;
pub mod drop_feature;
mod facts;
pub mod history;
pub mod identity;
pub mod inventory;
pub mod parquet_files;
pub mod properties;
pub mod repair;
pub mod restore;
pub mod row_tracking;
pub mod travel;
pub mod vacuum;
