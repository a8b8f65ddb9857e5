//! ALTER TABLE.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_sql::Name;
use deltaic_sql::ast::{AlterTable, AlterTableAction, ConstraintKind};
use deltaic_storage::Scheme;

use crate::analysis;
use crate::catalog::{CatalogObject, ObjectKind, TableRecord};
use crate::context::Context;
use crate::errors;
use crate::files;
use crate::names;
use crate::places::{self, NameLock};
use crate::resolve::{self, Target};
use crate::result::SqlResult;

use super::{columns, constraints, features, properties, table_properties_of};

/// `ALTER TABLE`.
pub(super) async fn alter_table(cx: &Context, alter: &AlterTable) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &alter.name).await?;
    if let Target::Delta(table) = &target
        && table.travel.is_some()
    {
        return Err(resolve::not_found(&cx.texts(&alter.name).await?));
    }
    match &alter.action {
        AlterTableAction::SetProperties(pairs) => {
            properties::set(cx, target, &table_properties_of(pairs)?).await
        }
        AlterTableAction::UnsetProperties { keys, .. } => properties::unset(cx, target, keys).await,
        AlterTableAction::Rename { to } => rename(cx, target, to).await,
        AlterTableAction::AddColumns(definitions) => columns::add(cx, target, definitions).await,
        AlterTableAction::DropColumns { columns, if_exists } => {
            columns::drop(cx, target, columns, *if_exists).await
        }
        AlterTableAction::RenameColumn { column, to } => {
            columns::rename(cx, target, column, &to.value).await
        }
        AlterTableAction::AlterColumns(changes) => columns::alter(cx, target, changes).await,
        AlterTableAction::ReplaceColumns(definitions) => {
            columns::replace(cx, target, definitions).await
        }
        AlterTableAction::AddConstraint(constraint) => match &constraint.kind {
            ConstraintKind::Check(check) => {
                constraints::add(
                    cx,
                    target,
                    constraint.name.as_ref().map(|name| name.value.as_str()),
                    check,
                )
                .await
            }
            _ => Err(constraints::unsupported(&target.qualifier())),
        },
        AlterTableAction::DropConstraint {
            name, if_exists, ..
        } => constraints::drop(cx, target, &name.value, *if_exists).await,
        AlterTableAction::ClusterBy(wanted) => columns::cluster_by(cx, target, wanted).await,
        AlterTableAction::DropFeature {
            feature,
            truncate_history,
        } => features::drop(cx, target, feature, *truncate_history).await,
        AlterTableAction::SyncIdentity { column } => {
            columns::sync_identity(cx, target, column).await
        }
        AlterTableAction::SetLocation {
            location,
            partition: None,
        } => {
            let location = analysis::location(cx, location).await?;
            set_location(cx, target, &location).await
        }
        AlterTableAction::SetLocation { .. }
        | AlterTableAction::AddPartitions { .. }
        | AlterTableAction::DropPartitions { .. }
        | AlterTableAction::RenamePartition { .. } => Err(no_partition_management(&target)),
        AlterTableAction::RecoverPartitions => {
            Err(DeltaError::new("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE")
                .param("cmd", "ALTER TABLE ... RECOVER PARTITIONS"))
        }
        AlterTableAction::SetSerde => Err(DeltaError::new("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE")
            .param("cmd", "ALTER TABLE ... SET [SERDE|SERDEPROPERTIES]")),
    }
}

/// Partitions of a Delta table follow from its rows.
pub(super) fn no_partition_management(target: &Target) -> DeltaError {
    DeltaError::new("INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED")
        .param("name", errors::quoted(&target.qualifier()))
}

/// `RENAME TO`: a managed table moves with its name.
async fn rename(cx: &Context, target: Target, to: &Name) -> Result<SqlResult> {
    let record = match target {
        Target::Delta(table) => table.record,
        Target::Parquet(table) => table.record,
        Target::View(view) => {
            return Err(errors::alter_table_on_view(
                &resolve::view_qualifier(&view),
                "ALTER TABLE ... RENAME TO",
            ));
        }
    };
    let Some(record) = record else {
        return Err(DeltaError::not_supported_yet("Renaming a table by path"));
    };
    let parts = cx.texts(to).await?;
    let name = match parts.as_slice() {
        [only] => record.name.schema_name().object(only),
        _ => resolve::object_name(cx, &parts, &record.name.schema_name())?,
    };
    names::check(&name.name)?;
    if name.schema_name() != record.name.schema_name() {
        return Err(DeltaError::new("CANNOT_RENAME_ACROSS_SCHEMA").param("type", "table"));
    }
    let _lock = NameLock::take(cx.catalog(), &[&record.name, &name]).await?;
    // As it is now that nobody else is at it.
    let record = match cx.catalog().object(&record.name)? {
        Some(CatalogObject::Table(record)) => record,
        _ => return Err(errors::not_found(&record.name.parts())),
    };
    let old = cx.store(&cx.catalog().table_path(&record)?)?;
    let managed = record.kind == ObjectKind::Managed && record.location.is_none();
    // In an object store nothing can be moved in one step: there the files stay under the old name.
    let moved = managed && old.root().scheme() == Scheme::File;
    if managed && !moved {
        let mut kept = record.clone();
        kept.location = Some(cx.catalog().table_path(&record)?);
        cx.catalog().put_object(&CatalogObject::Table(kept))?;
    }
    let new = cx.store(&cx.catalog().default_table_path(&name)?)?;
    if moved && cx.catalog().object(&name)?.is_none() {
        places::clear(cx.catalog(), &name, &new).await?;
    }
    let renamed = cx.catalog().rename_object(&record.name, &name, || {
        if moved {
            files::move_folder(&old, &new)
        } else {
            Ok(())
        }
    })?;
    if !renamed {
        return Err(errors::already_exists(&name.schema, &name.name));
    }
    cx.session.cache().forget(&old.root().to_string());
    Ok(SqlResult::empty())
}

/// `SET LOCATION`: the table becomes an external one at another place, which must hold a table of the same columns.
async fn set_location(cx: &Context, target: Target, location: &str) -> Result<SqlResult> {
    let table = match target {
        Target::Delta(table) => table,
        Target::Parquet(table) => {
            return properties::update_record(cx, table.record, |record| {
                to_external(record, location)
            });
        }
        Target::View(view) => {
            return Err(errors::alter_table_on_view(
                &resolve::view_qualifier(&view),
                "ALTER TABLE ... SET LOCATION",
            ));
        }
    };
    let Some(mut record) = table.record.clone() else {
        return Err(DeltaError::new(
            "DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER",
        ));
    };
    let snapshot = table.snapshot(cx).await?;
    let store = cx.store(location)?;
    let Some(other) = cx.snapshot(&store).await? else {
        return Err(DeltaError::new("DELTA_MISSING_DELTA_TABLE")
            .param(
                "tableName",
                format!("delta.{}", errors::quoted(&[location])),
            )
            .with_path(store.root().to_string()));
    };
    if other.schema() != snapshot.schema() && !cx.conf.delta("alterLocation.bypassSchemaCheck") {
        return Err(DeltaError::new("DELTA_SET_LOCATION_SCHEMA_MISMATCH")
            .param("original", snapshot.schema().tree_string())
            .param("destination", other.schema().tree_string())
            .param(
                "config",
                "spark.databricks.delta.alterLocation.bypassSchemaCheck",
            ));
    }
    to_external(&mut record, location);
    cx.catalog().put_object(&CatalogObject::Table(record))?;
    Ok(SqlResult::empty())
}

fn to_external(record: &mut TableRecord, location: &str) {
    record.location = Some(location.to_owned());
    record.kind = ObjectKind::External;
}
