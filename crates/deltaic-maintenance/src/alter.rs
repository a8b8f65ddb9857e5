//! ALTER TABLE on columns and the table's comment (spec: delta, sections 1.15, 4.6 and 7.1).
//!
//! Each change is decided by a pure function from the metadata at hand to new metadata and the operation that the history
//! shows; [`commit`] then writes it.

mod add;
mod change;
mod dependents;
mod drop;
mod edit;
pub mod evolve;
pub mod mapping;
mod rename;
mod replace;
#[cfg(test)]
mod tests;
mod types;
mod widen;

use deltaic_log::{CommitContext, CommitResult, Operation, Snapshot, Transaction};
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use serde_json::{Value, json};

pub use add::add_columns;
pub use change::change_column;
pub use drop::drop_columns;
pub use rename::rename_column;
pub use replace::replace_columns;
pub use widen::{is_widening, widens_within_family};

/// What a change starts from.
#[derive(Debug, Clone)]
pub struct TableState {
    /// The metadata.
    pub metadata: Metadata,
    /// The protocol.
    pub protocol: Protocol,
    /// The schema of the metadata.
    pub schema: StructType,
    /// Logical names of the clustering columns, parts joined by dots.
    pub clustering_columns: Vec<String>,
}

impl TableState {
    /// The newest state of a table.
    pub fn of(snapshot: &Snapshot) -> TableState {
        TableState {
            metadata: snapshot.metadata().as_ref().clone(),
            protocol: snapshot.protocol().as_ref().clone(),
            schema: StructType::clone(snapshot.schema()),
            clustering_columns: crate::facts::clustering_columns(snapshot),
        }
    }

    /// The same metadata with another schema.
    fn with_schema(&self, schema: &StructType) -> Metadata {
        let mut schema = schema.clone();
        schema.refresh_lengths();
        Metadata {
            schema_string: schema.to_json(),
            ..self.metadata.clone()
        }
    }
}

/// A change that was decided.
#[derive(Debug, Clone)]
pub struct TableChange {
    /// The new metadata.
    pub metadata: Metadata,
    /// The protocol that the new metadata needs; none if the old one will do.
    pub protocol: Option<Protocol>,
    /// What the history shows.
    pub operation: Operation,
}

/// Commits a change.
///
/// # Errors
/// The table may not be written, a concurrent change of the metadata, a store that fails.
pub async fn commit(
    snapshot: &Snapshot,
    change: TableChange,
    context: &CommitContext,
) -> Result<CommitResult> {
    let mut transaction = Transaction::begin(snapshot, change.operation);
    transaction.set_metadata(change.metadata);
    if let Some(protocol) = change.protocol {
        transaction.set_protocol(protocol);
    }
    transaction.commit(context).await?.into_result()
}

/// A field as operation parameters show it: its whole name, the name of its type without what is inside, nullability and
/// metadata.
pub(crate) fn field_json(parents: &[String], field: &StructField) -> Value {
    let mut path = parents.to_vec();
    path.push(field.name.clone());
    json!({
        "name": edit::dotted(&path),
        "type": type_name(field),
        "nullable": field.nullable,
        "metadata": field.metadata,
    })
}

fn type_name(field: &StructField) -> String {
    match &field.data_type {
        DataType::Struct(_) => "struct".to_string(),
        DataType::Array(_) => "array".to_string(),
        DataType::Map(_) => "map".to_string(),
        other => json_type_name(other),
    }
}

/// The name of a type in schema JSON.
pub(crate) fn json_type_name(data_type: &DataType) -> String {
    let text = StructType::new([StructField::nullable("c", data_type.clone())]).to_json();
    let parsed: Option<Value> = serde_json::from_str(&text).ok();
    let name = parsed
        .as_ref()
        .and_then(|schema| schema.pointer("/fields/0/type"))
        .and_then(Value::as_str);
    name.map_or_else(|| data_type.simple_string(), ToString::to_string)
}

/// The advice that comes with changes which need column mapping.
fn mapping_advice() -> String {
    "\nPlease enable Column Mapping on your Delta table with mapping mode 'name'.\nYou can use one of the following commands.\n\n\
     ALTER TABLE table_name SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')\n\n\
     Note, if your table is not on the required protocol version it will be upgraded.\n\
     Column mapping requires at least protocol (2, 5)\n"
        .to_string()
}
