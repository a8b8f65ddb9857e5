//! `CREATE TABLE … SHALLOW CLONE`: what the source is, and what is written for it.

use deltaic_command::CloneReport;
use deltaic_log::{CommitResult, Snapshot};
use deltaic_maintenance::clone::{self, CloneOptions, CloneSource};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::PropertyChanges;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_sql::Travel;
use deltaic_sql::ast::{CreateMode, CreateSource, CreateTable, Name};

use crate::analysis;
use crate::catalog::{CatalogObject, ObjectName};
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::{SqlResult, Value};
use crate::time_travel;

use super::new_table::NewTable;
use super::{convert, properties};

/// The table behind `SHALLOW CLONE`, at the moment that the statement names.
///
/// # Errors
/// The name stands for nothing, or for something that cannot be cloned.
pub(super) async fn source(
    cx: &Context,
    name: &Name,
    travel: Option<&Travel>,
) -> Result<CloneSource> {
    let (target, _) = resolve::target(cx, name).await?;
    match target {
        Target::Delta(table) => delta_source(cx, &table, travel).await,
        Target::Parquet(table) if travel.is_some() => Err(errors::no_time_travel(&table.qualifier)),
        Target::Parquet(table) => convert::clone_source(cx, &table).await,
        Target::View(view) => Err(DeltaError::new("DELTA_CLONE_UNSUPPORTED_SOURCE")
            .param("name", resolve::view_qualifier(&view).join("."))
            .param("format", "View")),
    }
}

async fn delta_source(
    cx: &Context,
    table: &DeltaTable,
    travel: Option<&Travel>,
) -> Result<CloneSource> {
    let newest = table.snapshot(cx).await?;
    let moment = match (&table.travel, travel) {
        (Some(_), Some(_)) => {
            return Err(DeltaError::new(
                "DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS",
            ));
        }
        (Some(one), None) | (None, Some(one)) => Some(analysis::moment(cx, one).await?),
        (None, None) => None,
    };
    let snapshot = match &moment {
        Some(moment) => time_travel::snapshot_at(cx, &newest, moment).await?,
        None => newest,
    };
    let name = match table.record {
        Some(_) => table.display(),
        None => format!("delta.`{}`", table.store.root()),
    };
    CloneSource::of(name, &snapshot).await
}

/// `REPLACE TABLE … SHALLOW CLONE` needs a table.
pub(super) fn check_missing(create: &CreateTable, name: &ObjectName) -> Result<()> {
    match (create.mode, &create.source) {
        (CreateMode::Replace, CreateSource::ShallowClone { .. }) => {
            let shown = format!("{}.{}", name.schema, name.name);
            Err(DeltaError::new("DELTA_CANNOT_REPLACE_MISSING_TABLE").param("tableName", shown))
        }
        _ => Ok(()),
    }
}

/// A table of the catalog stays where it is.
pub(super) fn check_location(cx: &Context, name: &ObjectName, location: &str) -> Result<()> {
    let Some(CatalogObject::Table(table)) = cx.catalog().object(name)? else {
        return Ok(());
    };
    let existing = cx.display_path(&cx.catalog().table_path(&table)?);
    let wanted = cx.display_path(location);
    if existing == wanted {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_TABLE_LOCATION_MISMATCH")
        .param("tableName", errors::quoted(&name.parts()))
        .param("existingTableLocation", errors::quoted(&[existing]))
        .param("tableLocation", errors::quoted(&[wanted])))
}

/// Commits the clone.
pub(super) async fn write(
    cx: &Context,
    new: &NewTable,
    source: &CloneSource,
    existing: Option<&Snapshot>,
) -> Result<CommitResult> {
    // The session's defaults for new tables do not count: a clone is as its source is.
    let given = new
        .properties
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    let options = CloneOptions {
        properties: PropertyChanges::for_create([], given, &properties::rules(cx))?,
        protocol_downgrade: cx.conf.delta("restore.protocolDowngradeAllowed"),
    };
    let commit = cx.commit_context(Some(new.display.clone()));
    clone::run(source, &new.store, existing, &options, &commit).await
}

/// The answer of a statement that has made a table: six numbers for a clone, else nothing.
pub(super) fn answer(new: &NewTable) -> Result<SqlResult> {
    match &new.clone {
        Some(source) => rows(&[source.report()]),
        None => Ok(SqlResult::empty()),
    }
}

/// The answer of a statement that found its table there already.
pub(super) fn nothing_done(create: &CreateTable) -> Result<SqlResult> {
    match create.source {
        CreateSource::ShallowClone { .. } => rows(&[]),
        _ => Ok(SqlResult::empty()),
    }
}

fn rows(reports: &[CloneReport]) -> Result<SqlResult> {
    let schema = CloneReport::default()
        .columns()
        .map(|(name, _)| StructField::nullable(name, DataType::Long));
    let rows: Vec<Vec<Value>> = reports
        .iter()
        .map(|report| {
            let columns = report.columns();
            columns.iter().map(|(_, n)| Value::Long(*n)).collect()
        })
        .collect();
    SqlResult::from_rows(StructType::new(schema), &rows)
}
