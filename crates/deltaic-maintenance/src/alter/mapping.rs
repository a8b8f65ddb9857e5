//! Ids and physical names of columns (protocol section "Column Mapping"; spec: delta, section 1.15).

use std::collections::BTreeMap;

use deltaic_protocol::schema::metadata::{COLUMN_MAPPING_ID, COLUMN_MAPPING_PHYSICAL_NAME};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use serde_json::Value;

/// The property that tells how columns are found in files.
pub const MODE: &str = "delta.columnMapping.mode";
/// The property that holds the highest id that was ever given.
pub const MAX_COLUMN_ID: &str = "delta.columnMapping.maxColumnId";

/// Whether the properties switch column mapping on.
pub fn is_enabled(configuration: &BTreeMap<String, String>) -> bool {
    configuration
        .get(MODE)
        .is_some_and(|mode| !mode.eq_ignore_ascii_case("none"))
}

/// How a new column gets its physical name.
#[derive(Clone, Copy)]
pub enum PhysicalName<'a> {
    /// The logical name: files that are there already carry it.
    Logical,
    /// `col-` and a new id: the name has never stood in a file of the table.
    Fresh(&'a dyn Fn() -> String),
}

/// Gives every column that has none an id and a physical name, parents first, and answers the highest id in use.
pub fn assign(schema: &mut StructType, highest: i64, naming: PhysicalName<'_>) -> i64 {
    let mut next = highest.max(highest_id(schema));
    for field in &mut schema.fields {
        assign_field(field, &mut next, naming);
    }
    next
}

fn assign_field(field: &mut StructField, highest: &mut i64, naming: PhysicalName<'_>) {
    if field.column_mapping_id().is_none() {
        *highest += 1;
        field
            .metadata
            .insert(COLUMN_MAPPING_ID.to_string(), Value::from(*highest));
    }
    if !field.metadata.contains_key(COLUMN_MAPPING_PHYSICAL_NAME) {
        let name = match naming {
            PhysicalName::Logical => field.name.clone(),
            PhysicalName::Fresh(id) => format!("col-{}", id()),
        };
        field
            .metadata
            .insert(COLUMN_MAPPING_PHYSICAL_NAME.to_string(), Value::from(name));
    }
    assign_type(&mut field.data_type, highest, naming);
}

fn assign_type(data_type: &mut DataType, highest: &mut i64, naming: PhysicalName<'_>) {
    match data_type {
        DataType::Struct(inner) => {
            for field in &mut inner.fields {
                assign_field(field, highest, naming);
            }
        }
        DataType::Array(array) => assign_type(&mut array.element_type, highest, naming),
        DataType::Map(map) => {
            assign_type(&mut map.key_type, highest, naming);
            assign_type(&mut map.value_type, highest, naming);
        }
        _ => {}
    }
}

/// The highest id in a schema, 0 if there is none.
pub fn highest_id(schema: &StructType) -> i64 {
    let mut highest = 0;
    schema
        .for_each_field(&mut |field| highest = highest.max(field.column_mapping_id().unwrap_or(0)));
    highest
}
