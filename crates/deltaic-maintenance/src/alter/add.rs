//! ADD COLUMNS.

use deltaic_command::{ColumnPosition, NewColumn};
use deltaic_log::Operation;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, Lengths, StructField, StructType};
use serde_json::{Value, json};

use super::mapping::{self, PhysicalName};
use super::{TableChange, TableState, edit, field_json};
use deltaic_protocol::feature::{ProtocolUpgrade, upgraded_protocol};

/// Adds columns. `fresh` makes ids for physical names.
///
/// # Errors
/// A name that is taken, a parent that is missing or no struct, a sibling that is missing, a column that may not be null.
pub fn add_columns(
    state: &TableState,
    columns: &[NewColumn],
    fresh: &dyn Fn() -> String,
) -> Result<TableChange> {
    let mut schema = state.schema.clone();
    let mut shown = Vec::new();
    for column in columns {
        if edit::find(&state.schema, &column.path).is_some() {
            return Err(already_there(&column.path, &state.schema));
        }
        if edit::find(&schema, &column.path).is_some() {
            return Err(DeltaError::new("COLUMN_ALREADY_EXISTS")
                .param("columnName", edit::quoted(&column.path)));
        }
        let Some((name, parents)) = column.path.split_last() else {
            continue;
        };
        let mut field = StructField::new(name, column.data_type.clone(), column.nullable);
        if let Some(comment) = &column.comment {
            field = field.with_comment(comment);
        }
        check_nullable(&field)?;
        if parents.is_empty() {
            field = field.with_lengths(&column.lengths);
        }
        shown.push(shown_column(parents, &field, column.position.as_ref()));
        edit::in_parent(&mut schema, &column.path, |parent, _| {
            edit::insert(parent, field, column.position.as_ref())
        })?;
        if !parents.is_empty() && !column.lengths.is_any() {
            edit::set_lengths(&mut schema, &column.path, column.lengths.clone());
        }
    }
    schema.refresh_lengths();
    let mut metadata = state.metadata.clone();
    if mapping::is_enabled(&metadata.configuration) {
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
        check_names(columns)?;
    }
    metadata.schema_string = schema.to_json();
    let protocol = upgraded_protocol(&state.protocol, &metadata, &ProtocolUpgrade::default())?;
    let operation =
        Operation::new("ADD COLUMNS").text_parameter("columns", Value::Array(shown).to_string());
    Ok(TableChange {
        metadata,
        protocol,
        operation,
    })
}

fn shown_column(
    parents: &[String],
    field: &StructField,
    position: Option<&ColumnPosition>,
) -> Value {
    let mut shown = json!({ "column": field_json(parents, field) });
    if let (Some(position), Some(map)) = (position, shown.as_object_mut()) {
        map.insert("position".to_string(), Value::from(position_text(position)));
    }
    shown
}

/// As the history shows it: `FIRST`, `AFTER a`.
pub(super) fn position_text(position: &ColumnPosition) -> String {
    match position {
        ColumnPosition::First => "FIRST".to_string(),
        ColumnPosition::After(sibling) => {
            format!("AFTER {}", edit::dotted(std::slice::from_ref(sibling)))
        }
    }
}

/// Rows that are there already have no value for a new column, so everything in it must be nullable.
fn check_nullable(field: &StructField) -> Result<()> {
    let mut all_nullable = true;
    StructType::new([field.clone()]).for_each_field(&mut |inner| all_nullable &= inner.nullable);
    if all_nullable {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_OPERATION_NOT_ALLOWED")
        .param("operation", "NOT NULL in ALTER TABLE ADD COLUMNS"))
}

fn already_there(path: &[String], schema: &StructType) -> DeltaError {
    DeltaError::new("FIELD_ALREADY_EXISTS")
        .param("op", "add")
        .param("fieldNames", edit::quoted(path))
        .param(
            "struct",
            format!("\"{}\"", DataType::Struct(schema.clone()).sql()),
        )
}

/// Characters that Parquet names cannot carry for old readers; column mapping lifts this.
fn check_names(columns: &[NewColumn]) -> Result<()> {
    let mut invalid = Vec::new();
    for column in columns {
        let mut look = |name: &str| {
            if name.contains([' ', ',', ';', '{', '}', '(', ')', '\n', '\t', '=']) {
                invalid.push(name.to_string());
            }
        };
        column.path.last().into_iter().for_each(|name| look(name));
        StructType::new([StructField::nullable("c", column.data_type.clone())])
            .for_each_field(&mut |field| look(&field.name));
    }
    if invalid.is_empty() {
        return Ok(());
    }
    Err(DeltaError::new("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES")
        .param("invalidColumnNames", invalid.join(", ")))
}

/// The same for a whole schema.
pub(super) fn check_field_names(schema: &StructType) -> Result<()> {
    let columns: Vec<NewColumn> = schema
        .iter()
        .map(|field| NewColumn {
            path: vec![field.name.clone()],
            data_type: field.data_type.clone(),
            lengths: Lengths::Any,
            nullable: field.nullable,
            comment: None,
            position: None,
        })
        .collect();
    check_names(&columns)
}
