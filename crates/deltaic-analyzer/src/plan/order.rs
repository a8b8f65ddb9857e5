//! ORDER BY: by position, by a column of the output, or by anything that the input has; and the sort itself.

use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{self, OrderBy, OrderByKind};

use crate::binder::{Binder, Cx, Rel};
use crate::error::Ours;
use crate::node::{Node, SortKey};
use crate::scope::Scope;

/// The position that a key is, as in `ORDER BY 1`.
pub fn position(e: &ast::Expr) -> Option<i64> {
    match e {
        ast::Expr::Value(v) => match &v.value {
            ast::Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

impl Binder<'_> {
    /// Keys over the output of a query alone.
    pub fn output_keys(
        &self,
        order: &OrderBy,
        output: &Scope,
        cx: &Cx<'_>,
    ) -> Result<Vec<SortKey>> {
        self.keys(order, output, &|e| self.expr(e, cx))
    }

    /// Keys of an ORDER BY; `bind` makes those that are no position.
    pub fn keys(
        &self,
        order: &OrderBy,
        output: &Scope,
        bind: &dyn Fn(&ast::Expr) -> Result<Node>,
    ) -> Result<Vec<SortKey>> {
        let column = |n: usize| output.visible().nth(n).map(|c| c.node(&c.attr.name));
        match &order.kind {
            OrderByKind::All(options) => output
                .visible()
                .map(|c| self.sort_key(c.node(&c.attr.name), options))
                .collect(),
            OrderByKind::Expressions(keys) => keys
                .iter()
                .map(|k| {
                    let node = match position(&k.expr).filter(|_| self.options.ordinals) {
                        Some(n) => {
                            let found = usize::try_from(n - 1).ok().and_then(column);
                            found.ok_or_else(|| {
                                DeltaError::new("ORDER_BY_POS_OUT_OF_RANGE")
                                    .param("index", n)
                                    .param("size", output.visible().count())
                            })?
                        }
                        None => bind(&k.expr)?,
                    };
                    self.sort_key(node, &k.options)
                })
                .collect(),
        }
    }

    /// The rows in order.
    pub fn sorted(&self, rel: Rel, keys: &[SortKey]) -> Result<Rel> {
        if keys.is_empty() {
            return Ok(rel);
        }
        let exprs = keys.iter().map(sort_expr).collect::<Result<Vec<_>>>()?;
        let plan = LogicalPlanBuilder::from(rel.plan)
            .sort(exprs)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        Ok(Rel {
            plan,
            partitions: 1,
            ..rel
        })
    }
}

/// A key as DataFusion sorts by it.
pub fn sort_expr(k: &SortKey) -> Result<Sort> {
    Ok(Sort::new(
        floats(crate::value::value(&k.node)?, &k.node),
        k.ascending,
        k.nulls_first,
    ))
}

/// `-0.0` sorts with `0.0`.
fn floats(e: Expr, node: &Node) -> Expr {
    use datafusion::logical_expr::lit;
    use deltaic_protocol::schema::DataType;
    match node.ty {
        DataType::Double => e + lit(0.0_f64),
        DataType::Float => e + lit(0.0_f32),
        _ => e,
    }
}
