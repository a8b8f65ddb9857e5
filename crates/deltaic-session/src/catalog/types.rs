//! What the catalog stores: names and records.

use std::collections::BTreeMap;
use std::fmt;

use deltaic_protocol::schema::StructType;

/// Name of a schema in a catalog. Names are stored in lower case, as the reference's session catalog does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SchemaName {
    pub catalog: String,
    pub schema: String,
}

impl SchemaName {
    /// Lower-cases both parts.
    pub fn new(catalog: &str, schema: &str) -> Self {
        SchemaName {
            catalog: catalog.to_lowercase(),
            schema: schema.to_lowercase(),
        }
    }

    /// Name of an object in this schema.
    pub fn object(&self, name: &str) -> ObjectName {
        ObjectName {
            catalog: self.catalog.clone(),
            schema: self.schema.clone(),
            name: name.to_lowercase(),
        }
    }
}

/// Three-part name of a table or view, each part in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    pub catalog: String,
    pub schema: String,
    pub name: String,
}

impl ObjectName {
    /// Lower-cases all parts.
    pub fn new(catalog: &str, schema: &str, name: &str) -> Self {
        SchemaName::new(catalog, schema).object(name)
    }

    /// The schema that holds the object.
    pub fn schema_name(&self) -> SchemaName {
        SchemaName {
            catalog: self.catalog.clone(),
            schema: self.schema.clone(),
        }
    }

    /// The parts in order.
    pub fn parts(&self) -> [&str; 3] {
        [&self.catalog, &self.schema, &self.name]
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.catalog, self.schema, self.name)
    }
}

/// How a stored object came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Files lie in the warehouse and go with the name.
    Managed,
    /// Files lie elsewhere and stay when the name is dropped.
    External,
    View,
}

impl ObjectKind {
    /// The word that DESCRIBE TABLE EXTENDED prints and the database keeps.
    pub fn as_str(self) -> &'static str {
        match self {
            ObjectKind::Managed => "MANAGED",
            ObjectKind::External => "EXTERNAL",
            ObjectKind::View => "VIEW",
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        match text {
            "VIEW" => ObjectKind::View,
            "EXTERNAL" => ObjectKind::External,
            _ => ObjectKind::Managed,
        }
    }
}

/// File format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Delta,
    Parquet,
}

impl Provider {
    /// Lower-case name as in `USING`.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Delta => "delta",
            Provider::Parquet => "parquet",
        }
    }

    /// Reads the name after `USING`, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_lowercase().as_str() {
            "delta" => Some(Provider::Delta),
            "parquet" => Some(Provider::Parquet),
            _ => None,
        }
    }
}

/// A catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogRecord {
    pub name: String,
    pub comment: Option<String>,
}

/// A schema (database).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaRecord {
    pub name: SchemaName,
    pub comment: Option<String>,
    /// Where managed tables of the schema lie, if not in the place the warehouse gives it.
    pub location: Option<String>,
    pub properties: BTreeMap<String, String>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRecord {
    pub name: ObjectName,
    pub kind: ObjectKind,
    pub provider: Provider,
    /// Path or URL; `None` for a managed table in its usual place (see [`super::Warehouse::table_path`]).
    pub location: Option<String>,
    /// Columns, for tables without a log of their own.
    pub schema: Option<StructType>,
    pub partition_columns: Vec<String>,
    pub comment: Option<String>,
    pub properties: BTreeMap<String, String>,
    /// Milliseconds since the epoch.
    pub created_ms: i64,
}

/// A view.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewRecord {
    /// `None` for a temporary view.
    pub name: Option<ObjectName>,
    /// The name as it is printed for a temporary view.
    pub short_name: String,
    /// The query.
    pub text: String,
    /// Columns of the query when the view was made, under the names given to them.
    pub schema: StructType,
    /// Catalog and schema that unqualified names in the text refer to.
    pub context: SchemaName,
    pub comment: Option<String>,
    pub properties: BTreeMap<String, String>,
    /// Milliseconds since the epoch.
    pub created_ms: i64,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogObject {
    Table(TableRecord),
    View(ViewRecord),
}
