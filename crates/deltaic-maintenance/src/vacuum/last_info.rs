//! `_delta_log/_last_vacuum_info`: how far the last VACUUM LITE has read the log (spec: delta, section 2.7).

use bytes::Bytes;
use deltaic_command::VacuumMode;
use deltaic_storage::TableStore;
use serde::{Deserialize, Serialize};

const NAME: &str = "_last_vacuum_info";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LastVacuumInfo {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latest_commit_version_outside_of_retention_window: Option<i64>,
}

/// The newest version whose removed files are all gone. A file that is missing or cannot be read counts as absent.
pub(super) async fn read(table: &TableStore) -> Option<i64> {
    let content = table.log().read(NAME).await.ok()?;
    let info: LastVacuumInfo = serde_json::from_slice(&content).ok()?;
    info.latest_commit_version_outside_of_retention_window
}

/// Notes how far this run has come. It only saves work later, so a failure does not matter.
pub(super) async fn write(table: &TableStore, mode: VacuumMode, end: Option<i64>) {
    if mode == VacuumMode::Lite && end.is_none() {
        // Nothing was read; what an earlier run has noted stays true.
        return;
    }
    let info = LastVacuumInfo {
        latest_commit_version_outside_of_retention_window: end,
    };
    if let Ok(mut text) = serde_json::to_vec(&info) {
        text.push(b'\n');
        let _ = table.log().overwrite(NAME, Bytes::from(text)).await;
    }
}
