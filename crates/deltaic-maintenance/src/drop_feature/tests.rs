//! What DROP FEATURE refuses, and what is left of a protocol.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_command::TableRef;
use deltaic_protocol::action::Protocol;

use super::*;

fn protocol(readers: &[&str], writers: &[&str]) -> Protocol {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    Protocol {
        min_reader_version: if readers.is_empty() { 1 } else { 3 },
        min_writer_version: 7,
        reader_features: (!readers.is_empty()).then(|| owned(readers)),
        writer_features: Some(owned(writers)),
    }
}

fn request(feature: &str, truncate_history: bool) -> DropFeature {
    DropFeature {
        target: TableRef::Name(vec!["t".to_string()]),
        feature: feature.to_string(),
        truncate_history,
    }
}

fn refused(protocol: &Protocol, feature: &str, truncate_history: bool) -> String {
    let error = removable(protocol, &request(feature, truncate_history)).unwrap_err();
    error.class().unwrap().to_string()
}

#[test]
fn each_refusal_has_its_class() {
    let table = protocol(
        &["deletionVectors"],
        &[
            "deletionVectors",
            "domainMetadata",
            "rowTracking",
            "checkpointProtection",
            "appendOnly",
        ],
    );
    let cases = [
        (
            "noSuchFeature",
            false,
            "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
        ),
        (
            "columnMapping",
            false,
            "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT",
        ),
        // The name is compared as it stands in the protocol.
        (
            "DELETIONVECTORS",
            false,
            "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT",
        ),
        (
            "appendOnly",
            false,
            "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE",
        ),
        (
            "delta.appendOnly",
            false,
            "DELTA_FEATURE_DROP_FEATURE_IS_DELTA_PROPERTY",
        ),
        (
            "delta.nothing",
            false,
            "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
        ),
        (
            "domainMetadata",
            false,
            "DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
        ),
        (
            "rowTracking",
            true,
            "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED",
        ),
        (
            "checkpointProtection",
            false,
            "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION",
        ),
    ];
    for (feature, truncate, class) in cases {
        assert_eq!(refused(&table, feature, truncate), class, "{feature}");
    }
    removable(&table, &request("deletionVectors", true)).unwrap();
    removable(&table, &request("checkpointProtection", true)).unwrap();
}

#[test]
fn the_dependent_features_are_named() {
    let table = protocol(&[], &["domainMetadata", "rowTracking", "clustering"]);
    let error = removable(&table, &request("domainMetadata", false)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_FEATURE_DROP_DEPENDENT_FEATURE] Cannot drop table feature `domainMetadata` because some other features \
         (rowTracking, clustering) in this table depends on `domainMetadata`.\nConsider dropping them first before dropping \
         this feature."
    );
}

#[test]
fn the_protocol_becomes_the_weakest_that_is_left() {
    let find = |name: &str| TableFeature::find(name).unwrap();
    let vectors = protocol(
        &["deletionVectors"],
        &["deletionVectors", "invariants", "appendOnly"],
    );
    let plain = check::downgraded(&vectors, find("deletionVectors"), false);
    assert_eq!(plain, Protocol::legacy(1, 2));
    let protected = check::downgraded(&vectors, find("deletionVectors"), true);
    assert_eq!(
        (protected.min_reader_version, protected.min_writer_version),
        (1, 7)
    );
    assert_eq!(protected.reader_features, None);
    assert!(protected.supports("checkpointProtection") && !protected.supports("deletionVectors"));
    // A legacy protocol falls back to a list where its versions imply too much.
    let mapping = check::downgraded(&Protocol::legacy(2, 5), find("columnMapping"), false);
    assert_eq!(mapping, Protocol::legacy(1, 4));
    let constraints = check::downgraded(&Protocol::legacy(1, 4), find("checkConstraints"), false);
    assert_eq!(constraints.min_writer_version, 7);
    assert!(constraints.supports("generatedColumns") && !constraints.supports("checkConstraints"));
}

#[test]
fn an_action_shows_which_feature_it_needs() {
    let with_vector: Action = Action::Remove(deltaic_protocol::action::Remove {
        deletion_vector: Some(Default::default()),
        ..Default::default()
    });
    assert!(traces::uses("deletionVectors", &with_vector).unwrap());
    assert!(!traces::uses("columnMapping", &with_vector).unwrap());
    let mut metadata = Metadata::new("t", &Default::default());
    let plain = Action::Metadata(metadata.clone());
    for feature in [
        "deletionVectors",
        "columnMapping",
        "v2Checkpoint",
        "typeWidening",
    ] {
        assert!(!traces::uses(feature, &plain).unwrap(), "{feature}");
    }
    let on = [
        ("delta.enableDeletionVectors", "TRUE", "deletionVectors"),
        ("delta.columnMapping.mode", "name", "columnMapping"),
        ("delta.checkpointPolicy", "v2", "v2Checkpoint"),
    ];
    for (key, value, feature) in on {
        metadata.configuration = [(key.to_string(), value.to_string())].into();
        assert!(
            traces::uses(feature, &Action::Metadata(metadata.clone())).unwrap(),
            "{feature}"
        );
    }
}
