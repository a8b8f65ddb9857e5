//! SHOW and DESCRIBE of the catalog (Spark's grammar).

use sqlparser::ast::{Expr, Ident};

use super::{Name, PartitionSpec};

/// `(DESC | DESCRIBE) [TABLE] [EXTENDED | FORMATTED] t [PARTITION (…)] [column] [AS JSON]`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeTable {
    pub table: Name,
    pub extended: bool,
    pub partition: Option<PartitionSpec>,
    pub column: Option<Vec<Ident>>,
    pub as_json: bool,
}

/// `DESCRIBE (SCHEMA | DATABASE | NAMESPACE) [EXTENDED] s`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeSchema {
    pub schema: Name,
    pub extended: bool,
}

/// `DESCRIBE CATALOG [EXTENDED] c`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeCatalog {
    pub catalog: Name,
    pub extended: bool,
}

/// `DESCRIBE FUNCTION [EXTENDED] f`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeFunction {
    pub function: Name,
    pub extended: bool,
}

/// `SHOW (TABLES | VIEWS) [(FROM | IN) s] [[LIKE] 'pattern']`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowTables {
    pub schema: Option<Name>,
    pub pattern: Option<String>,
}

/// `SHOW TABLE EXTENDED [(FROM | IN) s] LIKE 'pattern' [PARTITION (…)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowTableExtended {
    pub schema: Option<Name>,
    pub pattern: String,
    pub partition: Option<PartitionSpec>,
}

/// `SHOW (SCHEMAS | DATABASES | NAMESPACES) [(FROM | IN) c] [[LIKE] 'pattern']`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowSchemas {
    pub catalog: Option<Name>,
    pub pattern: Option<String>,
}

/// `SHOW CATALOGS [[LIKE] 'pattern']`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowCatalogs {
    pub pattern: Option<String>,
}

/// `SHOW COLUMNS (FROM | IN) t [(FROM | IN) s]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowColumns {
    pub table: Name,
    pub schema: Option<Name>,
}

/// `SHOW TBLPROPERTIES t [(key)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowTblProperties {
    pub table: Name,
    pub key: Option<String>,
}

/// `SHOW CREATE TABLE t [AS SERDE]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowCreateTable {
    pub table: Name,
    pub as_serde: bool,
}

/// `SHOW PARTITIONS t [PARTITION (…)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowPartitions {
    pub table: Name,
    pub partition: Option<PartitionSpec>,
}

/// `SHOW [USER | SYSTEM | ALL] FUNCTIONS [(FROM | IN) s] [[LIKE] (name | 'pattern')]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowFunctions {
    /// `USER`, `SYSTEM` or `ALL`.
    pub scope: Option<String>,
    pub schema: Option<Name>,
    pub pattern: Option<String>,
}

/// The values of a partition as given, for messages.
pub fn partition_texts(spec: &PartitionSpec) -> Vec<(String, Option<String>)> {
    let text = |value: &Expr| crate::literal::text_of(value).unwrap_or_else(|| value.to_string());
    spec.iter()
        .map(|(key, value)| (key.value.clone(), value.as_ref().map(text)))
        .collect()
}
