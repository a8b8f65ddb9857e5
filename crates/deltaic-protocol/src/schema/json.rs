//! Schema to and from JSON.

use super::{ArrayType, DataType, MapType, StructField, StructType};
use crate::error::{DeltaError, ErrorKind, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

const DAY_TIME: [&str; 4] = ["day", "hour", "minute", "second"];
const YEAR_MONTH: [&str; 2] = ["year", "month"];

fn not_a_type(value: &Value) -> DeltaError {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    DeltaError::new("INVALID_JSON_DATA_TYPE")
        .param("invalidType", text)
        .with_kind(ErrorKind::Corrupt)
}

impl StructType {
    /// Compact JSON in the key order that Spark writes.
    pub fn to_json(&self) -> String {
        self.to_json_value().to_string()
    }

    /// The same as a value.
    pub fn to_json_value(&self) -> Value {
        let fields: Vec<Value> = self.fields.iter().map(StructField::to_json_value).collect();
        json!({"type": "struct", "fields": fields})
    }

    /// Reads `metaData.schemaString`. Fails with `INVALID_JSON_DATA_TYPE` on text that is no schema.
    pub fn from_json(text: &str) -> Result<StructType> {
        let value: Value = serde_json::from_str(text)
            .map_err(|e| not_a_type(&Value::String(text.to_owned())).with_source(e))?;
        match DataType::from_json_value(&value)? {
            DataType::Struct(schema) => Ok(schema),
            _ => Err(not_a_type(&value)),
        }
    }
}

impl StructField {
    /// `{"name":…,"type":…,"nullable":…,"metadata":{…}}`.
    pub fn to_json_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), Value::String(self.name.clone()));
        out.insert("type".into(), self.data_type.to_json_value());
        out.insert("nullable".into(), Value::Bool(self.nullable));
        out.insert("metadata".into(), Value::Object(self.metadata.clone()));
        Value::Object(out)
    }

    fn from_json_value(value: &Value) -> Result<StructField> {
        let name = value.get("name").and_then(Value::as_str);
        let (Some(name), Some(data_type)) = (name, value.get("type")) else {
            return Err(not_a_type(value));
        };
        Ok(StructField {
            name: name.to_owned(),
            data_type: DataType::from_json_value(data_type)?,
            nullable: flag(value, "nullable"),
            metadata: match value.get("metadata") {
                Some(Value::Object(metadata)) => metadata.clone(),
                _ => Map::new(),
            },
        })
    }
}

/// A boolean entry; what is not there counts as true, so that nothing is promised that the file does not say.
fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(true)
}

impl DataType {
    /// A string for primitive types, an object for the nested ones.
    pub fn to_json_value(&self) -> Value {
        match self {
            DataType::Struct(fields) => fields.to_json_value(),
            DataType::Array(array) => json!({
                "type": "array",
                "elementType": array.element_type.to_json_value(),
                "containsNull": array.contains_null,
            }),
            DataType::Map(map) => json!({
                "type": "map",
                "keyType": map.key_type.to_json_value(),
                "valueType": map.value_type.to_json_value(),
                "valueContainsNull": map.value_contains_null,
            }),
            primitive => Value::String(primitive.type_name()),
        }
    }

    /// Reads a type out of a schema's JSON.
    pub fn from_json_value(value: &Value) -> Result<DataType> {
        if let Some(name) = value.as_str() {
            return primitive(name).ok_or_else(|| not_a_type(value));
        }
        let part = |key: &str| {
            let found = value.get(key).ok_or_else(|| not_a_type(value))?;
            DataType::from_json_value(found)
        };
        match value.get("type").and_then(Value::as_str) {
            Some("struct") => {
                let Some(Value::Array(fields)) = value.get("fields") else {
                    return Err(not_a_type(value));
                };
                let fields: Result<Vec<_>> =
                    fields.iter().map(StructField::from_json_value).collect();
                Ok(DataType::Struct(StructType { fields: fields? }))
            }
            Some("array") => Ok(DataType::Array(Box::new(ArrayType {
                element_type: part("elementType")?,
                contains_null: flag(value, "containsNull"),
            }))),
            Some("map") => Ok(DataType::Map(Box::new(MapType {
                key_type: part("keyType")?,
                value_type: part("valueType")?,
                value_contains_null: flag(value, "valueContainsNull"),
            }))),
            // A user-defined type is stored as the type it wraps.
            Some("udt") => part("sqlType"),
            _ => Err(not_a_type(value)),
        }
    }

    /// Name in JSON and in trees: `long`, `decimal(10,2)`, `interval day to second`, `struct`.
    pub fn type_name(&self) -> String {
        let interval = |names: &[&str], start: u8, end: u8| {
            let name = |at: u8| names.get(usize::from(at)).copied().unwrap_or_default();
            if start == end {
                format!("interval {}", name(start))
            } else {
                format!("interval {} to {}", name(start), name(end))
            }
        };
        let name = match self {
            DataType::Void => "void",
            DataType::Boolean => "boolean",
            DataType::Byte => "byte",
            DataType::Short => "short",
            DataType::Integer => "integer",
            DataType::Long => "long",
            DataType::Float => "float",
            DataType::Double => "double",
            DataType::Decimal { precision, scale } => {
                return format!("decimal({precision},{scale})");
            }
            DataType::String => "string",
            DataType::Binary => "binary",
            DataType::Date => "date",
            DataType::Timestamp => "timestamp",
            DataType::TimestampNtz => "timestamp_ntz",
            DataType::Variant => "variant",
            DataType::CalendarInterval => "interval",
            DataType::DayTimeInterval { start, end } => return interval(&DAY_TIME, *start, *end),
            DataType::YearMonthInterval { start, end } => {
                return interval(&YEAR_MONTH, *start, *end);
            }
            DataType::Struct(_) => "struct",
            DataType::Array(_) => "array",
            DataType::Map(_) => "map",
        };
        name.to_owned()
    }
}

fn primitive(name: &str) -> Option<DataType> {
    Some(match name {
        "void" | "null" => DataType::Void,
        "boolean" => DataType::Boolean,
        "byte" => DataType::Byte,
        "short" => DataType::Short,
        "integer" => DataType::Integer,
        "long" => DataType::Long,
        "float" => DataType::Float,
        "double" => DataType::Double,
        "decimal" => DataType::decimal(10, 0),
        "string" => DataType::String,
        "binary" => DataType::Binary,
        "date" => DataType::Date,
        "timestamp" => DataType::Timestamp,
        "timestamp_ntz" => DataType::TimestampNtz,
        "variant" => DataType::Variant,
        "interval" | "calendarinterval" => DataType::CalendarInterval,
        _ => return parametrised(name),
    })
}

fn parametrised(name: &str) -> Option<DataType> {
    if let Some(rest) = name.strip_prefix("decimal(") {
        let (precision, scale) = rest.strip_suffix(')')?.split_once(',')?;
        return DataType::try_decimal(precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    }
    if (name.starts_with("char(") || name.starts_with("varchar(") || name.starts_with("string "))
        && !name.contains('<')
    {
        return Some(DataType::String);
    }
    let fields = name.strip_prefix("interval ")?;
    let (start, end) = fields.split_once(" to ").unwrap_or((fields, fields));
    let at = |names: &[&str], field: &str| {
        let at = names.iter().position(|name| *name == field)?;
        u8::try_from(at).ok()
    };
    if let (Some(start), Some(end)) = (at(&DAY_TIME, start), at(&DAY_TIME, end)) {
        return (start <= end).then_some(DataType::DayTimeInterval { start, end });
    }
    let (start, end) = (at(&YEAR_MONTH, start)?, at(&YEAR_MONTH, end)?);
    (start <= end).then_some(DataType::YearMonthInterval { start, end })
}

impl Serialize for StructType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StructType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match DataType::from_json_value(&value).map_err(D::Error::custom)? {
            DataType::Struct(schema) => Ok(schema),
            other => Err(D::Error::custom(format!(
                "{} is no struct",
                other.type_name()
            ))),
        }
    }
}

impl Serialize for DataType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json_value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        DataType::from_json_value(&value).map_err(D::Error::custom)
    }
}
