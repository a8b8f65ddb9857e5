//! Delta's commands and Spark's session commands (spec/delta.md sections 2.1, 5 and 7.1).

use sqlparser::ast::{Expr, Ident, Query};

use super::{Name, PartitionSpec, Property, Statement, Travel};

/// `VACUUM t [LITE | FULL] [USING INVENTORY …] [RETAIN n HOURS] [DRY RUN]`, clauses in any order.
#[derive(Debug, Clone, PartialEq)]
pub struct Vacuum {
    pub table: Name,
    pub mode: Option<VacuumMode>,
    pub inventory: Option<Inventory>,
    /// Hours, a number literal (possibly negative) or a parameter; [`crate::literal::number`] reads it.
    pub retain_hours: Option<Expr>,
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VacuumMode {
    Full,
    Lite,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Inventory {
    Table(Name),
    Query(Box<Query>),
}

/// `RESTORE [TABLE] t [TO] (VERSION | TIMESTAMP) AS OF …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Restore {
    pub table: Name,
    pub travel: Travel,
}

/// `DESCRIBE HISTORY t [LIMIT n]`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeHistory {
    pub table: Name,
    pub limit: Option<Expr>,
}

/// `DESCRIBE DETAIL t`.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribeDetail {
    pub table: Name,
}

/// `OPTIMIZE t [FULL] [WHERE pred] [ZORDER BY (…)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimize {
    pub table: Name,
    pub full: bool,
    pub predicate: Option<Predicate>,
    pub zorder_by: Vec<Vec<Ident>>,
}

/// A condition with its text as written, which Delta keeps in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    pub expr: Expr,
    pub text: String,
}

/// `REORG TABLE t [WHERE pred] APPLY (…)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Reorg {
    pub table: Name,
    pub predicate: Option<Predicate>,
    pub action: ReorgAction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReorgAction {
    Purge,
    /// `UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = n)`.
    UpgradeUniform {
        iceberg_compat_version: i32,
    },
}

/// `CONVERT TO DELTA t [NO STATISTICS] [PARTITIONED BY (c type, …)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Convert {
    pub table: Name,
    pub collect_statistics: bool,
    pub partitioned_by: Option<Vec<super::ColumnDefinition>>,
}

/// `GENERATE mode FOR TABLE t`.
#[derive(Debug, Clone, PartialEq)]
pub struct Generate {
    pub mode: String,
    pub table: Name,
}

/// `FSCK REPAIR TABLE t [DRY RUN]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    pub table: Name,
    pub dry_run: bool,
}

/// `USE [CATALOG | SCHEMA | DATABASE | NAMESPACE] name`.
#[derive(Debug, Clone, PartialEq)]
pub enum Use {
    /// `USE a.b`, `USE SCHEMA a.b`: a catalog, a schema, or both.
    Namespace { name: Name, keyword: bool },
    /// `USE CATALOG c`, `SET CATALOG c`.
    Catalog(Name),
}

/// `SET …`.
#[derive(Debug, Clone, PartialEq)]
pub enum Set {
    /// `SET`: every setting that was set.
    All,
    /// `SET -v`: every documented setting.
    Verbose,
    /// `SET key`.
    Get { key: String },
    /// `SET key = value`: the rest of the text, trimmed; Spark's raw form. A value in backticks comes without them.
    Value { key: String, value: String },
    /// `SET TIME ZONE LOCAL`.
    TimeZoneLocal,
    /// `SET TIME ZONE 'text'`.
    TimeZone(String),
    /// `SET TIME ZONE INTERVAL …`.
    TimeZoneInterval(Expr),
    /// `SET VAR[IABLE] x = expr`: session variables.
    Variables {
        assignments: Vec<(Vec<Ident>, Expr)>,
    },
}

/// `RESET [key]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    pub key: Option<String>,
}

/// `ANALYZE TABLE t [PARTITION (…)] COMPUTE STATISTICS [NOSCAN | FOR COLUMNS … | FOR ALL COLUMNS]`, `ANALYZE TABLES …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Analyze {
    /// The table, or the schema of `ANALYZE TABLES [IN s]`.
    pub name: Option<Name>,
    pub tables: bool,
    pub partition: Option<PartitionSpec>,
    pub columns: AnalyzeColumns,
    pub no_scan: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalyzeColumns {
    None,
    All,
    Some(Vec<Vec<Ident>>),
}

/// `EXPLAIN [EXTENDED | FORMATTED | CODEGEN | COST | LOGICAL] statement`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// The keyword in upper case.
    pub mode: Option<String>,
    pub statement: Box<Statement>,
}

/// `CACHE [LAZY] TABLE t [OPTIONS (…)] [[AS] query]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cache {
    pub lazy: bool,
    pub name: Name,
    pub options: Vec<Property>,
    pub query: Option<Box<Query>>,
}
