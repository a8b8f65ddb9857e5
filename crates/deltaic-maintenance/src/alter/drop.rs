//! DROP COLUMNS; needs column mapping, since the columns stay in the files.

use deltaic_log::Operation;
use deltaic_protocol::column_list::drop_from_list;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;
use serde_json::Value;

use super::dependents::check_dependents;
use super::{TableChange, TableState, edit, mapping, mapping_advice};

/// Drops columns.
///
/// # Errors
/// No column mapping; a missing column (unless `if_exists`); partition or clustering columns, columns of constraints or
/// generated columns, the last column of a struct.
pub fn drop_columns(
    state: &TableState,
    paths: &[Vec<String>],
    if_exists: bool,
) -> Result<Option<TableChange>> {
    let mut present = Vec::new();
    for path in paths {
        match edit::find(&state.schema, path) {
            Some(_) => present.push(path),
            None if if_exists => {}
            None => return Err(edit::missing_column(path, &state.schema)),
        }
    }
    if present.is_empty() {
        return Ok(None);
    }
    if !mapping::is_enabled(&state.metadata.configuration) {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_DROP_COLUMN").param("advice", mapping_advice())
        );
    }
    let mut schema = state.schema.clone();
    for path in &present {
        check_roles(state, path)?;
        check_dependents(state, path)?;
        edit::in_parent(&mut schema, path, |parent, last| {
            if parent.fields.len() == 1 {
                return Err(DeltaError::new("DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA")
                    .param("schema", parent.tree_string()));
            }
            parent
                .fields
                .retain(|field| !field.name.eq_ignore_ascii_case(last));
            Ok(())
        })?;
    }
    let mut metadata = state.with_schema(&schema);
    let listed = metadata
        .configuration
        .get_mut(key::DATA_SKIPPING_STATS_COLUMNS);
    if let Some(list) = listed
        && let Some(kept) = drop_from_list(list, &present)
    {
        *list = kept;
    }
    let names: Vec<Value> = present
        .iter()
        .map(|path| Value::from(edit::dotted(path)))
        .collect();
    let operation =
        Operation::new("DROP COLUMNS").text_parameter("columns", Value::Array(names).to_string());
    Ok(Some(TableChange {
        metadata,
        protocol: None,
        operation,
    }))
}

pub(super) fn check_roles(state: &TableState, path: &[String]) -> Result<()> {
    let partition = path.len() == 1
        && state
            .metadata
            .partition_columns
            .iter()
            .any(|column| same(column, path));
    if partition {
        return Err(DeltaError::new("DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN")
            .param("columnList", path.join(".")));
    }
    let whole = path.join(".");
    let clustered = state.clustering_columns.iter().any(|column| {
        column.eq_ignore_ascii_case(&whole)
            || column
                .to_lowercase()
                .starts_with(&format!("{}.", whole.to_lowercase()))
    });
    if clustered {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN").param("columnList", whole)
        );
    }
    Ok(())
}

fn same(column: &str, path: &[String]) -> bool {
    path.first()
        .is_some_and(|name| name.eq_ignore_ascii_case(column))
}
