//! Delta tables through DataFusion, by the public interface alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod application;
mod changes;
mod codec;
mod create;
mod dml;
mod faults;
mod helpers;
mod identity;
mod mapping;
mod model;
mod options;
mod parquet;
mod scan;
mod tracking;
mod write;
