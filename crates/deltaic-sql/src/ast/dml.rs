//! Statements that change rows: INSERT, UPDATE, DELETE, MERGE, TRUNCATE (Spark's grammar).

use sqlparser::ast::{Expr, Ident, Query};

use super::{ColumnPath, Name, PartitionSpec};

/// `INSERT [WITH SCHEMA EVOLUTION] (INTO | OVERWRITE) [TABLE] t …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    pub table: Name,
    pub mode: InsertMode,
    pub with_schema_evolution: bool,
    pub partition: PartitionSpec,
    /// `PARTITION (…) IF NOT EXISTS`.
    pub if_partition_not_exists: bool,
    pub by_name: bool,
    /// The column list; empty where none is given.
    pub columns: Vec<Ident>,
    /// A query, VALUES or TABLE. `DEFAULT` stands in VALUES as the identifier `DEFAULT`.
    pub source: Box<Query>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InsertMode {
    Into,
    Overwrite,
    /// `INTO t REPLACE WHERE pred`.
    ReplaceWhere(Expr),
    /// `INTO t REPLACE USING (cols)`.
    ReplaceUsing(Vec<Ident>),
    /// `INTO t REPLACE ON pred`.
    ReplaceOn(Expr),
    /// `OVERWRITE [LOCAL] DIRECTORY …`: writes files, not a table.
    Directory,
}

/// `DELETE FROM t [AS a] [WHERE pred]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    pub table: Name,
    pub alias: Option<Ident>,
    pub condition: Option<Expr>,
}

/// `UPDATE t [AS a] SET c = e, … [WHERE pred]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub table: Name,
    pub alias: Option<Ident>,
    pub assignments: Vec<Assignment>,
    pub condition: Option<Expr>,
}

/// `column = value`; the value may be the identifier `DEFAULT`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub column: ColumnPath,
    pub value: Expr,
}

/// `MERGE [WITH SCHEMA EVOLUTION] INTO t [AS a] USING s [AS b] ON cond WHEN …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    pub with_schema_evolution: bool,
    pub table: Name,
    pub alias: Option<Ident>,
    pub source: MergeSource,
    pub source_alias: Option<Ident>,
    pub condition: Expr,
    pub matched: Vec<MergeClause>,
    pub not_matched: Vec<MergeClause>,
    pub not_matched_by_source: Vec<MergeClause>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MergeSource {
    Table {
        name: Name,
        travel: Option<super::Travel>,
    },
    Query(Box<Query>),
}

/// `WHEN … [AND condition] THEN action`, in the order of the statement.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeClause {
    pub condition: Option<Expr>,
    pub action: MergeAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MergeAction {
    Delete,
    /// `UPDATE SET *`.
    UpdateAll,
    Update(Vec<Assignment>),
    /// `INSERT *`.
    InsertAll,
    Insert {
        columns: Vec<ColumnPath>,
        values: Vec<Expr>,
    },
}

/// `TRUNCATE TABLE t [PARTITION (…)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Truncate {
    pub table: Name,
    pub partition: Option<PartitionSpec>,
}
