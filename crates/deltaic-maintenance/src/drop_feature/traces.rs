//! Where a feature shows: in the newest version, and in the actions of old ones.

use std::collections::BTreeMap;

use deltaic_log::Snapshot;
use deltaic_log::listing::list_log;
use deltaic_log::segment::complete_checkpoints;
use deltaic_protocol::Action;
use deltaic_protocol::action::Metadata;
use deltaic_protocol::error::Result;
use deltaic_protocol::properties::key;
use deltaic_protocol::schema::metadata::{
    COLUMN_MAPPING_ID, COLUMN_MAPPING_PHYSICAL_NAME, TYPE_CHANGES,
};
use deltaic_protocol::schema::{StructField, StructType};

use super::check::CHECKPOINT_PROTECTION;
use crate::alter::mapping;

/// Whether the newest version makes no use of the feature and nobody can begin to without changing the table's metadata.
pub(super) async fn is_clean(snapshot: &Snapshot, feature: &str) -> Result<bool> {
    let metadata = snapshot.metadata();
    let configuration = &metadata.configuration;
    let config = snapshot.config();
    Ok(match feature {
        "deletionVectors" => {
            !is_true(configuration, key::ENABLE_DELETION_VECTORS)
                && snapshot.summary().await?.num_deletion_vectors == 0
        }
        "columnMapping" => !mapping::is_enabled(configuration) && !has_mapping(snapshot.schema()),
        "v2Checkpoint" => !config.wants_v2_checkpoints() && !stands_on_v2(snapshot).await?,
        "typeWidening" | "typeWidening-preview" => {
            !is_true(configuration, key::ENABLE_TYPE_WIDENING)
                && !has_type_changes(snapshot.schema())
        }
        "checkConstraints" => config.check_constraints().is_empty(),
        "inCommitTimestamp" => {
            !is_true(configuration, key::ENABLE_IN_COMMIT_TIMESTAMPS)
                && present(configuration, &PROVENANCE).is_empty()
        }
        "rowTracking" => {
            !config.row_tracking_enabled()?
                && is_true(configuration, key::ROW_TRACKING_SUSPENDED)
                && snapshot.files().await?.iter().all(|add| {
                    add.base_row_id.is_none() && add.default_row_commit_version.is_none()
                })
        }
        "domainMetadata" => snapshot.domains().is_empty(),
        CHECKPOINT_PROTECTION => {
            !configuration.contains_key(key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION)
        }
        _ => true,
    })
}

/// Since when in-commit timestamps are kept.
pub(super) const PROVENANCE: [&str; 2] = [
    key::IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP,
    key::IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION,
];

/// Those of the keys that are set.
pub(super) fn present<'a>(
    configuration: &BTreeMap<String, String>,
    keys: &[&'a str],
) -> Vec<&'a str> {
    let set = keys.iter().filter(|key| configuration.contains_key(**key));
    set.copied().collect()
}

/// Whether an action cannot be understood without the feature.
pub(super) fn uses(feature: &str, action: &Action) -> Result<bool> {
    let metadata = |decide: &dyn Fn(&Metadata) -> Result<bool>| match action {
        Action::Metadata(metadata) => decide(metadata),
        _ => Ok(false),
    };
    match feature {
        "deletionVectors" => Ok(match action {
            Action::Metadata(m) => is_true(&m.configuration, key::ENABLE_DELETION_VECTORS),
            Action::Add(add) => add.deletion_vector.is_some(),
            Action::Remove(remove) => remove.deletion_vector.is_some(),
            _ => false,
        }),
        "columnMapping" => {
            metadata(&|m| Ok(mapping::is_enabled(&m.configuration) || has_mapping(&m.schema()?)))
        }
        "v2Checkpoint" => Ok(match action {
            Action::Metadata(m) => wants_v2(m),
            Action::CheckpointMetadata(_) | Action::Sidecar(_) => true,
            _ => false,
        }),
        "typeWidening" | "typeWidening-preview" => {
            metadata(&|m| Ok(has_type_changes(&m.schema()?)))
        }
        _ => Ok(false),
    }
}

/// Whether a concurrent commit brings the feature back into the newest version.
pub(super) fn brings_back(feature: &str, action: &Action) -> Result<bool> {
    match action {
        // Whatever changed, the downgrade was decided on the metadata and protocol before it.
        Action::Metadata(_) | Action::Protocol(_) => Ok(true),
        Action::Add(add) if feature == "rowTracking" => {
            Ok(add.base_row_id.is_some() || add.default_row_commit_version.is_some())
        }
        Action::DomainMetadata(_) => Ok(feature == "domainMetadata" || feature == "rowTracking"),
        action => uses(feature, action),
    }
}

/// Whether a version that can still be read uses the feature: the oldest checkpoint's state without its tombstones, or any
/// commit up to the snapshot's version.
pub(super) async fn history_uses(snapshot: &Snapshot, feature: &str) -> Result<bool> {
    let store = snapshot.store();
    let listing = list_log(store, 0, Some(snapshot.version())).await?;
    let checkpoints = complete_checkpoints(&listing);
    if feature == "v2Checkpoint" && checkpoints.iter().any(|checkpoint| checkpoint.is_v2()) {
        return Ok(true);
    }
    if let Some(oldest) = checkpoints.iter().map(|c| c.version).min() {
        let state = snapshot.at_version(oldest).await?;
        if uses(
            feature,
            &Action::Metadata(state.metadata().as_ref().clone()),
        )? {
            return Ok(true);
        }
        for add in state.files().await?.iter() {
            if uses(feature, &Action::Add(add.as_ref().clone()))? {
                return Ok(true);
            }
        }
    }
    for commit in &listing.commits {
        for action in deltaic_log::commit::read_commit(store, commit.version).await? {
            if uses(feature, &action)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether who opens the version now reads it from a V2 checkpoint. The snapshot itself may have been built on an older one.
async fn stands_on_v2(snapshot: &Snapshot) -> Result<bool> {
    let from = snapshot.checkpoint_version().unwrap_or(0);
    let listing = list_log(snapshot.store(), from, Some(snapshot.version())).await?;
    let checkpoints = complete_checkpoints(&listing);
    let newest = checkpoints.iter().map(|c| c.version).max();
    Ok(checkpoints
        .iter()
        .any(|c| Some(c.version) == newest && c.is_v2()))
}

fn wants_v2(metadata: &Metadata) -> bool {
    metadata
        .configuration
        .get(key::CHECKPOINT_POLICY)
        .is_some_and(|policy| policy.eq_ignore_ascii_case("v2"))
}

fn is_true(configuration: &BTreeMap<String, String>, key: &str) -> bool {
    configuration
        .get(key)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

fn any_field(schema: &StructType, found: impl Fn(&StructField) -> bool) -> bool {
    let mut any = false;
    schema.for_each_field(&mut |field| any |= found(field));
    any
}

fn has_mapping(schema: &StructType) -> bool {
    any_field(schema, |field| {
        field.metadata.contains_key(COLUMN_MAPPING_ID)
            || field.metadata.contains_key(COLUMN_MAPPING_PHYSICAL_NAME)
    })
}

/// Whether a field tells of types that older files have.
pub(super) fn has_type_changes(schema: &StructType) -> bool {
    any_field(schema, |field| field.metadata.contains_key(TYPE_CHANGES))
}
