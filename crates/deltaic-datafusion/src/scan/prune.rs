//! Leaves out the files of which a query's filters say that no row can match: exactly by partition values, and by
//! statistics as far as they go (protocol section "Per-file Statistics").

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Schema};
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use deltaic_log::skipping::StatisticsFacts;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::timestamp::Zone;

use super::build::{ScanFile, partition_values};
use super::predicate::{to_predicate, value_of};
use crate::error::wrap;
use crate::exprs::unqualified;
use crate::layout::TableLayout;

/// Whether a predicate is decided by partition values alone.
pub fn is_partition_only(layout: &TableLayout, expr: &Expr) -> bool {
    !expr.is_volatile()
        && !has_subquery(expr)
        && expr
            .column_refs()
            .iter()
            .all(|column| layout.is_partition(&column.name))
}

/// Whether an expression holds a subquery.
pub fn has_subquery(expr: &Expr) -> bool {
    use datafusion::common::tree_node::TreeNode;
    expr.exists(|node| {
        Ok(matches!(
            node,
            Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::ScalarSubquery(_)
                | Expr::SetComparison(_)
        ))
    })
    .unwrap_or(true)
}

/// The files that may hold rows satisfying all of `filters`.
///
/// # Errors
/// A partition value cannot be read, or a predicate fails on one.
pub fn prune(
    session: &dyn Session,
    layout: &TableLayout,
    schema: &StructType,
    zone: &Zone,
    files: Vec<ScanFile>,
    filters: &[Expr],
) -> Result<Vec<ScanFile>> {
    let (exact, rest): (Vec<&Expr>, Vec<&Expr>) = filters
        .iter()
        .filter(|expr| !has_subquery(expr))
        .partition(|expr| is_partition_only(layout, expr));
    let mut files = files;
    if !exact.is_empty() && !files.is_empty() {
        let keep = matches(session, layout, zone, &files, &exact)?;
        files = files
            .into_iter()
            .zip(keep)
            .filter_map(|(file, keep)| keep.then_some(file))
            .collect();
    }
    if rest.is_empty() || files.is_empty() {
        return Ok(files);
    }
    let predicates: Vec<_> = rest.iter().map(|expr| to_predicate(expr, schema)).collect();
    let mut kept = Vec::with_capacity(files.len());
    for file in files {
        let values = partition_values(layout, &file.add, zone)?;
        let named: BTreeMap<_, _> = layout
            .partition_keys
            .iter()
            .cloned()
            .zip(values.iter())
            .filter_map(|(key, value)| Some((key, value_of(value)?)))
            .collect();
        let facts = StatisticsFacts::new(file.add.stats.as_deref(), named);
        if predicates
            .iter()
            .all(|predicate| predicate.may_match(&facts))
        {
            kept.push(file);
        }
    }
    Ok(kept)
}

/// For each file whether its partition values satisfy all predicates (NULL does not).
///
/// # Errors
/// A partition value cannot be read, or a predicate fails on one.
pub fn matches(
    session: &dyn Session,
    layout: &TableLayout,
    zone: &Zone,
    files: &[ScanFile],
    predicates: &[&Expr],
) -> Result<Vec<bool>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let schema = Arc::new(Schema::new(layout.partitions.clone()));
    let df_schema = DFSchema::try_from(schema.as_ref().clone())?;
    let bound = predicates
        .iter()
        .map(|expr| {
            session.create_physical_expr(unqualified((*expr).clone()).map_err(wrap)?, &df_schema)
        })
        .collect::<Result<Vec<Arc<dyn PhysicalExpr>>>>()?;
    let mut columns: Vec<Vec<ScalarValue>> =
        vec![Vec::with_capacity(files.len()); layout.partitions.len()];
    for file in files {
        for (column, value) in columns
            .iter_mut()
            .zip(partition_values(layout, &file.add, zone)?)
        {
            column.push(value);
        }
    }
    let arrays = columns
        .into_iter()
        .map(ScalarValue::iter_to_array)
        .collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(files.len()));
    let batch = RecordBatch::try_new_with_options(schema, arrays, &options)?;
    let mut keep = vec![true; files.len()];
    for predicate in bound {
        let result = predicate.evaluate(&batch)?.into_array(files.len())?;
        let Some(values) = result.as_any().downcast_ref::<BooleanArray>() else {
            if result.data_type() == &DataType::Null {
                return Ok(vec![false; files.len()]);
            }
            return plan_err!("a filter of type {} is not a condition", result.data_type());
        };
        for (keep, value) in keep.iter_mut().zip(values.iter()) {
            *keep &= value == Some(true);
        }
    }
    Ok(keep)
}

/// The logical columns that expressions use.
pub fn used_columns(filters: &[Expr]) -> BTreeSet<String> {
    filters
        .iter()
        .flat_map(|expr| {
            expr.column_refs()
                .into_iter()
                .map(|column| column.name.clone())
        })
        .collect()
}
