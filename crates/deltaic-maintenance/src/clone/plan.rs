//! What a SHALLOW CLONE commits (pure).

use std::collections::BTreeMap;

use deltaic_protocol::action::{Add, DomainMetadata, Metadata, Protocol};
use deltaic_protocol::config::TableConfig;
use deltaic_protocol::deletion_vector::{DeletionVectorDescriptor, DeletionVectorLocation};
use deltaic_protocol::error::{DeltaError, ErrorKind, Result};
use deltaic_protocol::feature::{check_features_match, protocol_for_new_table};
use deltaic_protocol::properties::key;
use deltaic_storage::TableStore;

use super::{CloneOptions, CloneSource};
use crate::alter::mapping;

const CLUSTERING: &str = "delta.clustering";

/// The table that is there already, without files.
#[derive(Debug, Clone)]
pub struct TargetState {
    /// Its protocol.
    pub protocol: Protocol,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its domains.
    pub domains: BTreeMap<String, DomainMetadata>,
    /// The number of its files.
    pub files: usize,
}

/// The actions of a clone.
#[derive(Debug, Clone, PartialEq)]
pub struct ClonePlan {
    /// The metadata of the source, with an id of its own and the user's properties.
    pub metadata: Metadata,
    /// The protocol.
    pub protocol: Protocol,
    /// The source's files by absolute paths.
    pub adds: Vec<Add>,
    /// Domains that a clone takes over or gives up.
    pub domains: Vec<DomainMetadata>,
}

/// Decides on a clone of `source` at `target`. `fresh` makes ids.
///
/// # Errors
/// See [`super::run`].
pub fn plan(
    source: &CloneSource,
    target: &TableStore,
    existing: Option<&TargetState>,
    options: &CloneOptions,
    fresh: &dyn Fn() -> String,
) -> Result<ClonePlan> {
    if existing.is_some_and(|state| state.files > 0) {
        return Err(DeltaError::new("DELTA_UNSUPPORTED_NON_EMPTY_CLONE")
            .with_path(target.root().to_string()));
    }
    let metadata = metadata(source, existing, options, fresh)?;
    let protocol = protocol(source, existing, options, &metadata)?;
    check_features_match(&protocol, &metadata)?;
    let adds = source
        .files
        .iter()
        .map(|add| absolute(source, target, add))
        .collect::<Result<Vec<Add>>>()?;
    check_row_tracking(&metadata, &protocol, &adds)?;
    Ok(ClonePlan {
        metadata,
        protocol,
        adds,
        domains: domains(source, existing),
    })
}

fn metadata(
    source: &CloneSource,
    existing: Option<&TargetState>,
    options: &CloneOptions,
    fresh: &dyn Fn() -> String,
) -> Result<Metadata> {
    let mut metadata = Metadata {
        id: existing.map_or_else(fresh, |state| state.metadata.id.clone()),
        name: existing.and_then(|state| state.metadata.name.clone()),
        description: options
            .properties
            .comment
            .clone()
            .or_else(|| existing.and_then(|state| state.metadata.description.clone())),
        ..source.metadata.clone()
    };
    let configuration = &mut metadata.configuration;
    // These tell of the source's own history and files.
    for key in [
        key::IN_COMMIT_TIMESTAMP_ENABLEMENT_VERSION,
        key::IN_COMMIT_TIMESTAMP_ENABLEMENT_TIMESTAMP,
    ] {
        configuration.remove(key);
        if let Some(value) = existing.and_then(|state| state.metadata.configuration.get(key)) {
            configuration.insert(key.to_owned(), value.clone());
        }
    }
    configuration.remove(key::ROW_TRACKING_ID_COLUMN);
    configuration.remove(key::ROW_TRACKING_COMMIT_VERSION_COLUMN);
    configuration.extend(options.properties.stored.clone());
    if is_true(&metadata, key::ENABLE_ROW_TRACKING) {
        let names = [
            (key::ROW_TRACKING_ID_COLUMN, "_row-id-col-"),
            (
                key::ROW_TRACKING_COMMIT_VERSION_COLUMN,
                "_row-commit-version-col-",
            ),
        ];
        for (key, prefix) in names {
            let name = format!("{prefix}{}", fresh());
            metadata.configuration.insert(key.to_owned(), name);
        }
    }
    check_mapping(&source.metadata, &metadata)?;
    if let Some(state) = existing {
        check_mapping(&state.metadata, &metadata)?;
    }
    Ok(metadata)
}

/// A clone cannot have another column mapping than its source, nor than the table that it replaces.
fn check_mapping(before: &Metadata, after: &Metadata) -> Result<()> {
    let mode = |metadata: &Metadata| {
        metadata
            .configuration
            .get(mapping::MODE)
            .map_or_else(|| "none".to_owned(), |mode| mode.to_lowercase())
    };
    let (old, new) = (mode(before), mode(after));
    if old == new {
        return Ok(());
    }
    Err(
        DeltaError::new("DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE")
            .param("oldMode", old)
            .param("newMode", new),
    )
}

/// What the source asks for, and what the user's properties add. A table that is replaced keeps what it asks for, so that its
/// old versions stay readable.
fn protocol(
    source: &CloneSource,
    existing: Option<&TargetState>,
    options: &CloneOptions,
    metadata: &Metadata,
) -> Result<Protocol> {
    let mut upgrade = options.properties.protocol.clone();
    upgrade.min_writer_version.get_or_insert(1);
    let needed = protocol_for_new_table(metadata, &upgrade)?;
    let protocol = joined(&source.protocol, &needed);
    Ok(match existing {
        Some(state) if !options.protocol_downgrade => joined(&state.protocol, &protocol),
        _ => protocol,
    })
}

fn joined(protocol: &Protocol, more: &Protocol) -> Protocol {
    if protocol.covers(more) {
        protocol.clone()
    } else {
        protocol.merge(more)
    }
}

/// A file of the source as the clone names it. Row ids begin anew.
fn absolute(source: &CloneSource, target: &TableStore, add: &Add) -> Result<Add> {
    let vector = match &add.deletion_vector {
        Some(vector) => Some(absolute_vector(source, target, vector)?),
        None => None,
    };
    let path = source.store.resolve(&add.path)?.uri();
    check_place(source, target, &path)?;
    Ok(Add {
        path,
        data_change: true,
        deletion_vector: vector,
        base_row_id: None,
        default_row_commit_version: None,
        ..add.clone()
    })
}

fn absolute_vector(
    source: &CloneSource,
    target: &TableStore,
    vector: &DeletionVectorDescriptor,
) -> Result<DeletionVectorDescriptor> {
    let path = match vector.location()? {
        DeletionVectorLocation::Inline(_) => return Ok(vector.clone()),
        DeletionVectorLocation::Relative(path) => source.store.data_path(&path)?.uri(),
        DeletionVectorLocation::Absolute(path) => source.store.resolve(&path)?.uri(),
    };
    check_place(source, target, &path)?;
    Ok(DeletionVectorDescriptor {
        storage_type: "p".to_owned(),
        path_or_inline_dv: path,
        ..vector.clone()
    })
}

/// The clone must reach the file, and must not own it: what lies in its folder, its VACUUM may delete.
fn check_place(source: &CloneSource, target: &TableStore, path: &str) -> Result<()> {
    match target.resolve(path) {
        Ok(place) if place.relative().is_none() => Ok(()),
        Ok(_) => Err(DeltaError::unclassed(
            "java.lang.IllegalArgumentException",
            format!(
                "A shallow clone at {} would own files of its source {}: {path} lies in its folder",
                target.root(),
                source.name
            ),
        )
        .with_kind(ErrorKind::Analysis)
        .with_path(target.root().to_string())
        .with_hint("choose a location that does not hold the source")),
        Err(_) => Err(DeltaError::not_supported_yet(
            "A shallow clone in another bucket, container or file system than its source",
        )
        .with_path(path)),
    }
}

/// Every file of a table with row tracking needs its number of rows.
fn check_row_tracking(metadata: &Metadata, protocol: &Protocol, adds: &[Add]) -> Result<()> {
    let counted = |add: &Add| {
        add.stats
            .as_deref()
            .and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
            .is_some_and(|stats| stats.get("numRecords").is_some_and(|n| n.is_i64()))
    };
    let counts = TableConfig::new(metadata, protocol).assigns_row_ids()?;
    if counts && !adds.iter().all(counted) {
        return Err(DeltaError::new(
            "DELTA_CLONE_WITH_ROW_TRACKING_WITHOUT_STATS",
        ));
    }
    Ok(())
}

fn is_true(metadata: &Metadata, key: &str) -> bool {
    metadata
        .configuration
        .get(key)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

/// A clone is clustered as its source is; other domains tell of the source's own history.
fn domains(source: &CloneSource, existing: Option<&TargetState>) -> Vec<DomainMetadata> {
    let theirs = source.domains.get(CLUSTERING).cloned();
    let old = existing.and_then(|state| state.domains.get(CLUSTERING));
    let gone = old.map(|domain| DomainMetadata {
        removed: true,
        ..domain.clone()
    });
    theirs.or(gone).into_iter().collect()
}
