//! CHECK constraints: ADD and DROP CONSTRAINT as changes of metadata (spec: delta, sections 1.18 and 4.6). That the rows of
//! the table keep a new constraint is for the caller to find out before it commits.

use deltaic_log::Operation;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{ProtocolUpgrade, upgraded_protocol};
use deltaic_protocol::properties::CONSTRAINT_PREFIX;

use crate::alter::{TableChange, TableState};

/// The name of the check that CHAR and VARCHAR columns bring.
const RESERVED_NAME: &str = "__CHAR_VARCHAR_STRING_LENGTH_CHECK__";

/// Adds a constraint. `expression` is its text as the user wrote it. The commit depends on every row of the table
/// ([`deltaic_log::Transaction::read_whole_table`]).
///
/// # Errors
/// The name is taken or reserved.
pub fn add_constraint(state: &TableState, name: &str, expression: &str) -> Result<TableChange> {
    if name == RESERVED_NAME {
        return Err(DeltaError::new("DELTA_INVALID_CONSTRAINT_NAME").param("name", name));
    }
    let key = key_of(name);
    if let Some(old) = state.metadata.configuration.get(&key) {
        return Err(DeltaError::new("DELTA_CONSTRAINT_ALREADY_EXISTS")
            .param("constraintName", name)
            .param("oldConstraint", old));
    }
    let mut metadata = state.metadata.clone();
    metadata.configuration.insert(key, expression.to_string());
    let protocol = upgraded_protocol(&state.protocol, &metadata, &ProtocolUpgrade::default())?;
    let operation = Operation::new("ADD CONSTRAINT")
        .text_parameter("name", name)
        .text_parameter("expr", expression);
    Ok(TableChange {
        metadata,
        protocol,
        operation,
    })
}

/// Drops a constraint. A missing one is an error unless `if_exists`; then the history shows that there was none. `table` is
/// the name in the error's text.
///
/// # Errors
/// `DELTA_CONSTRAINT_DOES_NOT_EXIST`.
pub fn drop_constraint(
    state: &TableState,
    name: &str,
    if_exists: bool,
    table: &str,
) -> Result<TableChange> {
    let mut metadata = state.metadata.clone();
    let old = metadata.configuration.remove(&key_of(name));
    if old.is_none() && !if_exists {
        return Err(DeltaError::new("DELTA_CONSTRAINT_DOES_NOT_EXIST")
            .param("constraintName", name)
            .param("tableName", table)
            .param(
                "config",
                "spark.databricks.delta.constraints.assumesDropIfExists.enabled",
            )
            .param("confValue", "true"));
    }
    let mut operation = Operation::new("DROP CONSTRAINT").text_parameter("name", name);
    if let Some(old) = &old {
        operation = operation.text_parameter("expr", old);
    }
    let operation = operation.text_parameter("existed", old.is_some().to_string());
    Ok(TableChange {
        metadata,
        protocol: None,
        operation,
    })
}

fn key_of(name: &str) -> String {
    format!("{CONSTRAINT_PREFIX}{}", name.to_lowercase())
}
