//! Struct values of UPDATE go to the fields of their names, wherever they stand; all other assignments go by position.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
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
    Ok(by_name_call(node, ty, printed, env))
}

fn by_name_call(node: Node, ty: DataType, printed: String, env: &Arc<Env>) -> Node {
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
    Node::new(call, ty, nullable)
}

/// The value of an INSERT with the fields of its structs in the order of the column's, also in arrays and maps. All of the
/// column's fields are there.
///
/// # Errors
/// A defect: a field is not there.
pub fn ordered(node: Node, to: &DataType, printed: String, env: &Arc<Env>) -> Result<Node> {
    let ty = type_in_order(&node.ty, to)?;
    if ty == node.ty {
        return Ok(node);
    }
    Ok(by_name_call(node, ty, printed, env))
}

fn type_in_order(from: &DataType, to: &DataType) -> Result<DataType> {
    Ok(match (from, to) {
        (DataType::Struct(f), DataType::Struct(t)) => {
            let fields = t.fields.iter().map(|field| {
                let given = f
                    .field(&field.name)
                    .ok_or_else(|| internal("a field without a value"))?;
                Ok(StructField {
                    data_type: type_in_order(&given.data_type, &field.data_type)?,
                    ..given.clone()
                })
            });
            DataType::Struct(StructType::new(fields.collect::<Result<Vec<_>>>()?))
        }
        (DataType::Array(f), DataType::Array(t)) => DataType::array(
            type_in_order(&f.element_type, &t.element_type)?,
            f.contains_null,
        ),
        (DataType::Map(f), DataType::Map(t)) => DataType::map(
            type_in_order(&f.key_type, &t.key_type)?,
            type_in_order(&f.value_type, &t.value_type)?,
            f.value_contains_null,
        ),
        _ => from.clone(),
    })
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
        (DataType::Map(f), DataType::Map(t), ArrowType::Map(entry, sorted)) => {
            let map = column.as_map();
            let ArrowType::Struct(fields) = entry.data_type() else {
                return Err(internal("a map that is none"));
            };
            let keys = column_by_name(map.keys(), &f.key_type, &t.key_type)?;
            let values = column_by_name(map.values(), &f.value_type, &t.value_type)?;
            let entries = StructArray::try_new(fields.clone(), vec![keys, values], None).ours()?;
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            MapArray::try_new(Arc::clone(&entry), offsets, entries, nulls, sorted)
                .map(|map| Arc::new(map) as ArrayRef)
                .ours()
        }
        _ => Ok(Arc::clone(column)),
    }
}
