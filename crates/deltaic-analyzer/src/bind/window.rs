//! Window functions: the function, its partition, order and frame; and the sort keys of every ordering.

use datafusion::common::ScalarValue;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{
    Function, OrderByExpr, OrderByOptions, WindowFrame as SqlFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use crate::binder::{Binder, Cx};
use crate::error::{internal, quoted};
use crate::fold::evaluate;
use crate::function::aggregate;
use crate::function::call::unresolved_routine;
use crate::names::pretty;
use crate::node::{Bound, Frame, Kind, Node, SortKey, Window};
use crate::types::{is_orderable, shown};

impl Binder<'_> {
    /// `f(…) OVER …`.
    pub fn windowed(
        &self,
        name: &str,
        f: &Function,
        over: &WindowType,
        cx: &Cx<'_>,
    ) -> Result<Node> {
        let spec = match over {
            WindowType::WindowSpec(spec) => spec.clone(),
            WindowType::NamedWindow(wanted) => {
                let found = cx
                    .windows
                    .iter()
                    .find(|(n, _)| n.eq_ignore_ascii_case(&wanted.value));
                match found {
                    Some((_, spec)) => spec.clone(),
                    None => {
                        return Err(DeltaError::new("MISSING_WINDOW_SPECIFICATION")
                            .param("windowName", &wanted.value));
                    }
                }
            }
        };
        let args = self.aggregate_arguments(name, f, cx)?;
        let clauses = self.clauses(f, cx)?;
        let ranking = aggregate::is_ranking(name);
        let function = if ranking {
            aggregate::ranking(self.call(name, args), clauses)?
        } else if aggregate::is_aggregate(name) {
            aggregate::aggregate(self.call(name, args), clauses)?
        } else {
            return Err(unresolved_routine(&[name.to_owned()], self.options));
        };
        let (ty, nullable) = (function.ty.clone(), function.nullable);
        let Kind::Aggregate(function) = function.kind else {
            return Err(internal("a window function that is none"));
        };
        let partition = spec
            .partition_by
            .iter()
            .map(|e| self.expr(e, cx))
            .collect::<Result<Vec<_>>>()?;
        let order = self.sort_keys(&spec.order_by, cx)?;
        if ranking && order.is_empty() && name != "nth_value" {
            return Err(DeltaError::new("_LEGACY_ERROR_TEMP_1037")
                .param("wf", format!("{}()", function.shown)));
        }
        let frame = self.frame(name, &spec, &order, &function.args, cx)?;
        let window = Window {
            function: *function,
            partition,
            order,
            frame,
        };
        Ok(Node::new(Kind::Window(Box::new(window)), ty, nullable))
    }

    fn frame(
        &self,
        name: &str,
        spec: &WindowSpec,
        order: &[SortKey],
        args: &[Node],
        cx: &Cx<'_>,
    ) -> Result<Frame> {
        let unbounded = Bound::UnboundedPreceding;
        match name {
            "lag" | "lead" => {
                let offset = args
                    .get(1)
                    .map(evaluate)
                    .transpose()?
                    .and_then(|v| crate::fold::whole(&v))
                    .unwrap_or(1);
                let text = if name == "lag" {
                    (-offset).to_string()
                } else {
                    offset.to_string()
                };
                let at = Bound::Following(ScalarValue::UInt64(Some(0)), text);
                return Ok(Frame {
                    rows: true,
                    start: at.clone(),
                    end: at,
                });
            }
            "row_number" | "rank" | "dense_rank" | "percent_rank" | "ntile" => {
                return Ok(Frame {
                    rows: true,
                    start: unbounded,
                    end: Bound::Current,
                });
            }
            _ => {}
        }
        let Some(frame) = &spec.window_frame else {
            return Ok(if order.is_empty() {
                Frame {
                    rows: true,
                    start: unbounded,
                    end: Bound::UnboundedFollowing,
                }
            } else {
                Frame {
                    rows: false,
                    start: unbounded,
                    end: Bound::Current,
                }
            });
        };
        let SqlFrame {
            units,
            start_bound,
            end_bound,
        } = frame;
        let start = self.bound(start_bound, true, cx)?;
        let end = match end_bound {
            Some(b) => self.bound(b, false, cx)?,
            None => Bound::Current,
        };
        Ok(Frame {
            rows: *units == WindowFrameUnits::Rows,
            start,
            end,
        })
    }

    fn bound(&self, bound: &WindowFrameBound, start: bool, cx: &Cx<'_>) -> Result<Bound> {
        let value = |e: &sqlparser::ast::Expr| -> Result<(ScalarValue, String)> {
            let node = self.expr(e, cx)?;
            if !node.is_foldable() {
                return Err(DeltaError::new(
                    "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WITHOUT_FOLDABLE",
                )
                .param("sqlExpr", quoted(pretty(&node, self.options.zone)))
                .param("location", if start { "lower" } else { "upper" })
                .param("expression", quoted(pretty(&node, self.options.zone))));
            }
            let v = evaluate(&node)?;
            let count = crate::fold::whole(&v).and_then(|n| u64::try_from(n).ok());
            let text = pretty(&node, self.options.zone);
            Ok((count.map_or(v, |n| ScalarValue::UInt64(Some(n))), text))
        };
        Ok(match bound {
            WindowFrameBound::CurrentRow => Bound::Current,
            WindowFrameBound::Preceding(None) => Bound::UnboundedPreceding,
            WindowFrameBound::Following(None) => Bound::UnboundedFollowing,
            WindowFrameBound::Preceding(Some(e)) => {
                let (v, text) = value(e)?;
                Bound::Preceding(v, text)
            }
            WindowFrameBound::Following(Some(e)) => {
                let (v, text) = value(e)?;
                Bound::Following(v, text)
            }
        })
    }

    /// Keys of an ordering: ascending with NULLs first unless said otherwise.
    pub fn sort_keys(&self, keys: &[OrderByExpr], cx: &Cx<'_>) -> Result<Vec<SortKey>> {
        keys.iter()
            .map(|k| self.sort_key(self.expr(&k.expr, cx)?, &k.options))
            .collect()
    }

    /// One key.
    pub fn sort_key(&self, node: Node, options: &OrderByOptions) -> Result<SortKey> {
        if !is_orderable(&node.ty) {
            return Err(DeltaError::new("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
                .param(
                    "sqlExpr",
                    quoted(format!(
                        "{} ASC NULLS FIRST",
                        pretty(&node, self.options.zone)
                    )),
                )
                .param("functionName", "`sortorder`")
                .param("dataType", shown(&node.ty)));
        }
        let ascending = options.asc.unwrap_or(true);
        Ok(SortKey {
            node,
            ascending,
            nulls_first: options.nulls_first.unwrap_or(ascending),
        })
    }
}
