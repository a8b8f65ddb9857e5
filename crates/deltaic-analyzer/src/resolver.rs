//! What the analyser asks its host for: relations by name, at a version or a time, and table functions.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use deltaic_protocol::Result;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use sqlparser::ast::{Expr, Ident};

/// The point of the past that a reference names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Travel {
    /// `VERSION AS OF 3`, `VERSION AS OF '3'`: the text of the constant, as the host reads it.
    Version(String),
    /// `TIMESTAMP AS OF <expr>`: the value as a timestamp.
    Timestamp {
        /// Microseconds since the epoch, UTC.
        micros: i64,
        /// The expression as it stood in the statement, for error texts.
        text: String,
    },
}

/// What a name stands for.
pub enum Relation {
    /// A table whose rows can be scanned.
    Table(TableRelation),
    /// A view: its text is bound in the place of the reference.
    View(ViewRelation),
}

/// A table, pinned to one version.
pub struct TableRelation {
    /// Gives the rows; its columns are those of `schema`, in the same order and by the same names.
    pub provider: Arc<dyn TableProvider>,
    /// The columns with their Spark types.
    pub schema: StructType,
    /// A column that the provider gives after these and that is found only where no column has its name: `_metadata`.
    pub metadata: Option<StructField>,
    /// Names in front of a column: `[catalog, schema, table]`, or `[delta, path]` for a table by path.
    pub qualifier: Vec<String>,
}

/// A view as the catalog holds it.
pub struct ViewRelation {
    /// The SELECT it was made with.
    pub text: String,
    /// The catalog and schema that its own names are relative to.
    pub catalog: String,
    /// See `catalog`.
    pub schema: String,
    /// The columns it promised when it was made (with their names and comments); None takes what the text gives.
    pub columns: Option<StructType>,
    /// Names in front of a column: `[catalog, schema, view]`, or `[view]` for a temporary one.
    pub qualifier: Vec<String>,
    /// A temporary view is refused time travel with another text.
    pub temporary: bool,
}

/// An argument of a table function.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFunctionArgument {
    /// What it says.
    pub value: ArgumentValue,
    /// Its type; void where it is not constant.
    pub data_type: DataType,
    /// It is written as a literal.
    pub is_literal: bool,
    /// The expression as SQL text.
    pub sql: String,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// NULL.
    Null,
    /// Any whole number.
    Long(i64),
    /// Text.
    String(String),
    /// Microseconds since the epoch; of a date, its midnight in the session's zone.
    Timestamp(i64),
    /// A constant of another type.
    Other,
    /// The expression is not constant.
    NotConstant,
}

impl TableFunctionArgument {
    /// An expression that is not constant.
    pub(crate) fn not_constant(e: &Expr) -> TableFunctionArgument {
        TableFunctionArgument {
            value: ArgumentValue::NotConstant,
            data_type: DataType::Void,
            is_literal: false,
            sql: e.to_string(),
        }
    }
}

/// The host of the analysis.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// What `name` stands for (one to three parts, or `format.path`), at `travel`. The name may carry a version
    /// itself (`t@v3`); the host decides. A view with `travel` is for the host to refuse or not: the analyser does.
    ///
    /// Errors: the host's, as for a missing table.
    async fn relation(&self, name: &[Ident], travel: Option<Travel>) -> Result<Relation>;

    /// The same, for names inside a view, which are relative to the view's catalog and schema.
    async fn relation_in(
        &self,
        name: &[Ident],
        travel: Option<Travel>,
        catalog: &str,
        schema: &str,
    ) -> Result<Relation> {
        let _ = (catalog, schema);
        self.relation(name, travel).await
    }

    /// A table function that the analyser does not know itself (`table_changes`); None where there is none. Inside a view,
    /// names in it are relative to the view's catalog and schema, `at`.
    async fn table_function(
        &self,
        name: &str,
        arguments: &[TableFunctionArgument],
        at: Option<(&str, &str)>,
    ) -> Result<Option<TableRelation>> {
        let _ = (name, arguments, at);
        Ok(None)
    }
}
