//! Values that a statement does not give: column defaults and generated columns (protocol sections "Default Columns",
//! "Generated Columns").

use datafusion::logical_expr::{Expr, LogicalPlan};
use deltaic_log::Snapshot;
use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_sql::ast::{self, Query};
use sqlparser::ast::{SetExpr, Value as SqlValue};

use crate::analysis::{self, TableScope};
use crate::context::Context;

/// The default of a column, of its type; NULL where it has none.
pub(crate) async fn expression(cx: &Context, field: &StructField) -> Result<Expr> {
    let text = field.current_default().unwrap_or("NULL");
    let nothing = TableScope { schema: StructType::default(), qualifier: Vec::new(), alias: None };
    let expr = deltaic_sql::parse_expr(text)?;
    let bound = analysis::value(cx, &expr, &nothing, text).await?;
    analysis::assign(cx, bound, &field.data_type, &field.name)
}

/// The query with the word DEFAULT in its VALUES replaced by the default of the column that it stands for; `listed` are
/// the positions of the statement's column list.
pub(crate) async fn fill(cx: &Context, query: &Query, schema: &StructType, listed: Option<&[usize]>) -> Result<Query> {
    let mut query = query.clone();
    let _ = cx;
    let SetExpr::Values(values) = query.body.as_mut() else { return Ok(query) };
    for row in &mut values.rows {
        for (at, cell) in row.iter_mut().enumerate() {
            if !crate::dispatch::is_default(cell) {
                continue;
            }
            let column = match listed {
                Some(listed) => listed.get(at).copied(),
                None => Some(at),
            };
            let default = column.and_then(|column| schema.fields.get(column)).and_then(StructField::current_default);
            *cell = match default {
                Some(text) => deltaic_sql::parse_expr(text)?,
                None => ast::Expr::Value(SqlValue::Null.into()),
            };
        }
    }
    Ok(query)
}

/// Columns that follow from others, recomputed where the statement assigns one of those: added to the assignments.
pub(crate) async fn generated(
    cx: &Context,
    snapshot: &Snapshot,
    scope: &TableScope,
    assignments: &mut Vec<(String, Expr)>,
    text: &str,
) -> Result<()> {
    let _ = text;
    let assigned: Vec<String> = assignments.iter().map(|(name, _)| name.clone()).collect();
    for field in &snapshot.schema().fields {
        let Some(rule) = field.generation_expression() else { continue };
        if assigned.iter().any(|name| name == &field.name) {
            continue;
        }
        let bound = analysis::value_text(cx, rule, scope).await?;
        let depends = analysis::columns_of(&bound.expr()?).iter().any(|name| assigned.contains(name));
        if depends {
            let value = analysis::assign(cx, bound, &field.data_type, &field.name)?;
            let value = analysis::replace_columns(value, assignments)?;
            assignments.push((field.name.clone(), value));
        }
    }
    Ok(())
}

/// Rows with their generated columns computed where they were not given (they are NULL then).
pub(crate) async fn generate_rows(
    cx: &Context,
    plan: LogicalPlan,
    schema: &StructType,
    qualifier: &[String],
) -> Result<LogicalPlan> {
    if !schema.fields.iter().any(|field| field.generation_expression().is_some()) {
        return Ok(plan);
    }
    let scope = TableScope { schema: schema.clone(), qualifier: qualifier.to_vec(), alias: None };
    let mut columns = Vec::new();
    for field in &schema.fields {
        let own = analysis::column(&field.name);
        columns.push(match field.generation_expression() {
            None => own,
            Some(rule) => {
                let bound = analysis::value_text(cx, rule, &scope).await?;
                let computed = analysis::assign(cx, bound, &field.data_type, &field.name)?;
                datafusion::functions::expr_fn::coalesce(vec![own, computed]).alias(&field.name)
            }
        });
    }
    analysis::project(plan, columns)
}
