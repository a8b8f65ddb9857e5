//! The relations of a query, resolved before it is bound: binding itself waits for nothing. Errors are kept and raised
//! where the binder meets the reference, so that the first in the statement wins and names of CTEs harm nobody.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, Query, TableFactor, Visit, Visitor,
};

use crate::error::backticked;
use crate::resolver::{
    Relation, Resolver, TableFunctionArgument, TableRelation, Travel, ViewRelation,
};

/// How deep views may lie in views.
const DEEPEST_VIEW: usize = 100;

/// The catalog and schema that names in a view are relative to.
pub type ViewContext = Option<Arc<(String, String)>>;

/// A reference: its name, its point in time, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Parts of the name.
    pub name: Vec<String>,
    /// Version or time.
    pub travel: Option<Travel>,
    /// Inside which view.
    pub view: ViewContext,
}

/// What a reference stands for, ready to be bound.
pub enum Resolved {
    /// A table.
    Table(TableRelation),
    /// A view and its query.
    View(ViewRelation, Box<Query>),
}

/// All references of a statement.
#[derive(Default)]
pub struct Relations {
    found: HashMap<Key, Result<Resolved>>,
    functions: HashMap<String, Result<Option<TableRelation>>>,
}

/// What the binder knows to compute while references are collected: constants.
pub trait Constants {
    /// The name of a relation.
    fn relation_name(&self, name: &deltaic_sql::Name) -> Result<Vec<Ident>>;
    /// The point in time.
    fn travel(&self, travel: &deltaic_sql::Travel) -> Result<Travel>;
    /// The argument of a table function.
    fn table_argument(&self, e: &Expr) -> Result<TableFunctionArgument>;
    /// Is it a table function that needs no host?
    fn knows_table_function(&self, name: &str) -> bool;
}

enum Reference {
    Relation(Vec<Ident>, Option<Travel>),
    Function(String, Vec<TableFunctionArgument>),
}

struct Collector<'a> {
    constants: &'a dyn Constants,
    found: Vec<Reference>,
}

impl Visitor for Collector<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let Some((name, travel)) = deltaic_sql::travel::relation(factor) {
            let travel = travel
                .as_ref()
                .map(|t| self.constants.travel(t))
                .transpose();
            // What cannot be computed is raised when it is bound.
            if let (Ok(name), Ok(travel)) = (self.constants.relation_name(&name), travel) {
                self.found.push(Reference::Relation(name, travel));
            }
            return ControlFlow::Continue(());
        }
        let call = match factor {
            TableFactor::Table {
                name,
                args: Some(args),
                ..
            } => Some((name, &args.args)),
            TableFactor::Function { name, args, .. } => Some((name, args)),
            _ => None,
        };
        if let Some((name, args)) = call {
            let name = name.to_string().to_lowercase();
            if !self.constants.knows_table_function(&name) {
                // What cannot be computed yet is no constant, or is raised when it is bound.
                let args = expressions(args)
                    .map(|e| {
                        let computed = self.constants.table_argument(e);
                        computed.unwrap_or_else(|_| TableFunctionArgument::not_constant(e))
                    })
                    .collect();
                self.found.push(Reference::Function(name, args));
            }
        }
        ControlFlow::Continue(())
    }
}

/// The arguments of a table function.
pub fn arguments(
    args: &[FunctionArg],
    constants: &dyn Constants,
) -> Result<Vec<TableFunctionArgument>> {
    expressions(args)
        .map(|e| constants.table_argument(e))
        .collect()
}

fn expressions(args: &[FunctionArg]) -> impl Iterator<Item = &Expr> {
    args.iter().filter_map(|a| match a {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e))
        | FunctionArg::Named {
            arg: FunctionArgExpr::Expr(e),
            ..
        } => Some(e),
        _ => None,
    })
}

fn function_key(name: &str, args: &[TableFunctionArgument], view: &ViewContext) -> String {
    format!("{name}({args:?}) in {view:?}")
}

impl Relations {
    /// Resolves everything that the nodes refer to, views inside and out.
    pub async fn collect<V: Visit>(
        nodes: &[&V],
        resolver: &dyn Resolver,
        constants: &(dyn Constants + Sync),
    ) -> Result<Self> {
        let mut all = Self::default();
        let mut todo: Vec<(Reference, ViewContext, usize)> = Vec::new();
        {
            let mut collector = Collector {
                constants,
                found: Vec::new(),
            };
            for node in nodes {
                let _ = node.visit(&mut collector);
            }
            todo.extend(collector.found.into_iter().map(|r| (r, None, 0)));
        }
        while let Some((reference, view, depth)) = todo.pop() {
            let (name, travel) = match reference {
                Reference::Function(name, args) => {
                    let key = function_key(&name, &args, &view);
                    if let std::collections::hash_map::Entry::Vacant(slot) =
                        all.functions.entry(key)
                    {
                        let at = view
                            .as_deref()
                            .map(|(catalog, schema)| (&**catalog, &**schema));
                        slot.insert(resolver.table_function(&name, &args, at).await);
                    }
                    continue;
                }
                Reference::Relation(name, travel) => (name, travel),
            };
            let key = key(&name, travel.clone(), view.clone());
            if all.found.contains_key(&key) {
                continue;
            }
            let found = match &view {
                Some(v) => resolver.relation_in(&name, travel, &v.0, &v.1).await,
                None => resolver.relation(&name, travel).await,
            };
            let resolved = match found {
                Ok(Relation::Table(t)) => Ok(Resolved::Table(t)),
                Ok(Relation::View(v)) => {
                    resolve_view(v, key.travel.as_ref(), depth).map(|(v, query)| {
                        let inside: ViewContext =
                            Some(Arc::new((v.catalog.clone(), v.schema.clone())));
                        let mut collector = Collector {
                            constants,
                            found: Vec::new(),
                        };
                        let _ = query.visit(&mut collector);
                        todo.extend(
                            collector
                                .found
                                .into_iter()
                                .map(|r| (r, inside.clone(), depth + 1)),
                        );
                        Resolved::View(v, Box::new(query))
                    })
                }
                Err(e) => Err(e),
            };
            all.found.insert(key, resolved);
        }
        Ok(all)
    }

    /// What a reference stands for.
    pub fn get(
        &self,
        name: &[Ident],
        travel: Option<Travel>,
        view: &ViewContext,
    ) -> Result<&Resolved> {
        match self.found.get(&key(name, travel, view.clone())) {
            Some(Ok(found)) => Ok(found),
            Some(Err(e)) => Err(e.clone()),
            None => {
                let parts: Vec<&str> = name.iter().map(|i| i.value.as_str()).collect();
                Err(DeltaError::new("TABLE_OR_VIEW_NOT_FOUND")
                    .param("relationName", backticked(&parts)))
            }
        }
    }

    /// The rows of a table function of the host.
    pub fn function(
        &self,
        name: &str,
        args: &[TableFunctionArgument],
        view: &ViewContext,
    ) -> Result<Option<&TableRelation>> {
        match self.functions.get(&function_key(name, args, view)) {
            Some(Ok(found)) => Ok(found.as_ref()),
            Some(Err(e)) => Err(e.clone()),
            None => Ok(None),
        }
    }
}

fn key(name: &[Ident], travel: Option<Travel>, view: ViewContext) -> Key {
    Key {
        name: name.iter().map(|i| i.value.clone()).collect(),
        travel,
        view,
    }
}

fn resolve_view(
    v: ViewRelation,
    travel: Option<&Travel>,
    depth: usize,
) -> Result<(ViewRelation, Query)> {
    if travel.is_some() {
        return Err(DeltaError::new("UNSUPPORTED_FEATURE.TIME_TRAVEL")
            .param("relationId", backticked(&v.qualifier)));
    }
    if depth >= DEEPEST_VIEW {
        return Err(DeltaError::new("VIEW_EXCEED_MAX_NESTED_DEPTH")
            .param("viewName", backticked(&v.qualifier))
            .param("maxNestedDepth", DEEPEST_VIEW));
    }
    let query = deltaic_sql::parse_query(&v.text)?;
    Ok((v, query))
}
