//! From syntax to plans: the analyser with the session's names and settings, and the engine that runs its plans.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::displayable;
use deltaic_analyzer::Scope;
use deltaic_analyzer::kernel::Env;
use deltaic_analyzer::node::{Attr, CastMode, Kind, Node};
use deltaic_datafusion::unwrap;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, StructType};
use deltaic_sql::ast::{self, Ident, Query};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlparser::ast::{CastKind, SelectItem, SetExpr};

use crate::context::Context;
use crate::relations::SessionResolver;
use crate::result::{SqlResult, Value};

/// A query, analysed.
pub(crate) struct Planned {
    pub(crate) plan: LogicalPlan,
    /// The columns with Spark's names and types, in the order of the plan's.
    pub(crate) schema: StructType,
    /// Roots of the Delta tables that it reads.
    pub(crate) reads: BTreeSet<String>,
}

/// An expression, bound.
pub(crate) struct Bound {
    node: Node,
}

impl Bound {
    /// As the engine runs it.
    pub(crate) fn expr(&self) -> Result<Expr> {
        deltaic_analyzer::lower::lower(&self.node)
    }
}

/// A condition, bound, in the forms in which it is written down.
pub(crate) struct Condition {
    pub(crate) expr: Expr,
    /// As Catalyst prints it: `(id#12L = 4)`.
    pub(crate) catalyst: String,
    /// As SQL: `(id = 4)`.
    pub(crate) sql: String,
    /// As Catalyst prints it before names are resolved: `('id = 4)`.
    pub(crate) unresolved: String,
}

/// The columns of one table, as the conditions and assignments of a statement see them.
#[derive(Debug, Clone)]
pub(crate) struct TableScope {
    pub(crate) schema: StructType,
    pub(crate) qualifier: Vec<String>,
    pub(crate) alias: Option<String>,
}

impl TableScope {
    fn columns(&self) -> Scope {
        Scope::table(&self.schema, &self.qualifier, self.alias.as_deref())
    }
}

/// Analyses a query. `text` is the statement it stands in.
pub(crate) async fn query(cx: &Context, query: &Query, text: &str) -> Result<Planned> {
    let _ = text;
    let resolver = SessionResolver::new(cx);
    let analyzed = deltaic_analyzer::analyze_query(query, &resolver, &crate::engine::analyzer_options(cx)).await?;
    Ok(Planned { plan: analyzed.plan, schema: analyzed.schema, reads: resolver.reads() })
}

/// All rows of a relation.
pub(crate) async fn table(cx: &Context, parts: &[Ident]) -> Result<Planned> {
    let names: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    let sql = format!("SELECT * FROM {}", crate::errors::quoted(&names));
    query(cx, &deltaic_sql::parse_query(&sql)?, &sql).await
}

/// Runs a plan and collects its rows, partition by partition, so that their order is the same every time.
pub(crate) async fn collect(cx: &Context, planned: Planned) -> Result<Vec<RecordBatch>> {
    stream(cx, planned).await?.try_collect().await
}

/// Runs a plan.
pub(crate) async fn stream(cx: &Context, planned: Planned) -> Result<BoxStream<'static, Result<RecordBatch>>> {
    let state = cx.session.engine().state();
    let physical = state.create_physical_plan(&planned.plan).await.map_err(unwrap)?;
    let task = state.task_ctx();
    let partitions = physical.properties().partitioning.partition_count();
    let batches = stream::iter(0..partitions)
        .map(move |partition| physical.execute(partition, Arc::clone(&task)))
        .map_err(unwrap)
        .map_ok(|batches| batches.map_err(unwrap))
        .try_flatten();
    Ok(batches.boxed())
}

/// The physical plan as text.
pub(crate) async fn physical_text(cx: &Context, planned: Planned) -> Result<String> {
    let state = cx.session.engine().state();
    let physical = state.create_physical_plan(&planned.plan).await.map_err(unwrap)?;
    Ok(displayable(physical.as_ref()).indent(false).to_string())
}

/// The value of a constant expression.
pub(crate) async fn constant(cx: &Context, expr: &ast::Expr) -> Result<Value> {
    let mut one = deltaic_sql::parse_query("SELECT 1")?;
    if let SetExpr::Select(select) = one.body.as_mut() {
        select.projection = vec![SelectItem::UnnamedExpr(expr.clone())];
    }
    let planned = query(cx, &one, "").await?;
    let schema = planned.schema.clone();
    let batches = collect(cx, planned).await?;
    let rows = SqlResult { schema, batches, ..SqlResult::empty() }.rows();
    rows.into_iter()
        .next()
        .and_then(|row| row.into_iter().next())
        .ok_or_else(|| DeltaError::internal("a constant expression has no value"))
}

/// The value of a constant expression as a timestamp, microseconds since the epoch; text is read in the session's zone.
/// Nothing where it is NULL or no timestamp.
pub(crate) async fn timestamp(cx: &Context, expr: &ast::Expr) -> Result<Option<i64>> {
    let mut cast = deltaic_sql::parse_expr("try_cast(1 AS TIMESTAMP)")?;
    if let ast::Expr::Cast { kind, expr: inner, .. } = &mut cast {
        *kind = CastKind::TryCast;
        **inner = expr.clone();
    }
    match constant(cx, &cast).await? {
        Value::Timestamp(micros) => Ok(Some(micros)),
        _ => Ok(None),
    }
}

/// Binds a condition over a table's columns; it may hold subqueries.
pub(crate) async fn condition(cx: &Context, expr: &ast::Expr, scope: &TableScope, text: &str) -> Result<Condition> {
    let _ = text;
    let resolver = SessionResolver::new(cx);
    let options = crate::engine::analyzer_options(cx);
    let bound = deltaic_analyzer::bind_predicate(expr, &scope.columns(), &resolver, &options).await?;
    let quoted = deltaic_analyzer::names::quoted_sql(bound.node(), options.zone);
    let sql = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&quoted).to_owned();
    Ok(Condition { unresolved: unresolved(&bound.catalyst), sql, catalyst: bound.catalyst, expr: bound.expr })
}

/// Binds a condition that stands in a table's metadata.
pub(crate) async fn condition_text(cx: &Context, text: &str, scope: &TableScope) -> Result<Condition> {
    condition(cx, &deltaic_sql::parse_expr(text)?, scope, text).await
}

/// Binds a value over a table's columns.
pub(crate) async fn value(cx: &Context, expr: &ast::Expr, scope: &TableScope, text: &str) -> Result<Bound> {
    let _ = text;
    let resolver = SessionResolver::new(cx);
    let options = crate::engine::analyzer_options(cx);
    let bound = deltaic_analyzer::bind_expr(expr, &scope.columns(), &resolver, &options).await?;
    Ok(Bound { node: bound.node().clone() })
}

/// Binds a value that stands in a table's metadata.
pub(crate) async fn value_text(cx: &Context, text: &str, scope: &TableScope) -> Result<Bound> {
    value(cx, &deltaic_sql::parse_expr(text)?, scope, text).await
}

/// Casts a value for a column of a table.
pub(crate) fn assign(cx: &Context, value: Bound, to: &DataType, column: &str) -> Result<Expr> {
    let options = crate::engine::analyzer_options(cx);
    let env = Env { column: Some(crate::errors::quoted(&[column])), ..Env::clone(&deltaic_analyzer::environment(&options)) };
    let nullable = value.node.nullable;
    let node = if value.node.ty == *to {
        value.node
    } else {
        let kind = Kind::Cast { child: Box::new(value.node), mode: CastMode::Insert, explicit: false, env: Arc::new(env) };
        Node::new(kind, to.clone(), nullable)
    };
    deltaic_analyzer::lower::lower(&node)
}

/// A column of a query's answer.
pub(crate) fn output(planned: &Planned, at: usize) -> Result<Bound> {
    let missing = || DeltaError::internal(format!("the query has no column {at}"));
    let field = planned.schema.fields.get(at).ok_or_else(missing)?;
    if at >= planned.plan.schema().fields().len() {
        return Err(missing());
    }
    let (qualifier, own) = planned.plan.schema().qualified_field(at);
    let attr = Attr {
        id: u32::try_from(at).unwrap_or(u32::MAX),
        name: field.name.clone(),
        column: Column::new(qualifier.cloned(), own.name()),
        origin: None,
    };
    Ok(Bound { node: Node::attr(attr, field.data_type.clone(), field.nullable) })
}

/// A column of a table by its name alone.
pub(crate) fn column(name: &str) -> Expr {
    Expr::Column(Column::new_unqualified(name))
}

/// A plan with other columns.
pub(crate) fn project(plan: LogicalPlan, columns: Vec<Expr>) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan).project(columns).and_then(LogicalPlanBuilder::build).map_err(unwrap)
}

/// A plan with its columns, found by name, in the order of a schema.
pub(crate) fn reorder(plan: LogicalPlan, schema: &StructType) -> Result<LogicalPlan> {
    let columns = schema.fields.iter().map(|field| column(&field.name)).collect();
    project(plan, columns)
}

/// A struct with one field, possibly deep inside, replaced.
pub(crate) fn with_field(base: Expr, data_type: &DataType, path: &[String], value: Expr) -> Result<Expr> {
    let [first, rest @ ..] = path else { return Ok(value) };
    let DataType::Struct(inner) = data_type else {
        return Err(DeltaError::not_supported_yet("Assigning to an element of an array or map"));
    };
    let field_of = |name: &str| datafusion::functions::core::expr_fn::get_field(base.clone(), name.to_owned());
    let mut arguments = Vec::new();
    for field in &inner.fields {
        arguments.push(Expr::Literal(ScalarValue::Utf8(Some(field.name.clone())), None));
        arguments.push(if field.name.eq_ignore_ascii_case(first) {
            with_field(field_of(&field.name), &field.data_type, rest, value.clone())?
        } else {
            field_of(&field.name)
        });
    }
    Ok(datafusion::functions::core::expr_fn::named_struct(arguments))
}

/// A condition as Catalyst prints it before names are resolved: `(id#12L = 4)` was `('id = 4)`.
fn unresolved(catalyst: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut rest = catalyst.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '#' && rest.peek().is_some_and(char::is_ascii_digit) {
            while rest.peek().is_some_and(char::is_ascii_digit) {
                rest.next();
            }
            if rest.peek() == Some(&'L') {
                rest.next();
            }
            out.push('\'');
            out.push_str(&std::mem::take(&mut word));
        } else if character.is_alphanumeric() || character == '_' {
            word.push(character);
        } else {
            out.push_str(&std::mem::take(&mut word));
            out.push(character);
        }
    }
    out.push_str(&word);
    out
}

/// Names of the columns in an expression.
pub(crate) fn columns_of(expr: &Expr) -> Vec<String> {
    expr.column_refs().into_iter().map(|column| column.name.clone()).collect()
}

/// An expression with columns replaced by the values that they are about to get.
pub(crate) fn replace_columns(expr: Expr, values: &[(String, Expr)]) -> Result<Expr> {
    expr.transform(|node| match &node {
        Expr::Column(column) => match values.iter().find(|(name, _)| *name == column.name) {
            Some((_, value)) => Ok(Transformed::yes(value.clone())),
            None => Ok(Transformed::no(node)),
        },
        _ => Ok(Transformed::no(node)),
    })
    .map(|done| done.data)
    .map_err(unwrap)
}
