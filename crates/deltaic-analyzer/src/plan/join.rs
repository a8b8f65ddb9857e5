//! Joins of every kind, with ON, USING and NATURAL.

use std::sync::Arc;

use datafusion::common::JoinType;
use datafusion::logical_expr::LogicalPlanBuilder;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{JoinConstraint, JoinOperator, ObjectName};

use crate::binder::{Around, Binder, Cx, Rel, Sight};
use crate::error::{Ours, quoted, unsupported};
use crate::function::conditional;
use crate::function::operator;
use crate::lower::{conjuncts, lower};
use crate::names::pretty;
use crate::node::{Node, Op};
use crate::scope::ScopeColumn;

impl Binder<'_> {
    /// Every row with every row.
    pub fn cross(&self, left: Rel, right: Rel) -> Result<Rel> {
        let plan = LogicalPlanBuilder::from(left.plan)
            .cross_join(right.plan)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        let mut scope = left.scope;
        scope.extend(right.scope);
        Ok(Rel {
            plan,
            scope,
            partitions: left.partitions * right.partitions,
        })
    }

    /// A join.
    pub fn join(
        &self,
        left: Rel,
        right: Rel,
        op: &JoinOperator,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        use JoinOperator as J;
        let (kind, constraint) = match op {
            J::Join(c) | J::Inner(c) | J::StraightJoin(c) => (JoinType::Inner, c),
            J::CrossJoin(c) => (JoinType::Inner, c),
            J::Left(c) | J::LeftOuter(c) => (JoinType::Left, c),
            J::Right(c) | J::RightOuter(c) => (JoinType::Right, c),
            J::FullOuter(c) => (JoinType::Full, c),
            J::Semi(c) | J::LeftSemi(c) => (JoinType::LeftSemi, c),
            J::Anti(c) | J::LeftAnti(c) => (JoinType::LeftAnti, c),
            other => return Err(unsupported(format!("the join {other:?}"))),
        };
        match constraint {
            JoinConstraint::None => {
                if kind == JoinType::Inner {
                    return self.cross(left, right);
                }
                self.join_on(left, right, kind, Some(Node::boolean(true)))
            }
            JoinConstraint::On(e) => {
                let mut both = left.scope.clone();
                both.extend(right.scope.clone());
                let cx = Cx::new(&both, around, sight);
                let condition = self.boolean(e, &cx)?;
                if condition.has_aggregate() || condition.has_window() {
                    return Err(DeltaError::new("UNSUPPORTED_EXPR_FOR_OPERATOR").param(
                        "invalidExprSqls",
                        quoted(pretty(&condition, self.options.zone)),
                    ));
                }
                self.join_on(left, right, kind, Some(condition))
            }
            JoinConstraint::Using(names) => {
                let names = names.iter().map(last_part).collect::<Vec<_>>();
                self.join_using(left, right, kind, &names)
            }
            JoinConstraint::Natural => {
                let names: Vec<String> = left
                    .scope
                    .visible()
                    .map(|c| c.attr.name.clone())
                    .filter(|n| {
                        right
                            .scope
                            .visible()
                            .any(|c| c.attr.name.eq_ignore_ascii_case(n))
                    })
                    .collect();
                if names.is_empty() {
                    return self.join_on(left, right, kind, None);
                }
                self.join_using(left, right, kind, &names)
            }
        }
    }

    fn join_on(
        &self,
        left: Rel,
        right: Rel,
        kind: JoinType,
        condition: Option<Node>,
    ) -> Result<Rel> {
        let on = match &condition {
            Some(node) => conjuncts(node)
                .into_iter()
                .map(crate::value::value)
                .collect::<Result<Vec<_>>>()?,
            None if kind == JoinType::Inner => return self.cross(left, right),
            None => vec![lower(&Node::boolean(true))?],
        };
        let plan = LogicalPlanBuilder::from(left.plan)
            .join_on(right.plan, kind, on)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        let (left_null, right_null) = match kind {
            JoinType::Left => (false, true),
            JoinType::Right => (true, false),
            JoinType::Full => (true, true),
            _ => (false, false),
        };
        let mut scope = left.scope;
        for c in scope.columns.iter_mut().chain(&mut scope.metadata) {
            c.nullable |= left_null;
        }
        if !matches!(kind, JoinType::LeftSemi | JoinType::LeftAnti) {
            let mut other = right.scope;
            for c in other.columns.iter_mut().chain(&mut other.metadata) {
                c.nullable |= right_null;
            }
            scope.extend(other);
        }
        Ok(Rel {
            plan,
            scope,
            partitions: 1,
        })
    }

    /// The named columns stand first and once; those of the other side are found by their qualifier only.
    fn join_using(&self, left: Rel, right: Rel, kind: JoinType, names: &[String]) -> Result<Rel> {
        let side = |rel: &Rel, name: &str, which: &str| -> Result<ScopeColumn> {
            let found = rel.scope.find(&[name], self.options.case_sensitive)?;
            found.map(|(c, _)| c.clone()).ok_or_else(|| {
                let mut all: Vec<String> = rel
                    .scope
                    .visible()
                    .map(|c| format!("`{}`", c.attr.name))
                    .collect();
                all.sort();
                DeltaError::new("UNRESOLVED_USING_COLUMN_FOR_JOIN")
                    .param("colName", format!("`{name}`"))
                    .param("side", which)
                    .param("suggestion", all.join(", "))
            })
        };
        let pairs = names
            .iter()
            .map(|n| Ok((side(&left, n, "left")?, side(&right, n, "right")?)))
            .collect::<Result<Vec<_>>>()?;
        let mut condition: Option<Node> = None;
        for (l, r) in &pairs {
            let equal = operator::comparison(
                Op::Equal,
                l.node(&l.attr.name),
                r.node(&r.attr.name),
                &self.env,
                self.options,
            )?;
            condition = Some(match condition {
                Some(c) => operator::logical(Op::And, c, equal, &self.env, self.options)?,
                None => equal,
            });
        }
        let mut rel = self.join_on(left, right, kind, condition)?;
        let is_one_of = |c: &ScopeColumn, left: bool| {
            pairs
                .iter()
                .any(|(l, r)| c.attr == if left { &l.attr } else { &r.attr }.clone())
        };
        let mut first = Vec::new();
        if kind == JoinType::Full {
            // Neither side has the value in every row: a new column does.
            let mut nodes: Vec<(String, Node)> = Vec::new();
            for (l, r) in &pairs {
                let args = vec![l.node(&l.attr.name), r.node(&r.attr.name)];
                nodes.push((
                    l.attr.name.clone(),
                    conditional::coalesce(self.call("coalesce", args))?,
                ));
            }
            let mut exprs: Vec<_> = rel
                .scope
                .all()
                .map(|c| datafusion::logical_expr::Expr::Column(c.attr.column.clone()))
                .collect();
            for (name, node) in &nodes {
                let attr = self.new_attr(name);
                exprs.push(crate::value::value(node)?.alias(attr.column.name.clone()));
                first.push(ScopeColumn {
                    attr,
                    ty: node.ty.clone(),
                    nullable: node.nullable,
                    qualifier: Arc::new([]),
                    hidden: false,
                });
            }
            rel.plan = LogicalPlanBuilder::from(rel.plan)
                .project(exprs)
                .and_then(LogicalPlanBuilder::build)
                .ours()?;
            for c in &mut rel.scope.columns {
                if is_one_of(c, true) || is_one_of(c, false) {
                    c.hidden = true;
                }
            }
        } else {
            let keep_left = kind != JoinType::Right;
            for (l, r) in &pairs {
                let kept = if keep_left { &l.attr } else { &r.attr };
                let at = rel.scope.columns.iter().position(|c| c.attr == *kept);
                if let Some(at) = at {
                    first.push(rel.scope.columns.remove(at));
                }
            }
            for c in &mut rel.scope.columns {
                if is_one_of(c, !keep_left) {
                    c.hidden = true;
                }
            }
        }
        first.append(&mut rel.scope.columns);
        rel.scope.columns = first;
        Ok(rel)
    }
}

fn last_part(name: &ObjectName) -> String {
    name.0
        .last()
        .and_then(|p| p.as_ident())
        .map(|i| i.value.clone())
        .unwrap_or_default()
}
