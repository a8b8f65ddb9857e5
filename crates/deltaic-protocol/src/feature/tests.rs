//! Protocols of new and changed tables, and refusals.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::action::{Metadata, Protocol};
use crate::schema::{DataType, StructField, StructType};
use proptest::prelude::*;

fn metadata(properties: &[(&str, &str)], fields: Vec<StructField>) -> Metadata {
    let mut metadata = Metadata::new("id", &StructType::new(fields));
    metadata.configuration = properties
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    metadata
}

fn lists(reader: i32, readers: Option<&[&str]>, writers: &[&str]) -> Protocol {
    let list = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    Protocol {
        min_reader_version: reader,
        min_writer_version: 7,
        reader_features: readers.map(list),
        writer_features: Some(list(writers)),
    }
}

fn new_table(properties: &[(&str, &str)], fields: Vec<StructField>) -> Protocol {
    protocol_for_new_table(&metadata(properties, fields), &ProtocolUpgrade::default()).unwrap()
}

#[test]
fn new_tables_get_the_protocol_that_the_reference_gives() {
    let id = || vec![StructField::nullable("id", DataType::Long)];
    assert_eq!(new_table(&[], id()), Protocol::legacy(1, 2));
    assert_eq!(
        new_table(&[("delta.appendOnly", "true")], id()),
        Protocol::legacy(1, 2)
    );
    assert_eq!(
        new_table(&[("delta.enableChangeDataFeed", "true")], id()),
        lists(1, None, &["changeDataFeed", "invariants", "appendOnly"])
    );
    assert_eq!(
        new_table(&[("delta.columnMapping.mode", "name")], id()),
        lists(2, None, &["columnMapping", "invariants", "appendOnly"])
    );
    assert_eq!(
        new_table(&[("delta.enableDeletionVectors", "true")], id()),
        lists(
            3,
            Some(&["deletionVectors"]),
            &["deletionVectors", "invariants", "appendOnly"]
        )
    );
    assert_eq!(
        new_table(
            &[],
            vec![StructField::nullable("t", DataType::TimestampNtz)]
        ),
        lists(
            3,
            Some(&["timestampNtz"]),
            &["timestampNtz", "invariants", "appendOnly"]
        )
    );
    assert_eq!(
        new_table(&[("delta.enableRowTracking", "true")], id()),
        lists(
            1,
            None,
            &["domainMetadata", "rowTracking", "invariants", "appendOnly"]
        )
    );
}

#[test]
fn a_constraint_raises_the_writer_version_alone() {
    let changed = metadata(&[("delta.constraints.c", "id > 0")], vec![]);
    let new = upgraded_protocol(
        &Protocol::legacy(1, 2),
        &changed,
        &ProtocolUpgrade::default(),
    )
    .unwrap();
    assert_eq!(new, Some(Protocol::legacy(1, 3)));
    let again = upgraded_protocol(
        &Protocol::legacy(1, 3),
        &changed,
        &ProtocolUpgrade::default(),
    )
    .unwrap();
    assert_eq!(again, None);
}

#[test]
fn a_mapped_table_that_widens_lists_both_features_for_readers() {
    let mapped = lists(2, None, &["columnMapping", "invariants", "appendOnly"]);
    let changed = metadata(
        &[
            ("delta.columnMapping.mode", "name"),
            ("delta.enableTypeWidening", "true"),
        ],
        vec![],
    );
    let new = upgraded_protocol(&mapped, &changed, &ProtocolUpgrade::default()).unwrap();
    assert_eq!(
        new,
        Some(lists(
            3,
            Some(&["columnMapping", "typeWidening"]),
            &["columnMapping", "typeWidening", "invariants", "appendOnly"]
        ))
    );
}

#[test]
fn lists_that_a_version_says_as_well_become_the_version() {
    let full = lists(
        3,
        Some(&["columnMapping"]),
        &[
            "appendOnly",
            "invariants",
            "checkConstraints",
            "changeDataFeed",
            "generatedColumns",
            "columnMapping",
        ],
    );
    assert_eq!(full.normalized(), Protocol::legacy(2, 5));
    assert_eq!(
        lists(1, None, &["invariants", "appendOnly"]).normalized(),
        Protocol::legacy(1, 2)
    );
    let unknown = lists(1, None, &["invariants", "appendOnly", "newest"]);
    assert_eq!(unknown.normalized(), unknown);
}

#[test]
fn a_type_that_needs_a_feature_asks_for_it_on_an_old_table() {
    let changed = metadata(
        &[],
        vec![StructField::nullable("t", DataType::TimestampNtz)],
    );
    let e = upgraded_protocol(
        &Protocol::legacy(1, 2),
        &changed,
        &ProtocolUpgrade::default(),
    )
    .unwrap_err();
    assert_eq!(e.class(), Some("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"));
    let upgrade = ProtocolUpgrade {
        features: vec![TableFeature::find("TIMESTAMPNTZ").unwrap()],
        ..Default::default()
    };
    assert!(
        upgraded_protocol(&Protocol::legacy(1, 2), &changed, &upgrade)
            .unwrap()
            .is_some()
    );
}

#[test]
fn asking_for_a_lower_version_changes_nothing() {
    let upgrade = ProtocolUpgrade {
        min_reader_version: Some(1),
        ..Default::default()
    };
    let current = lists(
        1,
        None,
        &["invariants", "appendOnly", "checkpointProtection"],
    );
    assert_eq!(
        upgraded_protocol(&current, &metadata(&[], vec![]), &upgrade).unwrap(),
        None
    );
}

#[test]
fn refusals_name_the_features_and_the_versions() {
    let e = check_readable(&Protocol::legacy(99, 7), "/t", "4.3.0").unwrap_err();
    assert_eq!(
        e.to_string(),
        "[DELTA_INVALID_PROTOCOL_VERSION] Unsupported Delta protocol version: table \"/t\" requires reader version 99 and writer version 7, but Delta Lake \"4.3.0\" supports reader versions 1, 2, 3 and writer versions 1, 2, 3, 4, 5, 6, 7. Please upgrade to a newer release."
    );
    let strange = lists(
        3,
        Some(&["zzz", "columnMapping", "aaa"]),
        &["zzz", "aaa", "columnMapping", "icebergCompatV1"],
    );
    let e = check_readable(&strange, "t", "4.3.0").unwrap_err();
    assert_eq!(e.class(), Some("DELTA_UNSUPPORTED_FEATURES_FOR_READ"));
    assert!(e.text().ends_with("\"4.3.0\": aaa, zzz."), "{e}");
    let iceberg = lists(1, None, &["icebergCompatV1", "appendOnly"]);
    check_readable(&iceberg, "t", "4.3.0").unwrap();
    let e = check_writable(&iceberg, "t", "4.3.0").unwrap_err();
    assert_eq!(e.class(), Some("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"));
    assert!(e.text().ends_with(": icebergCompatV1."), "{e}");
    assert_eq!(e.kind(), crate::error::ErrorKind::Unsupported);
}

#[test]
fn metadata_that_outruns_its_protocol_is_refused() {
    let m = metadata(&[("delta.enableDeletionVectors", "true")], vec![]);
    let e = check_features_match(&lists(1, None, &["appendOnly"]), &m).unwrap_err();
    assert_eq!(e.parameters()[0].1, "deletionVectors");
    check_features_match(
        &lists(3, Some(&["deletionVectors"]), &["deletionVectors"]),
        &m,
    )
    .unwrap();
}

#[test]
fn every_requirement_is_a_feature() {
    for feature in FEATURES {
        for required in feature.requires {
            assert!(TableFeature::find(required).is_some(), "{required}");
        }
    }
}

proptest! {
    #[test]
    fn the_weakest_form_supports_the_same(picked in prop::collection::btree_set(0..FEATURES.len(), 1..FEATURES.len())) {
        let names: Vec<String> = picked.into_iter().map(|at| FEATURES[at].name.to_owned()).collect();
        let protocol = Protocol::of_features(&names);
        let mut supported = protocol.supported_features();
        supported.sort();
        let mut wanted = names.clone();
        wanted.sort();
        prop_assert_eq!(supported, wanted);
        prop_assert_eq!(protocol.normalized(), protocol.clone());
        prop_assert_eq!(protocol.merge(&protocol), protocol);
    }
}

#[test]
fn a_feature_is_not_added_beside_its_preview() {
    let variant = StructField::nullable("v", DataType::Variant);
    let mut metadata = metadata(&[], vec![variant]);
    let given = lists(3, Some(&["variantType-preview"]), &["variantType-preview"]);
    let upgrade = ProtocolUpgrade::default();
    assert_eq!(
        upgraded_protocol(&given, &metadata, &upgrade).unwrap(),
        None
    );
    check_features_match(&given, &metadata).unwrap();
    metadata
        .configuration
        .insert("delta.enableVariantShredding".into(), "true".into());
    let shredded = upgraded_protocol(&given, &metadata, &upgrade)
        .unwrap()
        .unwrap();
    assert!(shredded.supports("variantShredding-preview"));
    assert!(!shredded.supports("variantType") && !shredded.supports("variantShredding"));
    let fresh = protocol_for_new_table(&metadata, &upgrade).unwrap();
    assert!(fresh.supports("variantShredding-preview") && fresh.supports("variantType"));
    // The feature stands for its preview.
    let stable = ["variantType", "variantShredding"];
    let stable = lists(3, Some(&stable), &stable);
    assert_eq!(
        upgraded_protocol(&stable, &metadata, &upgrade).unwrap(),
        None
    );
    check_features_match(&stable, &metadata).unwrap();
    check_writable(&stable, "t", "4.3.0").unwrap();
}
