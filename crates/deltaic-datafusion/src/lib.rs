//! Delta tables in DataFusion: a table provider over a pinned version, and the statements that write.
//!
//! In a plain DataFusion application:
//!
//! ```
//! use std::sync::Arc;
//! use deltaic_datafusion::application::{catalog::DeltaCatalog, open::{Version, open, open_version}, session::session_context};
//! # use deltaic_datafusion::{CreateTable, WriteContext, create_table};
//! # use deltaic_protocol::schema::{DataType, StructField, StructType};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::TempDir::new()?;
//! # let warehouse = folder.path().to_str().ok_or("a path")?;
//! # let store = deltaic_storage::StorageFactory::default().open(&format!("{warehouse}/orders"))?;
//! # let schema = StructType::new([StructField::nullable("id", DataType::Long), StructField::nullable("v", DataType::String)]);
//! # let commit = deltaic_log::CommitContext::default();
//! # let state = session_context().state();
//! # create_table(&WriteContext::new(&state, &commit), &store, None, CreateTable::new(schema)).await?;
//! let ctx = session_context();
//! // A whole folder of tables: every statement sees the newest versions.
//! ctx.register_catalog("lake", Arc::new(DeltaCatalog::open(warehouse).await?));
//! ctx.sql("INSERT INTO lake.default.orders VALUES (1, 'a'), (2, 'b')").await?.collect().await?;
//! ctx.sql("DELETE FROM lake.default.orders WHERE id IN (SELECT max(id) FROM lake.default.orders)").await?.collect().await?;
//! // An earlier version, by name …
//! let old = ctx.sql("SELECT * FROM lake.default.\"orders@v1\"").await?.count().await?;
//! // … or one table, pinned.
//! ctx.register_table("orders", Arc::new(open(&format!("{warehouse}/orders")).await?))?;
//! ctx.register_table("empty", Arc::new(open_version(&format!("{warehouse}/orders"), Version::At(0)).await?))?;
//! assert_eq!((old, ctx.table("orders").await?.count().await?, ctx.table("empty").await?.count().await?), (2, 1, 0));
//! # Ok(())
//! # }
//! ```

pub mod application;
pub mod changes;
pub mod codec;
pub mod columns;
pub mod context;
pub mod create;
pub mod dml;
pub mod error;
mod exprs;
pub mod insert;
pub mod layout;
pub mod memory;
pub mod options;
pub mod parquet;
pub mod provider;
pub mod rewrite;
pub mod scan;
pub mod stores;
pub mod tracking;
mod values;
pub mod write;

pub use changes::{ChangedFiles, DeltaChanges};
pub use context::{DmlReport, Rows, WriteContext, WriteReport};
pub use create::{CreateKind, CreateTable, create_table};
pub use dml::delete::{Delete, delete};
pub use dml::target::DML_TARGET;
pub use dml::truncate::truncate;
pub use dml::update::{Update, update};
pub use error::{unwrap, wrap};
pub use insert::{Append, NewTable, Overwrite, OverwriteScope, ReplaceWhere, append, overwrite};
pub use options::{AppTransaction, WriterOptions};
pub use parquet::{
    ParquetTable, ParquetWrite, collect_statistics, infer_schema, write_files, write_parquet,
};
pub use provider::{DeltaTableProvider, InsertPlanner, as_delta};
pub use write::checks::{Check, GENERATED_COLUMN, WriteChecks};
pub use write::identity::{IdentityColumn, fill_identities};
