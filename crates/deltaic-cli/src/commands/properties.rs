//! `deltaic properties`: ALTER TABLE SET and UNSET TBLPROPERTIES, then SHOW TBLPROPERTIES.

use super::{quoted, table_text, watched};
use crate::arguments::{Common, Properties};
use crate::engine::Engine;
use crate::failure::Failed;
use crate::output::Printer;

/// Run the command: one commit for what is set, one for what is removed.
pub async fn run(common: &Common, options: Properties) -> Result<(), Failed> {
    let engine = Engine::open(common)?;
    let table = table_text(&options.target.table);
    if !options.set.is_empty() {
        let pairs: Vec<String> = options
            .set
            .iter()
            .map(|(k, v)| format!("{} = {}", quoted(k), quoted(v)))
            .collect();
        let statement = format!(
            "ALTER TABLE {table} SET TBLPROPERTIES ({})",
            pairs.join(", ")
        );
        watched(&engine, common, &statement).await?;
    }
    if !options.unset.is_empty() {
        let keys: Vec<String> = options.unset.iter().map(|key| quoted(key)).collect();
        let statement = format!(
            "ALTER TABLE {table} UNSET TBLPROPERTIES ({})",
            keys.join(", ")
        );
        watched(&engine, common, &statement).await?;
    }
    let answer = watched(&engine, common, &format!("SHOW TBLPROPERTIES {table}")).await?;
    Printer::whole(common.output).answer(&answer)
}
