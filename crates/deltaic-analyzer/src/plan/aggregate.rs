//! Aggregation: keys and aggregate functions computed, and what stands above rewritten to their columns.

use std::sync::Arc;

use datafusion::common::Column;
use datafusion::functions_aggregate as df;
use datafusion::logical_expr::expr::{AggregateFunction, NullTreatment, Sort};
use datafusion::logical_expr::{
    Aggregate as DfAggregate, AggregateUDF, Cast, Expr, GroupingSet, LogicalPlanBuilder, lit,
};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};

use super::grouping::Grouping;
use super::order::sort_expr;
use crate::binder::{Binder, Rel};
use crate::error::{Ours, quoted, unsupported};
use crate::function::call::{Nulls, cast};
use crate::kernels::{aggregates, arithmetic};
use crate::lower::normalized;
use crate::names::pretty;
use crate::node::{Aggregate, Attr, Imp, Kind, Node, Shown};
use crate::scope::{Scope, ScopeColumn};
use crate::types::{array_of, decimal, is_decimal, is_float, is_integral, same_type};

/// An aggregate as DataFusion computes it, and what makes Spark's value of the result.
pub struct Lowered {
    /// The function.
    pub function: Arc<AggregateUDF>,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// Over different values only.
    pub distinct: bool,
    /// Over these rows only.
    pub filter: Option<Expr>,
    /// In this order.
    pub order: Vec<Sort>,
    /// Without NULLs.
    pub nulls: Option<NullTreatment>,
    /// The type of the raw result.
    pub raw: DataType,
    /// From the raw column to the value.
    pub finish: Finish,
}

/// What follows the raw result.
#[derive(Clone, Debug)]
pub enum Finish {
    /// Nothing.
    Same,
    /// A whole number that was summed as a decimal.
    SumToLong,
    /// A decimal to be checked against its type.
    SumToDecimal,
    /// A list in Spark's form.
    List,
    /// A kernel over the list of values and the further arguments.
    OfList(&'static str),
    /// A native cast.
    Native(fn(Vec<Expr>) -> Expr),
    /// Spark's cast.
    Cast,
}

impl Binder<'_> {
    /// The rows in groups, and the expressions over them.
    pub fn aggregated(
        &self,
        rel: Rel,
        grouping: Grouping,
        nodes: Vec<Node>,
        with_clause: bool,
    ) -> Result<(Rel, Vec<Node>)> {
        // Keys that are no columns are computed first.
        let mut exprs: Vec<Expr> = rel
            .scope
            .columns
            .iter()
            .map(|c| Expr::Column(c.attr.column.clone()))
            .collect();
        let mut keys: Vec<(Node, Attr)> = Vec::new();
        let before = exprs.len();
        for key in &grouping.keys {
            if let Kind::Attr(a) = &key.kind
                && !is_float(&key.ty)
            {
                keys.push((key.clone(), a.clone()));
                continue;
            }
            let attr = self.new_attr(&pretty(key, self.options.zone));
            let expr = normalized(crate::value::value(key)?, key);
            exprs.push(expr.alias(attr.column.name.clone()));
            keys.push((key.clone(), attr));
        }
        let mut builder = LogicalPlanBuilder::from(rel.plan);
        if exprs.len() > before {
            builder = builder.project(exprs).ours()?;
        }
        let mut found: Vec<(Node, Attr, Lowered)> = Vec::new();
        for node in &nodes {
            self.collect_aggregates(node, &mut found)?;
        }
        let key_exprs: Vec<Expr> = keys
            .iter()
            .map(|(_, a)| Expr::Column(a.column.clone()))
            .collect();
        let groups = match &grouping.sets {
            None => key_exprs.clone(),
            Some(sets) => {
                let sets = sets
                    .iter()
                    .map(|s| s.iter().map(|n| key_exprs[*n].clone()).collect())
                    .collect();
                vec![Expr::GroupingSet(GroupingSet::GroupingSets(sets))]
            }
        };
        let mut calls: Vec<Expr> = Vec::new();
        for (_, attr, l) in &found {
            calls.push(
                Expr::AggregateFunction(AggregateFunction::new_udf(
                    Arc::clone(&l.function),
                    l.args.clone(),
                    l.distinct,
                    l.filter.clone().map(Box::new),
                    l.order.clone(),
                    l.nulls,
                ))
                .alias(attr.column.name.clone()),
            );
        }
        if groups.is_empty() && calls.is_empty() {
            calls.push(
                df::count::count_udaf()
                    .call(vec![lit(1_i64)])
                    .alias(self.new_attr("rows").column.name),
            );
        }
        let plan = builder
            .aggregate(groups, calls)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;

        let in_sets = grouping.sets.is_some();
        let mut columns = Vec::new();
        for (node, attr) in &keys {
            let nullable = node.nullable || in_sets;
            columns.push(ScopeColumn {
                attr: attr.clone(),
                ty: node.ty.clone(),
                nullable,
                qualifier: Arc::new([]),
                hidden: false,
            });
        }
        for (node, attr, _) in &found {
            columns.push(ScopeColumn {
                attr: attr.clone(),
                ty: node.ty.clone(),
                nullable: node.nullable,
                qualifier: Arc::new([]),
                hidden: false,
            });
        }
        let out = Rel {
            plan,
            scope: Scope::of(columns),
            partitions: 1,
        };
        let nodes = nodes
            .into_iter()
            .map(|n| {
                let node = self.rewritten(n, &keys, &found, in_sets);
                self.check_grouped(&node, &out.scope, with_clause)?;
                Ok(node)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok((out, nodes))
    }

    fn collect_aggregates(
        &self,
        node: &Node,
        found: &mut Vec<(Node, Attr, Lowered)>,
    ) -> Result<()> {
        if let Kind::Aggregate(a) = &node.kind {
            if matches!(a.function, "grouping" | "grouping_id")
                || found.iter().any(|(n, _, _)| n == node)
            {
                return Ok(());
            }
            if a.args.iter().any(|n| n.has_window()) {
                return Err(DeltaError::new("NESTED_AGGREGATE_FUNCTION"));
            }
            if !a.args.iter().all(Node::is_deterministic) {
                let class = "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION";
                let printed = quoted(pretty(node, self.options.zone));
                return Err(DeltaError::new(class).param("sqlExpr", printed));
            }
            let lowered = self.lowered(a, &node.ty)?;
            found.push((
                node.clone(),
                self.new_attr(&pretty(node, self.options.zone)),
                lowered,
            ));
            return Ok(());
        }
        if let Kind::Window(w) = &node.kind {
            // The function of a window is no aggregate of this level; what it takes may be.
            for n in w
                .function
                .args
                .iter()
                .chain(&w.partition)
                .chain(w.order.iter().map(|k| &k.node))
            {
                self.collect_aggregates(n, found)?;
            }
            return Ok(());
        }
        for child in node.children() {
            self.collect_aggregates(child, found)?;
        }
        Ok(())
    }

    fn rewritten(
        &self,
        node: Node,
        keys: &[(Node, Attr)],
        found: &[(Node, Attr, Lowered)],
        in_sets: bool,
    ) -> Node {
        node.transform_down(&mut |n| {
            if let Some((key, attr)) = keys.iter().find(|(k, _)| *k == n) {
                let name = match (&key.kind, &n.kind) {
                    (_, Kind::Attr(a)) => a.name.clone(),
                    _ => attr.name.clone(),
                };
                let attr = Attr {
                    name,
                    ..attr.clone()
                };
                return Ok(Node::attr(attr, n.ty.clone(), n.nullable || in_sets));
            }
            match &n.kind {
                Kind::Aggregate(a) if matches!(a.function, "grouping" | "grouping_id") => {
                    Ok(self.grouping_call(a, &n, keys))
                }
                Kind::Aggregate(a) => match found.iter().find(|(f, _, _)| *f == n) {
                    Some((_, attr, lowered)) => Ok(self.finished(a, &n, attr, lowered)),
                    None => Err(Box::new(n)),
                },
                _ => Err(Box::new(n)),
            }
        })
    }

    /// The value out of the raw column.
    pub fn finished(&self, a: &Aggregate, n: &Node, attr: &Attr, lowered: &Lowered) -> Node {
        let raw = Node::attr(attr.clone(), lowered.raw.clone(), n.nullable);
        let ty = n.ty.clone();
        let call = |args: Vec<Node>| self.call(&a.shown, args);
        match &lowered.finish {
            Finish::Same => Node::attr(attr.clone(), ty, n.nullable),
            Finish::SumToLong => {
                call(vec![raw]).fallible("sum_to_long", arithmetic::sum_to_long, ty, Nulls::Args)
            }
            Finish::SumToDecimal => call(vec![raw]).fallible(
                "sum_to_decimal",
                arithmetic::sum_to_decimal,
                ty,
                Nulls::Args,
            ),
            Finish::List => call(vec![raw]).kernel("collected", aggregates::list, ty, Nulls::Never),
            Finish::Native(f) => {
                let shown = Shown::Call(a.shown.clone());
                Node::new(
                    Kind::Call {
                        shown,
                        args: vec![raw],
                        imp: Imp::Native(*f),
                    },
                    ty,
                    n.nullable,
                )
            }
            Finish::Cast => cast(raw, &ty, &self.env),
            Finish::OfList(name) => {
                let list = call(vec![raw]).kernel(
                    "collected",
                    aggregates::list,
                    lowered.raw.clone(),
                    Nulls::Never,
                );
                let second = match a.function {
                    "median" => Node::literal(
                        datafusion::common::ScalarValue::Float64(Some(0.5)),
                        DataType::Double,
                    ),
                    _ => a.args[1].clone(),
                };
                let several = matches!(second.ty, DataType::Array(_));
                let args = call(vec![list, second]);
                match *name {
                    "percentile_approx" => args.kernel(
                        "percentile_approx",
                        aggregates::percentile_approx,
                        ty,
                        Nulls::Always,
                    ),
                    _ if several => {
                        args.kernel("percentiles", aggregates::percentiles, ty, Nulls::Always)
                    }
                    _ => args.kernel("percentile", aggregates::percentile, ty, Nulls::Always),
                }
            }
        }
    }

    /// `grouping(a)` and `grouping_id(…)`, out of DataFusion's own number of the set.
    fn grouping_call(&self, a: &Aggregate, n: &Node, keys: &[(Node, Attr)]) -> Node {
        let column = Column::new_unqualified(DfAggregate::INTERNAL_GROUPING_ID);
        let id = Attr {
            id: self.fresh(),
            name: "grouping_id".to_owned(),
            column,
            origin: None,
            char_length: None,
        };
        let raw = Node::attr(id, DataType::Long, false);
        let place = |k: &Node| {
            keys.iter()
                .position(|(key, _)| key == k)
                .map(|p| keys.len() - 1 - p)
        };
        if a.function == "grouping" {
            let shift = a.args.first().and_then(place).unwrap_or(0) as i64;
            let shift = Node::long(shift);
            let shown = Shown::Call(a.shown.clone());
            let imp = Imp::Native(|args| {
                let mut args = args.into_iter();
                let (id, by) = (
                    args.next().unwrap_or_else(|| lit(0_i64)),
                    args.next().unwrap_or_else(|| lit(0_i64)),
                );
                let id = Expr::Cast(Cast::new(Box::new(id), arrow::datatypes::DataType::Int64));
                let bit = datafusion::logical_expr::binary_expr(
                    datafusion::logical_expr::binary_expr(
                        id,
                        datafusion::logical_expr::Operator::BitwiseShiftRight,
                        by,
                    ),
                    datafusion::logical_expr::Operator::BitwiseAnd,
                    lit(1_i64),
                );
                Expr::Cast(Cast::new(Box::new(bit), arrow::datatypes::DataType::Int8))
            });
            return Node::new(
                Kind::Call {
                    shown,
                    args: vec![raw, shift],
                    imp,
                },
                n.ty.clone(),
                false,
            );
        }
        let shown = Shown::Call(a.shown.clone());
        let imp = Imp::Native(|args| {
            let id = args.into_iter().next().unwrap_or_else(|| lit(0_i64));
            Expr::Cast(Cast::new(Box::new(id), arrow::datatypes::DataType::Int64))
        });
        Node::new(
            Kind::Call {
                shown,
                args: vec![raw],
                imp,
            },
            n.ty.clone(),
            false,
        )
    }

    /// Above an aggregation there are keys and aggregates only.
    fn check_grouped(&self, node: &Node, scope: &Scope, with_clause: bool) -> Result<()> {
        let known =
            |a: &Attr| a.name == "grouping_id" || scope.columns.iter().any(|c| c.attr == *a);
        let mut loose = None;
        find_loose(node, &known, &mut loose);
        let Some(name) = loose else { return Ok(()) };
        if !with_clause {
            return Err(DeltaError::new("MISSING_GROUP_BY"));
        }
        Err(DeltaError::new("MISSING_AGGREGATION")
            .param("expression", quoted(&name))
            .param("expressionAnyValue", quoted(format!("any_value({name})"))))
    }

    /// An aggregate function as DataFusion computes it.
    pub fn lowered(&self, a: &Aggregate, ty: &DataType) -> Result<Lowered> {
        let args = a
            .args
            .iter()
            .map(|arg| {
                let value = crate::value::value(arg)?;
                Ok(if a.distinct {
                    normalized(value, arg)
                } else {
                    value
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut filter = a.filter.as_deref().map(crate::value::value).transpose()?;
        let mut order = a.order.iter().map(sort_expr).collect::<Result<Vec<_>>>()?;
        let first_type = a.args.first().map_or(DataType::Void, |n| n.ty.clone());
        let first = || args.first().cloned().unwrap_or_else(|| lit(true));
        let with_filter = |filter: &mut Option<Expr>, more: Expr| {
            *filter = Some(match filter.take() {
                Some(f) => f.and(more),
                None => more,
            });
        };
        let mut distinct = a.distinct;
        let (mut raw, mut finish) = (ty.clone(), Finish::Same);
        let nulls = a.ignore_nulls.then_some(NullTreatment::IgnoreNulls);
        let mut out = args.clone();
        let function = match a.function {
            "count" | "approx_count_distinct" => {
                if a.function != "count" {
                    (distinct, out) = (true, vec![first()]);
                } else if !distinct
                    && matches!(args.as_slice(), [Expr::Literal(value, _)] if !value.is_null())
                {
                    // The form that is answered from statistics.
                    out = vec![lit(1_i64)];
                } else if args.len() > 1 {
                    let all = args
                        .iter()
                        .cloned()
                        .map(Expr::is_not_null)
                        .reduce(Expr::and)
                        .unwrap_or_else(|| lit(true));
                    with_filter(&mut filter, all);
                    out = if distinct {
                        vec![datafusion::functions::core::r#struct().call(args.clone())]
                    } else {
                        vec![lit(1_i64)]
                    };
                }
                df::count::count_udaf()
            }
            "count_if" => {
                with_filter(&mut filter, first());
                out = vec![lit(1_i64)];
                df::count::count_udaf()
            }
            "sum" | "try_sum" if is_integral(&first_type) => {
                let wide = DataType::Decimal {
                    precision: 20,
                    scale: 0,
                };
                out = vec![crate::value::value(&cast(
                    a.args[0].clone(),
                    &wide,
                    &self.env,
                ))?];
                raw = DataType::Decimal {
                    precision: 30,
                    scale: 0,
                };
                finish = Finish::SumToLong;
                df::sum::sum_udaf()
            }
            "sum" | "try_sum" => {
                if is_decimal(&first_type) {
                    finish = Finish::SumToDecimal;
                } else if first_type == DataType::Float {
                    out = vec![crate::value::value(&cast(
                        a.args[0].clone(),
                        &DataType::Double,
                        &self.env,
                    ))?];
                } else if crate::types::is_ansi_interval(&first_type) {
                    return Err(unsupported("the sum of intervals"));
                }
                df::sum::sum_udaf()
            }
            "avg" => {
                if let DataType::Decimal { precision, scale } = &first_type {
                    raw = decimal::bounded(i32::from(*precision) + 4, i32::from(*scale) + 4);
                    if !same_type(&raw, ty) {
                        finish = Finish::Cast;
                    }
                } else if crate::types::is_ansi_interval(&first_type) {
                    return Err(unsupported("the average of intervals"));
                } else {
                    out = vec![crate::value::value(&cast(
                        a.args[0].clone(),
                        &DataType::Double,
                        &self.env,
                    ))?];
                }
                df::average::avg_udaf()
            }
            "min" => df::min_max::min_udaf(),
            "max" => df::min_max::max_udaf(),
            "first" => df::first_last::first_value_udaf(),
            "last" => df::first_last::last_value_udaf(),
            "collect_list" | "collect_set" => {
                distinct |= a.function == "collect_set";
                with_filter(&mut filter, first().is_not_null());
                finish = Finish::List;
                df::array_agg::array_agg_udaf()
            }
            "median" | "percentile" | "percentile_approx" => {
                with_filter(&mut filter, first().is_not_null());
                out = vec![first()];
                raw = array_of(first_type, false);
                finish = Finish::OfList(if a.function == "percentile_approx" {
                    "percentile_approx"
                } else {
                    "percentile"
                });
                df::array_agg::array_agg_udaf()
            }
            "stddev" => df::stddev::stddev_udaf(),
            "stddev_pop" => df::stddev::stddev_pop_udaf(),
            "variance" => df::variance::var_samp_udaf(),
            "var_pop" => df::variance::var_pop_udaf(),
            "corr" => df::correlation::corr_udaf(),
            "covar_samp" => df::covariance::covar_samp_udaf(),
            "covar_pop" => df::covariance::covar_pop_udaf(),
            "bool_and" => df::bool_and_or::bool_and_udaf(),
            "bool_or" => df::bool_and_or::bool_or_udaf(),
            "bit_and" => df::bit_and_or_xor::bit_and_udaf(),
            "bit_or" => df::bit_and_or_xor::bit_or_udaf(),
            "bit_xor" => df::bit_and_or_xor::bit_xor_udaf(),
            "max_by" | "min_by" => {
                let key = args.get(1).cloned().unwrap_or_else(|| lit(true));
                with_filter(&mut filter, key.clone().is_not_null());
                order = vec![Sort::new(key, a.function == "min_by", false)];
                out = vec![first()];
                df::first_last::first_value_udaf()
            }
            "string_agg" => {
                let empty = args
                    .get(1)
                    .is_none_or(|e| matches!(e, Expr::Literal(v, _) if v.is_null()));
                if empty {
                    out = vec![first(), lit("")];
                }
                finish = Finish::Native(|args| {
                    let arg = args.into_iter().next().unwrap_or_else(|| lit(""));
                    Expr::Cast(Cast::new(Box::new(arg), arrow::datatypes::DataType::Utf8))
                });
                df::string_agg::string_agg_udaf()
            }
            other => return Err(unsupported(format!("the aggregate function {other}"))),
        };
        Ok(Lowered {
            function,
            args: out,
            distinct,
            filter,
            order,
            nulls,
            raw,
            finish,
        })
    }
}

/// The first column that no group has, by name.
fn find_loose(node: &Node, known: &dyn Fn(&Attr) -> bool, out: &mut Option<String>) {
    if out.is_some() {
        return;
    }
    match &node.kind {
        Kind::Attr(a) if !known(a) => *out = Some(a.name.clone()),
        Kind::Lambda(l) => {
            let with = |a: &Attr| known(a) || l.params.iter().any(|(p, _)| p == a);
            find_loose(&l.body, &with, out);
        }
        _ => {
            for child in node.children() {
                find_loose(child, known, out);
            }
        }
    }
}
