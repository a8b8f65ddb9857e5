//! Plain Parquet tables: a folder of files, hive-style partition folders, no log. A catalog has them beside Delta tables.

mod infer;
mod listing;
mod statistics;
mod table;
mod write;

pub use infer::infer_schema;
pub use statistics::collect_statistics;
pub use table::ParquetTable;
pub use write::{ParquetWrite, write_files, write_parquet};
