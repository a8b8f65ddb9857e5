//! Queries.

use deltaic_protocol::error::Result;
use deltaic_sql::ast::Query;

use crate::analysis;
use crate::context::Context;
use crate::result::SqlResult;

/// Runs a query and collects its rows.
pub(super) async fn answer(cx: &Context, query: &Query) -> Result<SqlResult> {
    let planned = analysis::query(cx, query).await?;
    let schema = planned.schema.clone();
    let batches = analysis::collect(cx, planned).await?;
    Ok(SqlResult {
        schema,
        batches,
        ..SqlResult::empty()
    })
}
