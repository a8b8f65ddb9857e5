//! The conflict rules, written down once more in the simplest way, for what writers do in these tests (the reference's
//! `ConflictChecker`): each refusal must follow from one, and no commit may stand against one.

use std::collections::BTreeSet;

use deltaic_log::transaction::ConflictKind;
use serde_json::Value;

use crate::reading::text;

/// What a commit depends on and does.
#[derive(Debug, Clone, Default)]
pub struct Intent {
    /// It read every file.
    pub whole: bool,
    /// It read all files of these partitions.
    pub partitions: BTreeSet<String>,
    /// It read these files.
    pub files: BTreeSet<String>,
    /// It adds these files.
    pub adds: BTreeSet<String>,
    /// It removes these files.
    pub removes: BTreeSet<String>,
    /// It stages metadata.
    pub metadata: bool,
    /// It stages a protocol.
    pub protocol: bool,
    /// The applications whose progress it states.
    pub apps: BTreeSet<String>,
    /// The domains that it states.
    pub domains: BTreeSet<String>,
    /// It changes data.
    pub data_change: bool,
    /// It goes together with no other commit.
    pub alone: bool,
}

/// The rule that forbids a commit after one that was first, if any does.
pub fn forbidden(ours: &Intent, winner: &[Value], serializable: bool) -> Option<ConflictKind> {
    let all = |kind: &str| -> Vec<&Value> { winner.iter().filter_map(|l| l.get(kind)).collect() };
    if ours.alone {
        return Some(ConflictKind::ConcurrentWrite);
    }
    // No protocol here takes a feature away.
    if ours.protocol && !all("protocol").is_empty() {
        return Some(ConflictKind::ProtocolChanged);
    }
    // No change of metadata here is one that leaves room for others.
    if !all("metaData").is_empty() {
        return Some(ConflictKind::MetadataChanged);
    }
    let same_app = all("txn")
        .iter()
        .any(|txn| ours.apps.contains(&text(&txn["appId"])));
    let same_domain = all("domainMetadata")
        .iter()
        .any(|domain| ours.domains.contains(&text(&domain["domain"])));
    if same_app || same_domain {
        return Some(ConflictKind::ConcurrentTransaction);
    }
    let blind = all("commitInfo")
        .iter()
        .any(|info| info["isBlindAppend"] == Value::Bool(true));
    let snapshot_isolation = !(ours.data_change || ours.metadata || ours.protocol);
    let adds_count = !snapshot_isolation && (serializable || ours.metadata || !blind);
    let met = |add: &&Value| {
        ours.whole
            || ours
                .partitions
                .contains(&text(&add["partitionValues"]["p"]))
    };
    if adds_count && all("add").iter().any(met) {
        return Some(ConflictKind::ConcurrentAppend);
    }
    let gone: BTreeSet<String> = all("remove").iter().map(|r| text(&r["path"])).collect();
    if (ours.whole && !gone.is_empty()) || !gone.is_disjoint(&ours.files) {
        return Some(ConflictKind::ConcurrentDeleteRead);
    }
    if !gone.is_disjoint(&ours.removes) {
        return Some(ConflictKind::ConcurrentDeleteDelete);
    }
    None
}
