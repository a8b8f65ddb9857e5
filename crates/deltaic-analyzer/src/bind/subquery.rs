//! Subqueries inside expressions: values, EXISTS and IN, correlated or not.

use std::cell::RefCell;
use std::sync::Arc;

use datafusion::logical_expr::LogicalPlanBuilder;
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::Query;

use crate::binder::{Around, Binder, Cx, Rel};
use crate::error::{Ours, quoted};
use crate::function::call::cast;
use crate::lower::lower;
use crate::names::pretty;
use crate::node::{Attr, Kind, Node, Subquery, SubqueryKind};
use crate::types::{same_type, shown, widen};

impl Binder<'_> {
    fn inner(&self, query: &Query, cx: &Cx<'_>) -> Result<(Rel, Vec<(Attr, DataType)>)> {
        let around = Around {
            cx,
            used: RefCell::default(),
        };
        let rel = self.query(query, cx.sight, Some(&around))?;
        Ok((rel, around.used.into_inner()))
    }

    fn subquery(
        &self,
        kind: SubqueryKind,
        rel: Rel,
        outer: Vec<(Attr, DataType)>,
        ty: DataType,
        nullable: bool,
    ) -> Node {
        let subquery = Subquery {
            kind,
            plan: Arc::new(rel.plan),
            outer,
            id: self.fresh(),
        };
        Node::new(Kind::Subquery(Box::new(subquery)), ty, nullable)
    }

    /// `(SELECT …)` as a value.
    pub fn scalar_subquery(&self, query: &Query, cx: &Cx<'_>) -> Result<Node> {
        let (rel, outer) = self.inner(query, cx)?;
        if rel.scope.columns.len() != 1 {
            return Err(DeltaError::new(
                "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
            )
            .param("number", rel.scope.columns.len()));
        }
        let ty = rel.scope.columns[0].ty.clone();
        Ok(self.subquery(SubqueryKind::Scalar, rel, outer, ty, true))
    }

    /// `EXISTS (SELECT …)`.
    pub fn exists(&self, query: &Query, cx: &Cx<'_>) -> Result<Node> {
        let (rel, outer) = self.inner(query, cx)?;
        Ok(self.subquery(SubqueryKind::Exists, rel, outer, DataType::Boolean, false))
    }

    /// `value IN (SELECT …)`; a row of several values is compared field by field.
    pub fn in_subquery(&self, value: Node, query: &Query, cx: &Cx<'_>) -> Result<Node> {
        let (mut rel, outer) = self.inner(query, cx)?;
        let mut value = value;
        let width = match &value.ty {
            DataType::Struct(s) if rel.scope.columns.len() > 1 => s.fields.len(),
            _ => 1,
        };
        if width != rel.scope.columns.len() {
            return Err(
                DeltaError::new("DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH")
                    .param(
                        "sqlExpr",
                        quoted(format!(
                            "({} IN (listquery()))",
                            pretty(&value, self.options.zone)
                        )),
                    )
                    .param("leftLength", width)
                    .param("rightLength", rel.scope.columns.len())
                    .param("leftColumns", quoted(pretty(&value, self.options.zone)))
                    .param(
                        "rightColumns",
                        rel.scope
                            .columns
                            .iter()
                            .map(|c| quoted(&c.attr.name))
                            .collect::<Vec<_>>()
                            .join(", "),
                    ),
            );
        }
        if width > 1 {
            // One column of structs against one struct.
            let fields: Vec<Node> = rel
                .scope
                .columns
                .iter()
                .map(|c| c.node(&c.attr.name))
                .collect();
            let packed = self.scalar_call("struct", fields)?;
            let DataType::Struct(target) = &mut value.ty else {
                return Err(crate::error::internal("a row that is none"));
            };
            let DataType::Struct(source) = &packed.ty else {
                return Err(crate::error::internal("a row that is none"));
            };
            for (t, s) in target.fields.iter_mut().zip(&source.fields) {
                t.name = s.name.clone();
            }
            rel = self.project_one(rel, packed)?;
        }
        let column = &rel.scope.columns[0];
        let Some(common) = widen::wider(&value.ty, &column.ty) else {
            return Err(
                DeltaError::new("DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH")
                    .param(
                        "sqlExpr",
                        quoted(format!(
                            "({} IN (listquery()))",
                            pretty(&value, self.options.zone)
                        )),
                    )
                    .param(
                        "mismatchedColumns",
                        format!(
                            "(\"{}\":\"{}\", \"{}\":\"{}\")",
                            pretty(&value, self.options.zone),
                            value.ty.sql(),
                            column.attr.name,
                            column.ty.sql()
                        ),
                    )
                    .param("leftType", shown(&value.ty))
                    .param("rightType", shown(&column.ty)),
            );
        };
        let nullable = value.nullable || column.nullable;
        if !same_type(&column.ty, &common) {
            let node = cast(column.node(&column.attr.name), &common, &self.env);
            rel = self.project_one(rel, node)?;
        }
        let value = Box::new(cast(value, &common, &self.env));
        Ok(self.subquery(
            SubqueryKind::In(value),
            rel,
            outer,
            DataType::Boolean,
            nullable,
        ))
    }

    fn project_one(&self, rel: Rel, node: Node) -> Result<Rel> {
        let attr = self.new_attr("value");
        let expr = lower(&node)?.alias(attr.column.name.clone());
        let plan = LogicalPlanBuilder::from(rel.plan)
            .project(vec![expr])
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        let mut scope = rel.scope;
        scope.columns.truncate(1);
        for c in &mut scope.columns {
            c.attr = attr.clone();
            c.ty = node.ty.clone();
            c.nullable = node.nullable;
        }
        Ok(Rel {
            plan,
            scope,
            partitions: rel.partitions,
        })
    }
}
