//! Expressions whose value is asked for, where no filter stands: DataFusion plans EXISTS and IN over a subquery only in
//! a filter, so that elsewhere they become subqueries of one value.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result as DfResult;
use datafusion::functions_aggregate::expr_fn::{array_agg, count};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, Subquery, lit};
use deltaic_protocol::Result;

use crate::error::Ours;
use crate::kernels::membership::is_in;
use crate::lower::lower;
use crate::node::Node;

/// The expression that DataFusion runs in a list of columns, a key or an argument.
///
/// # Errors
/// What cannot be run where a value stands.
pub fn value(node: &Node) -> Result<Expr> {
    let expr = lower(node)?;
    if !node.has_subquery() {
        return Ok(expr);
    }
    expr.transform_up(|e| {
        Ok(match e {
            Expr::Exists(e) => Transformed::yes(exists(e.subquery, e.negated)?),
            Expr::InSubquery(e) => Transformed::yes(found_in(e)?),
            other => Transformed::no(other),
        })
    })
    .map(|t| t.data)
    .ours()
}

/// EXISTS as a comparison of a number of rows.
pub(crate) fn exists(subquery: Subquery, negated: bool) -> DfResult<Expr> {
    let mut rows = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone());
    if subquery.outer_ref_columns.is_empty() {
        // One row is enough to know.
        rows = rows.limit(0, Some(1))?;
    }
    let plan = rows
        .aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64))])?
        .build()?;
    // A literal beside it: the answer is never NULL.
    let number = datafusion::functions::expr_fn::coalesce(vec![
        Expr::ScalarSubquery(Subquery {
            subquery: Arc::new(plan),
            ..subquery
        }),
        lit(0_i64),
    ]);
    Ok(if negated {
        number.eq(lit(0_i64))
    } else {
        number.gt(lit(0_i64))
    })
}

/// IN as a search in an array of all values.
pub(crate) fn found_in(sought: InSubquery) -> DfResult<Expr> {
    let found = is_in(*sought.expr, gathered(sought.subquery)?);
    Ok(match sought.negated {
        true => Expr::Not(Box::new(found)),
        false => found,
    })
}

/// All values of the subquery's column as one array; NULL where there are none.
fn gathered(subquery: Subquery) -> DfResult<Expr> {
    let plan = subquery.subquery.as_ref().clone();
    let column = Expr::Column(plan.schema().columns().swap_remove(0));
    let plan = LogicalPlanBuilder::from(plan)
        .aggregate(Vec::<Expr>::new(), vec![array_agg(column)])?
        .build()?;
    Ok(Expr::ScalarSubquery(Subquery {
        subquery: Arc::new(plan),
        ..subquery
    }))
}
