//! What the definitions of columns and constraints may say: generated columns, CHECK constraints and DEFAULT values, as
//! Spark 4.1 and Delta 4.3 judge them (spec: delta, section 1.18).

mod allowed;
mod default;

use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::Expr;

use crate::binder::{Binder, Cx, Sight};
use crate::constants::SessionConstants;
use crate::names;
use crate::node::{Imp, Kind, Node};
use crate::options::AnalyzerOptions;
use crate::relations::Relations;
use crate::resolver::Resolver;
use crate::scope::Scope;
use crate::types::same_type;

pub use default::{ColumnDefault, check_default};

/// Which kind of definition an expression stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Generated,
    Check,
}

/// How much of a CHECK constraint is judged; `spark.databricks.delta.checkConstraints.validation.enabled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRules {
    /// Only what no write could ever evaluate row by row, or what would differ from write to write, is refused.
    Evaluable,
    /// Functions that are not on Delta's list are refused too.
    Listed,
}

/// Checks the generated columns of a schema for which `wanted` says so.
///
/// # Errors
/// `DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN`, `DELTA_INVALID_GENERATED_COLUMN_REFERENCES`,
/// `DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN`, `DELTA_AGGREGATE_IN_GENERATED_COLUMN`,
/// `DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN`, `DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH`, and the analysis errors of
/// the expressions.
pub async fn check_generated_columns(
    schema: &StructType,
    wanted: impl Fn(&StructField) -> bool,
    r: &dyn Resolver,
    o: &AnalyzerOptions,
) -> Result<()> {
    let generated: Vec<(&StructField, &str)> = schema
        .iter()
        .filter(|field| wanted(field))
        .filter_map(|field| Some((field, field.generation_expression()?)))
        .collect();
    // Values of VARIANT cannot be compared with what the expression gives.
    if let Some((field, _)) = generated
        .iter()
        .find(|(field, _)| field.data_type == DataType::Variant)
    {
        return Err(
            DeltaError::new("DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN")
                .param("dataType", field.data_type.sql()),
        );
    }
    let base = schema
        .iter()
        .filter(|field| field.generation_expression().is_none());
    let scope = Scope::table(&StructType::new(base.cloned()), &[], None);
    let mut nodes = Vec::with_capacity(generated.len());
    for (field, text) in generated {
        let expr = deltaic_sql::parse_expr(text)?;
        let node = bind(&expr, &scope, r, o).await.map_err(|error| {
            if is_unresolved(&error) {
                DeltaError::new("DELTA_INVALID_GENERATED_COLUMN_REFERENCES").with_source(error)
            } else {
                error
            }
        })?;
        nodes.push((field, node));
    }
    for (_, node) in &nodes {
        judge(node, Place::Generated, CheckRules::Listed, o)?;
    }
    for (field, node) in &nodes {
        if !same_type(&field.data_type, &node.ty) {
            return Err(
                DeltaError::new("DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH")
                    .param("columnName", &field.name)
                    .param("expressionType", node.ty.sql())
                    .param("columnType", field.data_type.sql()),
            );
        }
    }
    Ok(())
}

/// Checks a condition that a statement adds to a table that exists. That it is a condition at all was found out by binding
/// it ([`crate::bind_predicate`]).
///
/// # Errors
/// `DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT`, `DELTA_AGGREGATE_IN_CHECK_CONSTRAINT`,
/// `DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT`.
pub fn check_condition(node: &Node, rules: CheckRules, o: &AnalyzerOptions) -> Result<()> {
    judge(node, Place::Check, rules, o)
}

/// Checks a constraint that comes with a new table, among its properties.
///
/// # Errors
/// As [`check_condition`]; `DELTA_INVALID_CHECK_CONSTRAINT_REFERENCES` and `DELTA_NON_BOOLEAN_CHECK_CONSTRAINT`.
pub async fn check_constraint(
    name: &str,
    condition: &Expr,
    scope: &Scope,
    rules: CheckRules,
    r: &dyn Resolver,
    o: &AnalyzerOptions,
) -> Result<()> {
    let node = bind(condition, scope, r, o).await.map_err(|error| {
        if !is_unresolved(&error) {
            return error;
        }
        let name = error
            .parameters()
            .iter()
            .find(|(key, _)| key == "objectName");
        let column = name.map(|(_, column)| column.clone()).unwrap_or_default();
        DeltaError::new("DELTA_INVALID_CHECK_CONSTRAINT_REFERENCES")
            .param("colName", column)
            .with_source(error)
    })?;
    if node.ty != DataType::Boolean {
        return Err(DeltaError::new("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT")
            .param("name", name)
            .param("expr", names::analyzed(&node, o.zone)));
    }
    judge(&node, Place::Check, rules, o)
}

/// The word DEFAULT means nothing in an expression, as a name of no column.
async fn bind(e: &Expr, scope: &Scope, r: &dyn Resolver, o: &AnalyzerOptions) -> Result<Node> {
    let constants = SessionConstants { options: o };
    let relations = Relations::collect(&[e], r, &constants).await?;
    let last = scope.columns.iter().map(|c| c.attr.id).max().unwrap_or(0);
    let sight = Sight::default();
    let node = Binder::new(o, &relations, last).expr(e, &Cx::new(scope, None, &sight))?;
    if node.any(&|n| matches!(n.kind, Kind::Default)) {
        return Err(scope.unresolved(&["DEFAULT"]));
    }
    Ok(node)
}

fn is_unresolved(error: &DeltaError) -> bool {
    error
        .class()
        .is_some_and(|class| class.starts_with("UNRESOLVED_COLUMN"))
}

/// Refuses the outermost expression that does not belong there, looking from the left.
fn judge(node: &Node, place: Place, rules: CheckRules, o: &AnalyzerOptions) -> Result<()> {
    if !matches!(node.kind, Kind::Alias { .. }) {
        judge_one(node, place, rules, o)?;
    }
    let inner = match &node.kind {
        // What a function is computed by is no part of the definition.
        Kind::Call { args, .. } => args.iter().collect(),
        _ => node.children(),
    };
    inner
        .into_iter()
        .try_for_each(|child| judge(child, place, rules, o))
}

fn judge_one(node: &Node, place: Place, rules: CheckRules, o: &AnalyzerOptions) -> Result<()> {
    let sql = || names::analyzed(node, o.zone);
    if is_extraction(node) {
        return Ok(());
    }
    if differs_between_rows(node) {
        return Err(match place {
            Place::Generated => {
                DeltaError::new("DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN")
            }
            Place::Check => {
                DeltaError::new("DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT")
            }
        }
        .param("expr", sql()));
    }
    if matches!(node.kind, Kind::Aggregate(_)) {
        return Err(match place {
            Place::Generated => DeltaError::new("DELTA_AGGREGATE_IN_GENERATED_COLUMN"),
            Place::Check => DeltaError::new("DELTA_AGGREGATE_IN_CHECK_CONSTRAINT"),
        }
        .param("sqlExpr", sql()));
    }
    let evaluable = !matches!(
        node.kind,
        Kind::Window(_) | Kind::Generator(_) | Kind::Subquery(_)
    );
    let allowed = match (place, rules) {
        (Place::Generated, _) => evaluable && allowed::in_generated(node),
        (Place::Check, CheckRules::Listed) => evaluable && allowed::in_check(node),
        (Place::Check, CheckRules::Evaluable) => evaluable,
    };
    if allowed {
        return Ok(());
    }
    Err(match place {
        Place::Generated => DeltaError::new("DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"),
        Place::Check => DeltaError::new("DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT"),
    }
    .param("expression", sql()))
}

/// A field of a struct or an element of an array.
fn is_extraction(node: &Node) -> bool {
    matches!(node.kind, Kind::Field { .. }) || kernel(node) == Some("array_item")
}

/// Whether the value does not follow from the row and the statement. That of `current_date()` does.
fn differs_between_rows(node: &Node) -> bool {
    !node.is_deterministic()
        || node.any(&|n| {
            matches!(
                allowed::function_name(n).as_deref(),
                Some("input_file_name" | "spark_partition_id")
            )
        })
}

/// The kernel that computes a call.
fn kernel(node: &Node) -> Option<&'static str> {
    match &node.kind {
        Kind::Call {
            imp: Imp::Kernel { name, .. },
            ..
        } => Some(name),
        _ => None,
    }
}
