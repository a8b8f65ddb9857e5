//! How logical columns are found in data files (protocol section "Column Mapping": by name, physical name or field id).
//!
//! The tree mirrors the logical schema without its partition columns. It is plain data, so that a plan that is shipped
//! to another process carries it along.

use arrow::datatypes::{Field, Fields};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use serde::{Deserialize, Serialize};

/// The key that a mapped file schema carries in its metadata, so that it never equals a file's own schema by accident
/// (columns may have swapped their names).
pub const MAPPED_SCHEMA_KEY: &str = "delta.columnMapping.mode";

/// By what a column is recognised in a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum MappingMode {
    /// By its logical name.
    #[default]
    None,
    /// By its physical name.
    Name,
    /// By its Parquet field id.
    Id,
}

/// One field of the logical schema and its place in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldMap {
    /// The logical name.
    pub name: String,
    /// The name in data files, statistics and partition values.
    pub physical: String,
    /// The field id, where the table has column mapping.
    pub id: Option<i32>,
    /// The fields of a struct; the element of an array; key and value of a map.
    pub children: Vec<FieldMap>,
}

impl FieldMap {
    /// The position of this field among the fields of a file, if the file has it.
    pub fn find(&self, mode: MappingMode, fields: &Fields) -> Option<usize> {
        match mode {
            MappingMode::Id if self.id.is_some() => {
                fields.iter().position(|field| field_id(field) == self.id)
            }
            // The parts of a variant have no ids.
            _ => {
                let exact = fields
                    .iter()
                    .position(|field| *field.name() == self.physical);
                exact.or_else(|| {
                    fields
                        .iter()
                        .position(|field| field.name().eq_ignore_ascii_case(&self.physical))
                })
            }
        }
    }

    /// The child with this logical name.
    pub fn child(&self, name: &str) -> Option<&FieldMap> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// The columns of a table's data files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ColumnMap {
    /// By what columns are recognised.
    pub mode: MappingMode,
    /// The columns in logical order, partition columns left out.
    pub fields: Vec<FieldMap>,
}

impl ColumnMap {
    /// The column with this logical name.
    pub fn column(&self, name: &str) -> Option<&FieldMap> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// The Parquet field id of an Arrow field that was read from a file.
pub fn field_id(field: &Field) -> Option<i32> {
    field
        .metadata()
        .get(PARQUET_FIELD_ID_META_KEY)
        .and_then(|id| id.parse().ok())
}

/// Whether any field of a file, at any depth, carries an id.
pub fn has_field_ids(fields: &Fields) -> bool {
    fields.iter().any(|field| {
        field_id(field).is_some()
            || match field.data_type() {
                arrow::datatypes::DataType::Struct(inner) => has_field_ids(inner),
                _ => false,
            }
    })
}
