//! Window functions: computed below the list, which then reads their columns.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::functions_window as dfw;
use datafusion::logical_expr::expr::{NullTreatment, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{
    Cast, Expr, LogicalPlanBuilder, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition,
};
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::aggregate::{Finish, Lowered};
use super::order::sort_expr;
use crate::binder::{Binder, Rel};
use crate::error::{Ours, unsupported};
use crate::lower::lower;
use crate::node::{Attr, Bound, Frame, Kind, Node, Window};
use crate::scope::ScopeColumn;

impl Binder<'_> {
    /// The window functions of some expressions as columns, and the expressions over them.
    pub fn with_windows(&self, rel: Rel, nodes: Vec<Node>) -> Result<(Rel, Vec<Node>)> {
        let mut found: Vec<(Node, Attr, Lowered)> = Vec::new();
        for node in &nodes {
            self.collect_windows(node, &mut found)?;
        }
        // Functions over one partitioning and order share a node.
        let mut groups: Vec<(&Window, Vec<Expr>)> = Vec::new();
        for (node, attr, lowered) in &found {
            let Kind::Window(w) = &node.kind else {
                continue;
            };
            let expr = self
                .window_expr(w, lowered)?
                .alias(attr.column.name.clone());
            match groups
                .iter_mut()
                .find(|(g, _)| g.partition == w.partition && g.order == w.order)
            {
                Some((_, exprs)) => exprs.push(expr),
                None => groups.push((w, vec![expr])),
            }
        }
        let mut builder = LogicalPlanBuilder::from(rel.plan);
        for (_, exprs) in groups {
            builder = builder.window(exprs).ours()?;
        }
        let plan = builder.build().ours()?;
        let mut scope = rel.scope;
        for (node, attr, _) in &found {
            scope.columns.push(ScopeColumn {
                attr: attr.clone(),
                ty: node.ty.clone(),
                nullable: node.nullable,
                qualifier: Arc::new([]),
                hidden: true,
            });
        }
        let nodes = nodes
            .into_iter()
            .map(|n| {
                n.transform_down(&mut |n| match &n.kind {
                    Kind::Window(w) => match found.iter().find(|(f, _, _)| *f == n) {
                        Some((_, attr, lowered)) => {
                            Ok(self.finished(&w.function, &n, attr, lowered))
                        }
                        None => Err(Box::new(n)),
                    },
                    _ => Err(Box::new(n)),
                })
            })
            .collect();
        Ok((
            Rel {
                plan,
                scope,
                partitions: 1,
            },
            nodes,
        ))
    }

    fn collect_windows(&self, node: &Node, found: &mut Vec<(Node, Attr, Lowered)>) -> Result<()> {
        if let Kind::Window(w) = &node.kind {
            if !found.iter().any(|(n, _, _)| n == node) {
                let lowered = self.window_function(w, &node.ty)?;
                found.push((node.clone(), self.new_attr(&w.function.shown), lowered));
            }
            return Ok(());
        }
        for child in node.children() {
            self.collect_windows(child, found)?;
        }
        Ok(())
    }

    /// Ranking functions have no aggregate behind them; their place in `Lowered` stays unused.
    fn window_function(&self, w: &Window, ty: &DataType) -> Result<Lowered> {
        let a = &w.function;
        if definition(a.function).is_none() || matches!(a.function, "first" | "last") {
            if matches!(a.function, "first" | "last") {
                return Ok(self.plain(
                    a.args.iter().map(lower).collect::<Result<_>>()?,
                    ty.clone(),
                    Finish::Same,
                ));
            }
            if a.distinct {
                return Err(deltaic_protocol::DeltaError::new(
                    "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED",
                )
                .param("windowExpr", crate::error::quoted(&a.shown)));
            }
            return self.lowered(a, ty);
        }
        let args = a.args.iter().map(lower).collect::<Result<Vec<_>>>()?;
        Ok(match a.function {
            "row_number" | "rank" | "dense_rank" => {
                self.plain(vec![], ty.clone(), Finish::Native(to_int))
            }
            "ntile" => {
                let args = if args.is_empty() {
                    vec![datafusion::logical_expr::lit(1_i64)]
                } else {
                    args
                };
                self.plain(args, ty.clone(), Finish::Native(to_int))
            }
            "percent_rank" | "cume_dist" => self.plain(vec![], ty.clone(), Finish::Same),
            "lag" | "lead" => {
                let mut args = args;
                let default = a.args.get(2).map(crate::fold::evaluate).transpose()?;
                if default.is_some_and(|v| v.is_null()) {
                    args.truncate(2);
                }
                self.plain(long_second(args), ty.clone(), Finish::Same)
            }
            _ => self.plain(long_second(args), ty.clone(), Finish::Same),
        })
    }

    fn plain(&self, args: Vec<Expr>, raw: DataType, finish: Finish) -> Lowered {
        let function = datafusion::functions_aggregate::count::count_udaf();
        Lowered {
            function,
            args,
            distinct: false,
            filter: None,
            order: vec![],
            nulls: None,
            raw,
            finish,
        }
    }

    fn window_expr(&self, w: &Window, lowered: &Lowered) -> Result<Expr> {
        let fun = match definition(w.function.function) {
            Some(d) => d,
            None => WindowFunctionDefinition::AggregateUDF(Arc::clone(&lowered.function)),
        };
        let params = WindowFunctionParams {
            args: lowered.args.clone(),
            partition_by: w.partition.iter().map(lower).collect::<Result<Vec<_>>>()?,
            order_by: w.order.iter().map(sort_expr).collect::<Result<Vec<_>>>()?,
            window_frame: frame(&w.frame, &w.order)?,
            filter: lowered.filter.clone().map(Box::new),
            null_treatment: w
                .function
                .ignore_nulls
                .then_some(NullTreatment::IgnoreNulls),
            distinct: lowered.distinct,
        };
        Ok(Expr::WindowFunction(Box::new(WindowFunction {
            fun,
            params,
        })))
    }
}

fn to_int(args: Vec<Expr>) -> Expr {
    let arg = args
        .into_iter()
        .next()
        .unwrap_or_else(|| datafusion::logical_expr::lit(0_i64));
    Expr::Cast(Cast::new(Box::new(arg), arrow::datatypes::DataType::Int32))
}

/// Offsets are BIGINT for DataFusion.
fn long_second(mut args: Vec<Expr>) -> Vec<Expr> {
    if let Some(Expr::Literal(v, _)) = args.get_mut(1)
        && let Ok(long) = v.cast_to(&arrow::datatypes::DataType::Int64)
    {
        *v = long;
    }
    args
}

fn definition(name: &str) -> Option<WindowFunctionDefinition> {
    let udf = match name {
        "row_number" => dfw::row_number::row_number_udwf(),
        "rank" => dfw::rank::rank_udwf(),
        "dense_rank" => dfw::rank::dense_rank_udwf(),
        "percent_rank" => dfw::rank::percent_rank_udwf(),
        "cume_dist" => dfw::cume_dist::cume_dist_udwf(),
        "ntile" => dfw::ntile::ntile_udwf(),
        "lag" => dfw::lead_lag::lag_udwf(),
        "lead" => dfw::lead_lag::lead_udwf(),
        "nth_value" => dfw::nth_value::nth_value_udwf(),
        "first" => dfw::nth_value::first_value_udwf(),
        "last" => dfw::nth_value::last_value_udwf(),
        _ => return None,
    };
    Some(WindowFunctionDefinition::WindowUDF(udf))
}

fn frame(f: &Frame, order: &[crate::node::SortKey]) -> Result<WindowFrame> {
    let key = order.first().map(|k| &k.node.ty);
    let value = |v: &ScalarValue| -> Result<ScalarValue> {
        if f.rows {
            return Ok(v.clone());
        }
        // A range is measured in the type of the key.
        match (v, key) {
            (ScalarValue::UInt64(Some(n)), Some(ty)) if crate::types::is_numeric(ty) => {
                ScalarValue::UInt64(Some(*n))
                    .cast_to(&crate::types::arrow_type(ty))
                    .ours()
            }
            (ScalarValue::UInt64(Some(n)), Some(DataType::Date)) => Ok(
                ScalarValue::new_interval_mdn(0, i32::try_from(*n).unwrap_or(i32::MAX), 0),
            ),
            (ScalarValue::DurationMicrosecond(Some(m)), Some(_)) => {
                let days = m / crate::time::MICROS_PER_DAY;
                Ok(ScalarValue::new_interval_mdn(
                    0,
                    days as i32,
                    (m % crate::time::MICROS_PER_DAY) * 1000,
                ))
            }
            (ScalarValue::IntervalYearMonth(Some(m)), Some(_)) => {
                Ok(ScalarValue::new_interval_mdn(*m, 0, 0))
            }
            (v, _) => Err(unsupported(format!("a window frame of {v}"))),
        }
    };
    let unbounded = ScalarValue::UInt64(None);
    let bound = |b: &Bound| -> Result<WindowFrameBound> {
        Ok(match b {
            Bound::UnboundedPreceding => WindowFrameBound::Preceding(unbounded.clone()),
            Bound::UnboundedFollowing => WindowFrameBound::Following(unbounded.clone()),
            Bound::Current => WindowFrameBound::CurrentRow,
            Bound::Preceding(v, _) => WindowFrameBound::Preceding(value(v)?),
            Bound::Following(v, _) => WindowFrameBound::Following(value(v)?),
        })
    };
    let units = if f.rows {
        WindowFrameUnits::Rows
    } else {
        WindowFrameUnits::Range
    };
    Ok(WindowFrame::new_bounds(
        units,
        bound(&f.start)?,
        bound(&f.end)?,
    ))
}
