//! Unit tests of properties.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::*;

fn state(protocol: Protocol) -> TableState {
    let inner = DataType::structure([StructField::nullable("a", DataType::Integer)]);
    let schema = StructType::new([
        StructField::nullable("id", DataType::Long),
        StructField::nullable("s", inner),
        StructField::nullable("v", DataType::String),
    ]);
    TableState {
        metadata: Metadata::new("t", &schema),
        protocol,
        schema,
        clustering_columns: Vec::new(),
    }
}

fn plain() -> TableState {
    state(Protocol::legacy(1, 2))
}

fn pairs(properties: &[(&str, &str)]) -> Vec<(String, String)> {
    properties
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect()
}

fn change(properties: &[(&str, &str)]) -> Result<TableChange> {
    set(&plain(), &pairs(properties), &PropertyRules::default())
}

fn recorded(change: &TableChange) -> String {
    change
        .operation
        .parameters
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn keys_are_stored_and_shown_in_their_canonical_spelling() {
    let change = change(&[
        ("DELTA.LOGRETENTIONDURATION", "interval 90 days"),
        ("my.Own", "kept"),
    ])
    .unwrap();
    assert_eq!(
        change.metadata.configuration["delta.logRetentionDuration"],
        "interval 90 days"
    );
    assert_eq!(change.metadata.configuration["my.Own"], "kept");
    assert_eq!(change.operation.name, "SET TBLPROPERTIES");
    assert_eq!(
        recorded(&change),
        r#"properties="{\"delta.logRetentionDuration\":\"interval 90 days\",\"my.Own\":\"kept\"}""#
    );
    assert!(change.protocol.is_none());
}

#[test]
fn what_has_no_class_is_wrapped_as_spark_wraps_it() {
    let error = change(&[("delta.checkpointInterval", "0")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unsupported table change: requirement failed: delta.checkpointInterval needs to be a positive integer."
    );
    assert_eq!(error.java_class(), "org.apache.spark.SparkException");
    let error = change(&[("delta.deletedFileRetentionDuration", "bananas")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[DELTA_INVALID_INTERVAL] bananas is not a valid INTERVAL."
    );
}

#[test]
fn a_comment_is_the_description_and_not_a_property() {
    let by_property = change(&[("comment", "orders")]).unwrap();
    let by_statement = set_comment(&plain(), Some("orders"));
    for change in [by_property, by_statement] {
        assert_eq!(change.metadata.description.as_deref(), Some("orders"));
        assert!(change.metadata.configuration.is_empty());
        assert_eq!(
            recorded(&change),
            r#"properties="{\"comment\":\"orders\"}""#
        );
    }
    assert_eq!(set_comment(&plain(), None).metadata.description, None);
}

#[test]
fn features_and_modes_raise_the_protocol() {
    let listed = change(&[("delta.feature.deletionVectors", "supported")]).unwrap();
    assert!(listed.protocol.unwrap().supports("deletionVectors"));
    assert!(listed.metadata.configuration.is_empty());
    assert_eq!(
        listed.operation.parameters[0].1,
        r#"{"delta.feature.deletionvectors":"supported"}"#
    );
    let enabled = change(&[("delta.enableDeletionVectors", "true")]).unwrap();
    assert!(enabled.protocol.unwrap().supports("deletionVectors"));
}

#[test]
fn column_mapping_gives_ids_parents_first_and_keeps_the_names_in_files() {
    let change = change(&[("delta.columnMapping.mode", "name")]).unwrap();
    let schema = change.metadata.schema().unwrap();
    let mut ids = Vec::new();
    schema.for_each_field(&mut |field| {
        ids.push((
            field.column_mapping_id().unwrap(),
            field.physical_name().to_string(),
        ))
    });
    assert_eq!(
        ids,
        [
            (1, "id".to_string()),
            (2, "s".to_string()),
            (3, "a".to_string()),
            (4, "v".to_string())
        ]
    );
    assert_eq!(
        change.metadata.configuration["delta.columnMapping.maxColumnId"],
        "4"
    );
    assert_eq!(
        change.protocol.unwrap(),
        Protocol {
            min_reader_version: 2,
            min_writer_version: 7,
            reader_features: None,
            writer_features: Some(vec![
                "columnMapping".into(),
                "invariants".into(),
                "appendOnly".into()
            ]),
        }
    );
    assert_eq!(
        recorded_properties(&change.operation),
        r#"{"delta.columnMapping.mode":"name"}"#
    );
}

fn recorded_properties(operation: &Operation) -> &str {
    operation.parameters[0].1.as_str().unwrap()
}

#[test]
fn column_mapping_does_not_go_back_or_aside() {
    let mut mapped = plain();
    mapped
        .metadata
        .configuration
        .insert("delta.columnMapping.mode".to_string(), "name".to_string());
    for mode in ["id", "none"] {
        let error = set(
            &mapped,
            &pairs(&[("delta.columnMapping.mode", mode)]),
            &PropertyRules::default(),
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "[DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE] Changing column mapping mode from 'name' to '{mode}' is not supported."
            )
        );
    }
    assert!(unset(&mapped, &["delta.columnMapping.mode".to_string()]).is_err());
    assert!(change(&[("delta.columnMapping.mode", "id")]).is_err());
}

#[test]
fn unset_of_a_missing_key_is_recorded_and_changes_nothing() {
    let mut state = plain();
    state.metadata.configuration.insert(
        "delta.logRetentionDuration".to_string(),
        "interval 90 days".to_string(),
    );
    let change = unset(
        &state,
        &[
            "DELTA.logretentionduration".to_string(),
            "nothing.here".to_string(),
        ],
    )
    .unwrap();
    assert!(change.metadata.configuration.is_empty());
    assert_eq!(change.operation.name, "UNSET TBLPROPERTIES");
    assert_eq!(
        recorded(&change),
        r#"properties="[\"delta.logRetentionDuration\",\"nothing.here\"]" ifExists=true"#
    );
}

#[test]
fn shown_properties_end_with_the_protocol_in_key_order() {
    let mut state = plain();
    state
        .metadata
        .configuration
        .insert("my.own".to_string(), "1".to_string());
    assert_eq!(
        show(&state),
        pairs(&[
            ("delta.minReaderVersion", "1"),
            ("delta.minWriterVersion", "2"),
            ("my.own", "1")
        ])
    );
    let features = Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: Some(vec!["deletionVectors".into()]),
        writer_features: Some(vec![
            "deletionVectors".into(),
            "invariants".into(),
            "appendOnly".into(),
        ]),
    };
    let keys: Vec<String> = show(&super::tests::state(features))
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(
        keys,
        [
            "delta.feature.appendOnly",
            "delta.feature.deletionVectors",
            "delta.feature.invariants",
            "delta.minReaderVersion",
            "delta.minWriterVersion"
        ]
    );
    let (_, value) = show_one(&state, "delta.nothing", "spark_catalog.default.t");
    assert_eq!(
        value,
        "Table spark_catalog.default.t does not have property: delta.nothing"
    );
}
