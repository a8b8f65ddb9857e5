//! A table's schema as DataFusion sees it: which columns lie in data files, which are partition columns, and where the
//! logical columns stand in the scan's schema (data columns, then partition columns, then hidden ones).

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType as Arrow, Field, FieldRef, Schema, SchemaRef};
use datafusion_datasource::TableSchema;
use deltaic_log::arrow_schema::to_arrow_field;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use parquet::arrow::RowNumber;

use crate::columns::mapping::{ColumnMap, FieldMap, MAPPED_SCHEMA_KEY, MappingMode};

/// The hidden column with the position of a row's file in the list of a scan's files.
pub const FILE_COLUMN: &str = "__deltaic_file";
/// The hidden column with the position of a row in its file.
pub const ROW_COLUMN: &str = "__deltaic_row";

/// The hidden column with the address of a row's file.
pub(crate) const PATH_COLUMN: &str = "__deltaic_path";
/// The hidden column with the name of a row's file.
pub(crate) const NAME_COLUMN: &str = "__deltaic_name";
/// The hidden column with the size of a row's file in bytes.
pub(crate) const SIZE_COLUMN: &str = "__deltaic_size";
/// The hidden column with the time at which a row's file was written.
pub(crate) const MODIFIED_COLUMN: &str = "__deltaic_modified";
/// The hidden column with the id of the first row of a row's file.
pub(crate) const BASE_ID_COLUMN: &str = "__deltaic_base_id";
/// The hidden column with the version that the rows of a row's file have by default.
pub(crate) const BASE_VERSION_COLUMN: &str = "__deltaic_base_version";

/// Which hidden columns a scan yields after the table's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hidden {
    /// None.
    #[default]
    Nothing,
    /// [`FILE_COLUMN`] and [`ROW_COLUMN`].
    Positions,
    /// What is known of a row's file and, with `rows`, [`ROW_COLUMN`].
    Places {
        /// With the position of a row in its file.
        rows: bool,
    },
}

impl Hidden {
    /// The columns that have one value in a file.
    fn of_files(self) -> Vec<FieldRef> {
        let columns = match self {
            Hidden::Nothing => Vec::new(),
            Hidden::Positions => vec![Field::new(FILE_COLUMN, Arrow::Int64, false)],
            Hidden::Places { .. } => vec![
                Field::new(PATH_COLUMN, Arrow::Utf8, false),
                Field::new(NAME_COLUMN, Arrow::Utf8, false),
                Field::new(SIZE_COLUMN, Arrow::Int64, false),
                to_arrow_field(&StructField::nullable(MODIFIED_COLUMN, DataType::Timestamp)),
                Field::new(BASE_ID_COLUMN, Arrow::Int64, true),
                Field::new(BASE_VERSION_COLUMN, Arrow::Int64, true),
            ],
        };
        columns.into_iter().map(Arc::new).collect()
    }

    /// Whether the position of a row in its file is among them.
    pub(crate) fn has_rows(self) -> bool {
        matches!(self, Hidden::Positions | Hidden::Places { rows: true })
    }

    /// All of them, in their order.
    fn fields(self) -> Vec<FieldRef> {
        let mut columns = self.of_files();
        if self.has_rows() {
            columns.push(row_field());
        }
        columns
    }
}

fn row_field() -> FieldRef {
    Arc::new(Field::new(ROW_COLUMN, Arrow::Int64, false).with_extension_type(RowNumber))
}

/// Where the columns of a table are.
#[derive(Debug, Clone)]
pub struct TableLayout {
    /// The logical schema in its own order. Everything may be null: what a file holds is not under our control.
    pub schema: SchemaRef,
    /// The columns of data files, logical names.
    pub file_schema: SchemaRef,
    /// The Delta types of the columns of data files.
    pub file_types: Vec<DataType>,
    /// The partition columns in partitioning order.
    pub partitions: Vec<FieldRef>,
    /// The physical names of the partition columns: the keys of `add.partitionValues`.
    pub partition_keys: Vec<String>,
    /// The Delta types of the partition columns.
    pub partition_types: Vec<DataType>,
    /// How data columns are found in files.
    pub columns: Arc<ColumnMap>,
    /// For each logical column its place in the scan's schema.
    pub positions: Vec<usize>,
}

impl TableLayout {
    /// The layout of a schema with these partition columns (logical names).
    pub fn new(
        schema: &StructType,
        partition_columns: &[String],
        mode: MappingMode,
    ) -> TableLayout {
        let nullable = schema.as_nullable();
        let is_partition = |name: &str| {
            partition_columns
                .iter()
                .any(|p| p.eq_ignore_ascii_case(name))
        };
        let data: Vec<(&StructField, &StructField)> = schema
            .iter()
            .zip(nullable.iter())
            .filter(|(field, _)| !is_partition(&field.name))
            .collect();
        let marker = match mode {
            MappingMode::None => HashMap::new(),
            MappingMode::Name => {
                HashMap::from([(MAPPED_SCHEMA_KEY.to_string(), "name".to_string())])
            }
            MappingMode::Id => HashMap::from([(MAPPED_SCHEMA_KEY.to_string(), "id".to_string())]),
        };
        let file_fields: Vec<Field> = data
            .iter()
            .map(|(_, nullable)| to_arrow_field(nullable))
            .collect();
        let file_types = data
            .iter()
            .map(|(field, _)| field.data_type.clone())
            .collect();
        let columns = ColumnMap {
            mode,
            fields: data.iter().map(|(field, _)| field_map(field)).collect(),
        };
        let mut partitions = Vec::new();
        let mut partition_keys = Vec::new();
        let mut partition_types = Vec::new();
        for name in partition_columns {
            if let Some(at) = schema.index_of(name) {
                partitions.push(Arc::new(to_arrow_field(&nullable.fields[at])));
                partition_keys.push(schema.fields[at].physical_name().to_string());
                partition_types.push(schema.fields[at].data_type.clone());
            }
        }
        let positions = schema
            .iter()
            .map(|field| {
                match partition_columns
                    .iter()
                    .position(|p| p.eq_ignore_ascii_case(&field.name))
                {
                    Some(at) => file_fields.len() + at,
                    None => data
                        .iter()
                        .position(|(own, _)| own.name == field.name)
                        .unwrap_or_default(),
                }
            })
            .collect();
        let all: Vec<Field> = nullable.iter().map(to_arrow_field).collect();
        TableLayout {
            schema: Arc::new(Schema::new_with_metadata(all, marker.clone())),
            file_schema: Arc::new(Schema::new_with_metadata(file_fields, marker)),
            file_types,
            partitions,
            partition_keys,
            partition_types,
            columns: Arc::new(columns),
            positions,
        }
    }

    /// The scan's schema: data columns, partition columns, hidden ones.
    pub fn table_schema(&self, hidden: Hidden) -> TableSchema {
        let mut partitions = self.partitions.clone();
        partitions.extend(hidden.of_files());
        let builder = TableSchema::builder(Arc::clone(&self.file_schema))
            .with_table_partition_cols(partitions);
        match hidden.has_rows() {
            true => builder.with_virtual_columns(vec![row_field()]).build(),
            false => builder.build(),
        }
    }

    /// The logical schema and the hidden columns.
    pub fn output_schema(&self, hidden: Hidden) -> SchemaRef {
        if hidden == Hidden::Nothing {
            return Arc::clone(&self.schema);
        }
        let mut fields: Vec<FieldRef> = self.schema.fields().iter().cloned().collect();
        fields.extend(hidden.fields());
        Arc::new(Schema::new_with_metadata(
            fields,
            self.schema.metadata().clone(),
        ))
    }

    /// The places of projected logical columns (hidden ones included) in the scan's schema.
    pub fn project(&self, projection: Option<&Vec<usize>>, hidden: Hidden) -> Vec<usize> {
        let end = self.file_schema.fields().len() + self.partitions.len();
        let place = |at: usize| {
            self.positions
                .get(at)
                .copied()
                .unwrap_or_else(|| end + at.saturating_sub(self.positions.len()))
        };
        match projection {
            Some(columns) => columns.iter().map(|at| place(*at)).collect(),
            None => (0..self.positions.len() + hidden.fields().len())
                .map(place)
                .collect(),
        }
    }

    /// Whether a column (by its logical name) is a partition column.
    pub fn is_partition(&self, name: &str) -> bool {
        self.partitions.iter().any(|field| field.name() == name)
    }
}

/// How a field and the fields in it are found in files.
pub(crate) fn field_map(field: &StructField) -> FieldMap {
    FieldMap {
        name: field.name.clone(),
        physical: field.physical_name().to_string(),
        id: field
            .column_mapping_id()
            .and_then(|id| i32::try_from(id).ok()),
        children: type_maps(&field.data_type),
    }
}

fn type_maps(data_type: &DataType) -> Vec<FieldMap> {
    let inner = |name: &str, data_type: &DataType| FieldMap {
        name: name.to_string(),
        physical: name.to_string(),
        id: None,
        children: type_maps(data_type),
    };
    match data_type {
        DataType::Struct(fields) => fields.iter().map(field_map).collect(),
        DataType::Array(array) => vec![inner("element", &array.element_type)],
        DataType::Map(map) => vec![inner("key", &map.key_type), inner("value", &map.value_type)],
        _ => Vec::new(),
    }
}
