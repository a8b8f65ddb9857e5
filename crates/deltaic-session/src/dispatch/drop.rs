//! DROP TABLE, REFRESH TABLE, ANALYZE TABLE.

use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_sql::Name;
use deltaic_sql::ast::{Analyze, Drop};
use deltaic_storage::TableStore;

use crate::catalog::{CatalogObject, ObjectKind, ObjectName};
use crate::context::Context;
use crate::errors;
use crate::places::{self, NameLock};
use crate::resolve::{self, Target};
use crate::result::SqlResult;

/// `DROP TABLE`: the name goes; the files of a managed table go with it.
pub(super) async fn drop_table(cx: &Context, drop: &Drop) -> Result<SqlResult> {
    let parts = cx.texts(&drop.name).await?;
    if let [name] = parts.as_slice()
        && cx.session.drop_temporary_view(name)
    {
        return Ok(SqlResult::empty());
    }
    let name = match resolve::object_name(cx, &parts, &cx.current) {
        Ok(name) => name,
        Err(error)
            if error.kind() == ErrorKind::NotFound
                || error.class() == Some("CATALOG_NOT_FOUND") =>
        {
            return if drop.if_exists {
                Ok(SqlResult::empty())
            } else {
                Err(errors::not_found(&parts))
            };
        }
        Err(error) => return Err(error),
    };
    match cx.catalog().object(&name)? {
        None if drop.if_exists => Ok(SqlResult::empty()),
        None => Err(errors::not_found(&name.parts())),
        Some(CatalogObject::View(_)) => Err(DeltaError::new("WRONG_COMMAND_FOR_OBJECT_TYPE")
            .param("operation", "DROP TABLE")
            .param("requiredType", "EXTERNAL or MANAGED")
            .param("objectName", name.to_string())
            .param("foundType", "VIEW")
            .param("alternative", "DROP VIEW")),
        Some(CatalogObject::Table(_)) => {
            drop_object(cx, &name).await?;
            Ok(SqlResult::empty())
        }
    }
}

/// Takes a name away and, for a managed table, its files.
pub(super) async fn drop_object(cx: &Context, name: &ObjectName) -> Result<()> {
    let _lock = NameLock::take(cx.catalog(), &[name]).await?;
    let Some(object) = cx.catalog().object(name)? else {
        return Ok(());
    };
    let mut managed = None;
    if let CatalogObject::Table(table) = &object {
        let store = cx.store(&cx.catalog().table_path(table)?)?;
        cx.session.cache().forget(&store.root().to_string());
        cx.unpin(&store);
        if table.kind == ObjectKind::Managed {
            keeps_warehouse(cx, &store)?;
            managed = Some(store);
        }
    }
    match managed {
        Some(store) => {
            places::drop_files(cx.catalog(), name, &store, || {
                cx.catalog().drop_object(name)
            })
            .await
        }
        None => cx.catalog().drop_object(name).map(|_| ()),
    }
}

/// A table whose folder is the warehouse or lies around it cannot be deleted with its files.
fn keeps_warehouse(cx: &Context, store: &TableStore) -> Result<()> {
    let warehouse = cx.store(cx.catalog().warehouse().root())?;
    let folder = format!("{}/", store.root().to_string().trim_end_matches('/'));
    let inside = format!("{}/", warehouse.root().to_string().trim_end_matches('/'));
    if inside.starts_with(&folder) {
        return Err(DeltaError::unclassed(
            "java.lang.IllegalStateException",
            format!(
                "The folder {} of the table holds the warehouse: nothing was dropped",
                store.root()
            ),
        )
        .with_path(store.root().to_string()));
    }
    Ok(())
}

/// `REFRESH TABLE`: what is known of the table is dropped and its log read anew.
pub(super) async fn refresh(cx: &Context, name: &Name) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, name).await?;
    if let Target::Delta(table) = target {
        cx.session.cache().forget(&table.store.root().to_string());
        cx.unpin(&table.store);
        table.snapshot(cx).await?;
    }
    Ok(SqlResult::empty())
}

/// `ANALYZE TABLE`: Delta keeps its own statistics.
pub(super) async fn analyze(cx: &Context, analyze: &Analyze) -> Result<SqlResult> {
    let Some(name) = analyze.name.as_ref().filter(|_| !analyze.tables) else {
        return Ok(SqlResult::empty());
    };
    match resolve::target(cx, name).await?.0 {
        Target::Delta(_) => {
            Err(DeltaError::new("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE").param("cmd", "ANALYZE TABLE"))
        }
        Target::Parquet(_) => Ok(SqlResult::empty()),
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            "ANALYZE TABLE",
        )),
    }
}

/// `MSCK REPAIR TABLE`: the partitions of a Delta table are in its log.
pub(super) async fn repair_partitions(cx: &Context, table: &Name) -> Result<SqlResult> {
    let command = "MSCK REPAIR TABLE";
    match resolve::target(cx, table).await?.0 {
        Target::Delta(_) => {
            Err(DeltaError::new("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE").param("cmd", command))
        }
        Target::Parquet(_) => Err(DeltaError::not_supported_yet(command)),
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            command,
        )),
    }
}
