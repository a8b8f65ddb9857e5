//! The columns of `INSERT INTO … REPLACE USING (…)`.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_sql::ast::{Ident, Insert};

use crate::analysis;
use crate::context::Context;
use crate::errors;

/// The columns as the table has them. Table and query must both have them, and without BY NAME in the same places.
pub(super) async fn columns(
    cx: &Context,
    insert: &Insert,
    columns: &[Ident],
    table: &StructType,
) -> Result<Vec<String>> {
    if insert.with_schema_evolution {
        return Err(DeltaError::not_supported_yet(
            "REPLACE USING WITH SCHEMA EVOLUTION",
        ));
    }
    let query = analysis::query(cx, &insert.source).await?.schema;
    let mut found = Vec::new();
    let mut misaligned = Vec::new();
    for column in columns {
        let name = column.value.as_str();
        let at = place(table, name).ok_or_else(|| unresolved(name, "table", table))?;
        let in_query = match insert.columns.is_empty() {
            true => place(&query, name),
            // A column list names the query's columns.
            false => insert
                .columns
                .iter()
                .position(|own| own.value.eq_ignore_ascii_case(name)),
        };
        let in_query = in_query.ok_or_else(|| unresolved(name, "query", &query))?;
        if in_query != at && !insert.by_name && insert.columns.is_empty() {
            misaligned.push(name);
        }
        let field = &table.fields[at];
        if !field.data_type.is_primitive() || field.data_type == DataType::Variant {
            return Err(DeltaError::not_supported_yet(format!(
                "REPLACE USING a column of type {}",
                field.data_type.sql()
            )));
        }
        if !found.contains(&field.name) {
            found.push(field.name.clone());
        }
    }
    if misaligned.is_empty() {
        return Ok(found);
    }
    let names: Vec<String> = misaligned
        .iter()
        .map(|name| errors::quoted(&[name]))
        .collect();
    Err(
        DeltaError::new("INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS")
            .param("misalignedReplaceUsingCols", names.join(", ")),
    )
}

fn place(schema: &StructType, name: &str) -> Option<usize> {
    schema
        .fields
        .iter()
        .position(|field| field.name.eq_ignore_ascii_case(name))
}

fn unresolved(name: &str, relation: &str, schema: &StructType) -> DeltaError {
    let known: Vec<String> = schema.names().map(|name| errors::quoted(&[name])).collect();
    DeltaError::new("UNRESOLVED_INSERT_REPLACE_USING_COLUMN")
        .param("colName", errors::quoted(&[name]))
        .param("relationType", format!("the {relation}"))
        .param("suggestion", known.join(", "))
}
