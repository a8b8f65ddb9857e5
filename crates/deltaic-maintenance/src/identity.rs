//! Identity columns: which tables may have them, and SYNC IDENTITY (protocol section "Identity Columns").

use deltaic_log::Operation;
use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::metadata::{
    IDENTITY_ALLOW_EXPLICIT_INSERT, IDENTITY_HIGH_WATER_MARK, IDENTITY_START, IDENTITY_STEP,
};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use serde_json::Value;

use crate::alter::{TableChange, TableState, field_json, json_type_name};

/// A column as an identity column.
///
/// # Errors
/// A type other than BIGINT.
pub fn identity_column(
    field: StructField,
    start: i64,
    step: i64,
    allow_explicit_insert: bool,
) -> Result<StructField> {
    if field.data_type != DataType::Long {
        return Err(
            DeltaError::new("DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE")
                .param("dataType", json_type_name(&field.data_type)),
        );
    }
    Ok(field
        .with_metadata(IDENTITY_START, start)
        .with_metadata(IDENTITY_STEP, step)
        .with_metadata(IDENTITY_ALLOW_EXPLICIT_INSERT, allow_explicit_insert))
}

/// Values of identity columns cannot be partition values.
///
/// # Errors
/// One of the columns is an identity column.
pub fn check_partitions(schema: &StructType, partition_by: &[String]) -> Result<()> {
    for name in partition_by {
        if schema.field(name).is_some_and(StructField::is_identity) {
            return Err(
                DeltaError::new("DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED")
                    .param("colName", name),
            );
        }
    }
    Ok(())
}

/// Whether a statement may give values for the column itself.
pub fn allows_explicit_insert(field: &StructField) -> bool {
    field.metadata.get(IDENTITY_ALLOW_EXPLICIT_INSERT) == Some(&Value::Bool(true))
}

/// The schema of a new table that gives its own values from the start.
pub fn without_marks(schema: &StructType) -> StructType {
    let mut out = schema.clone();
    for field in &mut out.fields {
        field.metadata.remove(IDENTITY_HIGH_WATER_MARK);
    }
    out
}

/// SYNC IDENTITY: the next value follows the furthest one that the table holds. `furthest` is the greatest value, with a
/// negative step the least; `may_lower` lets the mark go back to it.
///
/// # Errors
/// No identity column; a mark that is no BIGINT.
pub fn sync(
    state: &TableState,
    path: &[String],
    furthest: Option<i64>,
    may_lower: bool,
) -> Result<TableChange> {
    let mut schema = state.schema.clone();
    let field = find(&mut schema, path)?;
    if let Some(value) = furthest
        && let Some(mark) = new_mark(field, value, may_lower)?
    {
        field
            .metadata
            .insert(IDENTITY_HIGH_WATER_MARK.to_owned(), Value::from(mark));
    }
    let shown = field_json(&[], field);
    Ok(TableChange {
        metadata: Metadata {
            schema_string: schema.to_json(),
            ..state.metadata.clone()
        },
        protocol: None,
        operation: Operation::new("CHANGE COLUMN").text_parameter("column", shown.to_string()),
    })
}

/// Whether the column's values go down.
///
/// # Errors
/// No identity column.
pub fn descends(state: &TableState, path: &[String]) -> Result<bool> {
    let mut schema = state.schema.clone();
    let field = find(&mut schema, path)?;
    Ok(field.number(IDENTITY_STEP).is_some_and(|step| step < 0))
}

fn find<'a>(schema: &'a mut StructType, path: &[String]) -> Result<&'a mut StructField> {
    let at = match path {
        [name] => schema.index_of(name),
        _ => None,
    };
    match at.and_then(|at| schema.fields.get_mut(at)) {
        Some(field) if field.is_identity() => Ok(field),
        _ => Err(DeltaError::new(
            "DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN",
        )),
    }
}

/// The mark that a value stands for; none where it stays.
fn new_mark(field: &StructField, value: i64, may_lower: bool) -> Result<Option<i64>> {
    let (Some(start), Some(step)) = (field.number(IDENTITY_START), field.number(IDENTITY_STEP))
    else {
        return Ok(None);
    };
    let beyond = |a: i64, b: i64| if step > 0 { a > b } else { a < b };
    if beyond(start, value) {
        return Ok(None);
    }
    // The first value of the column's own sequence that is not before this one.
    let (start, step, value) = (i128::from(start), i128::from(step), i128::from(value));
    let steps = (value - start) / step + i128::from((value - start) % step != 0);
    let mark = i64::try_from(start + steps * step)
        .map_err(|_| DeltaError::unclassed("java.lang.ArithmeticException", "long overflow"))?;
    let old = field.number(IDENTITY_HIGH_WATER_MARK);
    Ok(Some(mark).filter(|mark| may_lower || old.is_none_or(|old| beyond(*mark, old))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use deltaic_protocol::action::Protocol;

    fn mark(
        start: i64,
        step: i64,
        old: Option<i64>,
        furthest: i64,
        may_lower: bool,
    ) -> Option<i64> {
        let field = StructField::nullable("id", DataType::Long);
        let mut field = identity_column(field, start, step, true).unwrap();
        if let Some(old) = old {
            field = field.with_metadata(IDENTITY_HIGH_WATER_MARK, old);
        }
        let schema = StructType::new([field]);
        let state = TableState {
            metadata: Metadata::new("t", &schema),
            protocol: Protocol::legacy(1, 6),
            schema,
            clustering_columns: Vec::new(),
        };
        let path = ["ID".to_string()];
        let change = sync(&state, &path, Some(furthest), may_lower).unwrap();
        change.metadata.schema().unwrap().fields[0].number(IDENTITY_HIGH_WATER_MARK)
    }

    #[test]
    fn a_mark_is_the_next_value_of_the_sequence_that_is_not_before_the_furthest() {
        assert_eq!(mark(10, 5, None, 10, false), Some(10));
        assert_eq!(mark(10, 5, None, 11, false), Some(15));
        assert_eq!(mark(10, 5, None, 15, false), Some(15));
        assert_eq!(mark(0, -3, None, -7, false), Some(-9));
        assert_eq!(mark(0, -3, None, -9, false), Some(-9));
        // Nothing before the start counts.
        assert_eq!(mark(10, 5, None, 3, false), None);
        assert_eq!(mark(0, -3, Some(-6), 4, false), Some(-6));
    }

    #[test]
    fn a_mark_goes_back_only_where_that_is_allowed() {
        assert_eq!(mark(1, 1, Some(100), 7, false), Some(100));
        assert_eq!(mark(1, 1, Some(100), 7, true), Some(7));
        assert_eq!(mark(0, -1, Some(-100), -7, false), Some(-100));
        assert_eq!(mark(1, 1, Some(100), 107, false), Some(107));
    }

    #[test]
    fn a_mark_beyond_the_column_is_refused() {
        let field = StructField::nullable("id", DataType::Long);
        let field = identity_column(field, i64::MIN, 7, true).unwrap();
        let error = new_mark(&field, i64::MAX, false).unwrap_err();
        assert!(error.to_string().contains("long overflow"));
    }
}
