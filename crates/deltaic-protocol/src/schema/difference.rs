//! How two schemas differ, in the words of the reference: for CREATE TABLE on a place that holds a table.

use super::{DataType, StructField, StructType};
use std::collections::BTreeSet;

/// Differences of `specified` from `existing`, each as `- …`. Metadata is compared without regard to the keys that Delta adds itself.
pub fn schema_differences(existing: &StructType, specified: &StructType) -> Vec<String> {
    let mut out = Vec::new();
    structs(existing, specified, "", &mut out);
    out.into_iter().map(|text| format!("- {text}")).collect()
}

fn full(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

fn structs(existing: &StructType, specified: &StructType, parent: &str, out: &mut Vec<String>) {
    let names = |schema: &StructType| -> BTreeSet<String> {
        schema.names().map(str::to_lowercase).collect()
    };
    let (here, there) = (names(specified), names(existing));
    let list = |schema: &StructType, without: &BTreeSet<String>| -> Vec<String> {
        schema
            .names()
            .filter(|name| !without.contains(&name.to_lowercase()))
            .map(|name| full(parent, name))
            .collect()
    };
    let missing = list(existing, &here);
    if !missing.is_empty() {
        out.push(format!(
            "Specified schema is missing field(s): {}",
            missing.join(", ")
        ));
    }
    let additional = list(specified, &there);
    if !additional.is_empty() {
        out.push(format!(
            "Specified schema has additional field(s): {}",
            additional.join(", ")
        ));
    }
    for old in existing {
        if let Some(new) = specified.field(&old.name) {
            fields(old, new, &full(parent, &old.name), out);
        }
    }
    // Only the order is left to differ.
    let order = |schema: &StructType| schema.names().map(str::to_lowercase).collect::<Vec<_>>();
    if here == there && order(existing) != order(specified) {
        out.push("Columns out of order".to_owned());
    }
}

fn nullability(nullable: bool) -> &'static str {
    if nullable { "nullable" } else { "non-nullable" }
}

fn fields(old: &StructField, new: &StructField, name: &str, out: &mut Vec<String>) {
    if old.nullable != new.nullable {
        out.push(format!(
            "Field {name} is {} in specified schema but {} in existing schema.",
            nullability(new.nullable),
            nullability(old.nullable)
        ));
    }
    let own = |field: &StructField| {
        let keys = field.metadata.iter();
        let own = keys.filter(|(key, _)| !key.starts_with("delta.columnMapping."));
        own.map(|(k, v)| (k.clone(), v.clone()))
            .collect::<serde_json::Map<_, _>>()
    };
    let (before, after) = (own(old), own(new));
    if before != after {
        let json = |map| serde_json::Value::Object(map).to_string();
        out.push(format!(
            "Specified metadata for field {name} is different from existing schema:\n  \
             Specified: {}\n  Existing:  {}",
            json(after),
            json(before)
        ));
    }
    types(&old.data_type, &new.data_type, name, out);
}

fn types(old: &DataType, new: &DataType, name: &str, out: &mut Vec<String>) {
    match (old, new) {
        (DataType::Struct(old), DataType::Struct(new)) => structs(old, new, name, out),
        (DataType::Array(old), DataType::Array(new)) => {
            if old.contains_null != new.contains_null {
                contained(name, "elements", new.contains_null, out);
            }
            let element = full(name, "element");
            types(&old.element_type, &new.element_type, &element, out);
        }
        (DataType::Map(old), DataType::Map(new)) => {
            if old.value_contains_null != new.value_contains_null {
                contained(name, "values", new.value_contains_null, out);
            }
            types(&old.key_type, &new.key_type, &full(name, "key"), out);
            types(&old.value_type, &new.value_type, &full(name, "value"), out);
        }
        (old, new) if old == new => {}
        (old, new) => out.push(format!(
            "Specified type for {name} is different from existing schema:\n  Specified: {}\n  Existing:  {}",
            new.type_name(),
            old.type_name()
        )),
    }
}

fn contained(name: &str, what: &str, specified: bool, out: &mut Vec<String>) {
    let (new, old) = if specified {
        ("can", "can not")
    } else {
        ("can not", "can")
    };
    out.push(format!(
        "The {what} of {name} {new} contain null in specified schema but {old} in existing schema."
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_told() {
        let existing = StructType::new([
            StructField::nullable("id", DataType::Long),
            StructField::nullable("old", DataType::Long),
            StructField::nullable(
                "s",
                DataType::structure([StructField::nullable("a", DataType::Long)]),
            ),
        ]);
        let specified = StructType::new([
            StructField::new("ID", DataType::String, false),
            StructField::nullable("new", DataType::Long),
            StructField::nullable(
                "s",
                DataType::structure([StructField::nullable("a", DataType::Date)]),
            ),
        ]);
        assert_eq!(
            schema_differences(&existing, &specified).join("\n"),
            "- Specified schema is missing field(s): old\n\
             - Specified schema has additional field(s): new\n\
             - Field id is non-nullable in specified schema but nullable in existing schema.\n\
             - Specified type for id is different from existing schema:\n  Specified: string\n  Existing:  long\n\
             - Specified type for s.a is different from existing schema:\n  Specified: date\n  Existing:  long"
        );
        assert!(schema_differences(&existing, &existing).is_empty());
    }
}
