//! From the rows of a query to the columns of a data file: types as the table declares them, physical names, field ids,
//! no partition columns, no VOID columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::can_cast_types;
use arrow::datatypes::SchemaRef;
use deltaic_log::arrow_schema::{to_arrow, to_physical_arrow};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructField, StructType};

use crate::columns::mapping::{FieldMap, MappingMode};
use crate::columns::reshape::Reshape;
use crate::error::Classed;

/// Makes logical batches of one input uniform, and data file columns of them.
#[derive(Debug, Clone)]
pub struct Shaper {
    logical: SchemaRef,
    /// Positions of the data columns among the logical ones.
    data: Vec<usize>,
    physical: SchemaRef,
    to_physical: Vec<Reshape>,
}

impl Shaper {
    /// For a table's schema.
    ///
    /// # Errors
    /// No column is left to write.
    pub fn new(schema: &StructType, partition_columns: &[String]) -> Result<Shaper> {
        let nullable = schema.as_nullable();
        let logical = to_arrow(&nullable);
        let mut data = Vec::new();
        let mut fields = Vec::new();
        for (at, field) in nullable.iter().enumerate() {
            let is_partition = partition_columns
                .iter()
                .any(|p| p.eq_ignore_ascii_case(&field.name));
            if let (false, Some(field)) = (is_partition, without_void(field)) {
                data.push(at);
                fields.push(field);
            }
        }
        let files = StructType::new(fields);
        let physical = to_physical_arrow(&files);
        let to_physical = data
            .iter()
            .zip(files.iter())
            .zip(physical.fields())
            .map(|((at, field), target)| {
                Reshape::plan(
                    MappingMode::Name,
                    &inverse(field),
                    target.data_type(),
                    logical.field(*at).data_type(),
                    &field.name,
                )
            })
            .collect::<Result<Vec<_>, _>>()
            .classed()?;
        Ok(Shaper {
            logical,
            data,
            physical,
            to_physical,
        })
    }

    /// The logical schema, all columns nullable.
    pub fn logical(&self) -> &SchemaRef {
        &self.logical
    }

    /// The schema of data files.
    pub fn physical(&self) -> &SchemaRef {
        &self.physical
    }

    /// A batch of the input, column by column, in the types of the table.
    ///
    /// # Errors
    /// The number of columns or a type does not fit.
    pub fn conform(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        if batch.num_columns() != self.logical.fields().len() {
            return Err(DeltaError::internal(format!(
                "the input has {} columns, the table {}",
                batch.num_columns(),
                self.logical.fields().len()
            )));
        }
        let plain = FieldMap {
            name: String::new(),
            physical: String::new(),
            id: None,
            children: Vec::new(),
        };
        let columns = batch
            .columns()
            .iter()
            .zip(self.logical.fields())
            .map(|(column, field)| {
                if column.data_type() == field.data_type() {
                    return Ok(Arc::clone(column));
                }
                let shape = Reshape::with_rule(
                    MappingMode::None,
                    &plain,
                    field.data_type(),
                    column.data_type(),
                    field.name(),
                    &can_cast_types,
                )
                .classed()?;
                shape.apply(column).classed()
            })
            .collect::<Result<Vec<ArrayRef>>>()?;
        let options =
            arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.logical), columns, &options).classed()
    }

    /// The data file's columns of a conforming batch: in logical form (for statistics) …
    pub fn data_columns(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.data
            .iter()
            .map(|at| Arc::clone(batch.column(*at)))
            .collect()
    }

    /// … and as they are written.
    ///
    /// # Errors
    /// A value does not fit.
    pub fn physical_batch(&self, data: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let columns = data
            .iter()
            .zip(&self.to_physical)
            .map(|(column, shape)| shape.apply(column))
            .collect::<Result<Vec<_>, _>>()
            .classed()?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.physical), columns, &options).classed()
    }
}

/// A field as files have it: VOID has no form in Parquet.
fn without_void(field: &StructField) -> Option<StructField> {
    let data_type = match &field.data_type {
        DataType::Void => return None,
        DataType::Struct(inner) => {
            let kept: Vec<StructField> = inner.iter().filter_map(without_void).collect();
            if kept.is_empty() && !inner.is_empty() {
                return None;
            }
            DataType::Struct(StructType::new(kept))
        }
        other => other.clone(),
    };
    Some(StructField {
        data_type,
        ..field.clone()
    })
}

/// The schema of data files: no partition columns, nothing VOID.
pub(crate) fn file_schema(schema: &StructType, partition_columns: &[String]) -> StructType {
    let keep = |field: &&StructField| {
        !partition_columns
            .iter()
            .any(|p| p.eq_ignore_ascii_case(&field.name))
    };
    StructType::new(schema.iter().filter(keep).filter_map(without_void))
}

/// The way back: physical names are looked up by logical ones.
fn inverse(field: &StructField) -> FieldMap {
    FieldMap {
        name: field.physical_name().to_string(),
        physical: field.name.clone(),
        id: None,
        children: inverse_types(&field.data_type),
    }
}

fn inverse_types(data_type: &DataType) -> Vec<FieldMap> {
    let inner = |name: &str, data_type: &DataType| FieldMap {
        name: name.to_string(),
        physical: name.to_string(),
        id: None,
        children: inverse_types(data_type),
    };
    match data_type {
        DataType::Struct(fields) => fields.iter().map(inverse).collect(),
        DataType::Array(array) => vec![inner("element", &array.element_type)],
        DataType::Map(map) => vec![inner("key", &map.key_type), inner("value", &map.value_type)],
        _ => Vec::new(),
    }
}
