//! REPLACE COLUMNS: the table's columns in another order, with other comments, with new ones among them; without some only where
//! columns are mapped.

use std::collections::BTreeSet;

use deltaic_command::NewColumn;
use deltaic_log::Operation;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{ProtocolUpgrade, upgraded_protocol};
use deltaic_protocol::schema::metadata::COMMENT;
use deltaic_protocol::schema::{DataType, Lengths, StructField, StructType};
use serde_json::Value;

use super::add::check_field_names;
use super::dependents::check_dependents;
use super::drop::check_roles;
use super::mapping::{self, PhysicalName};
use super::types::{record_change, scala_name};
use super::{TableChange, TableState, edit, field_json, is_widening};

/// Replaces the list of columns. `fresh` makes ids for physical names.
///
/// # Errors
/// Identity columns; a change that files that are there do not allow; a column that is partitioned or clustered by, or that a
/// constraint or generated column names, and is missing from the list.
pub fn replace_columns(
    state: &TableState,
    columns: &[NewColumn],
    fresh: &dyn Fn() -> String,
) -> Result<TableChange> {
    if state.schema.iter().any(StructField::is_identity) {
        return Err(DeltaError::new(
            "DELTA_IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED",
        ));
    }
    let wanted = StructType::new(columns.iter().map(field_of));
    let mut seen = BTreeSet::new();
    for field in &wanted {
        if !seen.insert(field.name.to_lowercase()) {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                .param("columnName", edit::quoted(&[field.name.to_lowercase()])));
        }
    }
    let rules = Rules {
        mapped: mapping::is_enabled(&state.metadata.configuration),
        widening: state
            .metadata
            .configuration
            .get("delta.enableTypeWidening")
            .is_some_and(|on| on.eq_ignore_ascii_case("true")),
    };
    rules
        .check_struct(&state.schema, &wanted, &mut Vec::new())
        .map_err(|reason| {
            DeltaError::new("DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP")
                .param("details", reason)
                .param("oldSchema", state.schema.tree_string())
                .param("newSchema", wanted.tree_string())
        })?;
    check_missing(state, &state.schema, &wanted, &mut Vec::new())?;
    let mut schema = merged(&state.schema, &wanted);
    let mut metadata = state.metadata.clone();
    if rules.mapped {
        let highest = metadata
            .configuration
            .get(mapping::MAX_COLUMN_ID)
            .and_then(|id| id.parse().ok())
            .unwrap_or(0);
        let highest = mapping::assign(&mut schema, highest, PhysicalName::Fresh(fresh));
        metadata
            .configuration
            .insert(mapping::MAX_COLUMN_ID.to_string(), highest.to_string());
    } else {
        check_field_names(&schema)?;
    }
    schema.refresh_lengths();
    metadata.schema_string = schema.to_json();
    let protocol = upgraded_protocol(&state.protocol, &metadata, &ProtocolUpgrade::default())?;
    let shown = wanted.iter().map(|field| field_json(&[], field)).collect();
    let operation = Operation::new("REPLACE COLUMNS")
        .text_parameter("columns", Value::Array(shown).to_string());
    Ok(TableChange {
        metadata,
        protocol,
        operation,
    })
}

fn field_of(column: &NewColumn) -> StructField {
    let name = column.path.last().map_or("", String::as_str);
    let field = StructField::new(name, column.data_type.clone(), column.nullable)
        .with_lengths(&column.lengths);
    match &column.comment {
        Some(comment) => field.with_comment(comment),
        None => field,
    }
}

/// What the table allows.
struct Rules {
    mapped: bool,
    widening: bool,
}

impl Rules {
    /// Whether one type may take the place of another; else the reason.
    fn check(
        &self,
        from: &DataType,
        to: &DataType,
        path: &mut Vec<String>,
    ) -> std::result::Result<(), DeltaError> {
        let step = |name: &str, from: &DataType, to: &DataType, path: &mut Vec<String>| {
            path.push(name.to_string());
            let outcome = self.check(from, to, path);
            path.pop();
            outcome
        };
        match (from, to) {
            (DataType::Struct(from), DataType::Struct(to)) => self.check_struct(from, to, path),
            (DataType::Array(from), DataType::Array(to)) => {
                check_nullability(from.contains_null, to.contains_null, path)?;
                step("element", &from.element_type, &to.element_type, path)
            }
            (DataType::Map(from), DataType::Map(to)) => {
                check_nullability(from.value_contains_null, to.value_contains_null, path)?;
                step("key", &from.key_type, &to.key_type, path)?;
                step("value", &from.value_type, &to.value_type, path)
            }
            (from, to) if from == to || (self.widening && is_widening(from, to)) => Ok(()),
            (from, to) => Err(impossible(format!(
                "changing data type of {} from {} to {}",
                edit::dotted(path),
                scala_name(from),
                scala_name(to)
            ))),
        }
    }

    fn check_struct(
        &self,
        from: &StructType,
        to: &StructType,
        path: &mut Vec<String>,
    ) -> std::result::Result<(), DeltaError> {
        let mut adds = false;
        for field in to {
            match from.field(&field.name) {
                Some(old) => {
                    path.push(old.name.clone());
                    check_nullability(old.nullable, field.nullable, path)?;
                    let outcome = self.check(&old.data_type, &field.data_type, path);
                    path.pop();
                    outcome?;
                }
                None => {
                    adds = true;
                    if !field.nullable {
                        let mut whole = path.clone();
                        whole.push(field.name.clone());
                        return Err(impossible(format!(
                            "adding non-nullable column {}",
                            edit::dotted(&whole)
                        )));
                    }
                }
            }
        }
        let dropped: Vec<&str> = from
            .names()
            .filter(|name| to.field(name).is_none())
            .collect();
        if !dropped.is_empty() && adds {
            return Err(DeltaError::new("DELTA_AMBIGUOUS_DATA_TYPE_CHANGE")
                .param("column", edit::dotted(path))
                .param("from", DataType::Struct(from.clone()).sql())
                .param("to", DataType::Struct(to.clone()).sql()));
        }
        if dropped.is_empty() || self.mapped {
            return Ok(());
        }
        let mut text = format!("dropping column(s) [{}]", dropped.join(", "));
        if !path.is_empty() {
            text.push_str(&format!(" from {}", edit::dotted(path)));
        }
        Err(impossible(text))
    }
}

fn check_nullability(from: bool, to: bool, path: &[String]) -> std::result::Result<(), DeltaError> {
    if to || !from {
        return Ok(());
    }
    Err(impossible(format!(
        "tightening nullability of {}",
        edit::dotted(path)
    )))
}

fn impossible(reason: String) -> DeltaError {
    DeltaError::new("DELTA_CANNOT_CHANGE_DATA_TYPE").param("dataType", reason)
}

/// Columns that are missing from the list must not be needed.
fn check_missing(
    state: &TableState,
    from: &StructType,
    to: &StructType,
    path: &mut Vec<String>,
) -> Result<()> {
    for field in from {
        path.push(field.name.clone());
        match (
            to.field(&field.name).map(|new| &new.data_type),
            &field.data_type,
        ) {
            (None, _) => {
                check_roles(state, path)?;
                check_dependents(state, path)?;
            }
            (Some(DataType::Struct(to)), DataType::Struct(from)) => {
                check_missing(state, from, to, path)?;
            }
            (Some(new), old) if new != old => check_dependents(state, path)?,
            _ => {}
        }
        path.pop();
    }
    Ok(())
}

/// The new list, with what the old fields carry.
fn merged(from: &StructType, to: &StructType) -> StructType {
    StructType::new(to.iter().map(|field| {
        let Some(old) = from.field(&field.name) else {
            return field.clone();
        };
        let mut out = StructField {
            data_type: merged_type(&old.data_type, &field.data_type),
            nullable: field.nullable,
            ..old.clone()
        };
        if let Some(comment) = field.comment() {
            out.metadata
                .insert(COMMENT.to_string(), Value::from(comment));
        }
        record_change(&mut out.metadata, &old.data_type, &field.data_type);
        out.with_lengths(&Lengths::of(field))
    }))
}

fn merged_type(from: &DataType, to: &DataType) -> DataType {
    match (from, to) {
        (DataType::Struct(from), DataType::Struct(to)) => DataType::Struct(merged(from, to)),
        (DataType::Array(from), DataType::Array(to)) => DataType::array(
            merged_type(&from.element_type, &to.element_type),
            from.contains_null,
        ),
        (DataType::Map(from), DataType::Map(to)) => DataType::map(
            merged_type(&from.key_type, &to.key_type),
            merged_type(&from.value_type, &to.value_type),
            from.value_contains_null,
        ),
        (_, to) => to.clone(),
    }
}
