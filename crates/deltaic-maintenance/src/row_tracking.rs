//! Row tracking switched on in a table that exists (protocol section "Row Tracking"): the protocol first, so that from then
//! on writers give ids to their files, then ids for the files that have none, and the property at the end.

use std::collections::BTreeMap;

use deltaic_log::{Commit, CommitContext, CommitResult, Operation, Snapshot, Transaction};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Protocol};
use deltaic_protocol::error::{DeltaError, Result};
use deltaic_protocol::feature::{ProtocolUpgrade, TableFeature, upgraded_protocol};
use deltaic_protocol::properties::{key, parse_boolean};
use serde_json::json;

use crate::alter::{TableChange, TableState};

const FEATURE: &str = "rowTracking";
/// The tag of a commit that does nothing but switch row tracking on.
const ENABLEMENT_ONLY: &str = "rowTrackingEnablementOnly";
/// So often a commit that gives ids is tried again after files went away under it.
const MAX_CONFLICTS: usize = 100;

/// Whether the properties switch row tracking on.
pub fn is_enabled(configuration: &BTreeMap<String, String>) -> bool {
    let value = configuration.get(key::ENABLE_ROW_TRACKING);
    value.and_then(|value| parse_boolean(value.trim())) == Some(true)
}

/// Ids cannot be kept where none are given.
///
/// # Errors
/// Row tracking is both on and suspended.
pub fn check(configuration: &BTreeMap<String, String>) -> Result<()> {
    let suspended = configuration.get(key::ROW_TRACKING_SUSPENDED);
    if !is_enabled(configuration)
        || suspended.and_then(|value| parse_boolean(value.trim())) != Some(true)
    {
        return Ok(());
    }
    Err(
        DeltaError::new("DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION")
            .param("property1", key::ENABLE_ROW_TRACKING)
            .param("property2", key::ROW_TRACKING_SUSPENDED),
    )
}

/// Whether a change switches row tracking on.
pub fn switches_on(state: &TableState, change: &TableChange) -> bool {
    is_enabled(&change.metadata.configuration) && !is_enabled(&state.metadata.configuration)
}

/// Names the hidden columns in which rows keep their ids, unless they have names.
pub fn name_columns(configuration: &mut BTreeMap<String, String>, fresh: &dyn Fn() -> String) {
    if !is_enabled(configuration) {
        return;
    }
    for (key, prefix) in [
        (key::ROW_TRACKING_ID_COLUMN, "_row-id-col-"),
        (
            key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
            "_row-commit-version-col-",
        ),
    ] {
        configuration
            .entry(key.to_owned())
            .or_insert_with(|| format!("{prefix}{}", fresh()));
    }
}

/// Completes the change that switches row tracking on. `properties` is how many properties the statement sets.
pub fn complete(change: &mut TableChange, properties: usize, fresh: &dyn Fn() -> String) {
    name_columns(&mut change.metadata.configuration, fresh);
    if properties == 1 {
        let tags = &mut change.operation.tags;
        tags.insert(ENABLEMENT_ONLY.to_owned(), "true".to_owned());
    }
}

/// Brings a table so far that row tracking can be switched on: the protocol supports it and every file has ids. `done` gets
/// the commits.
///
/// # Errors
/// A file whose number of rows is not recorded; concurrent changes of protocol or metadata.
pub async fn prepare(
    snapshot: &Snapshot,
    files_in_a_commit: usize,
    context: &CommitContext,
    done: &mut Vec<CommitResult>,
) -> Result<Snapshot> {
    let mut newest = snapshot.clone();
    if !newest.protocol().supports(FEATURE) {
        let result = upgrade(&newest)?.commit(context).await?.into_result()?;
        newest = result.snapshot.clone();
        done.push(result);
    }
    let mut conflicts = 0;
    let mut batch = 0;
    loop {
        let files = newest.files().await?;
        let missing: Vec<Add> = files
            .iter()
            .filter(|add| add.base_row_id.is_none())
            .take(files_in_a_commit.max(1))
            .map(|add| Add {
                data_change: false,
                ..add.as_ref().clone()
            })
            .collect();
        if missing.is_empty() {
            return Ok(newest);
        }
        let operation = Operation::new("ROW TRACKING BACKFILL").parameter("batchId", batch);
        let mut transaction = Transaction::begin(&newest, operation);
        transaction.read_files(&missing);
        transaction.stage_all(missing.into_iter().map(Action::Add));
        match transaction.commit(context).await? {
            Commit::Committed(result) => {
                newest = result.snapshot.clone();
                done.push(result);
                batch += 1;
            }
            // Files that went meanwhile need no ids.
            Commit::Conflict(conflict) if conflicts >= MAX_CONFLICTS => {
                return Err(DeltaError::from(*conflict));
            }
            Commit::Conflict(_) => {
                conflicts += 1;
                newest = newest.update().await?;
            }
        }
    }
}

fn upgrade(snapshot: &Snapshot) -> Result<Transaction> {
    let feature = TableFeature::find(FEATURE)
        .ok_or_else(|| DeltaError::internal("row tracking is no feature"))?;
    let wanted = ProtocolUpgrade {
        features: vec![feature],
        ..ProtocolUpgrade::default()
    };
    let protocol = upgraded_protocol(snapshot.protocol(), snapshot.metadata(), &wanted)?;
    let protocol = protocol.unwrap_or_else(|| snapshot.protocol().as_ref().clone());
    let operation =
        Operation::new("UPGRADE PROTOCOL").text_parameter("newProtocol", protocol_text(&protocol));
    let mut transaction = Transaction::begin(snapshot, operation);
    transaction.set_protocol(protocol);
    Ok(transaction)
}

/// A protocol as the history shows it.
fn protocol_text(protocol: &Protocol) -> String {
    json!({
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "readerFeatures": protocol.reader_features.as_deref().map(in_shown_order),
        "writerFeatures": protocol.writer_features.as_deref().map(in_shown_order),
    })
    .to_string()
}

/// The reference keeps features in a set: up to four stand as they came, more in the order of their hashes.
fn in_shown_order(names: &[String]) -> Vec<String> {
    let mut out = names.to_vec();
    if out.len() > 4 {
        // A trie that branches by five bits at a time, the lowest first.
        out.sort_by_key(|name| {
            let hash = shown_hash(name);
            [0, 5, 10, 15, 20, 25, 30].map(|shift| (hash >> shift) & 31)
        });
    }
    out
}

/// Java's hash of a text, its bits spread as the set does it.
fn shown_hash(text: &str) -> u32 {
    let java = text.encode_utf16().fold(0u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    });
    let mut hash = java.wrapping_add(!(java << 9));
    hash ^= hash >> 14;
    hash = hash.wrapping_add(hash << 4);
    hash ^ (hash >> 10)
}

#[cfg(test)]
mod tests {
    use super::in_shown_order;

    fn shown(names: &[&str]) -> Vec<String> {
        in_shown_order(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn features_are_shown_as_the_reference_shows_them() {
        let few = ["rowTracking", "appendOnly", "domainMetadata", "invariants"];
        assert_eq!(shown(&few), few);
        let more = [
            "domainMetadata",
            "rowTracking",
            "invariants",
            "checkpointProtection",
            "appendOnly",
            "inCommitTimestamp",
        ];
        let mut other = more;
        other.reverse();
        assert_eq!(shown(&other), more);
        assert_eq!(shown(&more[..5]), more[..5]);
    }
}
