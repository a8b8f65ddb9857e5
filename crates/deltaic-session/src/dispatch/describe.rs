//! DESCRIBE TABLE, DESCRIBE QUERY, DESCRIBE FUNCTION.

use deltaic_analyzer::Scope;
use deltaic_log::Snapshot;
use deltaic_maintenance::alter::TableState;
use deltaic_maintenance::properties;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::format_timestamp;
use deltaic_sql::ast::{DescribeFunction, DescribeTable, Query};

use crate::analysis;
use crate::catalog::{ObjectKind, ViewRecord};
use crate::conf::SessionConf;
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, ParquetTable, Target};
use crate::result::{SqlResult, Value, column, text_columns};

use super::show::schema_of;

type Row = (String, String, Option<String>);

/// `DESCRIBE TABLE`.
pub(super) async fn table(cx: &Context, describe: &DescribeTable) -> Result<SqlResult> {
    if describe.as_json {
        return Err(DeltaError::not_supported_yet("DESCRIBE TABLE AS JSON"));
    }
    let (target, _) = resolve::target(cx, &describe.table).await?;
    if describe.partition.is_some() {
        return Err(super::alter::no_partition_management(&target));
    }
    let schema = schema_of(cx, &target).await?;
    if let Some(path) = &describe.column {
        let path: Vec<&str> = path.iter().map(|part| part.value.as_str()).collect();
        return one_column(&schema, &path, &target);
    }
    let mut rows: Vec<Row> = schema.fields.iter().map(column_row).collect();
    match &target {
        Target::Delta(table) => {
            let snapshot = table.snapshot(cx).await?;
            partition_rows(&mut rows, &schema, snapshot.partition_columns());
            clustering_rows(
                &mut rows,
                &schema,
                &deltaic_maintenance::detail::clustering_columns(&snapshot),
            );
            if describe.extended {
                delta_details(&mut rows, table, &snapshot);
            }
        }
        Target::Parquet(table) => {
            let columns = table
                .record
                .as_ref()
                .map(|record| record.partition_columns.clone())
                .unwrap_or_default();
            partition_rows(&mut rows, &schema, &columns);
            if describe.extended {
                parquet_details(cx, &mut rows, table);
            }
        }
        Target::View(view) => {
            if describe.extended {
                view_details(cx, &mut rows, view);
            }
        }
    }
    answer(rows)
}

fn answer(rows: Vec<Row>) -> Result<SqlResult> {
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .map(|(name, data_type, comment)| {
            vec![
                Value::text(name),
                Value::text(data_type),
                Value::optional(comment),
            ]
        })
        .collect();
    SqlResult::from_rows(text_columns(&["col_name", "data_type", "comment?"]), &rows)
}

fn type_text(field: &StructField) -> String {
    field
        .char_varchar()
        .map_or_else(|| field.data_type.simple_string(), str::to_owned)
}

fn column_row(field: &StructField) -> Row {
    (
        field.name.clone(),
        type_text(field),
        field.comment().map(str::to_owned),
    )
}

fn line(name: &str, value: impl Into<String>) -> Row {
    (name.to_owned(), value.into(), Some(String::new()))
}

fn header(rows: &mut Vec<Row>, title: &str) {
    rows.push(line(title, ""));
    rows.push((
        "# col_name".to_owned(),
        "data_type".to_owned(),
        Some("comment".to_owned()),
    ));
}

fn partition_rows(rows: &mut Vec<Row>, schema: &StructType, columns: &[String]) {
    if columns.is_empty() {
        return;
    }
    header(rows, "# Partition Information");
    rows.extend(
        columns
            .iter()
            .filter_map(|name| schema.field(name))
            .map(column_row),
    );
}

fn clustering_rows(rows: &mut Vec<Row>, schema: &StructType, columns: &[String]) {
    if columns.is_empty() {
        return;
    }
    header(rows, "# Clustering Information");
    for name in columns {
        let path: Vec<&str> = name.split('.').collect();
        if let Some(field) = schema.field_at(&path) {
            rows.push((
                name.clone(),
                type_text(field),
                field.comment().map(str::to_owned),
            ));
        }
    }
}

fn delta_details(rows: &mut Vec<Row>, table: &DeltaTable, snapshot: &Snapshot) {
    let external = table
        .record
        .as_ref()
        .is_some_and(|record| record.kind == ObjectKind::External);
    rows.push(line("", ""));
    rows.push(line("# Detailed Table Information", ""));
    rows.push(line("Name", table.display()));
    rows.push(line("Type", if external { "EXTERNAL" } else { "MANAGED" }));
    if let Some(comment) = &snapshot.metadata().description {
        rows.push(line("Comment", comment.as_str()));
    }
    rows.push(line("Location", snapshot.store().root().to_string()));
    rows.push(line("Provider", "delta"));
    let pairs: Vec<String> = properties::show(&TableState::of(snapshot))
        .into_iter()
        .map(|(key, value)| property(&key, &value))
        .collect();
    rows.push(line("Table Properties", format!("[{}]", pairs.join(","))));
}

fn property(key: &str, value: &str) -> String {
    format!("{key}={}", SessionConf::shown_property(key, value))
}

fn created(cx: &Context, created_ms: i64) -> String {
    format_timestamp(created_ms.saturating_mul(1_000), &cx.zone())
}

fn parquet_details(cx: &Context, rows: &mut Vec<Row>, table: &ParquetTable) {
    rows.push(line("", ""));
    rows.push(line("# Detailed Table Information", ""));
    let Some(record) = &table.record else {
        rows.push(line("Location", table.store.root().to_string()));
        rows.push(line("Provider", "parquet"));
        return;
    };
    rows.push(line("Catalog", record.name.catalog.as_str()));
    rows.push(line("Database", record.name.schema.as_str()));
    rows.push(line("Table", record.name.name.as_str()));
    rows.push(line("Created Time", created(cx, record.created_ms)));
    rows.push(line("Last Access", "UNKNOWN"));
    rows.push(line(
        "Created By",
        concat!("Deltaic ", env!("CARGO_PKG_VERSION")),
    ));
    rows.push(line("Type", record.kind.as_str()));
    rows.push(line("Provider", "parquet"));
    if let Some(comment) = &record.comment {
        rows.push(line("Comment", comment.as_str()));
    }
    if !record.properties.is_empty() {
        let pairs: Vec<String> = record
            .properties
            .iter()
            .map(|(key, value)| property(key, value))
            .collect();
        rows.push(line("Table Properties", format!("[{}]", pairs.join(", "))));
    }
    rows.push(line("Location", table.store.root().to_string()));
}

fn view_details(cx: &Context, rows: &mut Vec<Row>, view: &ViewRecord) {
    rows.push(line("", ""));
    rows.push(line("# Detailed Table Information", ""));
    if let Some(name) = &view.name {
        rows.push(line("Catalog", name.catalog.as_str()));
        rows.push(line("Database", name.schema.as_str()));
        rows.push(line("Table", name.name.as_str()));
    }
    rows.push(line("Created Time", created(cx, view.created_ms)));
    rows.push(line("Last Access", "UNKNOWN"));
    rows.push(line(
        "Created By",
        concat!("Deltaic ", env!("CARGO_PKG_VERSION")),
    ));
    rows.push(line("Type", "VIEW"));
    if let Some(comment) = &view.comment {
        rows.push(line("Comment", comment.as_str()));
    }
    rows.push(line("View Text", view.text.as_str()));
    rows.push(line("View Original Text", view.text.as_str()));
    rows.push(line(
        "View Catalog and Namespace",
        errors::quoted_if_needed(&[&view.context.catalog, &view.context.schema]),
    ));
    let columns: Vec<String> = view
        .schema
        .fields
        .iter()
        .map(|field| errors::quoted_if_needed(&[&field.name]))
        .collect();
    rows.push(line(
        "View Query Output Columns",
        format!("[{}]", columns.join(", ")),
    ));
}

/// `DESCRIBE TABLE t c`.
fn one_column(schema: &StructType, path: &[&str], target: &Target) -> Result<SqlResult> {
    let Some(field) = schema.field_at(path) else {
        return Err(Scope::table(schema, &target.qualifier(), None).unresolved(path));
    };
    let rows = [
        ("col_name", field.name.clone()),
        ("data_type", type_text(field)),
        ("comment", field.comment().unwrap_or("NULL").to_owned()),
    ];
    let rows: Vec<Vec<Value>> = rows
        .into_iter()
        .map(|(name, value)| vec![Value::text(name), Value::text(value)])
        .collect();
    SqlResult::from_rows(text_columns(&["info_name", "info_value"]), &rows)
}

/// `DESCRIBE QUERY`.
pub(super) async fn query(cx: &Context, query: &Query) -> Result<SqlResult> {
    let planned = analysis::query(cx, query).await?;
    answer(planned.schema.fields.iter().map(column_row).collect())
}

/// `DESCRIBE FUNCTION`.
pub(super) async fn function(cx: &Context, describe: &DescribeFunction) -> Result<SqlResult> {
    let name = cx.texts(&describe.function).await?.join(".");
    if !cx
        .session
        .function_names()
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&name))
    {
        return Err(DeltaError::new("UNRESOLVED_ROUTINE")
            .param("routineName", errors::quoted(&[&name]))
            .param(
                "searchPath",
                format!(
                    "[`system`.`builtin`, `system`.`session`, {}]",
                    errors::quoted(&[&cx.current.catalog, &cx.current.schema])
                ),
            ));
    }
    let rows = [
        vec![Value::text(format!("Function: {name}"))],
        vec![Value::text("Usage: a built-in function")],
    ];
    SqlResult::from_rows(
        StructType::new([column("function_desc", DataType::String, false)]),
        &rows,
    )
}
