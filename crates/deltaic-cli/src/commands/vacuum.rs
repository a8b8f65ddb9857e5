//! `deltaic vacuum`: VACUUM.

use super::{one, table_text};
use crate::arguments::{Common, Vacuum};
use crate::failure::Failed;

/// Run the command.
pub async fn run(common: &Common, options: Vacuum) -> Result<(), Failed> {
    one(common, &statement(&options)).await
}

fn statement(options: &Vacuum) -> String {
    let mut text = format!("VACUUM {}", table_text(&options.target.table));
    if options.lite {
        text.push_str(" LITE");
    }
    if let Some(inventory) = &options.inventory {
        text.push_str(&format!(" USING INVENTORY {}", table_text(inventory)));
    }
    if let Some(manifest) = &options.inventory_manifest {
        let quoted = manifest.replace('`', "``");
        text.push_str(&format!(" USING INVENTORY s3_inventory.`{quoted}`"));
    }
    if let Some(hours) = options.retain_hours {
        text.push_str(&format!(" RETAIN {hours} HOURS"));
    }
    if options.dry_run {
        text.push_str(" DRY RUN");
    }
    text
}
