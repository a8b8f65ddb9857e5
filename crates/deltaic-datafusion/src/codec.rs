//! Plans across processes: codecs for datafusion-proto that keep deletion vectors and column mapping.
//!
//! DataFusion's own encoding of a Parquet scan has no place for what is attached to files and for the adapter of columns;
//! deleted rows would come back. Here the plain scan is encoded, and beside it what it loses.

mod logical;
mod message;
mod physical;

pub use logical::DeltaLogicalCodec;
pub use physical::DeltaPhysicalCodec;
