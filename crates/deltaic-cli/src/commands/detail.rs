//! `deltaic detail`: DESCRIBE DETAIL.

use super::{one, table_text};
use crate::arguments::{Common, Detail};
use crate::failure::Failed;

/// Run the command.
pub async fn run(common: &Common, options: Detail) -> Result<(), Failed> {
    one(
        common,
        &format!("DESCRIBE DETAIL {}", table_text(&options.target.table)),
    )
    .await
}
