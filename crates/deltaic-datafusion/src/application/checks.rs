//! The conditions that a table's metadata puts on its rows, for applications that have no SQL analyzer of Spark's kind.
//! Their text is read by DataFusion's parser; where it cannot be, the table is not written.

use datafusion::common::{DFSchema, plan_err};
use datafusion::error::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, ident};
use deltaic_log::Snapshot;
use deltaic_protocol::schema::StructType;

use crate::error::wrap;
use crate::layout::TableLayout;
use crate::provider::mapping_mode;
use crate::write::checks::{Check, GENERATED_COLUMN, WriteChecks};

/// CHECK constraints, column invariants and generated columns of a table.
///
/// # Errors
/// A text cannot be read, or the table has identity columns, whose values this function cannot give.
pub fn table_checks(state: &SessionState, snapshot: &Snapshot) -> Result<WriteChecks> {
    let layout = TableLayout::new(
        snapshot.schema(),
        snapshot.partition_columns(),
        mapping_mode(snapshot).map_err(wrap)?,
    );
    let schema = DFSchema::try_from(layout.schema.as_ref().clone())?;
    let parse = |sql: &str| state.create_logical_expr(sql, &schema);
    let mut checks = Vec::new();
    for (name, sql) in snapshot.config().check_constraints() {
        checks.push(Check {
            name: name.to_string(),
            sql: format!("({sql})"),
            condition: parse(sql)?,
        });
    }
    columns(snapshot.schema(), &parse, &mut checks)?;
    Ok(WriteChecks { checks })
}

fn columns(
    schema: &StructType,
    parse: &dyn Fn(&str) -> Result<Expr>,
    checks: &mut Vec<Check>,
) -> Result<()> {
    for field in schema {
        if field.is_identity() {
            return plan_err!(
                "column {} is an identity column; its values are given by deltaic's own session",
                field.name
            );
        }
        if let Some(sql) = field.invariant() {
            checks.push(Check {
                name: "EXPRESSION".to_string(),
                sql: format!("({sql})"),
                condition: parse(&sql)?,
            });
        }
        if let Some(sql) = field.generation_expression() {
            let condition = Expr::BinaryExpr(datafusion::logical_expr::BinaryExpr::new(
                Box::new(ident(&field.name)),
                datafusion::logical_expr::Operator::IsNotDistinctFrom,
                Box::new(parse(sql)?),
            ));
            checks.push(Check {
                name: GENERATED_COLUMN.to_string(),
                sql: format!("({} <=> {sql})", field.name),
                condition,
            });
        }
    }
    Ok(())
}
