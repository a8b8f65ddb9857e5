//! Correlated subqueries that DataFusion cannot turn into joins by itself: conditions other than equality of plain columns under an
//! aggregate, fields of structs, LIMIT, UNION.
//!
//! The subquery is run for the set of all values that the rows around it give it (its domain), all at once: the domain is joined into
//! it from below, every operator carries its columns along, and what comes out, one row for each value, is joined to the rows
//! around it.

mod push;

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullEquality};
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Distinct, Expr, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery,
};
use datafusion::optimizer::decorrelate::PullUpCorrelatedExpr;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::value::{exists, found_in};
use push::Domain;

/// The rule; it goes before DataFusion's own.
#[derive(Debug, Default)]
pub struct CorrelatedSubqueries;

impl OptimizerRule for CorrelatedSubqueries {
    fn name(&self) -> &'static str {
        "correlated_subqueries"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let takes_part = matches!(
            plan,
            LogicalPlan::Projection(_)
                | LogicalPlan::Filter(_)
                | LogicalPlan::Aggregate(_)
                | LogicalPlan::Sort(_)
                | LogicalPlan::Window(_)
        );
        if !takes_part || !plan.expressions().iter().any(has_subquery) {
            return Ok(Transformed::no(plan));
        }
        rewritten(plan, config)
    }
}

fn has_subquery(expr: &Expr) -> bool {
    let subquery = |e: &Expr| {
        Ok(matches!(
            e,
            Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_)
        ))
    };
    expr.exists(subquery).unwrap_or(false)
}

fn rewritten(plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
    let [input] = plan.inputs()[..] else {
        return Ok(Transformed::no(plan));
    };
    let mut input = input.clone();
    let mut changed = false;
    let names = NamePreserver::new(&plan);
    let mut exprs = Vec::new();
    for expr in plan.expressions() {
        let name = names.save(&expr);
        let valued = expr.transform_down(as_value)?.data;
        let expr = valued.transform_down(|e| match e {
            Expr::ScalarSubquery(subquery) if is_out_of_reach(&subquery)? => {
                match attached(&input, &subquery, config)? {
                    Some((joined, value)) => {
                        input = joined;
                        changed = true;
                        Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
                    }
                    None => Ok(Transformed::no(Expr::ScalarSubquery(subquery))),
                }
            }
            other => Ok(Transformed::no(other)),
        })?;
        exprs.push(name.restore(expr.data));
    }
    if !changed {
        return Ok(Transformed::no(plan));
    }
    let columns: Vec<Expr> = plan
        .schema()
        .columns()
        .into_iter()
        .map(Expr::Column)
        .collect();
    let new = plan.with_new_exprs(exprs, vec![input])?;
    let new = match plan.schema().columns() == new.schema().columns() {
        true => new,
        false => LogicalPlanBuilder::from(new).project(columns)?.build()?,
    };
    Ok(Transformed::yes(new))
}

/// EXISTS and IN that DataFusion cannot join with, as subqueries of one value.
fn as_value(expr: Expr) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::Exists(e) if is_no_join(&e.subquery, true)? => {
            Transformed::yes(exists(e.subquery, e.negated)?)
        }
        Expr::InSubquery(e) if is_no_join(&e.subquery, false)? => Transformed::yes(found_in(e)?),
        other => Transformed::no(other),
    })
}

/// Whether DataFusion cannot join with a correlated subquery.
fn is_no_join(subquery: &Subquery, exists: bool) -> Result<bool> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(false);
    }
    let nested = |e: &Expr| match e {
        Expr::OuterReferenceColumn(field, _) => field.data_type().is_nested(),
        _ => false,
    };
    if subquery.outer_ref_columns.iter().any(nested) {
        return Ok(true);
    }
    let mut pull = PullUpCorrelatedExpr::new().with_exists_sub_query(exists);
    subquery.subquery.as_ref().clone().rewrite(&mut pull)?;
    Ok(!pull.can_pull_up)
}

/// Whether a correlated subquery of one value is one that DataFusion leaves as it is.
fn is_out_of_reach(subquery: &Subquery) -> Result<bool> {
    if subquery.outer_ref_columns.is_empty() || !has_one_row(&subquery.subquery) {
        return Ok(false);
    }
    let mut pull = PullUpCorrelatedExpr::new().with_need_handle_count_bug(true);
    subquery.subquery.as_ref().clone().rewrite(&mut pull)?;
    Ok(!pull.can_pull_up)
}

/// Whether a plan has no more than one row for any values around it.
fn has_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(p) => has_one_row(&p.input),
        LogicalPlan::Filter(f) => has_one_row(&f.input),
        LogicalPlan::SubqueryAlias(a) => has_one_row(&a.input),
        LogicalPlan::Sort(s) => has_one_row(&s.input),
        LogicalPlan::Distinct(Distinct::All(input)) => has_one_row(input),
        LogicalPlan::Limit(limit) => {
            has_one_row(&limit.input) || push::fetched(limit) == Some((0, Some(1)))
        }
        _ => false,
    }
}

/// The rows around a subquery with its value beside them, and the value's column; `None` where an operator in it is of a kind that
/// cannot carry the domain along.
fn attached(
    input: &LogicalPlan,
    subquery: &Subquery,
    config: &dyn OptimizerConfig,
) -> Result<Option<(LogicalPlan, Expr)>> {
    let Some(domain) = Domain::of(input, &subquery.subquery, config)? else {
        return Ok(None);
    };
    let Some(pushed) = domain.push(&subquery.subquery)? else {
        return Ok(None);
    };
    let Some(value) = subquery.subquery.schema().columns().into_iter().next() else {
        return Ok(None);
    };
    let name = config.alias_generator().next("__value");
    let keys = pushed.keys.iter().cloned().map(Expr::Column);
    let right = LogicalPlanBuilder::from(pushed.plan)
        .project(
            keys.chain([Expr::Column(value).alias(&name)])
                .collect::<Vec<_>>(),
        )?
        .build()?;
    let (left, left_keys) = domain.around(input)?;
    let joined = LogicalPlanBuilder::from(left)
        .join_detailed(
            right,
            JoinType::Left,
            (left_keys, pushed.keys),
            None,
            NullEquality::NullEqualsNull,
        )?
        .build()?;
    // The keys have done their work.
    let kept = input.schema().columns().into_iter().map(Expr::Column);
    let value = Expr::Column(Column::new_unqualified(name));
    let plan = LogicalPlanBuilder::from(joined)
        .project(kept.chain([value.clone()]).collect::<Vec<_>>())?
        .build()?;
    Ok(Some((plan, value)))
}

/// The rule as an optimizer takes it.
pub fn rule() -> Arc<dyn OptimizerRule + Send + Sync> {
    Arc::new(CorrelatedSubqueries)
}
