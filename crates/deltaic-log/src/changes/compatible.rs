//! Whether rows that were written with one schema can be read with another.

use std::collections::BTreeMap;

use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::Result;
use deltaic_protocol::properties::key;
use deltaic_protocol::schema::{DataType, StructType};

use crate::Version;

/// Whether rows under the metadata `other` fit the metadata `read`; each comes with its version.
pub(super) fn fits(read: (&Metadata, Version), other: (&Metadata, Version)) -> Result<bool> {
    let older_first = other.1 <= read.1;
    let (old, new) = if older_first {
        (other.0, read.0)
    } else {
        (read.0, other.0)
    };
    let (old_schema, new_schema) = (old.schema()?, new.schema()?);
    // A column that is a partition column in one of them only is not in the files of the other.
    Ok(old.partition_columns == new.partition_columns
        && mapping_fits(old, &old_schema, new, &new_schema)
        && struct_fits(&old_schema, &new_schema, older_first))
}

/// With column mapping, no column was renamed or dropped in between, and the mapping was not taken away.
fn mapping_fits(
    old: &Metadata,
    old_schema: &StructType,
    new: &Metadata,
    new_schema: &StructType,
) -> bool {
    match (is_mapped(old), is_mapped(new)) {
        (_, true) => {
            let now = names_by_path(new_schema);
            names_by_path(old_schema)
                .iter()
                .all(|(path, name)| now.get(path) == Some(name))
        }
        (mapped, false) => !mapped,
    }
}

fn is_mapped(metadata: &Metadata) -> bool {
    metadata
        .configuration
        .get(key::COLUMN_MAPPING_MODE)
        .is_some_and(|mode| !mode.eq_ignore_ascii_case("none"))
}

/// The logical name of every field, by its path of physical names. A table without mapping has its own names in files.
fn names_by_path(schema: &StructType) -> BTreeMap<Vec<String>, String> {
    let mut out = BTreeMap::new();
    collect(schema, &mut Vec::new(), &mut out);
    out
}

fn collect(schema: &StructType, path: &mut Vec<String>, out: &mut BTreeMap<Vec<String>, String>) {
    for field in &schema.fields {
        path.push(field.physical_name().to_string());
        out.insert(path.clone(), field.name.clone());
        collect_type(&field.data_type, path, out);
        path.pop();
    }
}

fn collect_type(
    data_type: &DataType,
    path: &mut Vec<String>,
    out: &mut BTreeMap<Vec<String>, String>,
) {
    let mut inside = |name: &str, inner: &DataType| {
        path.push(name.to_string());
        collect_type(inner, path, out);
        path.pop();
    };
    match data_type {
        DataType::Struct(fields) => collect(fields, path, out),
        DataType::Array(array) => inside("element", &array.element_type),
        DataType::Map(map) => {
            inside("key", &map.key_type);
            inside("value", &map.value_type);
        }
        _ => {}
    }
}

/// Every field of the older schema is in the newer one, by the same name and with the same type. Rows that may hold NULL are
/// not read as rows that may not: `rows_are_old` tells whose rows are read.
fn struct_fits(old: &StructType, new: &StructType, rows_are_old: bool) -> bool {
    old.fields.iter().all(|field| {
        new.field(&field.name).is_some_and(|found| {
            found.name == field.name
                && nulls_fit(field.nullable, found.nullable, rows_are_old)
                && type_fits(&field.data_type, &found.data_type, rows_are_old)
        })
    })
}

fn nulls_fit(old: bool, new: bool, rows_are_old: bool) -> bool {
    let (rows, read) = if rows_are_old { (old, new) } else { (new, old) };
    read || !rows
}

fn type_fits(old: &DataType, new: &DataType, rows_are_old: bool) -> bool {
    match (old, new) {
        (DataType::Struct(old), DataType::Struct(new)) => struct_fits(old, new, rows_are_old),
        (DataType::Array(old), DataType::Array(new)) => {
            nulls_fit(old.contains_null, new.contains_null, rows_are_old)
                && type_fits(&old.element_type, &new.element_type, rows_are_old)
        }
        (DataType::Map(old), DataType::Map(new)) => {
            nulls_fit(
                old.value_contains_null,
                new.value_contains_null,
                rows_are_old,
            ) && type_fits(&old.key_type, &new.key_type, rows_are_old)
                && type_fits(&old.value_type, &new.value_type, rows_are_old)
        }
        _ => old == new,
    }
}
