//! CHECK constraints: adding, dropping, and binding those of a table for a write (protocol sections "CHECK Constraints",
//! "Column Invariants", "Generated Columns").

use deltaic_datafusion::{Check, GENERATED_COLUMN, WriteChecks};
use deltaic_log::Snapshot;
use deltaic_log::transaction::Transaction;
use deltaic_maintenance::alter::TableState;
use deltaic_maintenance::constraints;
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::properties::CONSTRAINT_PREFIX;
use deltaic_protocol::schema::StructType;
use deltaic_sql::ast;

use crate::analysis::{self, TableScope};
use crate::context::Context;
use crate::errors;
use crate::resolve::{self, DeltaTable, Target};
use crate::result::{SqlResult, Value};

use super::definitions;

/// `ADD CONSTRAINT … CHECK`: refused if a row of the table violates it.
pub(super) async fn add(
    cx: &Context,
    target: Target,
    name: Option<&str>,
    check: &ast::Check,
) -> Result<SqlResult> {
    let table = delta(target)?;
    let Some(name) = name else {
        return Err(unsupported(&table.qualifier));
    };
    let snapshot = table.snapshot(cx).await?;
    let change = constraints::add_constraint(&TableState::of(&snapshot), name, &check.text)?;
    definitions::added_constraint(cx, name, check, snapshot.schema()).await?;
    let violations = violations(cx, &table, &check.text).await?;
    if violations > 0 {
        return Err(DeltaError::new("DELTA_NEW_CHECK_CONSTRAINT_VIOLATION")
            .param("numRows", violations)
            .param("tableName", table.display())
            .param("checkConstraint", &check.text));
    }
    let mut transaction = Transaction::begin(&snapshot, change.operation);
    transaction.set_metadata(change.metadata);
    if let Some(protocol) = change.protocol {
        transaction.set_protocol(protocol);
    }
    // That no row violates it was found out by reading them all.
    transaction.read_whole_table();
    let result = transaction
        .commit(&cx.commit_context(Some(table.display())))
        .await?
        .into_result()?;
    cx.committed(&result);
    Ok(SqlResult::empty())
}

/// `DROP CONSTRAINT`.
pub(super) async fn drop(
    cx: &Context,
    target: Target,
    name: &str,
    if_exists: bool,
) -> Result<SqlResult> {
    let table = delta(target)?;
    let tolerant = if_exists || cx.conf.delta("constraints.assumesDropIfExists.enabled");
    let shown = table.short_quoted();
    super::properties::change(cx, &table, |state| {
        constraints::drop_constraint(state, name, tolerant, &shown)
    })
    .await
}

/// Delta knows CHECK constraints with a name, of tables that exist.
pub(super) fn unsupported<S: AsRef<str>>(table: &[S]) -> DeltaError {
    DeltaError::new("UNSUPPORTED_FEATURE.TABLE_OPERATION")
        .param("tableName", errors::quoted(table))
        .param("operation", "table constraint")
        .with_hint("ALTER TABLE … ADD CONSTRAINT name CHECK (…) adds one to a table")
}

fn delta(target: Target) -> Result<DeltaTable> {
    match target {
        Target::Delta(table) => Ok(*table),
        Target::Parquet(_) => Err(errors::delta_only("ALTER TABLE ... CONSTRAINT")),
        Target::View(view) => Err(errors::view_not_table(
            &resolve::view_qualifier(&view),
            "ALTER TABLE ... CONSTRAINT",
        )),
    }
}

/// Rows of the table for which a condition is false or unknown.
async fn violations(cx: &Context, table: &DeltaTable, condition: &str) -> Result<i64> {
    let sql = format!(
        "SELECT count(*) FROM {} WHERE NOT coalesce(({condition}), false)",
        errors::quoted(&table.qualifier)
    );
    let query = deltaic_sql::parse_query(&sql)?;
    let planned = analysis::query(cx, &query).await?;
    let schema = planned.schema.clone();
    let batches = analysis::collect(cx, planned).await?;
    let rows = SqlResult {
        schema,
        batches,
        ..SqlResult::empty()
    }
    .rows();
    match rows.first().and_then(|row| row.first()) {
        Some(Value::Long(count)) => Ok(*count),
        _ => Ok(0),
    }
}

/// The conditions that every written row must satisfy.
pub(super) async fn checks(cx: &Context, snapshot: &Snapshot) -> Result<WriteChecks> {
    checks_of(cx, snapshot.schema(), &snapshot.metadata().configuration).await
}

/// The conditions in a table's properties and columns.
pub(super) async fn checks_of(
    cx: &Context,
    schema: &StructType,
    configuration: &std::collections::BTreeMap<String, String>,
) -> Result<WriteChecks> {
    let scope = TableScope {
        schema: schema.clone(),
        qualifier: Vec::new(),
        alias: None,
    };
    let mut checks = Vec::new();
    for (key, text) in configuration.range(CONSTRAINT_PREFIX.to_owned()..) {
        let Some(name) = key.strip_prefix(CONSTRAINT_PREFIX) else {
            break;
        };
        let bound = analysis::condition_text(cx, text, &scope).await?;
        checks.push(Check {
            name: name.to_owned(),
            sql: bound.sql,
            condition: bound.expr,
        });
    }
    for field in &schema.fields {
        if let Some(text) = field.invariant() {
            let bound = analysis::condition_text(cx, &text, &scope).await?;
            checks.push(Check {
                name: format!("EXPRESSION({text})"),
                sql: bound.sql,
                condition: bound.expr,
            });
        }
        if let Some(text) = field.generation_expression() {
            let condition = format!("{} <=> ({text})", errors::quoted(&[&field.name]));
            let bound = analysis::condition_text(cx, &condition, &scope).await?;
            checks.push(Check {
                name: GENERATED_COLUMN.to_owned(),
                sql: format!("{} <=> {text}", field.name),
                condition: bound.expr,
            });
        }
    }
    Ok(WriteChecks { checks })
}
