//! Where the files of managed tables lie in a warehouse.

use super::{DEFAULT_SCHEMA, ObjectName, SESSION_CATALOG, SchemaName};

/// The root folder of a warehouse: a local path or a URL, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warehouse {
    root: String,
}

impl Warehouse {
    /// Takes a path or a URL.
    pub fn new(root: &str) -> Self {
        let trimmed = root.trim_end_matches('/');
        Warehouse {
            root: if trimmed.is_empty() {
                "/".to_owned()
            } else {
                trimmed.to_owned()
            },
        }
    }

    /// The root as it was given.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Folder of a schema: the root for `spark_catalog.default`, `<schema>.db` for its sisters and
    /// `<catalog>.cat/<schema>.db` for schemas of other catalogs.
    pub fn schema_path(&self, schema: &SchemaName) -> String {
        if schema.catalog == SESSION_CATALOG {
            if schema.schema == DEFAULT_SCHEMA {
                self.root.clone()
            } else {
                format!("{}/{}.db", self.root, schema.schema)
            }
        } else {
            format!("{}/{}.cat/{}.db", self.root, schema.catalog, schema.schema)
        }
    }

    /// Folder of a managed table; `schema_location` is the place of its schema where that is not the usual one.
    pub fn table_path(&self, table: &ObjectName, schema_location: Option<&str>) -> String {
        match schema_location {
            Some(location) => format!("{}/{}", location.trim_end_matches('/'), table.name),
            None => format!("{}/{}", self.schema_path(&table.schema_name()), table.name),
        }
    }
}
