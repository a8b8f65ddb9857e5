//! The analyser's doors: a query, an expression over one table, a constant.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as DfExpr, LogicalPlan, LogicalPlanBuilder};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{DeltaError, Result};
use sqlparser::ast::{Expr, Ident, Query};

use crate::binder::{Binder, Cx, Rel, Sight};
use crate::constants::SessionConstants;
use crate::error::Ours;
use crate::filter::{filter_part, has_several_columns, lower_filter};
use crate::fold::{evaluate, optimized};
use crate::lower::conjuncts;
use crate::names;
use crate::node::{Kind, Node};
use crate::options::AnalyzerOptions;
use crate::relations::{Constants, Relations};
use crate::resolver::{Resolver, Travel};
use crate::scope::Scope;
use crate::types;

/// A query, ready to run.
#[derive(Clone, Debug)]
pub struct Analyzed {
    /// The plan. Its columns stand in the order of `schema`; where Spark gives two columns one name, the plan's differ.
    pub plan: LogicalPlan,
    /// Names, types and nullability as Spark gives them.
    pub schema: StructType,
    /// Partitions that Spark would have had: as many files does a write make.
    pub output_partitions: usize,
}

/// An expression over the columns of a scope.
#[derive(Clone, Debug)]
pub struct Bound {
    /// As DataFusion runs it.
    pub expr: DfExpr,
    /// Its type.
    pub data_type: DataType,
    /// Can it be NULL?
    pub nullable: bool,
    /// The name of its column.
    pub name: String,
    /// As Catalyst prints it after its optimizer: `(v#12 = v5)`.
    pub catalyst: String,
    /// The columns of the table that it reads, as the table spells them, each once.
    pub columns: Vec<String>,
    /// Contains a subquery.
    pub has_subquery: bool,
    /// The word DEFAULT stands in its place.
    pub is_default: bool,
    node: Node,
}

impl Bound {
    /// Reads no columns but these (names as the table spells them).
    pub fn reads_only(&self, columns: &[String]) -> bool {
        self.columns
            .iter()
            .all(|c| columns.iter().any(|p| p.eq_ignore_ascii_case(c)))
    }

    /// The conditions that must all hold, each as a filter may use it: NULL counts as false, and what can fail sees only
    /// the rows that the others let through.
    ///
    /// # Errors
    /// None that `expr` did not raise.
    pub fn conjuncts(&self) -> Result<Vec<DfExpr>> {
        lower_filter(&self.node)
    }

    /// As `Expression.sql` prints it: `(p = 'x')`.
    pub fn sql(&self, o: &AnalyzerOptions) -> String {
        names::sql(&self.node, o.zone)
    }

    /// As an expression prints that was only parsed: `('p = x)`.
    pub fn unresolved(&self, o: &AnalyzerOptions) -> String {
        names::unresolved(&self.node, o.zone)
    }

    /// The expression as typed tree.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// The parts of the condition that AND joins, each on its own, as Catalyst prints them.
    pub fn catalyst_conjuncts(&self, o: &AnalyzerOptions) -> Vec<String> {
        let node = optimized(self.node.clone());
        crate::lower::conjuncts(&node)
            .into_iter()
            .map(|n| names::catalyst(n, o.zone))
            .collect()
    }

    /// From a bound node.
    ///
    /// # Errors
    /// What cannot be run where an expression stands (aggregates, generators).
    pub fn of(node: Node, scope: &Scope, o: &AnalyzerOptions) -> Result<Self> {
        let is_default = matches!(node.kind, Kind::Default);
        let expr = if is_default {
            DfExpr::Literal(ScalarValue::Null, None)
        } else {
            crate::value::value(&node)?
        };
        let mut columns: Vec<String> = Vec::new();
        for a in node.attributes() {
            let name = scope
                .columns
                .iter()
                .find(|c| c.attr == *a)
                .and_then(|c| c.attr.origin.as_deref().map(str::to_owned))
                .unwrap_or_else(|| a.name.clone());
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        Ok(Self {
            expr,
            data_type: node.ty.clone(),
            nullable: node.nullable,
            name: names::column_name(&node, o.zone),
            catalyst: names::catalyst(&optimized(node.clone()), o.zone),
            columns,
            has_subquery: node.has_subquery(),
            is_default,
            node,
        })
    }
}

/// A constant's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The value, in the Arrow form of the type.
    pub value: ScalarValue,
    /// Its type.
    pub data_type: DataType,
    /// The expression as Spark prints it.
    pub text: String,
}

/// Analyses a query.
///
/// # Errors
/// Spark's analysis errors, and those of the resolver.
pub async fn analyze_query(q: &Query, r: &dyn Resolver, o: &AnalyzerOptions) -> Result<Analyzed> {
    let constants = SessionConstants { options: o };
    let relations = Relations::collect(&[q], r, &constants).await?;
    let binder = Binder::new(o, &relations, 0);
    let rel = binder.query(q, &Sight::default(), None)?;
    finish(rel)
}

/// The plan with Spark's names on its columns.
pub(crate) fn finish(rel: Rel) -> Result<Analyzed> {
    let columns: Vec<_> = rel.scope.visible().cloned().collect();
    let fields = columns
        .iter()
        .map(|c| StructField {
            name: c.attr.name.clone(),
            data_type: c.ty.clone(),
            nullable: c.nullable,
            metadata: Default::default(),
        })
        .collect::<Vec<_>>();
    let mut taken: Vec<String> = Vec::with_capacity(columns.len());
    let exprs: Vec<DfExpr> = columns
        .iter()
        .map(|c| {
            let mut name = c.attr.name.clone();
            while taken.contains(&name) {
                name = format!("{}#{}", c.attr.name, taken.len());
            }
            taken.push(name.clone());
            DfExpr::Column(c.attr.column.clone()).alias(name)
        })
        .collect();
    let plan = LogicalPlanBuilder::from(rel.plan)
        .project(exprs)
        .and_then(LogicalPlanBuilder::build)
        .ours()?;
    Ok(Analyzed {
        plan,
        schema: StructType { fields },
        output_partitions: rel.partitions,
    })
}

/// Binds an expression over a scope; subqueries see what the resolver has.
///
/// # Errors
/// Spark's analysis errors, and those of the resolver.
pub async fn bind_expr(
    e: &Expr,
    scope: &Scope,
    r: &dyn Resolver,
    o: &AnalyzerOptions,
) -> Result<Bound> {
    let constants = SessionConstants { options: o };
    let relations = Relations::collect(&[e], r, &constants).await?;
    bind_in(e, scope, &relations, o, false)
}

/// Binds the condition of DELETE, UPDATE, a constraint or a filter: BOOLEAN, without aggregates.
///
/// # Errors
/// As [`bind_expr`]; `DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN`, `INVALID_WHERE_CONDITION`.
pub async fn bind_predicate(
    e: &Expr,
    scope: &Scope,
    r: &dyn Resolver,
    o: &AnalyzerOptions,
) -> Result<Bound> {
    let constants = SessionConstants { options: o };
    let relations = Relations::collect(&[e], r, &constants).await?;
    bind_in(e, scope, &relations, o, true)
}

/// Binds an expression that has no subqueries, at once: CHECK constraints, generated columns, defaults.
///
/// # Errors
/// As [`bind_expr`].
pub fn bind_local(e: &Expr, scope: &Scope, o: &AnalyzerOptions) -> Result<Bound> {
    bind_in(e, scope, &Relations::default(), o, false)
}

fn bind_in(
    e: &Expr,
    scope: &Scope,
    relations: &Relations,
    o: &AnalyzerOptions,
    condition: bool,
) -> Result<Bound> {
    let last = scope.columns.iter().map(|c| c.attr.id).max().unwrap_or(0);
    let binder = Binder::new(o, relations, last);
    let sight = Sight::default();
    let cx = Cx::new(scope, None, &sight);
    let mut node = binder.expr(e, &cx)?;
    if condition {
        // Unlike the WHERE of a query, the condition of a command is not coerced from NULL.
        if node.ty == DataType::Void {
            return Err(binder.not_boolean(&node));
        }
        node = binder.boolean(e, &cx)?;
    }
    if condition {
        binder.check_condition(&node)?;
    }
    let mut bound = Bound::of(node, scope, o)?;
    if condition && bound.has_subquery {
        // It goes to a filter, where DataFusion joins with what EXISTS and IN ask for.
        if has_several_columns(&bound.node) {
            return Err(DeltaError::new("DELTA_UNSUPPORTED_MULTI_COL_IN_PREDICATE"));
        }
        let parts = conjuncts(&bound.node).into_iter().map(filter_part);
        let parts = parts.collect::<Result<Vec<_>>>()?;
        if let Some(all) = parts.into_iter().reduce(DfExpr::and) {
            bound.expr = all;
        }
    }
    Ok(bound)
}

/// Computes an expression over no columns.
///
/// # Errors
/// Spark's analysis and evaluation errors.
pub fn constant(e: &Expr, o: &AnalyzerOptions) -> Result<Constant> {
    let relations = Relations::default();
    let binder = Binder::new(o, &relations, 0);
    let node = binder.constant(e)?;
    let value = evaluate(&node)?;
    let value = if value.is_null() {
        ScalarValue::try_from(&types::arrow_type(&node.ty)).ours()?
    } else {
        value
    };
    Ok(Constant {
        value,
        text: names::pretty(&node, o.zone),
        data_type: node.ty,
    })
}

/// Computes a constant as a value of `to`, as an explicit cast would.
///
/// # Errors
/// As [`constant`], and those of the cast.
pub fn constant_as(e: &Expr, to: &DataType, o: &AnalyzerOptions) -> Result<ScalarValue> {
    let relations = Relations::default();
    let binder = Binder::new(o, &relations, 0);
    let node = binder.constant(e)?;
    let node = binder.cast(node, to.clone(), crate::node::CastMode::Ansi)?;
    evaluate(&node)
}

/// The point in time of a reference or of RESTORE.
///
/// # Errors
/// `INVALID_TIME_TRAVEL_TIMESTAMP_EXPR`.
pub fn travel(t: &deltaic_sql::Travel, o: &AnalyzerOptions) -> Result<Travel> {
    SessionConstants { options: o }.travel(t)
}

/// The parts of a name, IDENTIFIER computed.
///
/// # Errors
/// `NOT_A_CONSTANT_STRING`, `IDENTIFIER_TOO_MANY_NAME_PARTS`.
pub fn relation_name(n: &deltaic_sql::Name, o: &AnalyzerOptions) -> Result<Vec<Ident>> {
    SessionConstants { options: o }.relation_name(n)
}

/// A number of rows, as LIMIT takes it.
///
/// # Errors
/// `INVALID_LIMIT_LIKE_EXPRESSION`.
pub fn row_count(e: &Expr, o: &AnalyzerOptions) -> Result<usize> {
    let relations = Relations::default();
    Binder::new(o, &relations, 0).count("limit", e)
}

/// A scope of named columns, each with its type, that DataFusion finds by their bare names.
pub fn scope_of(schema: &StructType, qualifier: &[&str]) -> Scope {
    let qualifier: Vec<String> = qualifier.iter().map(|q| (*q).to_owned()).collect();
    Scope::table(schema, &qualifier, None)
}

/// The session as kernels see it.
pub fn environment(o: &AnalyzerOptions) -> Arc<crate::kernel::Env> {
    crate::binder::environment(o)
}
