//! ALTER COLUMN: comment, nullability, position, type.

use deltaic_command::{ColumnChange, ColumnPosition};
use deltaic_log::Operation;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::metadata::{COMMENT, CURRENT_DEFAULT};
use deltaic_protocol::schema::{DataType, StructField};
use serde_json::Value;

use super::add::position_text;
use super::dependents::check_dependents;
use super::types::record_change;
use super::{TableChange, TableState, edit, field_json, is_widening};
use deltaic_protocol::feature::{ProtocolUpgrade, upgraded_protocol};

/// The table feature that column defaults need.
const COLUMN_DEFAULTS: &str = "allowColumnDefaults";

/// Changes one column.
///
/// # Errors
/// A column or sibling that is missing; a nullable column that is to become `NOT NULL`; a type that cannot be widened.
pub fn change_column(
    state: &TableState,
    path: &[String],
    change: &ColumnChange,
) -> Result<TableChange> {
    let Some(field) = edit::find(&state.schema, path).cloned() else {
        if let ColumnChange::Type(to) = change
            && let Some(inner) = inner_type(state, path, to)
        {
            return change_inner(state, path, inner, to);
        }
        return Err(edit::missing_column(path, &state.schema));
    };
    if field.is_identity()
        && matches!(
            change,
            ColumnChange::Type(_)
                | ColumnChange::Lengths(_)
                | ColumnChange::SetNotNull
                | ColumnChange::DropNotNull
                | ColumnChange::Default(_)
        )
    {
        return Err(DeltaError::new(
            "DELTA_IDENTITY_COLUMNS_ALTER_COLUMN_NOT_SUPPORTED",
        ));
    }
    // The history shows the column by the names that it has, however they were written.
    let path = actual_path(state, path);
    let parents = &path[..path.len().saturating_sub(1)];
    let mut changed = field.clone();
    let mut shown = None;
    let mut position = None;
    match change {
        ColumnChange::Comment(text) => {
            changed
                .metadata
                .insert(COMMENT.to_string(), Value::from(text.as_str()));
        }
        ColumnChange::DropNotNull => changed.nullable = true,
        ColumnChange::SetNotNull if field.nullable => {
            return Err(
                DeltaError::new("_LEGACY_ERROR_TEMP_2330").param("fieldName", edit::dotted(&path))
            );
        }
        ColumnChange::SetNotNull => {}
        ColumnChange::Position(to) => position = Some(to),
        ColumnChange::Type(to) => {
            shown = Some(StructField {
                data_type: to.clone(),
                ..field.clone()
            });
            changed = with_type(state, &path, &field, to)?;
        }
        ColumnChange::Lengths(to) if path.len() == 1 => changed = changed.with_lengths(to),
        ColumnChange::Lengths(_) => {}
        ColumnChange::Default(None) => {
            changed.metadata.remove(CURRENT_DEFAULT);
        }
        ColumnChange::Default(Some(text)) => {
            if !state.protocol.supports(COLUMN_DEFAULTS) {
                return Err(
                    DeltaError::new("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED")
                        .param("commandType", "ALTER TABLE"),
                );
            }
            changed
                .metadata
                .insert(CURRENT_DEFAULT.to_string(), Value::from(text.as_str()));
        }
    }
    let mut schema = state.schema.clone();
    edit::in_parent(&mut schema, &path, |parent, last| {
        let Some(at) = parent.index_of(last) else {
            return Err(edit::missing_column(&path, parent));
        };
        parent.fields[at] = changed.clone();
        match position {
            None => Ok(()),
            Some(ColumnPosition::After(sibling)) if sibling.eq_ignore_ascii_case(last) => Ok(()),
            Some(position) => {
                let moved = parent.fields.remove(at);
                edit::insert(parent, moved, Some(position))
            }
        }
    })?;
    if let ColumnChange::Lengths(to) = change {
        edit::set_lengths(&mut schema, &path, to.clone());
    }
    let metadata = state.with_schema(&schema);
    let protocol = upgraded_protocol(&state.protocol, &metadata, &ProtocolUpgrade::default())?;
    let shown = field_json(parents, shown.as_ref().unwrap_or(&changed));
    let mut operation = Operation::new("CHANGE COLUMN").text_parameter("column", shown.to_string());
    if let Some(position) = position {
        operation = operation.text_parameter("position", position_text(position));
    }
    Ok(TableChange {
        metadata,
        protocol,
        operation,
    })
}

/// The names as the schema spells them.
fn actual_path(state: &TableState, path: &[String]) -> Vec<String> {
    (1..=path.len())
        .map(|end| match edit::find(&state.schema, &path[..end]) {
            Some(field) => field.name.clone(),
            None => path[end - 1].clone(),
        })
        .collect()
}

/// The field with a wider type, and a note of the change for readers.
fn with_type(
    state: &TableState,
    path: &[String],
    field: &StructField,
    to: &DataType,
) -> Result<StructField> {
    if *to == field.data_type {
        return Ok(field.clone());
    }
    let enabled = state
        .metadata
        .configuration
        .get("delta.enableTypeWidening")
        .is_some_and(|on| on.eq_ignore_ascii_case("true"));
    if !enabled || !is_widening(&field.data_type, to) {
        let error = DeltaError::new("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP")
            .param("fieldPath", edit::dotted(path))
            .param("oldField", field.data_type.sql())
            .param("newField", to.sql());
        return Err(match is_widening(&field.data_type, to) {
            true => error.with_hint("set delta.enableTypeWidening to true on the table first"),
            false => error,
        });
    }
    check_dependents(state, path)?;
    let mut changed = StructField {
        data_type: to.clone(),
        ..field.clone()
    };
    record_change(&mut changed.metadata, &field.data_type, to);
    Ok(changed)
}

/// The type of an element, key or value: the field that it is in, and that field with the new type in its place. `None` where
/// the path means something else.
fn inner_type(
    state: &TableState,
    path: &[String],
    to: &DataType,
) -> Option<(usize, DataType, DataType)> {
    (1..path.len()).rev().find_map(|end| {
        let field = edit::find(&state.schema, &path[..end])?;
        let (old, new) = replaced(&field.data_type, &path[end..], to)?;
        Some((end, old, new))
    })
}

/// The type at the end of the steps, and the whole type with another one there.
fn replaced(whole: &DataType, steps: &[String], to: &DataType) -> Option<(DataType, DataType)> {
    let Some((step, rest)) = steps.split_first() else {
        return Some((whole.clone(), to.clone()));
    };
    match (whole, step.to_lowercase().as_str()) {
        (DataType::Array(array), "element") => {
            let (old, element) = replaced(&array.element_type, rest, to)?;
            Some((old, DataType::array(element, array.contains_null)))
        }
        (DataType::Map(map), "key") => {
            let (old, key) = replaced(&map.key_type, rest, to)?;
            let value = map.value_type.clone();
            Some((old, DataType::map(key, value, map.value_contains_null)))
        }
        (DataType::Map(map), "value") => {
            let (old, value) = replaced(&map.value_type, rest, to)?;
            let key = map.key_type.clone();
            Some((old, DataType::map(key, value, map.value_contains_null)))
        }
        _ => None,
    }
}

/// Widens the type of an element, key or value.
fn change_inner(
    state: &TableState,
    path: &[String],
    (end, old, whole): (usize, DataType, DataType),
    to: &DataType,
) -> Result<TableChange> {
    let inner = StructField::nullable("", old);
    // Only for its checks: what is noted stands at the field around it.
    with_type(state, path, &inner, to)?;
    let outer = actual_path(state, &path[..end]);
    let mut schema = state.schema.clone();
    edit::in_parent(&mut schema, &outer, |parent, last| {
        let Some(at) = parent.index_of(last) else {
            return Err(edit::missing_column(&outer, parent));
        };
        let field = &mut parent.fields[at];
        let from = std::mem::replace(&mut field.data_type, whole.clone());
        record_change(&mut field.metadata, &from, &whole);
        Ok(())
    })?;
    let metadata = state.with_schema(&schema);
    let protocol = upgraded_protocol(&state.protocol, &metadata, &ProtocolUpgrade::default())?;
    let mut parents = outer;
    let steps = path[end..].iter().map(|step| step.to_lowercase());
    parents.extend(steps);
    let last = parents.pop().unwrap_or_default();
    let shown = field_json(&parents, &StructField::nullable(last, to.clone()));
    Ok(TableChange {
        metadata,
        protocol,
        operation: Operation::new("CHANGE COLUMN").text_parameter("column", shown.to_string()),
    })
}
