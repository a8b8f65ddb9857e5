//! Struct values of UPDATE go to the fields of their names, wherever they stand; all other assignments go by position.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::datatypes::DataType as ArrowType;
use deltaic_protocol::schema::{ArrayType, DataType, StructField, StructType};
use deltaic_protocol::{DeltaError, Result};

use crate::error::{Ours, internal};
use crate::kernel::{Batch, Env};
use crate::node::{Imp, Kind, Node, Shown};
use crate::types::arrow_type;

/// The value with the fields of its structs in the order of the column's. `printed` is the value's text.
///
/// # Errors
/// `DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION` where the names are not the same.
pub fn rearranged(node: Node, to: &DataType, printed: String, env: &Arc<Env>) -> Result<Node> {
    let ty = type_by_name(&node.ty, to)?;
    if ty == node.ty {
        return Ok(node);
    }
    let nullable = node.nullable;
    let imp = Imp::Kernel {
        name: "by_name",
        run: by_name,
        fallible: false,
        volatile: false,
        env: Arc::clone(env),
    };
    let call = Kind::Call {
        shown: Shown::Text(printed),
        args: vec![node],
        imp,
    };
    Ok(Node::new(call, ty, nullable))
}

fn type_by_name(from: &DataType, to: &DataType) -> Result<DataType> {
    match (from, to) {
        (DataType::Struct(f), DataType::Struct(t)) => {
            let mismatch = || {
                DeltaError::new("DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION")
                    .param("fromCatalog", from.simple_string())
                    .param("toCatalog", to.simple_string())
            };
            if f.fields.len() != t.fields.len() {
                return Err(mismatch());
            }
            let fields = t.fields.iter().map(|field| {
                let given = f.field(&field.name).ok_or_else(mismatch)?;
                Ok(StructField {
                    name: field.name.clone(),
                    data_type: type_by_name(&given.data_type, &field.data_type)?,
                    ..given.clone()
                })
            });
            Ok(DataType::Struct(StructType::new(
                fields.collect::<Result<Vec<_>>>()?,
            )))
        }
        (DataType::Array(f), DataType::Array(t))
            if matches!(f.element_type, DataType::Struct(_)) =>
        {
            Ok(DataType::Array(Box::new(ArrayType {
                element_type: type_by_name(&f.element_type, &t.element_type)?,
                ..f.as_ref().clone()
            })))
        }
        _ => Ok(from.clone()),
    }
}

fn by_name(b: &Batch<'_>) -> Result<ArrayRef> {
    column_by_name(&b.args[0], &b.types[0], b.ret)
}

fn column_by_name(column: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    match (from, to, arrow_type(to)) {
        (DataType::Struct(f), DataType::Struct(t), ArrowType::Struct(fields)) => {
            let rows = column.as_struct();
            let columns = t.fields.iter().map(|field| {
                let at = f.index_of(&field.name);
                let at = at.ok_or_else(|| internal("a lost field"))?;
                column_by_name(rows.column(at), &f.fields[at].data_type, &field.data_type)
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let nulls = rows.nulls().cloned();
            StructArray::try_new_with_length(fields, columns, nulls, rows.len())
                .map(|rows| Arc::new(rows) as ArrayRef)
                .ours()
        }
        (DataType::Array(f), DataType::Array(t), ArrowType::List(field)) => {
            let list = column.as_list::<i32>();
            let values = column_by_name(list.values(), &f.element_type, &t.element_type)?;
            ListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned())
                .map(|list| Arc::new(list) as ArrayRef)
                .ours()
        }
        _ => Ok(Arc::clone(column)),
    }
}
