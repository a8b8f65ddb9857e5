//! Table properties: `ALTER TABLE … SET/UNSET TBLPROPERTIES`, `SHOW TBLPROPERTIES` (spec: delta, sections 4.3 and 6).

use crate::target::TableRef;

/// `SET TBLPROPERTIES`.
#[derive(Debug, Clone, PartialEq)]
pub struct SetProperties {
    /// The table.
    pub target: TableRef,
    /// Keys and values in the order of the statement.
    pub properties: Vec<(String, String)>,
}

/// `UNSET TBLPROPERTIES`.
#[derive(Debug, Clone, PartialEq)]
pub struct UnsetProperties {
    /// The table.
    pub target: TableRef,
    /// Keys in the order of the statement.
    pub keys: Vec<String>,
    /// `IF EXISTS` was written.
    pub if_exists: bool,
}

/// `SHOW TBLPROPERTIES`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShowProperties {
    /// The table.
    pub target: TableRef,
    /// One key instead of all.
    pub key: Option<String>,
}
