//! EXPLAIN: the plan of a query as text.

use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::schema::DataType;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_sql::Statement;
use deltaic_sql::ast::Explain;

use crate::analysis;
use crate::context::Context;
use crate::result::{SqlResult, Value};

/// `EXPLAIN`: the physical plan, with EXTENDED the logical one before it.
pub(super) async fn explain(cx: &Context, explain: &Explain) -> Result<SqlResult> {
    let Statement::Query(query) = explain.statement.as_ref() else {
        return Err(DeltaError::not_supported_yet(
            "EXPLAIN of a statement that is no query",
        ));
    };
    let planned = analysis::query(cx, query).await?;
    let logical = planned.plan.display_indent().to_string();
    let physical = analysis::physical_text(cx, planned).await?;
    let extended = explain
        .mode
        .as_deref()
        .is_some_and(|mode| mode != "FORMATTED");
    let shown = if extended {
        format!("== Analyzed Logical Plan ==\n{logical}\n\n== Physical Plan ==\n{physical}")
    } else {
        format!("== Physical Plan ==\n{physical}")
    };
    SqlResult::from_rows(
        StructType::new([StructField::new("plan", DataType::String, false)]),
        &[vec![Value::text(shown)]],
    )
}
