//! Types of columns that change: what readers are told of it, and names of types (protocol section "Type Widening").

use deltaic_protocol::schema::DataType;
use deltaic_protocol::schema::metadata::TYPE_CHANGES;
use serde_json::{Map, Value, json};

use super::json_type_name;

/// Notes in a field's metadata how its type changes, also inside of arrays and maps. Fields of structs keep notes of their own.
pub(super) fn record_change(metadata: &mut Map<String, Value>, from: &DataType, to: &DataType) {
    let mut changes = Vec::new();
    collect(from, to, &mut Vec::new(), &mut changes);
    if changes.is_empty() {
        return;
    }
    let mut history = metadata
        .get(TYPE_CHANGES)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    history.extend(changes);
    metadata.insert(TYPE_CHANGES.to_string(), Value::Array(history));
}

fn collect(from: &DataType, to: &DataType, path: &mut Vec<&'static str>, out: &mut Vec<Value>) {
    let mut step = |name: &'static str, from: &DataType, to: &DataType| {
        path.push(name);
        collect(from, to, path, out);
        path.pop();
    };
    match (from, to) {
        (DataType::Struct(_), _) | (_, DataType::Struct(_)) => {}
        (DataType::Array(from), DataType::Array(to)) => {
            step("element", &from.element_type, &to.element_type);
        }
        (DataType::Map(from), DataType::Map(to)) => {
            step("key", &from.key_type, &to.key_type);
            step("value", &from.value_type, &to.value_type);
        }
        (from, to) if from == to => {}
        (from, to) => {
            let mut change = json!({
                "toType": json_type_name(to),
                "fromType": json_type_name(from),
            });
            if let (false, Some(map)) = (path.is_empty(), change.as_object_mut()) {
                map.insert("fieldPath".to_string(), Value::from(path.join(".")));
            }
            out.push(change);
        }
    }
}

/// A type as Scala prints it, which some of the reference's texts show: `IntegerType`.
pub(super) fn scala_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Decimal { precision, scale } => format!("DecimalType({precision},{scale})"),
        DataType::Array(array) => format!(
            "ArrayType({},{})",
            scala_name(&array.element_type),
            array.contains_null
        ),
        DataType::Map(map) => format!(
            "MapType({},{},{})",
            scala_name(&map.key_type),
            scala_name(&map.value_type),
            map.value_contains_null
        ),
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|field| {
                    let name = scala_name(&field.data_type);
                    format!("StructField({},{name},{})", field.name, field.nullable)
                })
                .collect();
            format!("StructType({})", fields.join(","))
        }
        DataType::TimestampNtz => "TimestampNTZType".to_string(),
        other => {
            let name = json_type_name(other);
            let mut letters = name.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            format!("{}{}Type", first.unwrap_or_default(), letters.as_str())
        }
    }
}
