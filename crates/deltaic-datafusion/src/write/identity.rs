//! Values of identity columns (protocol section "Identity Columns"): each row of a statement gets the next one; the table's
//! schema remembers the last.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::Int64Array;
use arrow::datatypes::DataType as Arrow;
use datafusion::error::Result as EngineResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::metadata::{IDENTITY_HIGH_WATER_MARK, IDENTITY_START, IDENTITY_STEP};
use deltaic_protocol::schema::{StructField, StructType};
use serde_json::Value;

use crate::error::{Classed, wrap};

/// A column whose values the statement at hand makes.
#[derive(Debug, Clone)]
pub struct IdentityColumn {
    /// The column's name.
    name: String,
    values: Arc<Values>,
}

#[derive(Debug)]
struct Values {
    step: i64,
    /// The value before the next one; wide enough for the one before the first.
    last: Mutex<i128>,
    /// What `last` was before the statement.
    begin: i128,
}

impl IdentityColumn {
    /// The values that follow those that the table has given.
    ///
    /// # Errors
    /// The column's metadata is not that of an identity column.
    pub fn new(field: &StructField) -> Result<IdentityColumn> {
        let (start, step) = (field.number(IDENTITY_START), field.number(IDENTITY_STEP));
        let (Some(start), Some(step)) = (start, step) else {
            return Err(
                DeltaError::new("DELTA_IDENTITY_COLUMN_INCONSISTENT_METADATA")
                    .param("colName", &field.name)
                    .param("hasStart", start.is_some())
                    .param("hasStep", step.is_some())
                    .param(
                        "hasInsert",
                        field
                            .metadata
                            .contains_key("delta.identity.allowExplicitInsert"),
                    ),
            );
        };
        let begin = match field.number(IDENTITY_HIGH_WATER_MARK) {
            Some(mark) => i128::from(mark),
            None => i128::from(start) - i128::from(step),
        };
        Ok(IdentityColumn {
            name: field.name.clone(),
            values: Arc::new(Values {
                step,
                last: Mutex::new(begin),
                begin,
            }),
        })
    }

    /// The next value, row by row.
    fn expr(&self) -> Expr {
        let function = ScalarUDF::new_from_impl(NextValue {
            values: Arc::clone(&self.values),
            signature: Signature::nullary(Volatility::Volatile),
        });
        function.call(Vec::new()).alias(&self.name)
    }

    /// The last value that was made; none where there was no row.
    fn last(&self) -> Option<i64> {
        let last = *self
            .values
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        i64::try_from(last)
            .ok()
            .filter(|_| last != self.values.begin)
    }
}

impl Values {
    fn take(&self, rows: usize) -> Result<Vec<i64>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Vec::with_capacity(rows);
        for _ in 0..rows {
            let next = *last + i128::from(self.step);
            out.push(i64::try_from(next).map_err(|_| overflow())?);
            *last = next;
        }
        Ok(out)
    }
}

/// No further value fits the column.
pub fn overflow() -> DeltaError {
    DeltaError::unclassed("java.lang.ArithmeticException", "long overflow")
}

/// A plan whose identity columns that were not given are filled. `given` tells it for each column of the schema, with which the
/// plan's columns begin.
///
/// # Errors
/// As [`IdentityColumn::new`].
pub fn fill_identities(
    plan: LogicalPlan,
    schema: &StructType,
    given: &[bool],
) -> Result<(LogicalPlan, Vec<IdentityColumn>)> {
    let mut filled = Vec::new();
    let mut columns: Vec<Expr> = plan
        .schema()
        .columns()
        .into_iter()
        .map(Expr::Column)
        .collect();
    for (at, field) in schema.iter().enumerate() {
        if field.is_identity() && !given.get(at).copied().unwrap_or(false) {
            let column = IdentityColumn::new(field)?;
            if let Some(place) = columns.get_mut(at) {
                *place = column.expr();
            }
            filled.push(column);
        }
    }
    if filled.is_empty() {
        return Ok((plan, filled));
    }
    let plan = LogicalPlanBuilder::from(plan)
        .project(columns)
        .and_then(|plan| plan.build())
        .classed()?;
    Ok((plan, filled))
}

/// The metadata with the last values; none where no value was made.
pub(crate) fn with_marks(
    metadata: &Metadata,
    columns: &[IdentityColumn],
) -> Result<Option<Metadata>> {
    let mut schema = metadata.schema()?;
    let mut changed = false;
    for column in columns {
        let Some(last) = column.last() else { continue };
        let field = schema
            .fields
            .iter_mut()
            .find(|field| field.name == column.name);
        if let Some(field) = field {
            field
                .metadata
                .insert(IDENTITY_HIGH_WATER_MARK.to_owned(), Value::from(last));
            changed = true;
        }
    }
    if !changed {
        return Ok(None);
    }
    Ok(Some(Metadata {
        schema_string: schema.to_json(),
        ..metadata.clone()
    }))
}

/// Gives each row of a batch the next value.
#[derive(Debug)]
struct NextValue {
    values: Arc<Values>,
    signature: Signature,
}

impl PartialEq for NextValue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }
}

impl Eq for NextValue {}

impl Hash for NextValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.values) as usize).hash(state);
    }
}

impl ScalarUDFImpl for NextValue {
    fn name(&self) -> &str {
        "__deltaic_identity"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[Arrow]) -> EngineResult<Arrow> {
        Ok(Arrow::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> EngineResult<ColumnarValue> {
        let values = self.values.take(args.number_rows).map_err(wrap)?;
        Ok(ColumnarValue::Array(Arc::new(Int64Array::from(values))))
    }
}
