//! FROM: tables at their version, views in place, subqueries, and the aliases of all of them.

use std::sync::Arc;

use datafusion::common::{Column, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Cast, Expr, LogicalPlanBuilder};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{Query, TableAlias, TableFactor, TableWithJoins};

use crate::binder::{Around, Binder, Cte, Cx, Rel, Sight};
use crate::error::{Ours, backticked, internal, unsupported};
use crate::function::call::cast;
use crate::node::{Attr, Node};
use crate::relations::{Constants, Resolved};
use crate::resolver::{TableRelation, ViewRelation};
use crate::scope::{Scope, ScopeColumn, char_length};
use crate::types::{arrow_type, as_nullable, castable, same_type};

impl Binder<'_> {
    /// All of a FROM clause; one row without columns where there is none.
    pub fn from(
        &self,
        from: &[TableWithJoins],
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let mut so_far: Option<Rel> = None;
        for item in from {
            let rel = self.joined(so_far.as_ref(), item, sight, around)?;
            so_far = Some(match so_far {
                // A relation that depends on those before it has taken them in.
                Some(before) if !lateral(&item.relation) => self.cross(before, rel)?,
                _ => rel,
            });
        }
        match so_far {
            Some(rel) => Ok(rel),
            None => {
                let plan = LogicalPlanBuilder::empty(true).build().ours()?;
                Ok(Rel {
                    plan,
                    scope: Scope::default(),
                    partitions: 1,
                })
            }
        }
    }

    fn joined(
        &self,
        before: Option<&Rel>,
        item: &TableWithJoins,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let mut rel = self.factor(before, &item.relation, sight, around)?;
        for join in &item.joins {
            rel = if lateral(&join.relation) {
                self.factor(Some(&rel), &join.relation, sight, around)?
            } else {
                let right = self.factor(None, &join.relation, sight, around)?;
                self.join(rel, right, &join.join_operator, sight, around)?
            };
        }
        Ok(rel)
    }

    fn factor(
        &self,
        before: Option<&Rel>,
        factor: &TableFactor,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        match factor {
            TableFactor::Table {
                args: Some(args),
                name,
                alias,
                ..
            } => self.table_function(
                before,
                &name.to_string(),
                &args.args,
                alias.as_ref(),
                false,
                sight,
                around,
            ),
            TableFactor::Function {
                name,
                args,
                alias,
                lateral,
                ..
            } => self.table_function(
                before,
                &name.to_string(),
                args,
                alias.as_ref(),
                *lateral,
                sight,
                around,
            ),
            TableFactor::Table { alias, sample, .. } => {
                if sample.is_some() {
                    return Err(unsupported("TABLESAMPLE"));
                }
                let Some((name, travel)) = deltaic_sql::travel::relation(factor) else {
                    return Err(internal("a table without a name"));
                };
                let name = self.relation_name(&name)?;
                if let ([only], None) = (name.as_slice(), &travel)
                    && let Some(cte) = sight
                        .ctes
                        .iter()
                        .rev()
                        .find(|c| c.name.eq_ignore_ascii_case(&only.value))
                {
                    let rel = self.cte(cte, around)?;
                    return self.aliased(rel, alias.as_ref());
                }
                let travel = travel.as_ref().map(|t| self.travel(t)).transpose()?;
                let rel = match self.relations.get(&name, travel, &sight.view)? {
                    Resolved::Table(t) => self.scan(t)?,
                    Resolved::View(v, query) => self.view(v, query)?,
                };
                // Under its alias a table still tells of its rows.
                let metadata = rel.scope.metadata.clone();
                let mut rel = self.aliased(rel, alias.as_ref())?;
                rel.scope.metadata = metadata;
                if let Some(alias) = alias {
                    let qualifier: Arc<[String]> = [alias.name.value.clone()].into();
                    for c in &mut rel.scope.metadata {
                        c.qualifier = Arc::clone(&qualifier);
                    }
                }
                Ok(rel)
            }
            TableFactor::Derived {
                lateral,
                subquery,
                alias,
                sample,
            } => {
                if sample.is_some() {
                    return Err(unsupported("TABLESAMPLE"));
                }
                if *lateral {
                    return self.lateral_query(before, subquery, alias.as_ref(), sight, around);
                }
                let mut rel = self.query(subquery, sight, around)?;
                self.qualify(&mut rel, &[]);
                self.aliased(rel, alias.as_ref())
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                let rel = self.joined(None, table_with_joins, sight, around)?;
                self.aliased(rel, alias.as_ref())
            }
            other => Err(unsupported(format!("the relation {other}"))),
        }
    }

    fn cte(&self, cte: &Cte, around: Option<&Around<'_>>) -> Result<Rel> {
        let mut rel = self.query(&cte.query, &cte.sight, around)?;
        self.qualify(&mut rel, std::slice::from_ref(&cte.name));
        self.rename(&mut rel, &cte.name, &cte.columns)?;
        Ok(rel)
    }

    /// A LATERAL subquery that uses nothing of what stands left of it is a plain one.
    fn lateral_query(
        &self,
        before: Option<&Rel>,
        query: &Query,
        alias: Option<&TableAlias>,
        sight: &Sight,
        around: Option<&Around<'_>>,
    ) -> Result<Rel> {
        let empty = Scope::default();
        let scope = before.map_or(&empty, |b| &b.scope);
        let cx = Cx::new(scope, around, sight);
        let left = Around {
            cx: &cx,
            used: Default::default(),
        };
        let mut rel = self.query(query, sight, Some(&left))?;
        if !left.used.borrow().is_empty() {
            return Err(unsupported(
                "a LATERAL subquery that uses columns of other relations",
            ));
        }
        self.qualify(&mut rel, &[]);
        let rel = self.aliased(rel, alias)?;
        match before {
            Some(b) => self.cross(b.clone(), rel),
            None => Ok(rel),
        }
    }

    /// The rows of a table.
    pub fn scan(&self, t: &TableRelation) -> Result<Rel> {
        let label = t.qualifier.last().map_or("t", String::as_str);
        let reference = TableReference::bare(format!("{label}#{}", self.fresh()));
        let plan = LogicalPlanBuilder::scan(
            reference.clone(),
            provider_as_source(Arc::clone(&t.provider)),
            None,
        )
        .and_then(LogicalPlanBuilder::build)
        .ours()?;
        let provided = t.provider.schema();
        let qualifier: Arc<[String]> = t.qualifier.clone().into();
        let mut columns = Vec::with_capacity(t.schema.fields.len());
        let mut exprs = Vec::with_capacity(t.schema.fields.len());
        let mut adapted = false;
        for (n, f) in t.schema.fields.iter().chain(&t.metadata).enumerate() {
            let Some(field) = provided.fields().get(n) else {
                return Err(internal(format!("the table gives no column {}", f.name)));
            };
            let column = Column::new(Some(reference.clone()), field.name());
            let mut attr = Attr {
                id: self.fresh(),
                name: f.name.clone(),
                column: column.clone(),
                origin: Some(f.name.as_str().into()),
                char_length: char_length(f),
            };
            // A source does not vouch for what a type says of NULL inside of it.
            let relaxed = as_nullable(&f.data_type);
            let ty = match *field.data_type() == arrow_type(&relaxed) {
                true => relaxed,
                false => f.data_type.clone(),
            };
            let wanted = arrow_type(&ty);
            if *field.data_type() == wanted {
                exprs.push(Expr::Column(column));
            } else {
                adapted = true;
                attr.column = Column::new_unqualified(format!("{}#{}", f.name, attr.id));
                exprs.push(
                    Expr::Cast(Cast::new(Box::new(Expr::Column(column)), wanted))
                        .alias(attr.column.name.clone()),
                );
            }
            columns.push(ScopeColumn {
                attr,
                ty,
                nullable: f.nullable,
                qualifier: Arc::clone(&qualifier),
                hidden: false,
            });
        }
        let plan = if adapted {
            LogicalPlanBuilder::from(plan)
                .project(exprs)
                .and_then(LogicalPlanBuilder::build)
                .ours()?
        } else {
            plan
        };
        let metadata = columns.split_off(t.schema.fields.len());
        Ok(Rel {
            plan,
            scope: Scope { columns, metadata },
            partitions: 1,
        })
    }

    /// A view, bound in its own surroundings and brought to the columns it promised.
    fn view(&self, v: &ViewRelation, query: &Query) -> Result<Rel> {
        let inside = Sight {
            ctes: Default::default(),
            view: Some(Arc::new((v.catalog.clone(), v.schema.clone()))),
        };
        let known = self.views.borrow().contains(&v.qualifier);
        self.views.borrow_mut().push(v.qualifier.clone());
        if known {
            let path: Vec<String> = self.views.borrow().iter().map(|n| backticked(n)).collect();
            return Err(DeltaError::new("RECURSIVE_VIEW")
                .param("viewIdent", backticked(&v.qualifier))
                .param("newPath", path.join(" -> ")));
        }
        let bound = self.query(query, &inside, None);
        self.views.borrow_mut().pop();
        let mut rel = bound?;
        if let Some(promised) = &v.columns {
            let have: Vec<ScopeColumn> = rel.scope.visible().cloned().collect();
            if have.len() < promised.fields.len() {
                return Err(DeltaError::new("INCOMPATIBLE_VIEW_SCHEMA_CHANGE")
                    .param("viewName", backticked(&v.qualifier))
                    .param("colName", "")
                    .param("expectedNum", promised.fields.len())
                    .param(
                        "actualCols",
                        have.iter()
                            .map(|c| c.attr.name.clone())
                            .collect::<Vec<_>>()
                            .join(", "),
                    )
                    .param("suggestion", "CREATE OR REPLACE VIEW"));
            }
            let nodes: Vec<(String, Node)> = promised
                .fields
                .iter()
                .zip(&have)
                .map(|(f, c)| {
                    let node = c.node(&f.name);
                    let fits =
                        same_type(&c.ty, &f.data_type) || !castable::ansi(&c.ty, &f.data_type);
                    (
                        f.name.clone(),
                        if fits {
                            node
                        } else {
                            cast(node, &f.data_type, &self.env)
                        },
                    )
                })
                .collect();
            rel = self.project(rel, &nodes)?;
        }
        self.qualify(&mut rel, &v.qualifier);
        Ok(rel)
    }

    /// The rows as named expressions, each a new column.
    pub fn project(&self, rel: Rel, nodes: &[(String, Node)]) -> Result<Rel> {
        let mut exprs = Vec::with_capacity(nodes.len());
        let mut columns = Vec::with_capacity(nodes.len());
        for (name, node) in nodes {
            let mut attr = self.new_attr(name);
            if let crate::node::Kind::Attr(a) = &node.unaliased().kind {
                attr.origin = a.origin.clone();
                attr.char_length = a.char_length;
            }
            exprs.push(crate::value::value(node)?.alias(attr.column.name.clone()));
            columns.push(ScopeColumn {
                attr,
                ty: node.ty.clone(),
                nullable: node.nullable,
                qualifier: Arc::new([]),
                hidden: false,
            });
        }
        let plan = LogicalPlanBuilder::from(rel.plan)
            .project(exprs)
            .and_then(LogicalPlanBuilder::build)
            .ours()?;
        Ok(Rel {
            plan,
            scope: Scope::of(columns),
            partitions: rel.partitions,
        })
    }

    /// New names in front of every column; hidden ones go, and what tables tell of their rows.
    pub fn qualify(&self, rel: &mut Rel, qualifier: &[String]) {
        let qualifier: Arc<[String]> = qualifier.into();
        rel.scope.metadata.clear();
        rel.scope.columns.retain(|c| !c.hidden);
        for c in &mut rel.scope.columns {
            c.qualifier = Arc::clone(&qualifier);
        }
    }

    /// `AS t(a, b)`.
    pub fn aliased(&self, mut rel: Rel, alias: Option<&TableAlias>) -> Result<Rel> {
        let Some(alias) = alias else { return Ok(rel) };
        self.qualify(&mut rel, std::slice::from_ref(&alias.name.value));
        let names: Vec<String> = alias.columns.iter().map(|c| c.name.value.clone()).collect();
        self.rename(&mut rel, &alias.name.value, &names)?;
        Ok(rel)
    }

    fn rename(&self, rel: &mut Rel, relation: &str, names: &[String]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        if names.len() != rel.scope.columns.len() {
            return Err(DeltaError::new("ASSIGNMENT_ARITY_MISMATCH")
                .param("numTarget", rel.scope.columns.len())
                .param("numExpr", names.len())
                .with_table(relation));
        }
        for (c, name) in rel.scope.columns.iter_mut().zip(names) {
            c.attr.name = name.clone();
        }
        Ok(())
    }
}

fn lateral(factor: &TableFactor) -> bool {
    matches!(
        factor,
        TableFactor::Derived { lateral: true, .. } | TableFactor::Function { lateral: true, .. }
    )
}
