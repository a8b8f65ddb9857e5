//! What a CREATE TABLE statement asks for, read and resolved.

use std::collections::BTreeSet;

use datafusion::logical_expr::LogicalPlan;
use deltaic_maintenance::clone::CloneSource;
use deltaic_protocol::error::Result;
use deltaic_protocol::feature::TableFeature;
use deltaic_protocol::schema::StructType;
use deltaic_sql::ast::CreateMode;
use deltaic_storage::TableStore;

use crate::catalog::{CatalogObject, ObjectName, Provider, TableRecord};
use crate::context::Context;
use crate::errors;

/// A table that is to be made, with everything the statement says about it.
pub(super) struct NewTable {
    pub(super) mode: CreateMode,
    /// `None` for a table by path.
    pub(super) name: Option<ObjectName>,
    /// Named in messages.
    pub(super) display: String,
    pub(super) provider: Provider,
    pub(super) location: Option<String>,
    /// The place of a managed table that cannot have its usual one.
    pub(super) placed: Option<String>,
    pub(super) store: TableStore,
    /// `None` where the statement names no columns.
    pub(super) schema: Option<StructType>,
    pub(super) partition_by: Vec<String>,
    /// `None` without CLUSTER BY.
    pub(super) cluster_by: Option<Vec<Vec<String>>>,
    pub(super) properties: Vec<(String, String)>,
    /// Table features that it has beside those that its properties ask for.
    pub(super) features: Vec<&'static TableFeature>,
    pub(super) comment: Option<String>,
    pub(super) input: Option<LogicalPlan>,
    /// The table that this one is a clone of.
    pub(super) clone: Option<CloneSource>,
    /// Roots of the tables that the query reads.
    pub(super) reads: BTreeSet<String>,
    /// The name stands for a table already.
    pub(super) registered: bool,
}

impl NewTable {
    pub(super) fn is_managed(&self) -> bool {
        self.name.is_some() && self.location.is_none()
    }
}

/// Stores a record; of two sessions that make one name at the same time, the second is told.
pub(super) fn store_record(cx: &Context, mode: CreateMode, mut record: TableRecord) -> Result<()> {
    if let Some(CatalogObject::Table(old)) = cx.catalog().object(&record.name)? {
        record.kind = old.kind;
        record.location = old.location;
        record.created_ms = old.created_ms;
    }
    let object = CatalogObject::Table(record.clone());
    match mode {
        CreateMode::CreateOrReplace | CreateMode::Replace => cx.catalog().put_object(&object),
        CreateMode::CreateIfNotExists => cx.catalog().create_object(&object).map(|_| ()),
        CreateMode::Create => {
            if cx.catalog().create_object(&object)? {
                Ok(())
            } else {
                Err(errors::already_exists(
                    &record.name.schema,
                    &record.name.name,
                ))
            }
        }
    }
}
