//! One SELECT: WHERE, the list, GROUP BY and HAVING, windows, DISTINCT, ORDER BY with columns that the list lacks,
//! and the hints about partitions.

use std::cell::RefCell;

use datafusion::logical_expr::{LogicalPlanBuilder, and};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, NamedWindowExpr, OrderBy, OrderByKind, Select, WindowSpec,
};

use super::order::position;
use super::set::check_distinct;
use super::stars::Item;
use crate::binder::{Around, Binder, Cx, Rel, Sight};
use crate::error::{Ours, quoted};
use crate::filter::lower_filter;
use crate::names::pretty;
use crate::node::{Kind, Node, SortKey};
use crate::scope::Scope;

impl Binder<'_> {
    /// A SELECT with the ORDER BY behind it.
    pub fn select(
        &self,
        s: &Select,
        order: Option<&OrderBy>,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let mut rel = self.from(&s.from, sight, around)?;
        for view in &s.lateral_views {
            rel = self.lateral_view(rel, view, sight, around)?;
        }
        if let Some(condition) = &s.selection {
            rel = self.filtered(rel, condition, sight, around)?;
        }
        let windows = named_windows(s)?;
        let scope = rel.scope.clone();
        let cx = Cx {
            windows: &windows,
            ..Cx::new(&scope, around, sight)
        };
        let mut items = self.items(&s.projection, &cx)?;
        (rel, items) = self.generated(rel, items)?;

        let mut having = s
            .having
            .as_ref()
            .map(|e| self.boolean(e, &cx))
            .transpose()?;
        let by_list = order
            .map(|o| self.order_nodes(o, &items, &cx))
            .transpose()?
            .unwrap_or_default();
        let mut hidden: Vec<Node> = by_list.iter().filter_map(|k| k.input.clone()).collect();

        let grouped = !matches!(&s.group_by, GroupByExpr::Expressions(keys, m) if keys.is_empty() && m.is_empty());
        let any =
            items.iter().any(|i| i.node.has_aggregate()) || hidden.iter().any(Node::has_aggregate);
        if grouped || any || having.is_some() {
            let grouping = self.grouping(&s.group_by, &items, &cx)?;
            let mut nodes: Vec<Node> = items.iter().map(|i| i.node.clone()).collect();
            nodes.append(&mut hidden);
            nodes.extend(having.take());
            let with_having = s.having.is_some();
            let (grouped_rel, mut nodes) = self.aggregated(rel, grouping, nodes, grouped)?;
            rel = grouped_rel;
            if with_having && let Some(condition) = nodes.pop() {
                rel = self.filter(rel, &condition)?;
            }
            hidden = nodes.split_off(items.len());
            for (item, node) in items.iter_mut().zip(nodes) {
                item.node = node;
            }
        }
        let mut nodes: Vec<Node> = items.iter().map(|i| i.node.clone()).collect();
        nodes.append(&mut hidden);
        if nodes.iter().any(Node::has_window) {
            (rel, nodes) = self.with_windows(rel, nodes)?;
        }
        hidden = nodes.split_off(items.len());
        for (item, node) in items.iter_mut().zip(nodes) {
            item.node = node;
        }

        let distinct = match &s.distinct {
            Some(Distinct::Distinct) => true,
            Some(Distinct::On(_)) => return Err(crate::error::unsupported("DISTINCT ON")),
            _ => false,
        };
        rel = self.listed(rel, &items, hidden, &by_list, order, distinct)?;
        if !s.sort_by.is_empty() || !s.cluster_by.is_empty() || !s.distribute_by.is_empty() {
            rel = self.clustered(rel, s, sight)?;
        }
        self.hinted(rel, s)
    }

    /// The rows that a condition lets through.
    pub fn filtered(
        &self,
        rel: Rel,
        condition: &Expr,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let scope = rel.scope.clone();
        let node = self.boolean(condition, &Cx::new(&scope, around, sight))?;
        self.check_condition(&node)?;
        self.filter(rel, &node)
    }

    /// A WHERE holds no aggregates, windows and generators.
    pub fn check_condition(&self, node: &Node) -> Result<()> {
        let zone = self.options.zone;
        let bad = |n: &Node| {
            matches!(
                n.kind,
                Kind::Aggregate(_) | Kind::Window(_) | Kind::Generator(_)
            )
        };
        if !node.any(&bad) {
            return Ok(());
        }
        let mut found = Vec::new();
        collect(node, &bad, &mut found);
        let list: Vec<String> = found.iter().map(|n| pretty(n, zone)).collect();
        Err(DeltaError::new("INVALID_WHERE_CONDITION")
            .param("condition", quoted(pretty(node, zone)))
            .param("expressionList", list.join(", ")))
    }

    /// A filter over bound columns.
    pub fn filter(&self, rel: Rel, condition: &Node) -> Result<Rel> {
        let mut builder = LogicalPlanBuilder::from(rel.plan);
        // As one: of filters above one another DataFusion forgets columns when it turns a subquery into a join.
        if let Some(whole) = lower_filter(condition)?.into_iter().reduce(and) {
            builder = builder.filter(whole).ours()?;
        }
        Ok(Rel {
            plan: builder.build().ours()?,
            ..rel
        })
    }

    /// Where each key of an ORDER BY comes from: the output, or the input.
    fn order_nodes(&self, order: &OrderBy, items: &[Item], cx: &Cx<'_>) -> Result<Vec<Key>> {
        let OrderByKind::Expressions(keys) = &order.kind else {
            return Ok(vec![]);
        };
        let mut columns = Vec::new();
        for item in items {
            let mut column = crate::scope::ScopeColumn {
                attr: self.new_attr(&item.name),
                ty: item.node.ty.clone(),
                nullable: item.node.nullable,
                qualifier: item
                    .source
                    .as_ref()
                    .map_or_else(|| [].into(), |c| std::sync::Arc::clone(&c.qualifier)),
                hidden: false,
            };
            column.attr.name = item.name.clone();
            columns.push(column);
        }
        let output = Scope::of(columns);
        let lone = Cx {
            windows: cx.windows,
            ..Cx::new(&output, None, cx.sight)
        };
        keys.iter()
            .map(|k| {
                if position(&k.expr).is_some() && self.options.ordinals {
                    return Ok(Key { input: None });
                }
                match self.expr(&k.expr, &lone) {
                    Ok(node) if !node.has_aggregate() && !node.has_window() => {
                        Ok(Key { input: None })
                    }
                    Ok(_) => Ok(Key {
                        input: Some(self.expr(&k.expr, cx)?),
                    }),
                    Err(e)
                        if e.class().is_some_and(|c| {
                            c.starts_with("UNRESOLVED_COLUMN") || c == "FIELD_NOT_FOUND"
                        }) =>
                    {
                        match self.expr(&k.expr, cx) {
                            Ok(node) => Ok(Key { input: Some(node) }),
                            Err(inner)
                                if inner
                                    .class()
                                    .is_some_and(|c| c.starts_with("UNRESOLVED_COLUMN")) =>
                            {
                                Err(e)
                            }
                            Err(inner) => Err(inner),
                        }
                    }
                    Err(e) => Err(e),
                }
            })
            .collect()
    }

    /// The list as a projection, in order; keys that the list lacks are carried along and dropped at the end.
    fn listed(
        &self,
        rel: Rel,
        items: &[Item],
        hidden: Vec<Node>,
        keys: &[Key],
        order: Option<&OrderBy>,
        distinct: bool,
    ) -> Result<Rel> {
        if distinct && !hidden.is_empty() {
            let scope = Scope::of(items.iter().filter_map(|i| i.source.clone()).collect());
            let name = hidden
                .first()
                .map(|n| pretty(n, self.options.zone))
                .unwrap_or_default();
            return Err(scope.unresolved(&[&name]));
        }
        let mut nodes: Vec<(String, Node)> = items
            .iter()
            .map(|i| (i.name.clone(), i.node.clone()))
            .collect();
        for (n, node) in hidden.iter().enumerate() {
            nodes.push((format!("key{n}"), node.clone()));
        }
        let mut out = self.project(rel, &nodes)?;
        for (c, item) in out.scope.columns.iter_mut().zip(items) {
            if let Some(source) = &item.source {
                c.qualifier = std::sync::Arc::clone(&source.qualifier);
            }
        }
        if distinct {
            check_distinct(&out.scope)?;
            let plan = LogicalPlanBuilder::from(out.plan)
                .distinct()
                .and_then(LogicalPlanBuilder::build)
                .ours()?;
            out = Rel {
                plan,
                partitions: 1,
                ..out
            };
        }
        let Some(order) = order else { return Ok(out) };
        let visible = Scope::of(out.scope.columns[..items.len()].to_vec());
        let extra: Vec<Node> = out.scope.columns[items.len()..]
            .iter()
            .map(|c| c.node(&c.attr.name))
            .collect();
        let sight = Sight::default();
        let cx = Cx::new(&visible, None, &sight);
        let next = RefCell::new((0, 0));
        let sort: Vec<SortKey> = self.keys(order, &visible, &|e| {
            let mut next = next.borrow_mut();
            // Positions are taken before; the keys that come here are the others, in order.
            let mut at = next.0;
            if let OrderByKind::Expressions(all) = &order.kind {
                while all
                    .get(at)
                    .is_some_and(|k| position(&k.expr).is_some() && self.options.ordinals)
                {
                    at += 1;
                }
            }
            next.0 = at + 1;
            match keys.get(at) {
                Some(Key { input: Some(_) }) => {
                    let node = extra.get(next.1).cloned();
                    next.1 += 1;
                    node.ok_or_else(|| crate::error::internal("a sort key that was lost"))
                }
                _ => self.expr(e, &cx),
            }
        })?;
        out = self.sorted(out, &sort)?;
        if extra.is_empty() {
            return Ok(out);
        }
        let kept: Vec<datafusion::logical_expr::Expr> = visible
            .columns
            .iter()
            .map(|c| datafusion::logical_expr::Expr::Column(c.attr.column.clone()))
            .collect();
        let plan = LogicalPlanBuilder::from(out.plan)
            .project(kept)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        Ok(Rel {
            plan,
            scope: visible,
            partitions: out.partitions,
        })
    }

    /// SORT BY, CLUSTER BY and DISTRIBUTE BY: one partition, in order.
    fn clustered(&self, rel: Rel, s: &Select, sight: &Sight) -> Result<Rel> {
        let scope = rel.scope.clone();
        let cx = Cx::new(&scope, None, sight);
        let mut keys = self.sort_keys(&s.sort_by, &cx)?;
        for e in &s.cluster_by {
            let options = sqlparser::ast::OrderByOptions {
                asc: None,
                nulls_first: None,
            };
            keys.push(self.sort_key(self.expr(e, &cx)?, &options)?);
        }
        let mut rel = self.sorted(rel, &keys)?;
        if !s.cluster_by.is_empty() || !s.distribute_by.is_empty() {
            rel.partitions = 1;
        }
        Ok(rel)
    }

    /// `COALESCE(n)`, `REPARTITION(n, …)`, `REBALANCE`.
    fn hinted(&self, mut rel: Rel, s: &Select) -> Result<Rel> {
        for hint in deltaic_sql::hints::hints(s) {
            let number = hint
                .args
                .first()
                .and_then(position)
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| *n > 0);
            match hint.name.as_str() {
                "COALESCE" => {
                    rel.partitions = number.map_or(rel.partitions, |n| n.min(rel.partitions))
                }
                "REPARTITION" | "REPARTITION_BY_RANGE" | "REBALANCE" => {
                    rel.partitions = number.unwrap_or(1)
                }
                _ => {}
            }
        }
        Ok(rel)
    }
}

/// A key of an ORDER BY: over the output where `input` is None.
struct Key {
    input: Option<Node>,
}

fn collect<'n>(node: &'n Node, wanted: &dyn Fn(&Node) -> bool, out: &mut Vec<&'n Node>) {
    if wanted(node) {
        out.push(node);
        return;
    }
    for child in node.children() {
        collect(child, wanted, out);
    }
}

fn named_windows(s: &Select) -> Result<Vec<(String, WindowSpec)>> {
    let mut out: Vec<(String, WindowSpec)> = Vec::new();
    for definition in &s.named_window {
        let spec = match &definition.1 {
            NamedWindowExpr::WindowSpec(spec) => spec.clone(),
            NamedWindowExpr::NamedWindow(other) => {
                let found = out
                    .iter()
                    .find(|(n, _)| n.eq_ignore_ascii_case(&other.value));
                match found {
                    Some((_, spec)) => spec.clone(),
                    None => {
                        return Err(DeltaError::new("MISSING_WINDOW_SPECIFICATION")
                            .param("windowName", &other.value));
                    }
                }
            }
        };
        out.push((definition.0.value.clone(), spec));
    }
    Ok(out)
}
