//! A note on buckets in which deleted files stay: as old versions, or for a while.

use deltaic_command::VacuumReport;
use deltaic_log::Snapshot;
use deltaic_protocol::file_name;
use deltaic_storage::cloud::{Versioning, versioning};

/// What the user should know about the files that went. `newest` is a version that was just written or read.
pub(super) async fn note(newest: &Snapshot, report: &VacuumReport) -> Option<String> {
    if report.deleted == 0 {
        return None;
    }
    let table = newest.store();
    if table.data().keeps_deleted() {
        return Some(format!(
            "{} keeps deleted files for the days of its soft delete, which cost storage until then; they can be restored there",
            table.root().prefix()
        ));
    }
    let name = file_name::commit(newest.version());
    let kept = match versioning(table, &name).await? {
        Versioning::On => "keeps",
        Versioning::Suspended => "may still keep",
    };
    Some(format!(
        "{} {kept} deleted files as old versions, which cost storage until a lifecycle rule removes them",
        table.root().prefix()
    ))
}
