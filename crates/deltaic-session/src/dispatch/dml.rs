//! DELETE, UPDATE, TRUNCATE.

use datafusion::common::TableReference;
use deltaic_command::Profile;
use deltaic_datafusion::DmlReport;
use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_sql::Name;
use deltaic_sql::ast::{Delete, Ident, Truncate, Update};

use crate::analysis::{self, TableScope};
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::{SqlResult, Value};

use super::{constraints, through_view};

/// `DELETE`.
pub(super) async fn delete(cx: &Context, delete: &Delete) -> Result<SqlResult> {
    let target = changeable(cx, &delete.table, "DELETE").await?;
    let scope = scope_of(&target, delete.alias.as_ref());
    let (table, snapshot) = (target.table, target.snapshot);
    let mut request = deltaic_datafusion::Delete {
        qualifier: None::<TableReference>,
        ..Default::default()
    };
    if let Some(condition) = &delete.condition {
        let bound = analysis::condition(cx, condition, &scope)
            .await
            .map_err(|error| named(error, "DELETE"))?;
        request.predicate_text = Some(bound.catalyst);
        request.predicate = Some(bound.expr);
    }
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = cx.repeatable_write_context(&state, &commit)?;
    let report = deltaic_datafusion::delete(&writer, &snapshot, request).await?;
    affected(cx, &report)
}

/// `UPDATE`.
pub(super) async fn update(cx: &Context, update: &Update) -> Result<SqlResult> {
    let target = changeable(cx, &update.table, "UPDATE").await?;
    let scope = scope_of(&target, update.alias.as_ref());
    let (table, snapshot) = (target.table, target.snapshot);
    let mut request = deltaic_datafusion::Update {
        qualifier: None::<TableReference>,
        ..Default::default()
    };
    let list: Vec<_> = update
        .assignments
        .iter()
        .map(|set| (set.column.clone(), set.value.clone()))
        .collect();
    for (column, _) in &list {
        refuse_identity(column, &snapshot)?;
    }
    request.assignments = analysis::update(cx, &list, &scope).await?;
    if let Some(condition) = &update.condition {
        let bound = analysis::condition(cx, condition, &scope)
            .await
            .map_err(|error| named(error, "UPDATE"))?;
        request.predicate_text = Some(bound.catalyst);
        request.predicate = Some(bound.expr);
    }
    request.checks = constraints::checks(cx, &snapshot).await?;
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = cx.repeatable_write_context(&state, &commit)?;
    let report = deltaic_datafusion::update(&writer, &snapshot, request).await?;
    affected(cx, &report)
}

/// Values of identity columns never change.
fn refuse_identity(column: &[Ident], snapshot: &Snapshot) -> Result<()> {
    let Some(name) = column.last() else {
        return Ok(());
    };
    match snapshot.schema().field(&name.value) {
        Some(field) if field.is_identity() => Err(DeltaError::new(
            "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED",
        )
        .param("colName", &name.value)),
        _ => Ok(()),
    }
}

/// `TRUNCATE TABLE`.
pub(super) async fn truncate(cx: &Context, truncate: &Truncate) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &truncate.table).await?;
    let table = match &target {
        Target::Delta(_) if truncate.partition.is_some() => {
            return Err(DeltaError::new(
                "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
            ));
        }
        Target::Delta(table) => table,
        Target::Parquet(table) => {
            crate::parquet::truncate(table).await?;
            return Ok(SqlResult::empty());
        }
        Target::View(view) => {
            return Err(errors::view_not_table(
                &resolve::view_qualifier(view),
                "TRUNCATE TABLE",
            ));
        }
    };
    if cx.profile() == Profile::Delta40 {
        return Err(DeltaError::new("_LEGACY_ERROR_TEMP_1121")
            .param("cmd", "truncates")
            .param("table", table.display()));
    }
    let snapshot = table.snapshot(cx).await?;
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = cx.write_context(&state, &commit);
    let report = deltaic_datafusion::truncate(&writer, &snapshot).await?;
    if let Some(result) = &report.commit {
        cx.committed(result);
    }
    Ok(SqlResult::empty())
}

/// The Delta table of a statement that changes rows.
struct Changeable {
    table: DeltaTable,
    snapshot: Snapshot,
    /// Names in front of a column: the table's, or those of the view that the statement names.
    qualifier: Vec<String>,
}

async fn changeable(cx: &Context, name: &Name, operation: &str) -> Result<Changeable> {
    let (target, parts) = resolve::target(cx, name).await?;
    match target {
        Target::Delta(table) if table.travel.is_some() => Err(errors::not_found(&parts)),
        Target::Delta(table) => {
            let snapshot = table.snapshot(cx).await?;
            Ok(Changeable {
                qualifier: table.qualifier.clone(),
                table: *table,
                snapshot,
            })
        }
        Target::Parquet(table) => Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
            .param("tableName", errors::quoted(&table.qualifier))
            // As the reference's plans are called: DELETE, but UPDATE TABLE.
            .param(
                "operation",
                if operation == "UPDATE" {
                    "UPDATE TABLE"
                } else {
                    operation
                },
            )),
        Target::View(view) => match through_view::table_of(cx, &view).await? {
            Some(table) => {
                let snapshot = table.snapshot(cx).await?;
                Ok(Changeable {
                    qualifier: resolve::view_qualifier(&view),
                    table,
                    snapshot,
                })
            }
            None => Err(DeltaError::new("DELTA_UNSUPPORTED_SOURCE")
                .param("operation", operation)
                .param(
                    "plan",
                    format!(
                        "Some(View ({}))",
                        errors::quoted(&resolve::view_qualifier(&view))
                    ),
                )),
        },
    }
}

fn scope_of(target: &Changeable, alias: Option<&Ident>) -> TableScope {
    let snapshot = &target.snapshot;
    // Rows that are read do not vouch for what a type says of NULL inside of it; what is written is checked by itself.
    let mut schema = snapshot.schema().as_ref().clone();
    for (field, relaxed) in schema
        .fields
        .iter_mut()
        .zip(snapshot.schema().as_nullable().fields)
    {
        field.data_type = relaxed.data_type;
    }
    TableScope {
        schema,
        qualifier: target.qualifier.clone(),
        alias: alias.map(|alias| alias.value.clone()),
    }
}

fn affected(cx: &Context, report: &DmlReport) -> Result<SqlResult> {
    if let Some(result) = &report.commit {
        cx.committed(result);
    }
    cx.repeatable_write_is_done();
    let rows = i64::try_from(report.affected_rows).unwrap_or(i64::MAX);
    // What was done before answers no count.
    let answer: &[Vec<Value>] = match report.already_done {
        true => &[],
        false => &[vec![Value::Long(rows)]],
    };
    SqlResult::from_rows(
        StructType::new([StructField::nullable("num_affected_rows", DataType::Long)]),
        answer,
    )
}

/// The operation in errors about its condition.
fn named(error: DeltaError, operation: &'static str) -> DeltaError {
    match error.class() {
        Some("DELTA_UNSUPPORTED_MULTI_COL_IN_PREDICATE") => error.param("operation", operation),
        _ => error,
    }
}
