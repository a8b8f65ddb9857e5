//! Changes of a table's columns and comment (spec: delta, sections 1.15, 4.6 and 7.1).

use deltaic_protocol::schema::{DataType, Lengths};

use crate::target::TableRef;

/// Where a column stands among its siblings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    /// Before all others.
    First,
    /// After the named sibling.
    After(String),
}

/// A column to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewColumn {
    /// The name, after the names of the structs that it joins.
    pub path: Vec<String>,
    /// The type.
    pub data_type: DataType,
    /// Where CHAR or VARCHAR is in it.
    pub lengths: Lengths,
    /// False for `NOT NULL`.
    pub nullable: bool,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `FIRST` or `AFTER`; last where neither was written.
    pub position: Option<ColumnPosition>,
}

/// `ALTER TABLE … ADD COLUMNS`.
#[derive(Debug, Clone, PartialEq)]
pub struct AddColumns {
    /// The table.
    pub target: TableRef,
    /// In the order of the statement.
    pub columns: Vec<NewColumn>,
}

/// What becomes of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnChange {
    /// `COMMENT 'text'`.
    Comment(String),
    /// `SET NOT NULL`.
    SetNotNull,
    /// `DROP NOT NULL`.
    DropNotNull,
    /// `FIRST` or `AFTER`.
    Position(ColumnPosition),
    /// `TYPE`.
    Type(DataType),
    /// `TYPE` of a text that was or becomes CHAR or VARCHAR.
    Lengths(Lengths),
    /// `SET DEFAULT`, the expression as written, or `DROP DEFAULT`.
    Default(Option<String>),
}

/// `ALTER TABLE … ALTER COLUMN`.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeColumn {
    /// The table.
    pub target: TableRef,
    /// The column, by its names from the top.
    pub path: Vec<String>,
    /// What becomes of it.
    pub change: ColumnChange,
}

/// `ALTER TABLE … RENAME COLUMN`.
#[derive(Debug, Clone, PartialEq)]
pub struct RenameColumn {
    /// The table.
    pub target: TableRef,
    /// The column, by its names from the top.
    pub path: Vec<String>,
    /// The new last name.
    pub new_name: String,
}

/// `ALTER TABLE … DROP COLUMNS`.
#[derive(Debug, Clone, PartialEq)]
pub struct DropColumns {
    /// The table.
    pub target: TableRef,
    /// The columns, each by its names from the top.
    pub paths: Vec<Vec<String>>,
    /// `IF EXISTS` was written.
    pub if_exists: bool,
}

/// `COMMENT ON TABLE`.
#[derive(Debug, Clone, PartialEq)]
pub struct SetTableComment {
    /// The table.
    pub target: TableRef,
    /// None for `IS NULL`.
    pub comment: Option<String>,
}

/// `ALTER TABLE … DROP FEATURE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropFeature {
    /// The table.
    pub target: TableRef,
    /// The feature's name, as written.
    pub feature: String,
    /// `TRUNCATE HISTORY` was written.
    pub truncate_history: bool,
}
