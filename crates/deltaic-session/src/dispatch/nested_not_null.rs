//! NOT NULL inside of arrays and maps, which no write checks: refused where a statement asks for it, or dropped where the
//! session says so.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{ArrayType, DataType, MapType, StructField, StructType};
use serde_json::Value;

/// The setting that lets the constraints be dropped.
const ALLOWED: &str = "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled";

/// The schema without the constraints that nobody checks.
///
/// # Errors
/// `DELTA_NESTED_NOT_NULL_CONSTRAINT` unless `allowed`.
pub(super) fn checked(schema: StructType, allowed: bool) -> Result<StructType> {
    let fields: Result<Vec<StructField>> = schema
        .fields
        .into_iter()
        .map(|field| {
            let path = dotted("", &field.name);
            Ok(StructField {
                data_type: relaxed(&path, field.data_type.clone(), allowed)?,
                ..field
            })
        })
        .collect();
    Ok(StructType { fields: fields? })
}

/// A type of a column or of a field in structs. What lies in arrays and maps is asked before it is looked into, so the
/// outermost one is named.
fn relaxed(path: &str, data_type: DataType, allowed: bool) -> Result<DataType> {
    let inner = |kind: &str, inner: &DataType| {
        let nullable = inner.as_nullable();
        match nullable == *inner || allowed {
            true => Ok(nullable),
            false => Err(refused(path, kind, inner)),
        }
    };
    Ok(match data_type {
        DataType::Struct(schema) => {
            let mut fields = Vec::with_capacity(schema.fields.len());
            for field in schema.fields {
                let path = dotted(path, &field.name);
                fields.push(StructField {
                    data_type: relaxed(&path, field.data_type.clone(), allowed)?,
                    ..field
                });
            }
            DataType::Struct(StructType { fields })
        }
        DataType::Array(array) => DataType::Array(Box::new(ArrayType {
            element_type: inner("element", &array.element_type)?,
            ..*array
        })),
        DataType::Map(map) => DataType::Map(Box::new(MapType {
            key_type: inner("key", &map.key_type)?,
            value_type: inner("value", &map.value_type)?,
            ..*map
        })),
        other => other,
    })
}

fn refused(path: &str, kind: &str, inner: &DataType) -> DeltaError {
    DeltaError::new("DELTA_NESTED_NOT_NULL_CONSTRAINT")
        .param("nestType", kind)
        .param("parent", path)
        .param("configKey", ALLOWED)
        .param("nestedPrettyJson", pretty(&inner.to_json_value(), 0))
}

fn dotted(path: &str, name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let name = match plain {
        true => name.to_owned(),
        false => crate::errors::quoted(&[name]),
    };
    match path {
        "" => name,
        _ => format!("{path}.{name}"),
    }
}

/// JSON as Spark prints it for people: an entry of an object a line, arrays in one.
fn pretty(value: &Value, depth: usize) -> String {
    match value {
        Value::Object(entries) if entries.is_empty() => "{ }".to_owned(),
        Value::Object(entries) => {
            let indent = "  ".repeat(depth + 1);
            let lines: Vec<String> = entries
                .iter()
                .map(|(key, value)| {
                    let key = Value::String(key.clone());
                    format!("{indent}{key} : {}", pretty(value, depth + 1))
                })
                .collect();
            format!("{{\n{}\n{}}}", lines.join(",\n"), "  ".repeat(depth))
        }
        Value::Array(items) if items.is_empty() => "[ ]".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| pretty(item, depth)).collect();
            format!("[ {} ]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Whether the session lets the constraints be dropped.
pub(super) fn allowed(cx: &crate::context::Context) -> bool {
    cx.conf.flag(ALLOWED)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn row(nullable: bool) -> DataType {
        DataType::structure([StructField::new("x", DataType::Integer, nullable)])
    }

    #[test]
    fn the_outermost_array_or_map_is_named() {
        let inner = DataType::structure([StructField::nullable(
            "m n",
            DataType::map(DataType::String, DataType::array(row(false), true), true),
        )]);
        let schema = StructType::new([
            StructField::new("id", DataType::Long, false),
            StructField::new("s", inner, false),
        ]);
        let error = checked(schema.clone(), false).unwrap_err();
        assert_eq!(error.class(), Some("DELTA_NESTED_NOT_NULL_CONSTRAINT"));
        assert_eq!(
            error.text(),
            "The value type of the field s.`m n` contains a NOT NULL constraint. Delta does \
             not support NOT NULL constraints nested within arrays or maps. To suppress this error and silently ignore the \
             specified constraints, set spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled = true.\n\
             Parsed value type:\n\
             {\n  \"type\" : \"array\",\n  \"elementType\" : {\n    \"type\" : \"struct\",\n    \"fields\" : [ {\n      \
             \"name\" : \"x\",\n      \"type\" : \"integer\",\n      \"nullable\" : false,\n      \"metadata\" : { }\n    } ]\n  \
             },\n  \"containsNull\" : true\n}"
        );
        let dropped = checked(schema, true).unwrap();
        assert!(!dropped.fields[0].nullable && !dropped.fields[1].nullable);
        let inner = DataType::structure([StructField::nullable(
            "m n",
            DataType::map(DataType::String, DataType::array(row(true), true), true),
        )]);
        assert_eq!(dropped.fields[1].data_type, inner);
    }

    #[test]
    fn constraints_in_structs_alone_stay() {
        let schema = StructType::new([
            StructField::nullable("s", row(false)),
            StructField::nullable("a", DataType::array(DataType::Long, false)),
        ]);
        assert_eq!(checked(schema.clone(), false).unwrap(), schema);
    }
}
