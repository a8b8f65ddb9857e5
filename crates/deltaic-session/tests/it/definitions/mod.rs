//! What generated columns, CHECK constraints and DEFAULT values may be defined by; and that a refusal leaves nothing behind.

mod checks;
mod defaults;
mod foreign;
mod generated;
mod like;

use crate::helpers::Warehouse;

const WITH_DEFAULTS: &str = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')";

/// Each statement fails with this text.
async fn texts(w: &Warehouse, statements: &[(String, &str)]) {
    for (sql, want) in statements {
        assert_eq!(w.fails(sql).await.to_string(), *want, "{sql}");
    }
}
