//! A whole query: CTEs, the body, ORDER BY and LIMIT around set operations.

use std::rc::Rc;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::LogicalPlanBuilder;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{Expr, LimitClause, OrderBy, Query, SetExpr};

use crate::binder::{Around, Binder, Cte, Cx, Rel, Sight};
use crate::error::{Ours, quoted, unsupported};
use crate::fold::{evaluate, whole};
use crate::names::pretty;
use crate::node::Node;
use crate::scope::Scope;
use crate::types::{is_integral, shown};

impl Binder<'_> {
    /// A query, in the sight of the CTEs and the query around it.
    pub fn query(&self, q: &Query, sight: &Sight, around: Option<&Around<'_>>) -> Result<Rel> {
        let sight = self.with_ctes(q, sight)?;
        let rel = match q.body.as_ref() {
            SetExpr::Select(select) => self.select(select, q.order_by.as_ref(), &sight, around)?,
            body => {
                let rel = self.set_expr(body, &sight, around)?;
                match &q.order_by {
                    Some(order) => self.order_output(rel, order, &sight, around)?,
                    None => rel,
                }
            }
        };
        match &q.limit_clause {
            Some(limit) => self.limit(rel, limit),
            None => Ok(rel),
        }
    }

    fn with_ctes(&self, q: &Query, sight: &Sight) -> Result<Sight> {
        let Some(with) = &q.with else {
            return Ok(sight.clone());
        };
        if with.recursive {
            return Err(unsupported("WITH RECURSIVE"));
        }
        let mut sight = sight.clone();
        let mut seen: Vec<String> = Vec::new();
        for cte in &with.cte_tables {
            let name = cte.alias.name.value.clone();
            if seen.iter().any(|s| s.eq_ignore_ascii_case(&name)) {
                return Err(DeltaError::new("DUPLICATED_CTE_NAMES")
                    .param("duplicateNames", format!("`{name}`")));
            }
            seen.push(name.clone());
            let entry = Cte {
                name,
                columns: cte
                    .alias
                    .columns
                    .iter()
                    .map(|c| c.name.value.clone())
                    .collect(),
                query: Arc::new(cte.query.as_ref().clone()),
                sight: sight.clone(),
            };
            // A CTE is bound where it is used, but its errors belong to the statement in any case.
            let mut all: Vec<Rc<Cte>> = sight.ctes.iter().map(Rc::clone).collect();
            all.push(Rc::new(entry));
            sight = Sight {
                ctes: Rc::new(all),
                view: sight.view.clone(),
            };
        }
        Ok(sight)
    }

    /// The body of a query without its ORDER BY.
    pub fn set_expr(
        &self,
        body: &SetExpr,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        match body {
            SetExpr::Select(select) => self.select(select, None, sight, around),
            SetExpr::Query(query) => self.query(query, sight, around),
            SetExpr::Values(values) => self.values(values, sight, around),
            SetExpr::SetOperation {
                left,
                op,
                set_quantifier,
                right,
            } => {
                let l = self.set_expr(left, sight, around)?;
                let r = self.set_expr(right, sight, around)?;
                self.set_operation(l, *op, *set_quantifier, r)
            }
            other => Err(unsupported(format!("the query {other}"))),
        }
    }

    fn order_output(
        &self,
        rel: Rel,
        order: &OrderBy,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let scope = rel.scope.clone();
        let cx = Cx::new(&scope, around, sight);
        let keys = self.output_keys(order, &scope, &cx)?;
        self.sorted(rel, &keys)
    }

    /// LIMIT and OFFSET.
    pub fn limit(&self, rel: Rel, clause: &LimitClause) -> Result<Rel> {
        let (limit, offset) = match clause {
            LimitClause::LimitOffset { limit, offset, .. } => {
                (limit.as_ref(), offset.as_ref().map(|o| &o.value))
            }
            LimitClause::OffsetCommaLimit { offset, limit } => (Some(limit), Some(offset)),
        };
        let fetch = limit.map(|e| self.count("limit", e)).transpose()?;
        let skip = offset
            .map(|e| self.count("offset", e))
            .transpose()?
            .unwrap_or(0);
        let plan = LogicalPlanBuilder::from(rel.plan)
            .limit(skip, fetch)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        Ok(Rel {
            plan,
            partitions: 1,
            ..rel
        })
    }

    /// A constant number of rows.
    pub fn count(&self, name: &'static str, e: &Expr) -> Result<usize> {
        let scope = Scope::default();
        let sight = Sight::default();
        let node = self.expr(e, &Cx::new(&scope, None, &sight))?;
        self.row_count(name, node)
    }

    fn row_count(&self, name: &'static str, node: Node) -> Result<usize> {
        let text = quoted(pretty(&node, self.options.zone));
        let fail = |class: &'static str| {
            DeltaError::new(class)
                .param("expr", text.clone())
                .param("name", name)
        };
        if !node.is_foldable() {
            return Err(fail("INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE"));
        }
        if !is_integral(&node.ty) && node.ty != DataType::Void {
            return Err(
                fail("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE").param("dataType", shown(&node.ty))
            );
        }
        match evaluate(&node)? {
            ScalarValue::Null => Err(fail("INVALID_LIMIT_LIKE_EXPRESSION.IS_NULL")),
            v => match whole(&v) {
                Some(n) if n < 0 => {
                    Err(fail("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE").param("v", n))
                }
                Some(n) => Ok(n as usize),
                None => Err(fail("INVALID_LIMIT_LIKE_EXPRESSION.IS_NULL")),
            },
        }
    }
}
