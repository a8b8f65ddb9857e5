//! DELETE, UPDATE, TRUNCATE.

use datafusion::common::TableReference;
use deltaic_command::Profile;
use deltaic_datafusion::{DmlReport, WriteContext};
use deltaic_log::Snapshot;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_sql::Name;
use deltaic_sql::ast::{Assignment, Delete, Expr, Ident, Truncate, Update};

use crate::analysis::{self, TableScope};
use crate::context::Context;
use crate::defaults;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::{SqlResult, Value};

use super::constraints;

/// `DELETE`.
pub(super) async fn delete(cx: &Context, delete: &Delete, text: &str) -> Result<SqlResult> {
    let (table, snapshot) = changeable(cx, &delete.table, "DELETE").await?;
    let scope = scope_of(&table, &snapshot, delete.alias.as_ref());
    let mut request = deltaic_datafusion::Delete { qualifier: None::<TableReference>, ..Default::default() };
    if let Some(condition) = &delete.condition {
        let bound = analysis::condition(cx, condition, &scope, text).await?;
        request.predicate_text = Some(bound.catalyst);
        request.predicate = Some(bound.expr);
    }
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = write_context(cx, &state, &commit);
    let report = deltaic_datafusion::delete(&writer, &snapshot, request).await?;
    affected(cx, &report)
}

/// `UPDATE`.
pub(super) async fn update(cx: &Context, update: &Update, text: &str) -> Result<SqlResult> {
    let (table, snapshot) = changeable(cx, &update.table, "UPDATE").await?;
    let scope = scope_of(&table, &snapshot, update.alias.as_ref());
    let mut request = deltaic_datafusion::Update { qualifier: None::<TableReference>, ..Default::default() };
    request.assignments = assignments(cx, &update.assignments, &scope, &snapshot, text).await?;
    if let Some(condition) = &update.condition {
        let bound = analysis::condition(cx, condition, &scope, text).await?;
        request.predicate_text = Some(bound.catalyst);
        request.predicate = Some(bound.expr);
    }
    request.checks = constraints::checks(cx, &snapshot).await?;
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = write_context(cx, &state, &commit);
    let report = deltaic_datafusion::update(&writer, &snapshot, request).await?;
    affected(cx, &report)
}

/// `TRUNCATE TABLE`.
pub(super) async fn truncate(cx: &Context, truncate: &Truncate) -> Result<SqlResult> {
    let (target, _) = resolve::target(cx, &truncate.table).await?;
    let table = match &target {
        Target::Delta(table) if truncate.partition.is_some() => {
            let _ = table;
            return Err(super::alter::no_partition_management(&target));
        }
        Target::Delta(table) => table,
        Target::Parquet(table) => {
            crate::parquet::truncate(table).await?;
            return Ok(SqlResult::empty());
        }
        Target::View(view) => return Err(errors::view_not_table(&resolve::view_qualifier(view), "TRUNCATE TABLE")),
    };
    if cx.profile() == Profile::Delta40 {
        return Err(DeltaError::new("_LEGACY_ERROR_TEMP_1121").param("table", table.display()));
    }
    let snapshot = table.snapshot(cx).await?;
    let commit = cx.commit_context(Some(table.display()));
    let state = cx.session.engine().state();
    let writer = write_context(cx, &state, &commit);
    let report = deltaic_datafusion::truncate(&writer, &snapshot).await?;
    if let Some(result) = &report.commit {
        cx.committed(result);
    }
    Ok(SqlResult::empty())
}

/// What a statement that writes hands down.
pub(crate) fn write_context<'a>(
    cx: &Context,
    state: &'a datafusion::execution::SessionState,
    commit: &'a deltaic_log::transaction::CommitContext,
) -> WriteContext<'a> {
    let mut writer = WriteContext::new(state, commit);
    writer.zone = cx.zone();
    writer
}

/// The Delta table of a statement that changes rows.
async fn changeable(cx: &Context, name: &Name, operation: &str) -> Result<(DeltaTable, Snapshot)> {
    let (target, parts) = resolve::target(cx, name).await?;
    match target {
        Target::Delta(table) if table.travel.is_some() => Err(errors::not_found(&parts)),
        Target::Delta(table) => {
            let snapshot = table.snapshot(cx).await?;
            Ok((table, snapshot))
        }
        Target::Parquet(table) => Err(DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
            .param("tableName", errors::quoted(&table.qualifier))
            .param("operation", operation)),
        Target::View(view) => Err(errors::view_not_table(&resolve::view_qualifier(&view), operation)),
    }
}

fn scope_of(table: &DeltaTable, snapshot: &Snapshot, alias: Option<&Ident>) -> TableScope {
    TableScope {
        schema: snapshot.schema().as_ref().clone(),
        qualifier: table.qualifier.clone(),
        alias: alias.map(|alias| alias.value.clone()),
    }
}

/// New values by top-level column, each cast to the column's type.
async fn assignments(
    cx: &Context,
    given: &[Assignment],
    scope: &TableScope,
    snapshot: &Snapshot,
    text: &str,
) -> Result<Vec<(String, datafusion::logical_expr::Expr)>> {
    let mut out: Vec<(String, datafusion::logical_expr::Expr)> = Vec::new();
    let mut taken: Vec<String> = Vec::new();
    for assignment in given {
        let path = column_path(&assignment.column, scope)?;
        let key = path.join(".").to_lowercase();
        if taken.contains(&key) {
            return Err(DeltaError::new("DELTA_CONFLICT_SET_COLUMN").param("columnList", errors::quoted(&path)));
        }
        taken.push(key);
        let Some(field) = scope.schema.field_at(&path) else { return Err(unresolved(&assignment.column, scope)) };
        let value = if is_default(&assignment.value) {
            defaults::expression(cx, field).await?
        } else {
            let bound = analysis::value(cx, &assignment.value, scope, text).await?;
            analysis::assign(cx, bound, &field.data_type, &field.name)?
        };
        match path.as_slice() {
            [only] => {
                let name = scope.schema.field(only).map_or_else(|| only.clone(), |field| field.name.clone());
                out.push((name, value));
            }
            [first, rest @ ..] => {
                let name = scope.schema.field(first).map_or_else(|| first.clone(), |field| field.name.clone());
                let before = out.iter().position(|(column, _)| *column == name);
                let base = match before {
                    Some(at) => out.remove(at).1,
                    None => analysis::column(&name),
                };
                let Some(top) = scope.schema.field(first) else { return Err(unresolved(&assignment.column, scope)) };
                out.push((name, analysis::with_field(base, &top.data_type, rest, value)?));
            }
            [] => {}
        }
    }
    defaults::generated(cx, snapshot, scope, &mut out, text).await?;
    Ok(out)
}

/// The column's names without the table's in front.
fn column_path(column: &[Ident], scope: &TableScope) -> Result<Vec<String>> {
    let parts: Vec<String> = column.iter().map(|part| part.value.clone()).collect();
    if scope.schema.field_at(&parts).is_some() {
        return Ok(parts);
    }
    let prefixes: Vec<Vec<String>> = match &scope.alias {
        Some(alias) => vec![vec![alias.clone()]],
        None => (0..scope.qualifier.len()).map(|from| scope.qualifier[from..].to_vec()).collect(),
    };
    for prefix in prefixes {
        let fits = parts.len() > prefix.len() && prefix.iter().zip(&parts).all(|(a, b)| a.eq_ignore_ascii_case(b));
        if fits && scope.schema.field_at(&parts[prefix.len()..]).is_some() {
            return Ok(parts[prefix.len()..].to_vec());
        }
    }
    Err(unresolved(column, scope))
}

fn unresolved(column: &[Ident], scope: &TableScope) -> DeltaError {
    let parts: Vec<&str> = column.iter().map(|part| part.value.as_str()).collect();
    let names: Vec<&str> = scope.schema.fields.iter().map(|field| field.name.as_str()).collect();
    errors::unresolved_column(&parts, &names)
}

/// The word DEFAULT in the place of a value.
pub(crate) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

fn affected(cx: &Context, report: &DmlReport) -> Result<SqlResult> {
    if let Some(result) = &report.commit {
        cx.committed(result);
    }
    let rows = i64::try_from(report.affected_rows).unwrap_or(i64::MAX);
    SqlResult::from_rows(StructType::new([StructField::nullable("num_affected_rows", DataType::Long)]), &[vec![Value::Long(rows)]])
}
