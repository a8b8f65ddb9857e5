//! The statements of Spark SQL with Delta's commands, as values (spec/delta.md section 7.1, Spark's own grammar).
//!
//! Expressions, queries and identifiers are sqlparser's; everything that sqlparser cannot say (Delta's commands, names
//! given by `IDENTIFIER(…)`, Spark's table clauses) has a struct of its own here. Positions live in `Ident::span`.

// A statement is made once and taken apart at once: boxes would only stand in the way of matching.
#![allow(clippy::large_enum_variant)]

pub mod command;
pub mod ddl;
pub mod dml;
pub mod show;

pub use sqlparser::ast::{Expr, Ident, Query};

pub use self::command::*;
pub use self::ddl::*;
pub use self::dml::*;
pub use self::show::*;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, TABLE, FROM … SELECT, with or without CTEs.
    Query(Box<Query>),
    Insert(Box<Insert>),
    Delete(Box<Delete>),
    Update(Box<Update>),
    Merge(Box<Merge>),
    CreateTable(Box<CreateTable>),
    CreateView(Box<CreateView>),
    CreateSchema(Box<CreateSchema>),
    CreateCatalog(Box<CreateCatalog>),
    AlterTable(Box<AlterTable>),
    AlterView(Box<AlterView>),
    AlterSchema(Box<AlterSchema>),
    /// `DROP TABLE [IF EXISTS] t [PURGE]`.
    DropTable(Drop),
    DropView(Drop),
    /// `DROP SCHEMA [IF EXISTS] s [RESTRICT | CASCADE]`.
    DropSchema(Drop),
    DropCatalog(Drop),
    CommentOn(CommentOn),
    Use(Use),
    Set(Set),
    Reset(Reset),
    Truncate(Truncate),
    RefreshTable(Name),
    Vacuum(Box<Vacuum>),
    Restore(Box<Restore>),
    DescribeHistory(DescribeHistory),
    DescribeDetail(DescribeDetail),
    DescribeTable(DescribeTable),
    DescribeQuery(Box<Query>),
    DescribeSchema(DescribeSchema),
    DescribeCatalog(DescribeCatalog),
    DescribeFunction(DescribeFunction),
    ShowTables(ShowTables),
    ShowTableExtended(ShowTableExtended),
    ShowViews(ShowTables),
    ShowSchemas(ShowSchemas),
    ShowCatalogs(ShowCatalogs),
    ShowColumns(ShowColumns),
    ShowTblProperties(ShowTblProperties),
    ShowCreateTable(ShowCreateTable),
    ShowPartitions(ShowPartitions),
    ShowFunctions(ShowFunctions),
    ShowCurrentNamespace,
    Optimize(Box<Optimize>),
    Reorg(Box<Reorg>),
    Convert(Box<Convert>),
    Generate(Generate),
    Repair(Repair),
    /// `MSCK REPAIR TABLE t`, for tables whose partitions a catalog keeps.
    RepairPartitions(Name),
    Analyze(Box<Analyze>),
    Explain(Box<Explain>),
    Cache(Box<Cache>),
    /// `UNCACHE TABLE [IF EXISTS] t`.
    Uncache(Drop),
    ClearCache,
}

/// The name of a table, view, schema, catalog or function as the statement gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Name {
    /// `a`, `a.b`, `a.b.c`, ``delta.`/path` ``: one to many parts, without their quotes.
    Parts(Vec<Ident>),
    /// `IDENTIFIER(expr)`: a constant string expression, see [`crate::bind`].
    Identifier(Box<Expr>),
    /// `'/path'`: the string literal that Delta's commands take for a path.
    Path(String),
}

/// Which snapshot of a table is meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Travel {
    /// `VERSION AS OF 3`, `'3'`, `:v`, or `t@v3`: a number or string literal (or a parameter before binding).
    Version(Expr),
    /// `TIMESTAMP AS OF expr`: any constant expression, cast to TIMESTAMP in the session's zone.
    Timestamp(Expr),
    /// `t@yyyyMMddHHmmssSSS`: the 17 digits, in the session's zone.
    Compact(String),
}

/// A key and value of TBLPROPERTIES, OPTIONS or DBPROPERTIES.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The key: a string literal's text or the dotted name as written.
    pub key: String,
    /// A literal (or a parameter before binding).
    pub value: Expr,
}

/// A column, possibly nested: `a.b.c`, with `element`, `key`, `value` for arrays and maps.
pub type ColumnPath = Vec<Ident>;

/// A partition specification `PARTITION (p = 3, q)`; a key without value is dynamic.
pub type PartitionSpec = Vec<(Ident, Option<Expr>)>;

impl Name {
    /// A name of plain parts.
    pub fn of(parts: &[&str]) -> Self {
        Self::Parts(parts.iter().map(|part| Ident::new(*part)).collect())
    }

    /// The parts' texts, without quotes; `None` for `IDENTIFIER(…)` and path literals.
    pub fn texts(&self) -> Option<Vec<&str>> {
        match self {
            Self::Parts(parts) => Some(parts.iter().map(|part| part.value.as_str()).collect()),
            Self::Identifier(_) | Self::Path(_) => None,
        }
    }

    /// The path, where the name is a path literal or ``delta.`path` ``.
    pub fn delta_path(&self) -> Option<&str> {
        match self {
            Self::Path(path) => Some(path),
            Self::Parts(parts) => match parts.as_slice() {
                [format, path] if format.value.eq_ignore_ascii_case("delta") => Some(&path.value),
                _ => None,
            },
            Self::Identifier(_) => None,
        }
    }

    /// Line (from 1) and column (from 0) of the name in the statement's text, as Spark prints positions.
    pub fn position(&self) -> Option<(u64, u64)> {
        let start = match self {
            Self::Parts(parts) => parts.first()?.span.start,
            Self::Identifier(_) | Self::Path(_) => return None,
        };
        (start.line > 0).then(|| (start.line, start.column.saturating_sub(1)))
    }
}

impl Property {
    /// The value as the text that Spark stores: strings without quotes, numbers as written, booleans in lower case.
    pub fn text(&self) -> Option<String> {
        crate::literal::text_of(&self.value)
    }
}
