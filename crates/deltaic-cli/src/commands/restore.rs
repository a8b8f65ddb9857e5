//! `deltaic restore`: RESTORE TABLE.

use super::{one, quoted, table_text};
use crate::arguments::{Common, Restore};
use crate::failure::Failed;

/// Run the command.
pub async fn run(common: &Common, options: Restore) -> Result<(), Failed> {
    let target = match (options.version, options.timestamp) {
        (Some(version), _) => format!("VERSION AS OF {version}"),
        (None, Some(time)) => format!("TIMESTAMP AS OF {}", quoted(&time)),
        (None, None) => {
            return Err(Failed::Usage(
                "restore needs --version or --timestamp".to_owned(),
            ));
        }
    };
    one(
        common,
        &format!(
            "RESTORE TABLE {} TO {target}",
            table_text(&options.target.table)
        ),
    )
    .await
}
