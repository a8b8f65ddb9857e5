//! Where table files live: a log store, a data store and an object store for each table, on local disk, in memory, on S3 and
//! on Azure.
//!
//! The crate knows nothing about the content of files. It promises what the log protocol needs of a store
//! (put-if-absent, whole files only, listing after writing) and the [`contract`] suite checks those promises on every
//! backend. [`hook`] is the place where requests are counted and faults are injected.

pub mod cloud;
pub mod contract;
mod data_store;
mod error;
mod factory;
pub mod faults;
pub mod hook;
pub mod local;
mod log_store;
pub mod memory;
mod meta;
mod object_path;
mod path;
mod root;
mod table;
mod unfinished;

pub use data_store::{DataStore, DeleteStream, Descend, Odds};
pub use factory::{StorageFactory, StorageOptions};
pub use log_store::LogStore;
pub use meta::{DeleteOutcome, DirOutcome, FileMeta, FileStream, PutOutcome};
pub use object_path::{from_object_path, to_object_path};
pub use path::{DataPath, decode_uri_path, encode_uri_path};
pub use root::{Bucket, Scheme, TableRoot};
pub use table::TableStore;
pub use unfinished::is_unfinished_write;

/// The folder of the log inside a table.
pub const LOG_DIR: &str = "_delta_log";
