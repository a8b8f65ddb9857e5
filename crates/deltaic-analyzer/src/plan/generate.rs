//! Generators: `explode` and its kin in the list, in LATERAL VIEW and in FROM, as unnesting of arrays.

use std::sync::Arc;

use datafusion::common::UnnestOptions;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::LateralView;

use super::stars::Item;
use crate::binder::{Around, Binder, Cx, Rel, Sight};
use crate::error::{Ours, internal, unsupported};
use crate::function::call::Nulls;
use crate::kernels::{aggregates, arrays, collections, misc};
use crate::node::{Generator, Kind, Node};
use crate::scope::ScopeColumn;
use crate::types::{array_of, struct_of};

impl Binder<'_> {
    /// `LATERAL VIEW [OUTER] f(x) t AS a, b`.
    pub fn lateral_view(
        &self,
        rel: Rel,
        view: &LateralView,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let scope = rel.scope.clone();
        let node = self.expr(&view.lateral_view, &Cx::new(&scope, around, sight))?;
        let Kind::Generator(g) = node.kind else {
            return Err(DeltaError::new("UNSUPPORTED_GENERATOR.NOT_GENERATOR")
                .param("functionName", format!("`{}`", view.lateral_view))
                .param("classCanonicalName", ""));
        };
        let qualifier: Vec<String> = view
            .lateral_view_name
            .0
            .iter()
            .filter_map(|p| p.as_ident().map(|i| i.value.clone()))
            .collect();
        let names: Vec<String> = view
            .lateral_col_alias
            .iter()
            .map(|i| i.value.clone())
            .collect();
        self.generate(rel, &g, view.outer || g.outer, &qualifier, &names)
    }

    /// The generator of a list, if it has one, below it.
    pub fn generated(&self, rel: Rel, items: Vec<Item>) -> Result<(Rel, Vec<Item>)> {
        let count = items
            .iter()
            .filter(|i| matches!(i.node.kind, Kind::Generator(_)))
            .count();
        if count == 0 {
            if items.iter().any(|i| i.node.has_generator()) {
                return Err(
                    DeltaError::new("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS")
                        .param("expression", "\"explode\""),
                );
            }
            return Ok((rel, items));
        }
        if count > 1 {
            let all: Vec<String> = items
                .iter()
                .filter(|i| matches!(i.node.kind, Kind::Generator(_)))
                .map(|i| crate::names::quoted_sql(&i.node, self.options.zone))
                .collect();
            return Err(DeltaError::new("UNSUPPORTED_GENERATOR.MULTI_GENERATOR")
                .param("num", count)
                .param("generators", all.join(", ")));
        }
        let mut rel = rel;
        let mut out = Vec::new();
        for item in items {
            let Kind::Generator(g) = &item.node.kind else {
                out.push(item);
                continue;
            };
            let before = rel.scope.columns.len();
            rel = self.generate(rel, g, g.outer, &[], &item.names)?;
            for c in &mut rel.scope.columns[before..] {
                out.push(Item {
                    name: c.attr.name.clone(),
                    node: c.node(&c.attr.name),
                    source: None,
                    names: vec![],
                });
                // Only the list sees them.
                c.hidden = true;
            }
        }
        Ok((rel, out))
    }

    /// The input with the columns of a generator behind its own.
    pub fn generate(
        &self,
        rel: Rel,
        g: &Generator,
        outer: bool,
        qualifier: &[String],
        names: &[String],
    ) -> Result<Rel> {
        if !names.is_empty() && names.len() != g.columns.len() {
            return Err(DeltaError::new("UDTF_ALIAS_NUMBER_MISMATCH")
                .param("aliasesSize", g.columns.len())
                .param("aliasesNames", names.join(",")));
        }
        let list = self.rows_of(g)?;
        let with_position = g.function == "posexplode";
        let list = if outer {
            let ty = list.ty.clone();
            self.call("null_if_empty", vec![list]).kernel(
                "null_if_empty",
                aggregates::null_if_empty,
                ty,
                Nulls::Always,
            )
        } else {
            list
        };
        let DataType::Array(item) = list.ty.clone() else {
            return Err(internal("a generator without an array"));
        };

        let element = self.new_attr("element");
        let position = self.new_attr("pos");
        let mut exprs: Vec<Expr> = rel
            .scope
            .columns
            .iter()
            .map(|c| Expr::Column(c.attr.column.clone()))
            .collect();
        exprs.push(crate::value::value(&list)?.alias(element.column.name.clone()));
        let mut unnested = vec![element.column.clone()];
        if with_position {
            let ty = array_of(DataType::Integer, false);
            let numbers = self.call("positions", vec![list]).kernel(
                "positions",
                aggregates::positions,
                ty,
                Nulls::Args,
            );
            exprs.push(crate::value::value(&numbers)?.alias(position.column.name.clone()));
            unnested.push(position.column.clone());
        }
        let options = UnnestOptions::new().with_preserve_nulls(outer);
        let plan = LogicalPlanBuilder::from(rel.plan)
            .project(exprs)
            .and_then(|b| b.unnest_columns_with_options(unnested, options))
            .and_then(LogicalPlanBuilder::build)
            .ours()?;

        // The element's fields become columns.
        let value = Node::attr(element, item.element_type.clone(), true);
        let mut made: Vec<Node> = Vec::new();
        if with_position {
            made.push(Node::attr(position, DataType::Integer, outer));
        }
        let several = g.columns.len() - made.len() > 1 || matches!(g.function, "inline" | "stack");
        if several {
            let DataType::Struct(s) = &item.element_type else {
                return Err(internal("a generator without fields"));
            };
            for f in &s.fields {
                made.push(self.field(value.clone(), &f.name)?);
            }
        } else {
            made.push(value);
        }
        let mut exprs: Vec<Expr> = rel
            .scope
            .columns
            .iter()
            .map(|c| Expr::Column(c.attr.column.clone()))
            .collect();
        let mut scope = rel.scope;
        let qualifier: Arc<[String]> = qualifier.into();
        for (n, (node, (name, ty, nullable))) in made.iter().zip(&g.columns).enumerate() {
            let attr = self.new_attr(names.get(n).unwrap_or(name));
            exprs.push(crate::value::value(node)?.alias(attr.column.name.clone()));
            scope.columns.push(ScopeColumn {
                attr,
                ty: ty.clone(),
                nullable: *nullable || outer,
                qualifier: Arc::clone(&qualifier),
                hidden: false,
            });
        }
        let plan = LogicalPlanBuilder::from(plan)
            .project(exprs)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        Ok(Rel {
            plan,
            scope,
            partitions: rel.partitions,
        })
    }

    /// The array whose elements are the rows.
    fn rows_of(&self, g: &Generator) -> Result<Node> {
        let Some(first) = g.args.first().cloned() else {
            return Err(internal("a generator without arguments"));
        };
        match (g.function, &first.ty) {
            ("stack", _) => {
                let width = g.columns.len().max(1);
                let fields: Vec<(String, DataType, bool)> = g
                    .columns
                    .iter()
                    .map(|(n, t, _)| (n.clone(), t.clone(), true))
                    .collect();
                let row = struct_of(fields);
                let rows: Vec<Node> = g
                    .args
                    .chunks(width)
                    .map(|chunk| {
                        self.call("struct", chunk.to_vec()).kernel(
                            "struct",
                            misc::make_struct,
                            row.clone(),
                            Nulls::Never,
                        )
                    })
                    .collect();
                let ty = array_of(row, false);
                Ok(self
                    .call("array", rows)
                    .kernel("array", arrays::make, ty, Nulls::Never))
            }
            (_, DataType::Map(m)) => {
                let entry = struct_of(vec![
                    ("key", m.key_type.clone(), false),
                    ("value", m.value_type.clone(), m.value_contains_null),
                ]);
                let ty = array_of(entry, false);
                Ok(self.call("map_entries", vec![first]).kernel(
                    "map_entries",
                    collections::entries,
                    ty,
                    Nulls::Args,
                ))
            }
            (_, DataType::Array(_)) => Ok(first),
            _ => Err(unsupported(format!("the generator {}", g.shown))),
        }
    }
}
