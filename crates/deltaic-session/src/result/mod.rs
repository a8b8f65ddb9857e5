//! What a statement answers, and the forms in which it is handed over: batches, JSON values of the pipe protocol,
//! and the text that Spark's `show` prints.

mod arrays;
mod csv;
mod json;
mod numbers;
mod show;
#[cfg(test)]
mod tests;
mod text;
mod value;

use arrow::array::RecordBatch;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::Zone;

pub use json::error_json;
pub use numbers::java_double;
pub use show::ShowOptions;
pub(crate) use text::cell_text;
pub use value::Value;

/// The answer to one statement.
#[derive(Debug, Clone)]
pub struct SqlResult {
    /// Columns with Spark's types; no columns for statements that answer nothing.
    pub schema: StructType,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Remarks for people: what the reference would have done silently.
    pub notes: Vec<String>,
    /// Zone in which instants are printed.
    pub zone: Zone,
}

impl SqlResult {
    /// An answer without columns.
    pub fn empty() -> Self {
        SqlResult {
            schema: StructType { fields: Vec::new() },
            batches: Vec::new(),
            notes: Vec::new(),
            zone: Zone::utc(),
        }
    }

    /// An answer made of values, row by row.
    pub fn from_rows(schema: StructType, rows: &[Vec<Value>]) -> Result<Self> {
        let batch = arrays::batch(&schema, rows)?;
        Ok(SqlResult {
            schema,
            batches: vec![batch],
            notes: Vec::new(),
            zone: Zone::utc(),
        })
    }

    /// Adds remarks.
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        if self.schema.fields.is_empty() {
            0
        } else {
            self.batches.iter().map(RecordBatch::num_rows).sum()
        }
    }

    /// All rows as values.
    pub fn rows(&self) -> Vec<Vec<Value>> {
        self.head(usize::MAX)
    }

    /// The first rows as values.
    pub fn head(&self, limit: usize) -> Vec<Vec<Value>> {
        let mut rows = Vec::new();
        if self.schema.fields.is_empty() {
            return rows;
        }
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                if rows.len() == limit {
                    return rows;
                }
                let columns = self.schema.fields.iter().zip(batch.columns());
                rows.push(
                    columns
                        .map(|(field, array)| value::cell(array.as_ref(), row, &field.data_type))
                        .collect(),
                );
            }
        }
        rows
    }
}

/// A column of a command's answer.
pub(crate) fn column(name: &str, data_type: DataType, nullable: bool) -> StructField {
    StructField {
        name: name.to_owned(),
        data_type,
        nullable,
        metadata: serde_json::Map::new(),
    }
}

/// A schema of text columns, none nullable except where the name ends in `?`.
pub(crate) fn text_columns(names: &[&str]) -> StructType {
    let fields = names
        .iter()
        .map(|name| {
            column(
                name.trim_end_matches('?'),
                DataType::String,
                name.ends_with('?'),
            )
        })
        .collect();
    StructType { fields }
}
