//! Does a reader that leaves out files by Deltaic's statistics and partition values lose rows?
//!
//! For each column, also within structs, and each of its values a scan with `column = value` must give all rows that
//! have it, and a scan with `column IS NULL` all rows without. The kernel leaves out whole files by the log's statistics
//! and does no more with a condition, so rows that do not meet it may come as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use delta_kernel::Predicate;
use delta_kernel::arrow::array::{Array, AsArray, RecordBatch};
use delta_kernel::expressions::{ColumnName, Expression};
use delta_kernel::schema::{DataType, StructType};
use serde_json::{Value, json};

use crate::Failure;
use crate::json::cell;
use crate::read::{Table, rows_of};
use crate::scalar::literal;

/// So many values are asked for of each column of a batch.
const VALUES: usize = 8;

/// The condition and the rows that meet it, each with how often it is there.
struct Condition {
    predicate: Predicate,
    rows: BTreeMap<String, usize>,
}

/// Asks for the values of a version.
pub fn check(table: &Table, version: Option<u64>) -> Result<Value, Failure> {
    let snapshot = table.snapshot(version)?;
    let schema = snapshot.schema();
    let all = table.scan(snapshot.clone(), &schema, None)?;
    let mut conditions = BTreeMap::new();
    for batch in &all {
        let rows = texts(&schema, batch)?;
        collect(&schema, &[], batch.columns(), &rows, &mut conditions)?;
    }
    let total: usize = all.iter().map(RecordBatch::num_rows).sum();
    let (mut lost, mut left_out) = (Vec::new(), 0);
    for (title, condition) in &conditions {
        let some = table.scan(
            snapshot.clone(),
            &schema,
            Some(Arc::new(condition.predicate.clone())),
        )?;
        let mut found = BTreeMap::new();
        for batch in &some {
            for text in texts(&schema, batch)? {
                *found.entry(text).or_insert(0) += 1;
            }
        }
        left_out += total - some.iter().map(RecordBatch::num_rows).sum::<usize>();
        for (row, count) in &condition.rows {
            if found.get(row) < Some(count) {
                lost.push(format!("{title} loses {row}"));
            }
        }
    }
    Ok(json!({"conditions": conditions.len(), "rows_left_out": left_out, "lost": lost}))
}

fn texts(schema: &StructType, batch: &RecordBatch) -> Result<Vec<String>, Failure> {
    Ok(rows_of(schema, batch)?
        .iter()
        .map(Value::to_string)
        .collect())
}

/// Adds the conditions that the columns of one batch, or of one struct of it, give rise to.
fn collect(
    schema: &StructType,
    above: &[String],
    columns: &[Arc<dyn Array>],
    rows: &[String],
    conditions: &mut BTreeMap<String, Condition>,
) -> Result<(), Failure> {
    for (field, column) in schema.fields().zip(columns) {
        let path = [above, &[field.name().clone()]].concat();
        let kind = field.data_type();
        if let (DataType::Struct(of), Some(parts)) = (kind, column.as_struct_opt()) {
            // Rows whose struct is NULL have NULL in each part; Arrow keeps the two apart.
            let parts = parts.flatten().1;
            collect(of, &path, &parts, rows, conditions)?;
            continue;
        }
        // Of other types the kernel knows no statistics, and takes no conditions.
        if !matches!(kind, DataType::Primitive(_)) {
            continue;
        }
        let mut values = 0;
        for (row, text) in rows.iter().enumerate() {
            let Some((title, predicate)) = condition(&path, kind, column, row)? else {
                continue;
            };
            let known = conditions.contains_key(&title);
            values += usize::from(!known);
            if !known && values > VALUES {
                continue;
            }
            let condition = conditions.entry(title).or_insert_with(|| Condition {
                predicate,
                rows: BTreeMap::new(),
            });
            *condition.rows.entry(text.clone()).or_insert(0) += 1;
        }
    }
    Ok(())
}

/// The condition that a value meets, with its text.
fn condition(
    path: &[String],
    kind: &DataType,
    column: &dyn Array,
    row: usize,
) -> Result<Option<(String, Predicate)>, Failure> {
    let column_name = Expression::from(ColumnName::new(path.iter()));
    let path = path.join(".");
    if column.is_null(row) {
        return Ok(Some((format!("{path} IS NULL"), column_name.is_null())));
    }
    let Some(value) = literal(kind, column, row) else {
        return Ok(None);
    };
    let title = format!("{path} = {}", cell(kind, column, row)?);
    Ok(Some((title, column_name.eq(value))))
}
