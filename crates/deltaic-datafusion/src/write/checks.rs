//! What every written row must satisfy: NOT NULL columns, CHECK constraints and the like, lengths of CHAR and VARCHAR
//! (protocol sections "CHECK Constraints", "Column Invariants", "Generated Columns").

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, RecordBatch, StringArray,
    StructArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::{DataType, Lengths, StructType};
use deltaic_protocol::timestamp::Zone;

use super::show::show;
use super::target::PartitionColumn;
use crate::error::Classed;
use crate::exprs::{referenced, unqualified};

/// One condition on rows. A row that makes it false or NULL is refused.
#[derive(Debug, Clone)]
pub struct Check {
    /// The constraint's name as errors print it.
    pub name: String,
    /// The condition's SQL as errors print it, with the parentheses that Catalyst puts around it.
    pub sql: String,
    /// The condition over the table's columns.
    pub condition: Expr,
}

/// The name of the condition that a generated column's value is what its expression gives.
pub const GENERATED_COLUMN: &str = "Generated Column";

/// The conditions that the table's schema does not say itself.
#[derive(Debug, Clone, Default)]
pub struct WriteChecks {
    /// CHECK constraints, column invariants, generated columns.
    pub checks: Vec<Check>,
}

/// Checks, ready to run over batches.
#[derive(Debug, Clone)]
pub struct RowGuard {
    not_null: Vec<Vec<String>>,
    checks: Vec<BoundCheck>,
    lengths: Vec<(usize, Lengths)>,
    /// Positions of the partition columns that hold text.
    partitions: Vec<usize>,
    zone: Zone,
}

#[derive(Debug, Clone)]
struct BoundCheck {
    check: Check,
    condition: Arc<dyn PhysicalExpr>,
    columns: Vec<Vec<String>>,
}

impl RowGuard {
    /// Lets every row pass.
    pub fn none() -> RowGuard {
        RowGuard {
            not_null: Vec::new(),
            checks: Vec::new(),
            lengths: Vec::new(),
            partitions: Vec::new(),
            zone: Zone::utc(),
        }
    }

    /// Binds the checks to a table's schema; `logical` is its Arrow form.
    ///
    /// # Errors
    /// A condition names a column that the table does not have.
    pub fn new(
        session: &dyn Session,
        schema: &StructType,
        logical: &SchemaRef,
        checks: &WriteChecks,
        zone: Zone,
    ) -> Result<RowGuard> {
        let df_schema = DFSchema::try_from(logical.as_ref().clone()).classed()?;
        let checks = checks
            .checks
            .iter()
            .map(|check| {
                let condition = unqualified(check.condition.clone())?;
                let columns = referenced(&condition);
                let condition = session
                    .create_physical_expr(condition, &df_schema)
                    .classed()?;
                Ok(BoundCheck {
                    check: check.clone(),
                    condition,
                    columns,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut not_null = Vec::new();
        required(schema, &mut Vec::new(), &mut not_null);
        let lengths = schema
            .iter()
            .enumerate()
            .map(|(at, field)| (at, Lengths::of(field)))
            .filter(|(_, lengths)| !lengths.is_any())
            .collect();
        Ok(RowGuard {
            not_null,
            checks,
            lengths,
            partitions: Vec::new(),
            zone,
        })
    }

    /// Sees the text of these columns as partition values: an empty one is NULL, for constraints too.
    pub(crate) fn partitioned_by(mut self, columns: &[PartitionColumn]) -> RowGuard {
        self.partitions = columns
            .iter()
            .filter(|column| column.data_type == DataType::String)
            .map(|column| column.at)
            .collect();
        self
    }

    /// The batch as the table will show it.
    fn stored(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = batch.columns().to_vec();
        for at in &self.partitions {
            columns[*at] = null_for_empty(&columns[*at]);
        }
        RecordBatch::try_new(batch.schema(), columns).classed()
    }

    /// The batch with CHAR values padded and surplus spaces cut.
    ///
    /// # Errors
    /// A value is too long.
    pub fn fit(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.lengths.is_empty() {
            return Ok(batch);
        }
        let mut columns = batch.columns().to_vec();
        for (at, length) in &self.lengths {
            columns[*at] = fitted(&columns[*at], length)?;
        }
        RecordBatch::try_new(batch.schema(), columns).classed()
    }

    /// Looks at every row; the first row that violates anything decides, and in it the first condition.
    ///
    /// # Errors
    /// `DELTA_NOT_NULL_CONSTRAINT_VIOLATED`, `DELTA_VIOLATE_CONSTRAINT_WITH_VALUES`.
    pub fn check(&self, batch: &RecordBatch) -> Result<()> {
        let mut first: Option<(usize, DeltaError)> = None;
        let mut offer = |row: Option<usize>, error: &dyn Fn(usize) -> DeltaError| {
            if let Some(row) = row
                && first.as_ref().is_none_or(|(best, _)| row < *best)
            {
                first = Some((row, error(row)));
            }
        };
        let stored = self.stored(batch)?;
        for path in &self.not_null {
            offer(first_null(&stored, path)?, &|_| {
                DeltaError::new("DELTA_NOT_NULL_CONSTRAINT_VIOLATED")
                    .param("columnName", path.join("."))
            });
        }
        for bound in &self.checks {
            // What was computed from a text is compared before the text may become NULL.
            let generated = bound.check.name == GENERATED_COLUMN;
            let batch = if generated { batch } else { &stored };
            let result = bound
                .condition
                .evaluate(batch)
                .and_then(|value| value.into_array(batch.num_rows()))
                .classed()?;
            let row = first_not_true(&result)?;
            offer(row, &|row| bound.violation(batch, row, &self.zone));
        }
        match first {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

/// Partition values have no form for an empty text: it reads back as null, so it is written as null.
pub(super) fn null_for_empty(column: &ArrayRef) -> ArrayRef {
    let values = column.as_string::<i32>();
    if values.iter().all(|value| value != Some("")) {
        return Arc::clone(column);
    }
    let kept = values
        .iter()
        .map(|value| value.filter(|text| !text.is_empty()));
    Arc::new(kept.collect::<StringArray>())
}

impl BoundCheck {
    fn violation(&self, batch: &RecordBatch, row: usize, zone: &Zone) -> DeltaError {
        let mut lines: Vec<String> = self
            .columns
            .iter()
            .map(|path| {
                let value = value_at(batch, path, row)
                    .map_or_else(|| "null".to_string(), |value| show(&value, zone));
                format!(" - {} : {value}", path.join("."))
            })
            .collect();
        lines.sort();
        let values = lines.join("\n");
        let Check { name, sql, .. } = &self.check;
        DeltaError::new("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES")
            .param("constraintName", name)
            .param("expression", sql)
            .param("values", &values)
    }
}

/// An array with its texts fitted to their lengths, those inside of it too.
fn fitted(array: &ArrayRef, lengths: &Lengths) -> Result<ArrayRef> {
    let fit = |limit: usize, pad: bool| -> Result<ArrayRef> {
        let texts = array.as_string::<i32>().iter();
        let fitted: StringArray = texts
            .map(|text| text.map(|text| fit_text(text, limit, pad)).transpose())
            .collect::<Result<_>>()?;
        Ok(Arc::new(fitted))
    };
    match (lengths, array.data_type()) {
        (Lengths::Char(limit), _) => fit(*limit, true),
        (Lengths::VarChar(limit), _) => fit(*limit, false),
        (Lengths::Array(element), ArrowType::List(field)) => {
            let list = array.as_list::<i32>();
            let values = fitted(list.values(), element)?;
            let (field, offsets) = (Arc::clone(field), list.offsets().clone());
            let list = ListArray::try_new(field, offsets, values, list.nulls().cloned());
            Ok(Arc::new(list.classed()?))
        }
        (Lengths::Map(key, value), ArrowType::Map(field, sorted)) => {
            let map = array.as_map();
            let columns = vec![fitted(map.keys(), key)?, fitted(map.values(), value)?];
            let fields = map.entries().fields().clone();
            let entries = StructArray::try_new(fields, columns, None).classed()?;
            let (field, offsets) = (Arc::clone(field), map.offsets().clone());
            let nulls = map.nulls().cloned();
            let map = MapArray::try_new(field, offsets, entries, nulls, *sorted);
            Ok(Arc::new(map.classed()?))
        }
        (Lengths::Struct(_), ArrowType::Struct(fields)) => {
            let row = array.as_struct();
            let columns = fields
                .iter()
                .zip(row.columns())
                .map(|(field, column)| fitted(column, lengths.field(field.name())))
                .collect::<Result<_>>()?;
            let row = StructArray::try_new_with_length(
                fields.clone(),
                columns,
                row.nulls().cloned(),
                row.len(),
            );
            Ok(Arc::new(row.classed()?))
        }
        _ => Ok(Arc::clone(array)),
    }
}

fn fit_text(text: &str, limit: usize, pad: bool) -> Result<String> {
    let count = text.chars().count();
    if count > limit {
        let kept: String = text.chars().take(limit).collect();
        if text.chars().skip(limit).all(|c| c == ' ') {
            return Ok(kept);
        }
        return Err(DeltaError::new("EXCEED_LIMIT_LENGTH").param("limit", limit));
    }
    Ok(if pad {
        format!("{text}{}", " ".repeat(limit - count))
    } else {
        text.to_string()
    })
}

fn required(schema: &StructType, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    for field in schema {
        path.push(field.name.clone());
        if !field.nullable {
            out.push(path.clone());
        }
        if let DataType::Struct(inner) = &field.data_type {
            required(inner, path, out);
        }
        path.pop();
    }
}

/// A nested column counts as null where a struct around it is.
fn first_null(batch: &RecordBatch, path: &[String]) -> Result<Option<usize>> {
    let Some((array, nulls)) = descend(batch, path) else {
        return Err(DeltaError::internal(format!(
            "column {} is missing",
            path.join(".")
        )));
    };
    let nulls = NullBuffer::union(nulls.as_ref(), array.logical_nulls().as_ref());
    Ok(nulls
        .filter(|nulls| nulls.null_count() > 0)
        .and_then(|nulls| nulls.iter().position(|valid| !valid)))
}

fn descend(batch: &RecordBatch, path: &[String]) -> Option<(ArrayRef, Option<NullBuffer>)> {
    let (first, rest) = path.split_first()?;
    let mut array = Arc::clone(batch.column_by_name(first)?);
    let mut nulls: Option<NullBuffer> = None;
    for name in rest {
        let parent = array.as_any().downcast_ref::<StructArray>()?;
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        let child = Arc::clone(parent.column_by_name(name)?);
        array = child;
    }
    Some((array, nulls))
}

fn value_at(batch: &RecordBatch, path: &[String], row: usize) -> Option<ScalarValue> {
    let (array, nulls) = descend(batch, path)?;
    if nulls.is_some_and(|nulls| nulls.is_null(row)) {
        return None;
    }
    ScalarValue::try_from_array(&array, row)
        .ok()
        .filter(|value| !value.is_null())
}

fn first_not_true(result: &ArrayRef) -> Result<Option<usize>> {
    let Some(values) = result.as_any().downcast_ref::<BooleanArray>() else {
        return Err(DeltaError::internal(format!(
            "a check answers {}",
            result.data_type()
        )));
    };
    if values.null_count() == 0 && !values.has_false() {
        return Ok(None);
    }
    Ok(values.iter().position(|value| value != Some(true)))
}
