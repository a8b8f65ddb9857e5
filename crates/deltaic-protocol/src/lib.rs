//! The Delta log protocol as plain values and functions: actions, schema, table features and properties, names and text forms of
//! the log, statistics, deletion vectors, and the one table of errors. No input or output, nothing asynchronous, no Arrow.

pub mod action;
pub mod clock;
pub mod column_list;
pub mod config;
pub mod deletion_vector;
pub mod error;
pub mod feature;
pub mod file_name;
pub mod interval;
pub mod number;
pub mod partition;
pub mod path;
pub mod properties;
pub mod schema;
pub mod statistics;
pub mod timestamp;
pub mod uniform;

pub use action::Action;
pub use clock::{Clock, ManualClock, SystemClock};
pub use config::{ColumnMappingMode, TableConfig};
pub use error::{DeltaError, ErrorKind, Result};
pub use feature::TableFeature;
pub use file_name::LogFileName;
pub use interval::CalendarInterval;
pub use schema::{DataType, StructField, StructType};
pub use statistics::Statistics;
