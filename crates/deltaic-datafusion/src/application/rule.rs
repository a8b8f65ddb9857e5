//! DELETE and UPDATE of Delta tables, taken over before DataFusion's optimizer loses parts of their conditions
//! (`false`, NULL and subqueries would otherwise reach the table as "all rows").

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchemaRef, TableReference, plan_err};
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::{
    DmlStatement, Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore, WriteOp,
};
use datafusion::optimizer::analyzer::AnalyzerRule;

use crate::provider::{DeltaTableProvider, as_delta};

/// What a statement does to rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RowChange {
    Delete,
    Update(Vec<(String, Expr)>),
    Truncate,
}

/// DELETE, UPDATE or TRUNCATE of a Delta table. Its expressions are hidden from the optimizer; the statement plans them
/// itself.
#[derive(Debug, Clone)]
pub(crate) struct DeltaDmlNode {
    pub(crate) provider: DeltaTableProvider,
    pub(crate) qualifier: TableReference,
    pub(crate) change: RowChange,
    pub(crate) predicate: Option<Expr>,
    schema: DFSchemaRef,
}

impl PartialEq for DeltaDmlNode {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for DeltaDmlNode {}

impl Hash for DeltaDmlNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.change.hash(state);
        self.predicate.hash(state);
        self.qualifier.hash(state);
    }
}

impl PartialOrd for DeltaDmlNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl DeltaDmlNode {
    fn key(&self) -> (&RowChange, &Option<Expr>, &TableReference, String, i64) {
        let snapshot = self.provider.snapshot();
        (
            &self.change,
            &self.predicate,
            &self.qualifier,
            snapshot.store().root().to_string(),
            snapshot.version(),
        )
    }
}

impl UserDefinedLogicalNodeCore for DeltaDmlNode {
    fn name(&self) -> &str {
        "DeltaDml"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let verb = match &self.change {
            RowChange::Delete => "delete",
            RowChange::Update(_) => "update",
            RowChange::Truncate => "truncate",
        };
        write!(f, "DeltaDml: {verb} {}", self.qualifier)?;
        match &self.predicate {
            Some(predicate) => write!(f, " where {predicate}"),
            None => Ok(()),
        }
    }

    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, _inputs: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
}

/// Turns DML over Delta tables into [`DeltaDmlNode`]. It must be the first rule.
#[derive(Debug)]
pub(crate) struct DeltaDmlRule;

impl AnalyzerRule for DeltaDmlRule {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up(|node| match &node {
            LogicalPlan::Dml(statement) => match take_over(statement)? {
                Some(taken) => Ok(Transformed::yes(LogicalPlan::Extension(Extension {
                    node: Arc::new(taken),
                }))),
                None => Ok(Transformed::no(node)),
            },
            _ => Ok(Transformed::no(node)),
        })
        .map(|done| done.data)
    }

    fn name(&self) -> &str {
        "delta_dml"
    }
}

fn take_over(statement: &DmlStatement) -> Result<Option<DeltaDmlNode>> {
    let Ok(provider) = source_as_provider(&statement.target) else {
        return Ok(None);
    };
    let Some(provider) = as_delta(provider.as_ref()) else {
        return Ok(None);
    };
    let node = |qualifier, change, predicate| {
        Ok(Some(DeltaDmlNode {
            provider: provider.clone(),
            qualifier,
            change,
            predicate,
            schema: Arc::clone(&statement.output_schema),
        }))
    };
    match &statement.op {
        WriteOp::Delete => {
            let (predicate, qualifier) = filtered(&statement.input, "DELETE")?;
            node(qualifier, RowChange::Delete, predicate)
        }
        WriteOp::Truncate => node(statement.table_name.clone(), RowChange::Truncate, None),
        WriteOp::Update => {
            let LogicalPlan::Projection(projection) = statement.input.as_ref() else {
                return plan_err!("this form of UPDATE is not supported for Delta tables");
            };
            let (predicate, qualifier) = filtered(&projection.input, "UPDATE")?;
            let assignments = projection.expr.iter().filter_map(assignment).collect();
            node(qualifier, RowChange::Update(assignments), predicate)
        }
        _ => Ok(None),
    }
}

/// The column and its new value; none for a column that keeps its own.
fn assignment(expr: &Expr) -> Option<(String, Expr)> {
    let Expr::Alias(alias) = expr else {
        return None;
    };
    match alias.expr.as_ref() {
        Expr::Column(column) if column.name == alias.name => None,
        value => Some((alias.name.clone(), value.clone())),
    }
}

/// The condition over a scan and the scan's name.
fn filtered(plan: &LogicalPlan, verb: &str) -> Result<(Option<Expr>, TableReference)> {
    match plan {
        LogicalPlan::Filter(filter) => {
            let (inner, qualifier) = filtered(&filter.input, verb)?;
            let predicate = match inner {
                Some(inner) => inner.and(filter.predicate.clone()),
                None => filter.predicate.clone(),
            };
            Ok((Some(predicate), qualifier))
        }
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() && scan.filters.is_empty() => {
            Ok((None, scan.table_name.clone()))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let (predicate, _) = filtered(&alias.input, verb)?;
            Ok((predicate, alias.alias.clone()))
        }
        other => plan_err!(
            "this form of {verb} is not supported for Delta tables: {}",
            other.display()
        ),
    }
}
