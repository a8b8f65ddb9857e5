//! UNION, EXCEPT and INTERSECT, with and without ALL.

use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, WindowFrame, WindowFunctionDefinition};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{SetOperator, SetQuantifier};

use crate::binder::{Binder, Rel};
use crate::error::{Ours, unsupported};
use crate::function::call::{cast, ordinal};
use crate::node::Node;
use crate::scope::Scope;
use crate::types::{has_variant, shown, widen};

/// Rows can be told equal if no column holds variants: two that are equal may differ in their bytes.
///
/// # Errors
/// A column that holds variants.
pub fn check_distinct(scope: &Scope) -> Result<()> {
    match scope.columns.iter().find(|column| has_variant(&column.ty)) {
        None => Ok(()),
        Some(column) => Err(
            DeltaError::new("UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE")
                .param("colName", format!("`{}`", column.attr.name))
                .param("dataType", shown(&column.ty)),
        ),
    }
}

impl Binder<'_> {
    /// `left op right`.
    pub fn set_operation(
        &self,
        left: Rel,
        op: SetOperator,
        quantifier: SetQuantifier,
        right: Rel,
    ) -> Result<Rel> {
        let (name, all) = match (op, quantifier) {
            (
                _,
                SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName,
            ) => {
                return Err(unsupported("UNION BY NAME"));
            }
            (SetOperator::Union, q) => ("UNION", q == SetQuantifier::All),
            (SetOperator::Intersect, q) => ("INTERSECT", q == SetQuantifier::All),
            (_, q) => ("EXCEPT", q == SetQuantifier::All),
        };
        let (l, r) = self.unified(name, left, right)?;
        match op {
            SetOperator::Union => self.union(l, r, all),
            SetOperator::Intersect => self.semi(l, r, JoinType::LeftSemi, all),
            _ => self.semi(l, r, JoinType::LeftAnti, all),
        }
    }

    /// Both sides in the same number and types of columns, with the names of the left.
    fn unified(&self, name: &str, left: Rel, right: Rel) -> Result<(Rel, Rel)> {
        let (a, b): (Vec<_>, Vec<_>) = (
            left.scope.visible().cloned().collect(),
            right.scope.visible().cloned().collect(),
        );
        if a.len() != b.len() {
            return Err(DeltaError::new("NUM_COLUMNS_MISMATCH")
                .param("operator", name)
                .param("firstNumColumns", a.len())
                .param("invalidOrdinalNum", "second")
                .param("invalidNumColumns", b.len()));
        }
        let (mut ln, mut rn) = (Vec::new(), Vec::new());
        for (n, (x, y)) in a.iter().zip(&b).enumerate() {
            let Some(ty) = widen::wider(&x.ty, &y.ty) else {
                return Err(DeltaError::new("INCOMPATIBLE_COLUMN_TYPE")
                    .param("operator", name)
                    .param("columnOrdinalNumber", ordinal(n))
                    .param("tableOrdinalNumber", "second")
                    .param("dataType1", shown(&y.ty))
                    .param("dataType2", shown(&x.ty))
                    .param("hint", ""));
            };
            ln.push((
                x.attr.name.clone(),
                cast(x.node(&x.attr.name), &ty, &self.env),
            ));
            rn.push((
                x.attr.name.clone(),
                cast(y.node(&y.attr.name), &ty, &self.env),
            ));
        }
        Ok((self.project(left, &ln)?, self.project(right, &rn)?))
    }

    fn union(&self, left: Rel, right: Rel, all: bool) -> Result<Rel> {
        // The columns of both sides carry the names of a third: the union's own.
        let attrs: Vec<_> = left
            .scope
            .columns
            .iter()
            .map(|c| self.new_attr(&c.attr.name))
            .collect();
        let renamed = |rel: &Rel| {
            let exprs: Vec<Expr> = rel
                .scope
                .columns
                .iter()
                .zip(&attrs)
                .map(|(c, a)| Expr::Column(c.attr.column.clone()).alias(a.column.name.clone()))
                .collect();
            LogicalPlanBuilder::from(rel.plan.clone())
                .project(exprs)
                .and_then(LogicalPlanBuilder::build)
                .ours()
        };
        let (l, r) = (renamed(&left)?, renamed(&right)?);
        let mut builder = LogicalPlanBuilder::from(l).union(r).ours()?;
        if !all {
            check_distinct(&left.scope)?;
            builder = builder.distinct().ours()?;
        }
        let mut scope = left.scope;
        for ((c, attr), other) in scope
            .columns
            .iter_mut()
            .zip(attrs)
            .zip(&right.scope.columns)
        {
            c.attr = attr;
            c.nullable |= other.nullable;
        }
        let partitions = if all {
            left.partitions + right.partitions
        } else {
            1
        };
        Ok(Rel {
            plan: builder.build().ours()?,
            scope,
            partitions,
        })
    }

    fn semi(&self, left: Rel, right: Rel, kind: JoinType, all: bool) -> Result<Rel> {
        let (mut left, mut right) = (left, right);
        check_distinct(&left.scope)?;
        if all {
            // The n-th of equal rows on one side answers to the n-th on the other.
            left = self.numbered(left)?;
            right = self.numbered(right)?;
        }
        let keys = |rel: &Rel| {
            rel.scope
                .columns
                .iter()
                .map(|c| c.attr.column.clone())
                .collect::<Vec<Column>>()
        };
        let (lk, rk) = (keys(&left), keys(&right));
        let mut builder = LogicalPlanBuilder::from(left.plan);
        if !all {
            builder = builder.distinct().ours()?;
        }
        let plan = builder
            .join_detailed(
                right.plan,
                kind,
                (lk, rk),
                None,
                NullEquality::NullEqualsNull,
            )
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        let mut rel = Rel {
            plan,
            scope: left.scope,
            partitions: 1,
        };
        if all {
            rel.scope.columns.pop();
            let nodes: Vec<(String, Node)> = rel
                .scope
                .columns
                .iter()
                .map(|c| (c.attr.name.clone(), c.node(&c.attr.name)))
                .collect();
            rel = self.project(rel, &nodes)?;
        }
        Ok(rel)
    }

    fn numbered(&self, rel: Rel) -> Result<Rel> {
        let partition_by: Vec<Expr> = rel
            .scope
            .columns
            .iter()
            .map(|c| Expr::Column(c.attr.column.clone()))
            .collect();
        let attr = self.new_attr("row");
        let function = WindowFunctionDefinition::WindowUDF(
            datafusion::functions_window::row_number::row_number_udwf(),
        );
        let params = WindowFunctionParams {
            args: vec![],
            partition_by,
            order_by: vec![],
            window_frame: WindowFrame::new(None),
            filter: None,
            null_treatment: None,
            distinct: false,
        };
        let number = Expr::WindowFunction(Box::new(WindowFunction {
            fun: function,
            params,
        }))
        .alias(attr.column.name.clone());
        let plan = LogicalPlanBuilder::from(rel.plan)
            .window(vec![number])
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        let mut scope = rel.scope;
        if let Some(mut last) = scope.columns.last().cloned() {
            last.attr = attr;
            last.ty = deltaic_protocol::schema::DataType::Long;
            last.nullable = false;
            scope.columns.push(last);
        }
        Ok(Rel {
            plan,
            scope,
            partitions: 1,
        })
    }
}
