//! The catalog: which names exist and where their files lie.
//!
//! It lives in one SQLite file (`<warehouse>/.deltaic/catalog.db` unless told otherwise), so that it outlives a
//! session and several processes can use one warehouse at the same time. The truth about a Delta table (schema,
//! properties, rows) is in its log; the catalog only knows its name, kind and place. Parquet tables and views have
//! no log, their columns and texts are kept here.

mod database;
mod layout;
mod migrations;
mod objects;
mod schemas;
#[cfg(test)]
mod tests;
mod types;
mod unfinished;

pub use database::Catalog;
pub use layout::Warehouse;
pub use schemas::DropSchema;
pub use types::{
    CatalogObject, CatalogRecord, ObjectKind, ObjectName, Provider, SchemaName, SchemaRecord,
    TableRecord, ViewRecord,
};

/// The catalog that exists in every warehouse and is current at the start of a session.
pub const SESSION_CATALOG: &str = "spark_catalog";
/// The schema that exists in every catalog and is current at the start of a session.
pub const DEFAULT_SCHEMA: &str = "default";
/// Catalogs that a new warehouse starts with.
pub const FIRST_CATALOGS: [&str; 2] = [SESSION_CATALOG, "main"];
