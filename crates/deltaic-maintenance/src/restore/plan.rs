//! What a RESTORE commits: the difference between two versions (pure).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use deltaic_command::RestoreReport;
use deltaic_log::Snapshot;
use deltaic_log::files::FileKey;
use deltaic_protocol::action::{Add, DomainMetadata, Metadata, Protocol, Remove};
use deltaic_protocol::error::Result;
use deltaic_protocol::properties::key;
use deltaic_protocol::schema::metadata::IDENTITY_HIGH_WATER_MARK;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_storage::TableRoot;
use serde_json::Value;

const CLUSTERING: &str = "delta.clustering";
const ROW_TRACKING: &str = "delta.rowTracking";
const PROTECTED_BEFORE: &str = key::REQUIRE_CHECKPOINT_PROTECTION_BEFORE_VERSION;

/// The two versions.
#[derive(Debug, Clone)]
pub struct RestoreState {
    /// Where the table is; two spellings of a path in it are one file.
    pub root: TableRoot,
    /// Live files of the newest version.
    pub current_files: Vec<Arc<Add>>,
    /// Live files of the version to restore, in the order of the log.
    pub target_files: Vec<Arc<Add>>,
    /// Metadata of the newest version.
    pub current_metadata: Metadata,
    /// Metadata of the version to restore.
    pub target_metadata: Metadata,
    /// Protocol of the newest version.
    pub current_protocol: Protocol,
    /// Protocol of the version to restore.
    pub target_protocol: Protocol,
    /// Domains of the newest version.
    pub current_domains: BTreeMap<String, DomainMetadata>,
    /// Domains of the version to restore.
    pub target_domains: BTreeMap<String, DomainMetadata>,
}

impl RestoreState {
    /// Reads both versions.
    ///
    /// # Errors
    /// A version cannot be read.
    pub async fn read(current: &Snapshot, target: &Snapshot) -> Result<RestoreState> {
        Ok(RestoreState {
            root: current.store().root().clone(),
            current_files: current.files().await?.to_vec(),
            target_files: target.files().await?.to_vec(),
            current_metadata: current.metadata().as_ref().clone(),
            target_metadata: target.metadata().as_ref().clone(),
            current_protocol: current.protocol().as_ref().clone(),
            target_protocol: target.protocol().as_ref().clone(),
            current_domains: current.domains().clone(),
            target_domains: target.domains().clone(),
        })
    }
}

/// The actions and the numbers of a RESTORE.
#[derive(Debug, Clone, PartialEq)]
pub struct RestorePlan {
    /// Files that come back, in the order of the log.
    pub adds: Vec<Add>,
    /// Files that go.
    pub removes: Vec<Remove>,
    /// The metadata of the target.
    pub metadata: Metadata,
    /// Both protocols together.
    pub protocol: Protocol,
    /// Domains that change.
    pub domains: Vec<DomainMetadata>,
    /// The numbers.
    pub report: RestoreReport,
}

/// Compares the two versions by path and deletion vector.
///
/// # Errors
/// A schema cannot be read.
pub fn plan(state: &RestoreState, now_ms: i64, protocol_downgrade: bool) -> Result<RestorePlan> {
    let keys = |files: &[Arc<Add>]| {
        files
            .iter()
            .map(|add| FileKey::of_add(&state.root, add))
            .collect::<HashSet<FileKey>>()
    };
    let (current, target) = (keys(&state.current_files), keys(&state.target_files));
    let mut adds: Vec<Add> = state
        .target_files
        .iter()
        .filter(|add| !current.contains(&FileKey::of_add(&state.root, add)))
        .map(|add| Add {
            data_change: true,
            ..add.as_ref().clone()
        })
        .collect();
    let restored = adds.len();
    let removes: Vec<Remove> = state
        .current_files
        .iter()
        .filter(|add| !target.contains(&FileKey::of_add(&state.root, add)))
        .map(|add| add.to_remove(now_ms, true))
        .collect();
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let report = RestoreReport {
        table_size_after_restore: crate::facts::total(
            state.target_files.iter().map(|add| add.size),
        ),
        num_of_files_after_restore: count(state.target_files.len()),
        num_removed_files: count(removes.len()),
        num_restored_files: count(restored),
        removed_files_size: crate::facts::total(removes.iter().filter_map(|remove| remove.size)),
        restored_files_size: crate::facts::total(adds.iter().map(|add| add.size)),
        ..RestoreReport::default()
    };
    adds.extend(lost_ids(state));
    let protocol = if protocol_downgrade {
        state.target_protocol.clone()
    } else {
        merge_protocols(&state.current_protocol, &state.target_protocol)
    };
    Ok(RestorePlan {
        adds,
        removes,
        metadata: restored_metadata(state)?,
        protocol,
        domains: domains(state),
        report,
    })
}

/// Files of both versions that have lost the ids of their rows since are listed anew with them.
fn lost_ids(state: &RestoreState) -> Vec<Add> {
    let without: HashSet<FileKey> = state
        .current_files
        .iter()
        .filter(|add| add.base_row_id.is_none())
        .map(|add| FileKey::of_add(&state.root, add))
        .collect();
    state
        .target_files
        .iter()
        .filter(|add| {
            add.base_row_id.is_some() && without.contains(&FileKey::of_add(&state.root, add))
        })
        .map(|add| Add {
            data_change: false,
            ..add.as_ref().clone()
        })
        .collect()
}

/// The target's metadata; identity columns never count backwards, and checkpoints that were protected stay so.
fn restored_metadata(state: &RestoreState) -> Result<Metadata> {
    let mut metadata = state.target_metadata.clone();
    let mut schema = metadata.schema()?;
    let current = state.current_metadata.schema()?;
    if raise_identities(&mut schema, &current) {
        metadata.schema_string = schema.to_json();
    }
    let before = |metadata: &Metadata| {
        let text = metadata.configuration.get(PROTECTED_BEFORE);
        text.and_then(|text| text.parse::<i64>().ok())
    };
    if before(&state.current_metadata) > before(&metadata)
        && let Some(text) = state.current_metadata.configuration.get(PROTECTED_BEFORE)
    {
        metadata
            .configuration
            .insert(PROTECTED_BEFORE.to_string(), text.clone());
    }
    Ok(metadata)
}

fn raise_identities(schema: &mut StructType, current: &StructType) -> bool {
    let mut changed = false;
    for field in &mut schema.fields {
        let Some(newer) = current.field(&field.name).and_then(high_water_mark) else {
            continue;
        };
        let step = field
            .number(deltaic_protocol::schema::metadata::IDENTITY_STEP)
            .unwrap_or(1);
        let raised = match high_water_mark(field) {
            Some(older) if step < 0 => older.min(newer),
            Some(older) => older.max(newer),
            None => newer,
        };
        if field.is_identity() && high_water_mark(field) != Some(raised) {
            field
                .metadata
                .insert(IDENTITY_HIGH_WATER_MARK.to_string(), Value::from(raised));
            changed = true;
        }
    }
    changed
}

fn high_water_mark(field: &StructField) -> Option<i64> {
    field.number(IDENTITY_HIGH_WATER_MARK)
}

/// What both protocols ask for; never less than what the table asks for now.
fn merge_protocols(current: &Protocol, target: &Protocol) -> Protocol {
    if current == target {
        return current.clone();
    }
    current.merge(target)
}

/// The clustering of the target, and nothing of the progress of row tracking taken back.
fn domains(state: &RestoreState) -> Vec<DomainMetadata> {
    let names: BTreeSet<&String> = state
        .current_domains
        .keys()
        .chain(state.target_domains.keys())
        .collect();
    let mut changed = Vec::new();
    for name in names {
        let (now, then) = (
            state.current_domains.get(name),
            state.target_domains.get(name),
        );
        if name == ROW_TRACKING || (now == then && name != CLUSTERING) {
            continue;
        }
        match (name.as_str(), then) {
            (CLUSTERING, None) => changed.push(DomainMetadata {
                domain: name.clone(),
                configuration: r#"{"clusteringColumns":[],"domainName":"delta.clustering"}"#
                    .to_string(),
                removed: false,
            }),
            (CLUSTERING, Some(then)) => changed.push(then.clone()),
            _ => {}
        }
    }
    changed
}
