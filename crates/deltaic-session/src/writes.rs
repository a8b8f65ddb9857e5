//! What the settings of a session say of statements that write.

use std::num::NonZeroU64;

use deltaic_analyzer::{StoreAssignment, Widening};
use deltaic_datafusion::{AppTransaction, WriterOptions};
use deltaic_maintenance::alter;
use deltaic_protocol::error::{DeltaError, Result};

use crate::conf::SessionConf;

const TXN_APP_ID: &str = "spark.databricks.delta.write.txnAppId";
/// The version that a write of the application records.
pub(crate) const TXN_VERSION: &str = "spark.databricks.delta.write.txnVersion";
/// Whether that version is taken back after a write.
pub(crate) const AUTO_RESET: &str = "spark.databricks.delta.write.txnVersion.autoReset.enabled";
const MAX_RECORDS: &str = "spark.sql.files.maxRecordsPerFile";

/// What becomes of a value whose type is not the column's.
pub(crate) fn store_assignment(conf: &SessionConf) -> StoreAssignment {
    let policy = conf.get("spark.sql.storeAssignmentPolicy");
    match policy.map(|policy| policy.trim().to_ascii_uppercase()) {
        Some(policy) if policy == "LEGACY" => StoreAssignment::Legacy,
        Some(policy) if policy == "STRICT" => StoreAssignment::Strict,
        _ => StoreAssignment::Ansi,
    }
}

/// Which types the columns of a table that widens types grow to by themselves.
pub(crate) fn widening(conf: &SessionConf) -> Option<Widening> {
    let mode = conf.get("spark.databricks.delta.typeWidening.allowAutomaticWidening");
    match mode.map(|mode| mode.trim().to_ascii_lowercase()).as_deref() {
        Some("never") => None,
        Some("same_family_type") => Some(alter::widens_within_family),
        _ => Some(alter::is_widening),
    }
}

/// The options that hold for every statement.
pub(crate) fn options(conf: &SessionConf) -> WriterOptions {
    let most = conf
        .get(MAX_RECORDS)
        .and_then(|text| text.trim().parse::<i64>().ok())
        // Zero and less mean any number.
        .and_then(|most| u64::try_from(most).ok());
    WriterOptions {
        transaction: None,
        max_records_per_file: most.and_then(NonZeroU64::new),
        delete_with_vectors: conf.delta("delete.deletionVectors.persistent"),
        update_with_vectors: conf.delta("update.deletionVectors.persistent"),
    }
}

/// The application's transaction that a statement stands for.
///
/// # Errors
/// `DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS` where only one of the two settings is there.
pub(crate) fn transaction(conf: &SessionConf) -> Result<Option<AppTransaction>> {
    let version = conf
        .get(TXN_VERSION)
        .and_then(|text| text.trim().parse().ok());
    match (conf.get(TXN_APP_ID), version) {
        (Some(app_id), Some(version)) => Ok(Some(AppTransaction { app_id, version })),
        (None, None) => Ok(None),
        _ => Err(
            DeltaError::new("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS").param(
                "reason",
                format!("Both {TXN_APP_ID} and {TXN_VERSION} must be specified for idempotent Delta writes"),
            ),
        ),
    }
}
