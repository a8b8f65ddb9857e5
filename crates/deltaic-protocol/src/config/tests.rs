//! The typed view of table properties.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::schema::StructType;

fn config(protocol: Protocol, properties: &[(&str, &str)]) -> TableConfig {
    let mut metadata = Metadata::new("id", &StructType::default());
    metadata.configuration = properties
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    TableConfig::new(&metadata, &protocol)
}

#[test]
fn defaults_stand_in_for_what_is_not_set() {
    let config = config(Protocol::legacy(1, 2), &[]);
    assert_eq!(
        config.deleted_file_retention().unwrap().to_string(),
        "7 days"
    );
    assert_eq!(config.log_retention().unwrap().to_string(), "30 days");
    assert_eq!(config.checkpoint_interval().unwrap(), 10);
    assert_eq!(config.num_indexed_columns().unwrap(), Some(32));
    assert_eq!(
        config.column_mapping_mode().unwrap(),
        ColumnMappingMode::None
    );
    assert!(config.write_stats_as_struct().unwrap() && config.expired_log_cleanup().unwrap());
    assert_eq!(config.set_transaction_retention().unwrap(), None);
    assert_eq!(config.in_commit_timestamp_enablement().unwrap(), None);
}

#[test]
fn a_property_counts_only_with_its_feature() {
    let set = [
        ("delta.enableDeletionVectors", "true"),
        ("delta.columnMapping.mode", "name"),
    ];
    assert!(
        !config(Protocol::legacy(1, 2), &set)
            .deletion_vectors_enabled()
            .unwrap()
    );
    assert_eq!(
        config(Protocol::legacy(1, 2), &set)
            .column_mapping_mode()
            .unwrap(),
        ColumnMappingMode::None
    );
    assert_eq!(
        config(Protocol::legacy(2, 5), &set)
            .column_mapping_mode()
            .unwrap(),
        ColumnMappingMode::Name
    );
}

#[test]
fn a_bad_text_fails_only_where_it_is_asked_for() {
    let config = config(
        Protocol::legacy(1, 2),
        &[
            ("delta.appendOnly", "perhaps"),
            ("delta.dataSkippingNumIndexedCols", "-1"),
        ],
    );
    assert_eq!(
        config.is_append_only().unwrap_err().text(),
        "For input string: \"perhaps\""
    );
    assert_eq!(config.num_indexed_columns().unwrap(), None);
}

#[test]
fn constraints_are_listed_by_name() {
    let config = config(
        Protocol::legacy(1, 3),
        &[
            ("delta.constraints.b", "x > 0"),
            ("delta.constraints.a", "y"),
            ("other", "z"),
        ],
    );
    assert_eq!(config.check_constraints(), [("a", "y"), ("b", "x > 0")]);
}
