//! Unit tests of what a SHALLOW CLONE commits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use deltaic_protocol::deletion_vector::{DeletionVector, DeletionVectorDescriptor};
use deltaic_protocol::feature::TableFeature;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::StorageFactory;
use uuid::Uuid;

use super::*;

fn store(place: &str) -> TableStore {
    StorageFactory::default().open(place).unwrap()
}

fn source(files: Vec<Add>) -> CloneSource {
    let schema = StructType::new([StructField::nullable("id", DataType::Long)]);
    let mut metadata = Metadata::new("source", &schema);
    metadata.name = Some("theirs".to_owned());
    metadata.description = Some("their comment".to_owned());
    metadata.created_time = Some(5);
    CloneSource {
        name: "s".to_owned(),
        version: 3,
        store: store("/w/so urce"),
        protocol: Protocol::legacy(1, 2),
        metadata,
        domains: BTreeMap::new(),
        files: files.into_iter().map(Arc::new).collect(),
    }
}

fn file(path: &str) -> Add {
    Add {
        path: path.to_owned(),
        size: 10,
        base_row_id: Some(7),
        default_row_commit_version: Some(2),
        stats: Some(r#"{"numRecords":3}"#.to_owned()),
        ..Add::default()
    }
}

fn planned(source: &CloneSource, existing: Option<&TargetState>) -> Result<ClonePlan> {
    plan(
        source,
        &store("/w/clone"),
        existing,
        &CloneOptions::default(),
        &|| "fresh".to_owned(),
    )
}

fn with_property(source: &CloneSource, key: &str, value: &str) -> Result<ClonePlan> {
    let properties = PropertyChanges::for_create([], [(key, value)], &Default::default()).unwrap();
    let options = CloneOptions {
        properties,
        ..CloneOptions::default()
    };
    plan(source, &store("/w/clone"), None, &options, &|| {
        "fresh".to_owned()
    })
}

fn target(files: usize) -> TargetState {
    let other = source(Vec::new());
    let mut metadata = other.metadata;
    metadata.id = "target".to_owned();
    metadata.name = None;
    metadata.description = Some("mine".to_owned());
    TargetState {
        protocol: other.protocol,
        metadata,
        domains: BTreeMap::new(),
        files,
    }
}

#[test]
fn files_are_named_where_they_are_and_encoded_once() {
    let plan = planned(
        &source(vec![
            file("p=a%2520b/x.parquet"),
            file("file:/else/where%20.parquet"),
        ]),
        None,
    )
    .unwrap();
    let paths: Vec<&str> = plan.adds.iter().map(|add| add.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "file:/w/so%20urce/p=a%2520b/x.parquet",
            "file:/else/where%20.parquet"
        ]
    );
    let add = &plan.adds[0];
    assert!(add.data_change && add.base_row_id.is_none());
    assert!(add.default_row_commit_version.is_none() && add.stats.is_some());
}

#[test]
fn vectors_are_named_where_they_are() {
    let relative = DeletionVectorDescriptor::on_disk("ab", Uuid::nil(), 9, 40, 2);
    let inline = DeletionVectorDescriptor::inline(&DeletionVector::from_iter([1, 2]));
    let with = |vector: &DeletionVectorDescriptor| Add {
        deletion_vector: Some(vector.clone()),
        ..file("x.parquet")
    };
    let plan = planned(&source(vec![with(&relative), with(&inline)]), None).unwrap();
    let vectors: Vec<_> = plan
        .adds
        .iter()
        .map(|add| add.deletion_vector.clone().unwrap())
        .collect();
    assert_eq!(
        vectors[0],
        DeletionVectorDescriptor {
            storage_type: "p".to_owned(),
            path_or_inline_dv:
                "file:/w/so%20urce/ab/deletion_vector_00000000-0000-0000-0000-000000000000.bin"
                    .to_owned(),
            ..relative
        }
    );
    assert_eq!(vectors[1], inline);
}

#[test]
fn a_clone_has_an_id_of_its_own_and_no_name_or_comment_of_its_source() {
    let metadata = planned(&source(Vec::new()), None).unwrap().metadata;
    assert_eq!(metadata.id, "fresh");
    assert_eq!((metadata.name, metadata.description), (None, None));
    assert_eq!(metadata.created_time, Some(5));
    let metadata = planned(&source(Vec::new()), Some(&target(0)))
        .unwrap()
        .metadata;
    assert_eq!(metadata.id, "target");
    assert_eq!(metadata.description.as_deref(), Some("mine"));
}

#[test]
fn what_tells_of_the_sources_own_commits_is_left_behind() {
    let mut source = source(vec![file("x")]);
    source.protocol = Protocol::of_features(&[
        "inCommitTimestamp".to_owned(),
        "rowTracking".to_owned(),
        "domainMetadata".to_owned(),
    ]);
    for (key, value) in [
        ("delta.enableInCommitTimestamps", "true"),
        ("delta.inCommitTimestampEnablementVersion", "9"),
        ("delta.inCommitTimestampEnablementTimestamp", "99"),
        ("delta.enableRowTracking", "true"),
        ("delta.rowTracking.materializedRowIdColumnName", "theirs"),
    ] {
        source
            .metadata
            .configuration
            .insert(key.to_owned(), value.to_owned());
    }
    for domain in ["delta.clustering", "delta.rowTracking"] {
        source.domains.insert(
            domain.to_owned(),
            DomainMetadata {
                domain: domain.to_owned(),
                configuration: "{}".to_owned(),
                removed: false,
            },
        );
    }
    let plan = planned(&source, None).unwrap();
    let configuration = &plan.metadata.configuration;
    assert!(!configuration.contains_key("delta.inCommitTimestampEnablementVersion"));
    assert!(!configuration.contains_key("delta.inCommitTimestampEnablementTimestamp"));
    assert_eq!(
        configuration["delta.rowTracking.materializedRowIdColumnName"],
        "_row-id-col-fresh"
    );
    assert_eq!(plan.domains.len(), 1);
    assert_eq!(plan.domains[0].domain, "delta.clustering");

    let mut add = file("x");
    add.stats = None;
    source.files = vec![Arc::new(add)];
    let error = planned(&source, None).unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_CLONE_WITH_ROW_TRACKING_WITHOUT_STATS")
    );
}

#[test]
fn the_protocol_is_the_sources_with_what_the_properties_need() {
    let mut old = source(Vec::new());
    assert_eq!(planned(&old, None).unwrap().protocol, old.protocol);
    let plan = with_property(&old, "delta.enableDeletionVectors", "true").unwrap();
    assert!(plan.protocol.supports("deletionVectors") && plan.protocol.supports("appendOnly"));
    old.protocol = Protocol::legacy(1, 1);
    assert_eq!(planned(&old, None).unwrap().protocol, old.protocol);

    let mut target = target(0);
    target.protocol = Protocol::of_features(&["deletionVectors".to_owned()]);
    let plan = planned(&old, Some(&target)).unwrap();
    assert!(plan.protocol.supports("deletionVectors"), "never lowered");
    let options = CloneOptions {
        protocol_downgrade: true,
        ..CloneOptions::default()
    };
    let fresh = || "fresh".to_owned();
    let plan = super::plan(&old, &store("/w/clone"), Some(&target), &options, &fresh).unwrap();
    assert_eq!(plan.protocol, old.protocol);
    assert!(TableFeature::find("deletionVectors").is_some());
}

#[test]
fn a_table_with_files_is_not_replaced() {
    let error = planned(&source(Vec::new()), Some(&target(1))).unwrap_err();
    assert_eq!(error.class(), Some("DELTA_UNSUPPORTED_NON_EMPTY_CLONE"));
}

#[test]
fn a_clone_never_owns_files_of_its_source() {
    let source = source(vec![file("x.parquet")]);
    let options = CloneOptions::default();
    let fresh = || "fresh".to_owned();
    let error = plan(&source, &store("/w"), None, &options, &fresh).unwrap_err();
    assert!(error.text().contains("would own files"), "{error}");
    let error = plan(&source, &store("memory:/w"), None, &options, &fresh).unwrap_err();
    assert!(error.text().contains("not supported yet"), "{error}");
}

#[test]
fn the_column_mapping_of_a_clone_is_that_of_its_source() {
    let error = with_property(&source(Vec::new()), "delta.columnMapping.mode", "name").unwrap_err();
    assert_eq!(
        error.class(),
        Some("DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE")
    );
    let mut mapped = target(0);
    mapped
        .metadata
        .configuration
        .insert("delta.columnMapping.mode".to_owned(), "id".to_owned());
    assert!(planned(&source(Vec::new()), Some(&mapped)).is_err());
}
