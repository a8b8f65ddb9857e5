//! The table of features.

use super::{Enablement, FeatureKind, Support, TableFeature};
use crate::schema::{DataType, metadata};

const BOTH: Support = Support {
    read: true,
    write: true,
};
const READ: Support = Support {
    read: true,
    write: false,
};
const NEITHER: Support = Support {
    read: false,
    write: false,
};

const fn feature(name: &'static str, kind: FeatureKind, support: Support) -> TableFeature {
    TableFeature {
        name,
        kind,
        legacy: None,
        requires: &[],
        enabled_by: None,
        updates_existing: true,
        removable: false,
        support,
    }
}

const fn writer(name: &'static str, support: Support) -> TableFeature {
    feature(name, FeatureKind::Writer, support)
}

const fn reader_writer(name: &'static str, support: Support) -> TableFeature {
    feature(name, FeatureKind::ReaderWriter, support)
}

fn has_field(e: &Enablement<'_>, key: &str) -> bool {
    let mut found = false;
    e.schema
        .for_each_field(&mut |field| found |= field.metadata.contains_key(key));
    found
}

fn column_mapping(e: &Enablement<'_>) -> bool {
    matches!(e.property("delta.columnMapping.mode"), Some(mode) if !mode.eq_ignore_ascii_case("none"))
}

fn checkpoint_protection(e: &Enablement<'_>) -> bool {
    e.property("delta.requireCheckpointProtectionBeforeVersion")
        .and_then(|version| version.parse::<i64>().ok())
        .is_some_and(|version| version > 0)
}

fn v2_policy(e: &Enablement<'_>) -> bool {
    matches!(e.property("delta.checkpointPolicy"), Some(policy) if policy.eq_ignore_ascii_case("v2"))
}

/// All features that the reference knows, legacy ones first, in the order of their versions.
pub const FEATURES: &[TableFeature] = &[
    TableFeature {
        legacy: Some((1, 2)),
        enabled_by: Some(|e| e.is_true("delta.appendOnly")),
        ..writer("appendOnly", BOTH)
    },
    TableFeature {
        legacy: Some((1, 2)),
        enabled_by: Some(|e| {
            has_field(e, metadata::INVARIANTS) || e.schema.iter().any(|field| !field.nullable)
        }),
        ..writer("invariants", BOTH)
    },
    TableFeature {
        legacy: Some((1, 3)),
        enabled_by: Some(|e| {
            let mut keys = e.metadata.configuration.keys();
            keys.any(|key| key.to_ascii_lowercase().starts_with("delta.constraints."))
        }),
        removable: true,
        ..writer("checkConstraints", BOTH)
    },
    TableFeature {
        legacy: Some((1, 4)),
        enabled_by: Some(|e| e.is_true("delta.enableChangeDataFeed")),
        ..writer("changeDataFeed", BOTH)
    },
    TableFeature {
        legacy: Some((1, 4)),
        enabled_by: Some(|e| has_field(e, metadata::GENERATION_EXPRESSION)),
        ..writer("generatedColumns", BOTH)
    },
    TableFeature {
        legacy: Some((2, 5)),
        enabled_by: Some(column_mapping),
        removable: true,
        ..reader_writer("columnMapping", BOTH)
    },
    TableFeature {
        legacy: Some((1, 6)),
        enabled_by: Some(|e| has_field(e, metadata::IDENTITY_START)),
        ..writer("identityColumns", BOTH)
    },
    TableFeature {
        enabled_by: Some(|e| e.is_true("delta.enableDeletionVectors")),
        removable: true,
        ..reader_writer("deletionVectors", BOTH)
    },
    TableFeature {
        enabled_by: Some(|e| e.schema.any_type(&|t| *t == DataType::TimestampNtz)),
        updates_existing: false,
        ..reader_writer("timestampNtz", BOTH)
    },
    TableFeature {
        enabled_by: Some(v2_policy),
        removable: true,
        ..reader_writer("v2Checkpoint", BOTH)
    },
    TableFeature {
        removable: true,
        ..reader_writer("vacuumProtocolCheck", BOTH)
    },
    TableFeature {
        removable: true,
        ..writer("domainMetadata", BOTH)
    },
    TableFeature {
        requires: &["domainMetadata"],
        enabled_by: Some(|e| e.is_true("delta.enableRowTracking")),
        removable: true,
        ..writer("rowTracking", BOTH)
    },
    TableFeature {
        requires: &["domainMetadata"],
        ..writer("clustering", BOTH)
    },
    TableFeature {
        enabled_by: Some(|e| has_field(e, metadata::CURRENT_DEFAULT)),
        updates_existing: false,
        ..writer("allowColumnDefaults", BOTH)
    },
    TableFeature {
        enabled_by: Some(|e| e.is_true("delta.enableInCommitTimestamps")),
        removable: true,
        ..writer("inCommitTimestamp", BOTH)
    },
    TableFeature {
        enabled_by: Some(|e| e.is_true("delta.enableTypeWidening")),
        removable: true,
        ..reader_writer("typeWidening", BOTH)
    },
    TableFeature {
        removable: true,
        ..reader_writer("typeWidening-preview", BOTH)
    },
    TableFeature {
        enabled_by: Some(checkpoint_protection),
        removable: true,
        ..writer("checkpointProtection", BOTH)
    },
    TableFeature {
        enabled_by: Some(|e| e.schema.any_type(&|t| *t == DataType::Variant)),
        ..reader_writer("variantType", BOTH)
    },
    reader_writer("variantType-preview", BOTH),
    TableFeature {
        requires: &["variantType"],
        ..reader_writer("variantShredding", BOTH)
    },
    // The property still means the preview, as in the reference. Whole variants may stand in every table.
    TableFeature {
        requires: &["variantType"],
        enabled_by: Some(|e| e.is_true("delta.enableVariantShredding")),
        ..reader_writer("variantShredding-preview", BOTH)
    },
    TableFeature {
        requires: &["inCommitTimestamp"],
        removable: true,
        ..reader_writer("catalogManaged", NEITHER)
    },
    TableFeature {
        removable: true,
        ..reader_writer("geospatial", NEITHER)
    },
    reader_writer("geospatial-dev", NEITHER),
    TableFeature {
        enabled_by: Some(|e| e.property("delta.redirectReaderWriter-preview").is_some()),
        removable: true,
        ..reader_writer("redirectReaderWriter-preview", NEITHER)
    },
    TableFeature {
        enabled_by: Some(|e| e.property("delta.redirectWriterOnly-preview").is_some()),
        removable: true,
        ..writer("redirectWriterOnly-preview", READ)
    },
    reader_writer("adaptiveMetadata-preview", NEITHER),
    TableFeature {
        requires: &["columnMapping"],
        enabled_by: Some(|e| e.is_true("delta.enableIcebergCompatV1")),
        ..writer("icebergCompatV1", READ)
    },
    TableFeature {
        requires: &["columnMapping"],
        enabled_by: Some(|e| e.is_true("delta.enableIcebergCompatV2")),
        ..writer("icebergCompatV2", READ)
    },
    TableFeature {
        requires: &["columnMapping", "rowTracking"],
        enabled_by: Some(|e| e.is_true("delta.enableIcebergCompatV3")),
        ..writer("icebergCompatV3", READ)
    },
    TableFeature {
        enabled_by: Some(|e| e.is_true("delta.enableMaterializePartitionColumnsFeature")),
        removable: true,
        ..writer("materializePartitionColumns", READ)
    },
    TableFeature {
        requires: &["inCommitTimestamp", "vacuumProtocolCheck"],
        enabled_by: Some(|e| {
            e.property("delta.coordinatedCommits.commitCoordinator-preview")
                .is_some()
        }),
        removable: true,
        ..writer("coordinatedCommits-preview", READ)
    },
];
