//! VALUES: rows of constants, each column in the type that all its values share.

use std::sync::Arc;

use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::Values;

use crate::binder::{Around, Binder, Cx, Rel, Sight};
use crate::error::Ours;
use crate::function::call::cast;
use crate::node::Node;
use crate::scope::{Scope, ScopeColumn};
use crate::types::widen;

impl Binder<'_> {
    /// `VALUES (1, 'a'), (2, 'b')`: columns `col1`, `col2`, …
    pub fn values(
        &self,
        values: &Values,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let scope = Scope::default();
        let cx = Cx::new(&scope, around, sight);
        let mut rows: Vec<Vec<Node>> = Vec::with_capacity(values.rows.len());
        for (n, row) in values.rows.iter().enumerate() {
            let nodes = row
                .content
                .iter()
                .map(|e| self.expr(e, &cx))
                .collect::<Result<Vec<_>>>()?;
            if let Some(node) = nodes.iter().find(|node| node.has_subquery()) {
                let class = "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE";
                let printed = crate::names::pretty(node, self.options.zone);
                return Err(DeltaError::new(class).param("expr", format!("\"{printed}\"")));
            }
            if let Some(first) = rows.first()
                && first.len() != nodes.len()
            {
                return Err(DeltaError::new("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH")
                    .param("expectedNumCols", first.len())
                    .param("actualNumCols", nodes.len())
                    .param("rowIndex", n));
            }
            rows.push(nodes);
        }
        let width = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for n in 0..width {
            let Some(ty) = widen::common(rows.iter().map(|r| &r[n].ty)) else {
                return Err(DeltaError::new(
                    "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE",
                )
                .param("colName", format!("`col{}`", n + 1)));
            };
            let nullable = rows.iter().any(|r| r[n].nullable);
            let mut attr = self.new_attr(&format!("col{}", n + 1));
            attr.column = Column::new_unqualified(format!("col{}#{}", n + 1, attr.id));
            columns.push(ScopeColumn {
                attr,
                ty,
                nullable,
                qualifier: Arc::new([]),
                hidden: false,
            });
        }
        let exprs = rows
            .into_iter()
            .map(|row| {
                row.into_iter()
                    .zip(&columns)
                    .map(|(node, c)| {
                        crate::value::value(&crate::fold::folded_literal(cast(
                            node, &c.ty, &self.env,
                        )))
                    })
                    .collect::<Result<Vec<_>>>()
            })
            .collect::<Result<Vec<_>>>()?;
        let named: Vec<Expr> = columns
            .iter()
            .enumerate()
            .map(|(n, c)| {
                Expr::Column(Column::new_unqualified(format!("column{}", n + 1)))
                    .alias(c.attr.column.name.clone())
            })
            .collect();
        let plan = LogicalPlanBuilder::values(exprs)
            .and_then(|b| b.project(named))
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        Ok(Rel {
            plan,
            scope: Scope::of(columns),
            partitions: 1,
        })
    }
}
