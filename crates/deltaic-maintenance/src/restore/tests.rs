//! Unit tests of what RESTORE commits.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::action::{DomainMetadata, Metadata, Protocol};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::plan::RestoreState;
use super::*;

fn file(path: &str, vector: Option<&str>) -> Arc<Add> {
    let deletion_vector = vector.map(|id| DeletionVectorDescriptor {
        storage_type: "u".to_string(),
        path_or_inline_dv: id.to_string(),
        ..DeletionVectorDescriptor::default()
    });
    Arc::new(Add {
        path: path.to_string(),
        size: 10,
        deletion_vector,
        data_change: false,
        ..Add::default()
    })
}

fn state(current: Vec<Arc<Add>>, target: Vec<Arc<Add>>) -> RestoreState {
    let schema = StructType::new([StructField::nullable("id", DataType::Long)]);
    RestoreState {
        root: deltaic_storage::TableRoot::new(deltaic_storage::Scheme::Memory, "/w/t"),
        current_files: current,
        target_files: target,
        current_metadata: Metadata::new("t", &schema),
        target_metadata: Metadata::new("t", &schema),
        current_protocol: Protocol::legacy(1, 2),
        target_protocol: Protocol::legacy(1, 2),
        current_domains: BTreeMap::new(),
        target_domains: BTreeMap::new(),
    }
}

#[test]
fn files_are_told_apart_by_path_and_vector() {
    let state = state(
        vec![file("a", None), file("b", Some("v2")), file("c", None)],
        vec![file("b", Some("v1")), file("a", None)],
    );
    let plan = plan(&state, 77, false).unwrap();
    assert_eq!(plan.adds.len(), 1);
    assert!(plan.adds[0].path == "b" && plan.adds[0].data_change);
    let removes: Vec<_> = plan
        .removes
        .iter()
        .map(|remove| (remove.path.as_str(), remove.deletion_timestamp))
        .collect();
    assert_eq!(removes, [("b", Some(77)), ("c", Some(77))]);
    let report = plan.report;
    assert_eq!(
        (
            report.table_size_after_restore,
            report.num_of_files_after_restore
        ),
        (20, 2)
    );
    assert_eq!(
        (report.removed_files_size, report.restored_files_size),
        (20, 10)
    );
}

#[test]
fn an_absolute_path_is_the_same_file_as_a_relative_one() {
    let state = state(
        vec![file("memory:/w/t/a%20b", None)],
        vec![file("a%20b", None)],
    );
    let plan = plan(&state, 0, false).unwrap();
    assert_eq!((plan.adds.len(), plan.removes.len()), (0, 0));
}

#[test]
fn the_protocol_is_never_lowered_unless_that_is_allowed() {
    let mut state = state(vec![], vec![]);
    state.current_protocol = Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: Some(vec!["deletionVectors".to_string()]),
        writer_features: Some(vec!["deletionVectors".to_string()]),
    };
    assert!(
        plan(&state, 0, false)
            .unwrap()
            .protocol
            .supports("deletionVectors")
    );
    assert_eq!(
        plan(&state, 0, true).unwrap().protocol,
        Protocol::legacy(1, 2)
    );
}

#[test]
fn identity_columns_do_not_count_backwards() {
    let with_mark = |mark: i64| {
        let field = StructField::nullable("id", DataType::Long)
            .with_metadata("delta.identity.start", 1)
            .with_metadata("delta.identity.step", 1)
            .with_metadata("delta.identity.highWaterMark", mark);
        Metadata::new("t", &StructType::new([field]))
    };
    let mut state = state(vec![], vec![]);
    state.current_metadata = with_mark(9);
    state.target_metadata = with_mark(4);
    let schema = plan(&state, 0, false).unwrap().metadata.schema().unwrap();
    assert_eq!(
        schema.fields[0].number("delta.identity.highWaterMark"),
        Some(9)
    );
}

#[test]
fn clustering_is_that_of_the_target() {
    let domain = |text: &str| DomainMetadata {
        domain: "delta.clustering".to_string(),
        configuration: text.to_string(),
        removed: false,
    };
    let mut state = state(vec![], vec![]);
    state
        .current_domains
        .insert("delta.clustering".to_string(), domain("now"));
    assert_eq!(
        plan(&state, 0, false).unwrap().domains[0].configuration,
        r#"{"clusteringColumns":[],"domainName":"delta.clustering"}"#
    );
    state
        .target_domains
        .insert("delta.clustering".to_string(), domain("then"));
    assert_eq!(plan(&state, 0, false).unwrap().domains, [domain("then")]);
}
