//! `deltaic history`: DESCRIBE HISTORY.

use super::{one, table_text};
use crate::arguments::{Common, History};
use crate::failure::Failed;

/// Run the command.
pub async fn run(common: &Common, options: History) -> Result<(), Failed> {
    let limit = options
        .limit
        .map(|n| format!(" LIMIT {n}"))
        .unwrap_or_default();
    one(
        common,
        &format!(
            "DESCRIBE HISTORY {}{limit}",
            table_text(&options.target.table)
        ),
    )
    .await
}
