//! SHOW TABLES, SHOW VIEWS, SHOW TABLE EXTENDED, SHOW FUNCTIONS.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_sql::ast::{Name, ShowFunctions, ShowTableExtended, ShowTables};

use crate::catalog::{CatalogObject, ObjectKind, SchemaName, ViewRecord};
use crate::context::Context;
use crate::errors;
use crate::pattern::matches_pattern;
use crate::result::{SqlResult, Value, column, text_columns};

/// `SHOW TABLES`: tables and views of a schema, then the session's temporary views.
pub(super) async fn show_tables(cx: &Context, show: &ShowTables) -> Result<SqlResult> {
    let schema = schema_of(cx, show.schema.as_ref()).await?;
    let pattern = show.pattern.as_deref();
    let mut rows = Vec::new();
    for (name, _) in cx.catalog().objects(&schema)? {
        if fits(pattern, &name) {
            rows.push(listed(&schema.schema, &name, false));
        }
    }
    for view in cx.session.temporary_views() {
        if fits(pattern, &view.short_name) {
            rows.push(listed("", &view.short_name, true));
        }
    }
    SqlResult::from_rows(columns("tableName"), &rows)
}

/// `SHOW VIEWS`.
pub(super) async fn show_views(cx: &Context, show: &ShowTables) -> Result<SqlResult> {
    let schema = schema_of(cx, show.schema.as_ref()).await?;
    let pattern = show.pattern.as_deref();
    let mut rows = Vec::new();
    for (name, kind) in cx.catalog().objects(&schema)? {
        if kind == ObjectKind::View && fits(pattern, &name) {
            rows.push(listed(&schema.schema, &name, false));
        }
    }
    for view in cx.session.temporary_views() {
        if fits(pattern, &view.short_name) {
            rows.push(listed("", &view.short_name, true));
        }
    }
    SqlResult::from_rows(columns("viewName"), &rows)
}

/// `SHOW TABLE EXTENDED LIKE`.
pub(super) async fn show_table_extended(
    cx: &Context,
    show: &ShowTableExtended,
) -> Result<SqlResult> {
    if show.partition.is_some() {
        return Err(DeltaError::not_supported_yet(
            "SHOW TABLE EXTENDED with PARTITION",
        ));
    }
    let schema = schema_of(cx, show.schema.as_ref()).await?;
    let mut fields = columns("tableName").fields;
    fields.push(column("information", DataType::String, false));
    let mut rows = Vec::new();
    for (name, _) in cx.catalog().objects(&schema)? {
        if !fits(Some(&show.pattern), &name) {
            continue;
        }
        let Some(object) = cx.catalog().object(&schema.object(&name))? else {
            continue;
        };
        let mut row = listed(&schema.schema, &name, false);
        row.push(Value::text(information(cx, &object).await?));
        rows.push(row);
    }
    SqlResult::from_rows(StructType { fields }, &rows)
}

/// `SHOW FUNCTIONS`: the built-in functions.
pub(super) fn show_functions(cx: &Context, show: &ShowFunctions) -> Result<SqlResult> {
    let mut names = if show.scope.as_deref() == Some("USER") {
        Vec::new()
    } else {
        cx.session.function_names()
    };
    names.sort();
    names.dedup();
    let rows: Vec<Vec<Value>> = names
        .into_iter()
        .filter(|name| {
            show.pattern
                .as_deref()
                .is_none_or(|pattern| matches_pattern(pattern, name))
        })
        .map(|name| vec![Value::text(name)])
        .collect();
    SqlResult::from_rows(text_columns(&["function"]), &rows)
}

async fn schema_of(cx: &Context, name: Option<&Name>) -> Result<SchemaName> {
    let schema = match name {
        Some(name) => cx.schema(name).await?,
        None => cx.current.clone(),
    };
    if cx.catalog().schema(&schema)?.is_none() {
        return Err(errors::schema_not_found(&schema.catalog, &schema.schema));
    }
    Ok(schema)
}

fn fits(pattern: Option<&str>, name: &str) -> bool {
    pattern.is_none_or(|pattern| matches_pattern(pattern, name))
}

fn columns(title: &str) -> StructType {
    let mut fields = text_columns(&["namespace", title]).fields;
    fields.push(column("isTemporary", DataType::Boolean, false));
    StructType { fields }
}

fn listed(schema: &str, name: &str, temporary: bool) -> Vec<Value> {
    vec![
        Value::text(schema),
        Value::text(name),
        Value::Boolean(temporary),
    ]
}

/// The lines that SHOW TABLE EXTENDED prints about an object.
async fn information(cx: &Context, object: &CatalogObject) -> Result<String> {
    let mut lines = Vec::new();
    let name = match object {
        CatalogObject::Table(table) => table.name.clone(),
        CatalogObject::View(ViewRecord {
            name: Some(name), ..
        }) => name.clone(),
        CatalogObject::View(_) => return Ok(String::new()),
    };
    lines.push(format!("Catalog: {}", name.catalog));
    lines.push(format!("Database: {}", name.schema));
    lines.push(format!("Table: {}", name.name));
    let schema = match object {
        CatalogObject::Table(table) => {
            lines.push(format!("Type: {}", table.kind.as_str()));
            lines.push(format!("Provider: {}", table.provider.as_str()));
            lines.push(format!(
                "Location: {}",
                cx.display_path(&cx.catalog().table_path(table)?)
            ));
            cx.table_schema(table).await?
        }
        CatalogObject::View(view) => {
            lines.push("Type: VIEW".to_owned());
            lines.push(format!("View Text: {}", view.text));
            view.schema.clone()
        }
    };
    lines.push(format!("Schema: {}", schema.tree_string()));
    Ok(lines.join("\n"))
}
