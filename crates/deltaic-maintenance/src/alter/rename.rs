//! RENAME COLUMN; needs column mapping, since the files keep the old name.

use deltaic_log::Operation;
use deltaic_protocol::column_list::rename_in_list;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::key;
use deltaic_protocol::schema::DataType;

use super::dependents::check_dependents;
use super::{TableChange, TableState, edit, mapping, mapping_advice};

/// Renames a column.
///
/// # Errors
/// No column mapping, a missing column, a name that is taken, a column of a constraint or generated column.
pub fn rename_column(state: &TableState, path: &[String], new_name: &str) -> Result<TableChange> {
    if edit::find(&state.schema, path).is_none() {
        return Err(edit::missing_column(path, &state.schema));
    }
    let mut new_path = path.to_vec();
    if let Some(last) = new_path.last_mut() {
        *last = new_name.to_string();
    }
    let same = path
        .last()
        .is_some_and(|last| last.eq_ignore_ascii_case(new_name));
    if !same && edit::find(&state.schema, &new_path).is_some() {
        return Err(DeltaError::new("FIELD_ALREADY_EXISTS")
            .param("op", "rename")
            .param("fieldNames", edit::quoted(&new_path))
            .param(
                "struct",
                format!("\"{}\"", DataType::Struct(state.schema.clone()).sql()),
            ));
    }
    if !mapping::is_enabled(&state.metadata.configuration) {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_RENAME_COLUMN").param("advice", mapping_advice())
        );
    }
    check_dependents(state, path)?;
    let mut schema = state.schema.clone();
    let lengths = edit::lengths_at(&schema, path);
    edit::in_parent(&mut schema, path, |parent, last| {
        if let Some(at) = parent.index_of(last) {
            parent.fields[at].name = new_name.to_string();
        }
        Ok(())
    })?;
    if path.len() > 1 && !lengths.is_any() {
        edit::set_lengths(&mut schema, &new_path, lengths);
    }
    let mut metadata = state.with_schema(&schema);
    if path.len() == 1 {
        for column in &mut metadata.partition_columns {
            if path.iter().any(|name| name.eq_ignore_ascii_case(column)) {
                *column = new_name.to_string();
            }
        }
    }
    let listed = metadata
        .configuration
        .get_mut(key::DATA_SKIPPING_STATS_COLUMNS);
    if let Some(list) = listed
        && let Some(renamed) = rename_in_list(list, path, &new_path)
    {
        *list = renamed;
    }
    let operation = Operation::new("RENAME COLUMN")
        .text_parameter("oldColumnPath", edit::dotted(path))
        .text_parameter("newColumnPath", edit::dotted(&new_path));
    Ok(TableChange {
        metadata,
        protocol: None,
        operation,
    })
}
