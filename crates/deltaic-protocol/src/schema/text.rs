//! The three texts of a type: `simple_string` (column types in results), `sql` (messages, DDL) and the tree.

use super::{DataType, StructField, StructType};
use std::fmt::{self, Display, Write};

/// An identifier, in backticks unless it is letters, digits and `_` without a digit in front.
pub fn quote_if_needed(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

impl DataType {
    /// As in the type column of a result: `bigint`, `struct<a:int,b:array<string>>`.
    pub fn simple_string(&self) -> String {
        match self {
            DataType::Byte => "tinyint".into(),
            DataType::Short => "smallint".into(),
            DataType::Integer => "int".into(),
            DataType::Long => "bigint".into(),
            DataType::Array(array) => format!("array<{}>", array.element_type.simple_string()),
            DataType::Map(map) => format!(
                "map<{},{}>",
                map.key_type.simple_string(),
                map.value_type.simple_string()
            ),
            DataType::Struct(fields) => fields.simple_string(),
            other => other.type_name(),
        }
    }

    /// As in SQL: `BIGINT`, `STRUCT<a: INT, b: ARRAY<STRING>>`.
    pub fn sql(&self) -> String {
        match self {
            DataType::Array(array) => format!("ARRAY<{}>", array.element_type.sql()),
            DataType::Map(map) => format!("MAP<{}, {}>", map.key_type.sql(), map.value_type.sql()),
            DataType::Struct(fields) => fields.sql(),
            other => other.simple_string().to_uppercase(),
        }
    }

    fn tree(&self, prefix: &str, out: &mut String) {
        match self {
            DataType::Struct(fields) => fields.tree(prefix, out),
            DataType::Array(array) => {
                let name = array.element_type.type_name();
                let null = array.contains_null;
                let _ = writeln!(out, "{prefix}-- element: {name} (containsNull = {null})");
                array.element_type.tree(&format!("{prefix}    |"), out);
            }
            DataType::Map(map) => {
                let _ = writeln!(out, "{prefix}-- key: {}", map.key_type.type_name());
                map.key_type.tree(&format!("{prefix}    |"), out);
                let name = map.value_type.type_name();
                let null = map.value_contains_null;
                let _ = writeln!(out, "{prefix}-- value: {name} (valueContainsNull = {null})");
                map.value_type.tree(&format!("{prefix}    |"), out);
            }
            _ => {}
        }
    }
}

impl StructType {
    /// `struct<a:int,b:string>`.
    pub fn simple_string(&self) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|field| format!("{}:{}", field.name, field.data_type.simple_string()))
            .collect();
        format!("struct<{}>", fields.join(","))
    }

    /// `STRUCT<a: INT NOT NULL COMMENT 'x', b: STRING>`.
    pub fn sql(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(StructField::sql).collect();
        format!("STRUCT<{}>", fields.join(", "))
    }

    /// Columns as in `CREATE TABLE`: `a INT NOT NULL,b STRING`.
    pub fn to_ddl(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(StructField::to_ddl).collect();
        fields.join(",")
    }

    /// The tree that `printSchema` shows: `root`, then ` |-- name: type (nullable = true)` lines, each with its line end.
    pub fn tree_string(&self) -> String {
        let mut out = String::from("root\n");
        self.tree(" |", &mut out);
        out
    }

    fn tree(&self, prefix: &str, out: &mut String) {
        for field in &self.fields {
            let name = field.data_type.type_name();
            let _ = writeln!(
                out,
                "{prefix}-- {}: {name} (nullable = {})",
                field.name, field.nullable
            );
            field.data_type.tree(&format!("{prefix}    |"), out);
        }
    }
}

impl StructField {
    fn sql(&self) -> String {
        self.with_separator(": ")
    }

    /// `name TYPE [NOT NULL] [COMMENT '…']`.
    pub fn to_ddl(&self) -> String {
        self.with_separator(" ")
    }

    fn with_separator(&self, separator: &str) -> String {
        let null = if self.nullable { "" } else { " NOT NULL" };
        let comment = match self.comment() {
            Some(text) => format!(
                " COMMENT '{}'",
                text.replace('\\', "\\\\").replace('\'', "\\'")
            ),
            None => String::new(),
        };
        let name = quote_if_needed(&self.name);
        format!("{name}{separator}{}{null}{comment}", self.data_type.sql())
    }
}

impl Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.simple_string())
    }
}

impl Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.simple_string())
    }
}
