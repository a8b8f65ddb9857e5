//! Statements that make, change and drop tables, views, schemas and catalogs (Spark's grammar; Delta's CLONE, CLUSTER BY,
//! constraints and features of spec/delta.md section 7.1).

use deltaic_protocol::schema::{DataType, StructField, metadata};
use sqlparser::ast::{Expr, Ident, Query};

use super::{ColumnPath, Name, PartitionSpec, Property, Travel};

/// What CREATE does when the object exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateMode {
    /// `CREATE`: an error.
    Create,
    /// `CREATE … IF NOT EXISTS`: nothing.
    CreateIfNotExists,
    /// `CREATE OR REPLACE`.
    CreateOrReplace,
    /// `REPLACE TABLE`: the table must exist.
    Replace,
}

/// `CREATE | REPLACE TABLE`, its AS SELECT, LIKE and CLONE forms.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    pub mode: CreateMode,
    /// `CREATE EXTERNAL TABLE`.
    pub external: bool,
    pub name: Name,
    /// `None` without a column list, which is not the same as an empty one.
    pub columns: Option<Vec<ColumnDefinition>>,
    /// Constraints among the columns.
    pub constraints: Vec<Constraint>,
    /// The source after USING, as written.
    pub using: Option<String>,
    pub partitioned_by: Vec<PartitionField>,
    /// `CLUSTER BY (…)`; `Some` and empty for `CLUSTER BY NONE`.
    pub cluster_by: Option<Vec<ColumnPath>>,
    pub comment: Option<String>,
    pub location: Option<Expr>,
    pub properties: Vec<Property>,
    pub options: Vec<Property>,
    pub source: CreateSource,
}

/// Where a new table's schema and rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum CreateSource {
    /// From the column list alone.
    Columns,
    /// `AS query`.
    Query(Box<Query>),
    /// `LIKE table`.
    Like(Name),
    /// `SHALLOW CLONE table [temporal]`.
    ShallowClone {
        source: Name,
        travel: Option<Travel>,
    },
}

/// One column of a table or of ADD COLUMNS.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    /// A path of several parts in ADD COLUMNS, one part in CREATE TABLE.
    pub path: ColumnPath,
    pub data_type: DataType,
    /// The type as Spark keeps it in the field's metadata for CHAR(n) and VARCHAR(n), such as `varchar(10)`.
    pub char_type: Option<String>,
    pub nullable: bool,
    pub comment: Option<String>,
    pub default: Option<ColumnDefault>,
    pub generated: Option<Expr>,
    pub identity: Option<Identity>,
    /// ADD COLUMNS only.
    pub position: Option<ColumnPosition>,
}

/// `DEFAULT expr` with the text that Delta stores.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefault {
    pub expr: Expr,
    /// The expression as written.
    pub text: String,
}

/// `GENERATED (ALWAYS | BY DEFAULT) AS IDENTITY (START WITH n INCREMENT BY m)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub allow_explicit_insert: bool,
    pub start: i64,
    pub step: i64,
}

/// `FIRST` or `AFTER c`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPosition {
    First,
    After(Ident),
}

/// One field of PARTITIONED BY.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionField {
    /// A name of a column.
    Name(ColumnPath),
    /// `name TYPE`: a column of its own, Hive's form.
    Column(ColumnDefinition),
    /// A transform such as `bucket(4, id)` or `years(ts)`.
    Transform(Expr),
}

/// A constraint of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    pub name: Option<Ident>,
    pub kind: ConstraintKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ConstraintKind {
    /// `CHECK (expr)`.
    Check(Check),
    PrimaryKey(Vec<Ident>),
    Unique(Vec<Ident>),
    ForeignKey {
        columns: Vec<Ident>,
        table: Name,
        referred: Vec<Ident>,
    },
}

/// A CHECK condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub expr: Expr,
    /// The condition as written between the parentheses; Delta stores its tokens joined by single blanks.
    pub text: String,
}

/// `CREATE [OR REPLACE] [[GLOBAL] TEMPORARY] VIEW [IF NOT EXISTS] v [(cols)] [COMMENT] [TBLPROPERTIES] AS query`, or
/// `CREATE TEMPORARY VIEW v USING source OPTIONS (…)`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    pub mode: CreateMode,
    pub kind: ViewKind,
    pub name: Name,
    /// Column names with their comments.
    pub columns: Vec<(Ident, Option<String>)>,
    pub comment: Option<String>,
    pub properties: Vec<Property>,
    pub body: ViewBody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewKind {
    Permanent,
    Temporary,
    GlobalTemporary,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ViewBody {
    Query {
        query: Box<Query>,
        /// The query as written, which the catalog keeps.
        text: String,
    },
    Using {
        source: String,
        columns: Option<Vec<ColumnDefinition>>,
        options: Vec<Property>,
    },
}

/// `CREATE (SCHEMA | DATABASE | NAMESPACE) [IF NOT EXISTS] s …`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSchema {
    pub if_not_exists: bool,
    pub name: Name,
    pub comment: Option<String>,
    pub location: Option<Expr>,
    pub properties: Vec<Property>,
}

/// `CREATE CATALOG [IF NOT EXISTS] c [COMMENT …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateCatalog {
    pub if_not_exists: bool,
    pub name: Name,
    pub comment: Option<String>,
    pub location: Option<Expr>,
    pub properties: Vec<Property>,
}

/// DROP of a table, view, schema or catalog, and UNCACHE.
#[derive(Debug, Clone, PartialEq)]
pub struct Drop {
    pub name: Name,
    pub if_exists: bool,
    /// `CASCADE`; `false` is RESTRICT.
    pub cascade: bool,
    /// `PURGE`.
    pub purge: bool,
}

/// `ALTER TABLE t …`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    pub name: Name,
    pub action: AlterTableAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterTableAction {
    Rename {
        to: Name,
    },
    SetProperties(Vec<Property>),
    UnsetProperties {
        keys: Vec<String>,
        if_exists: bool,
    },
    AddColumns(Vec<ColumnDefinition>),
    DropColumns {
        columns: Vec<ColumnPath>,
        if_exists: bool,
    },
    RenameColumn {
        column: ColumnPath,
        to: Ident,
    },
    /// `ALTER COLUMN a …, b …`: several columns in one statement.
    AlterColumns(Vec<AlterColumn>),
    /// `REPLACE COLUMNS (…)`.
    ReplaceColumns(Vec<ColumnDefinition>),
    AddConstraint(Constraint),
    DropConstraint {
        name: Ident,
        if_exists: bool,
        cascade: bool,
    },
    /// Empty for `CLUSTER BY NONE`.
    ClusterBy(Vec<ColumnPath>),
    DropFeature {
        feature: String,
        truncate_history: bool,
    },
    SyncIdentity {
        column: ColumnPath,
    },
    SetLocation {
        location: Expr,
        partition: Option<PartitionSpec>,
    },
    AddPartitions {
        if_not_exists: bool,
        partitions: Vec<(PartitionSpec, Option<Expr>)>,
    },
    DropPartitions {
        if_exists: bool,
        partitions: Vec<PartitionSpec>,
        purge: bool,
    },
    RenamePartition {
        from: PartitionSpec,
        to: PartitionSpec,
    },
    RecoverPartitions,
    SetSerde,
}

/// One column of ALTER COLUMN; Spark allows several changes of one column only in CHANGE COLUMN.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterColumn {
    pub column: ColumnPath,
    pub change: ColumnChange,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ColumnChange {
    Type {
        data_type: DataType,
        char_type: Option<String>,
    },
    Comment(String),
    SetNotNull,
    DropNotNull,
    Position(ColumnPosition),
    SetDefault(ColumnDefault),
    DropDefault,
    /// Hive's `CHANGE [COLUMN] c new_name type [COMMENT] [position]`.
    Change(Box<ColumnDefinition>),
}

/// `ALTER VIEW v …`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterView {
    pub name: Name,
    pub action: AlterViewAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterViewAction {
    Rename { to: Name },
    SetProperties(Vec<Property>),
    UnsetProperties { keys: Vec<String>, if_exists: bool },
    As { query: Box<Query>, text: String },
}

/// `ALTER (SCHEMA | DATABASE | NAMESPACE) s SET …`.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterSchema {
    pub name: Name,
    pub action: AlterSchemaAction,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AlterSchemaAction {
    SetProperties(Vec<Property>),
    UnsetProperties { keys: Vec<String>, if_exists: bool },
    SetLocation(Expr),
}

/// `COMMENT ON (TABLE | SCHEMA) x IS 'text' | NULL`.
#[derive(Debug, Clone, PartialEq)]
pub struct CommentOn {
    pub object: CommentObject,
    pub name: Name,
    /// `None` for NULL.
    pub comment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentObject {
    Table,
    Schema,
}

impl ColumnDefinition {
    /// The column's name: the last part of its path.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", |part| part.value.as_str())
    }

    /// The column as a field, with its comment and CHAR or VARCHAR length; default, generation and identity stay here.
    pub fn field(&self) -> StructField {
        let mut field = StructField::new(self.name(), self.data_type.clone(), self.nullable);
        if let Some(comment) = &self.comment {
            field = field.with_comment(comment);
        }
        if let Some(char_type) = &self.char_type {
            field = field.with_metadata(metadata::CHAR_VARCHAR_TYPE, char_type.as_str());
        }
        field
    }
}
