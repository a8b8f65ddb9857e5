//! The binder: what all of binding shares, and the surroundings that an expression or a query is bound in. The work
//! itself lies in the modules under [`crate::bind`] and [`crate::plan`], each an `impl Binder`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use datafusion::common::Column;
use datafusion::logical_expr::LogicalPlan;
use deltaic_protocol::schema::DataType;
use sqlparser::ast::{Query, WindowSpec};

use crate::kernel::Env;
use crate::node::{Attr, Kind, Node};
use crate::options::AnalyzerOptions;
use crate::relations::{Relations, ViewContext};
use crate::scope::Scope;

/// Binds one statement.
pub struct Binder<'a> {
    /// The session's settings.
    pub options: &'a AnalyzerOptions,
    /// The relations, resolved.
    pub relations: &'a Relations,
    /// The session as kernels see it.
    pub env: Arc<Env>,
    next: Cell<u32>,
    /// The views that are being bound, outermost first.
    pub views: RefCell<Vec<Vec<String>>>,
}

/// The session as kernels see it.
pub fn environment(o: &AnalyzerOptions) -> Arc<Env> {
    Arc::new(Env {
        zone: o.zone,
        ansi: o.ansi,
        tried: false,
        now_us: o.now_us,
        salt: 0,
        column: None,
    })
}

impl<'a> Binder<'a> {
    /// A binder whose ids begin after `last`.
    pub fn new(options: &'a AnalyzerOptions, relations: &'a Relations, last: u32) -> Self {
        Self {
            options,
            relations,
            env: environment(options),
            next: Cell::new(last + 1),
            views: RefCell::default(),
        }
    }

    /// A number that no other column or call of the statement has.
    pub fn fresh(&self) -> u32 {
        let id = self.next.get();
        self.next.set(id + 1);
        id
    }

    /// A new column that a projection makes.
    pub fn new_attr(&self, name: &str) -> Attr {
        let id = self.fresh();
        let column = Column::new_unqualified(format!("{name}#{id}"));
        Attr {
            id,
            name: name.to_owned(),
            column,
            origin: None,
            char_length: None,
        }
    }
}

/// A common table expression in sight.
pub struct Cte {
    /// Its name.
    pub name: String,
    /// New names of its columns.
    pub columns: Vec<String>,
    /// Its query.
    pub query: Arc<Query>,
    /// What its query sees.
    pub sight: Sight,
}

/// What names of relations mean in a query beside the catalog's.
#[derive(Clone, Default)]
pub struct Sight {
    /// The CTEs, innermost last.
    pub ctes: Rc<Vec<Rc<Cte>>>,
    /// The view that the query stands in.
    pub view: ViewContext,
}

/// The query around a subquery, and what the subquery takes from it.
pub struct Around<'c> {
    /// Its surroundings.
    pub cx: &'c Cx<'c>,
    /// Its columns that were used.
    pub used: RefCell<Vec<(Attr, DataType)>>,
}

/// The surroundings of an expression.
pub struct Cx<'c> {
    /// The columns in sight.
    pub scope: &'c Scope,
    /// The query around, in a subquery.
    pub around: Option<&'c Around<'c>>,
    /// CTEs and view, for subqueries.
    pub sight: &'c Sight,
    /// Aliases further left in the same list, and aliases of the list for HAVING and ORDER BY.
    pub aliases: RefCell<Vec<(String, Node)>>,
    /// Parameters of the lambdas that the expression stands in.
    pub lambdas: RefCell<Vec<(String, Node)>>,
    /// Named windows.
    pub windows: &'c [(String, WindowSpec)],
}

impl<'c> Cx<'c> {
    /// Surroundings of columns alone.
    pub fn new(scope: &'c Scope, around: Option<&'c Around<'c>>, sight: &'c Sight) -> Self {
        Self {
            scope,
            around,
            sight,
            aliases: RefCell::default(),
            lambdas: RefCell::default(),
            windows: &[],
        }
    }
}

/// A bound relation.
#[derive(Clone, Debug)]
pub struct Rel {
    /// Its plan.
    pub plan: LogicalPlan,
    /// Its columns.
    pub scope: Scope,
    /// Partitions that Spark would have.
    pub partitions: usize,
}

/// The same expression as the query inside sees it.
pub fn as_outer(node: Node) -> Node {
    node.transform_up(&mut |mut n| {
        n.kind = match n.kind {
            Kind::Attr(a) => Kind::Outer(a),
            kind => kind,
        };
        n
    })
}
