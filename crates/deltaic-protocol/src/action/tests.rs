//! Actions: what the reference writes comes back byte for byte, what is unknown survives.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use proptest::prelude::*;

fn back(line: &str) -> String {
    Action::from_json_line(line)
        .unwrap()
        .unwrap()
        .to_json_line()
}

#[test]
fn lines_of_the_reference_come_back_byte_for_byte() {
    for line in [
        r#"{"commitInfo":{"inCommitTimestamp":1796002264493,"timestamp":1796002264493,"operation":"SET TBLPROPERTIES","operationParameters":{"properties":"{\"a\":\"true\"}","n":null,"x":5,"b":true},"readVersion":9,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{},"tags":{"k":"v"},"engineInfo":"e","txnId":"t"}}"#,
        r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{}","partitionColumns":["p"],"configuration":{"delta.a":"true"},"createdTime":1796005883818}}"#,
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","invariants","appendOnly"]}}"#,
        r#"{"add":{"path":"p=a%253Ab/x.parquet","partitionValues":{"p":null,"q":"1"},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}","tags":{"k":null},"deletionVector":{"storageType":"u","pathOrInlineDv":"di]buEnix<J!DGCRn1%.","offset":1,"sizeInBytes":42,"cardinality":5},"baseRowId":0,"defaultRowCommitVersion":11,"clusteringProvider":"liquid"}}"#,
        r#"{"remove":{"path":"a","deletionTimestamp":5,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":1125,"stats":"{\"numRecords\":50}"}}"#,
        r#"{"cdc":{"path":"_change_data/c","partitionValues":{},"size":3,"dataChange":false}}"#,
        r#"{"txn":{"appId":"a","version":3,"lastUpdated":4}}"#,
        r#"{"domainMetadata":{"domain":"delta.rowTracking","configuration":"{}","removed":false}}"#,
        r#"{"checkpointMetadata":{"version":3}}"#,
        r#"{"sidecar":{"path":"s","sizeInBytes":1,"modificationTime":2}}"#,
    ] {
        assert_eq!(back(line), line);
    }
}

#[test]
fn fields_that_nobody_knows_survive_where_a_writer_carries_them_on() {
    for line in [
        r#"{"commitInfo":{"operation":"X","new":{"a":[1,2.50]}}}"#,
        r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"","partitionColumns":[],"configuration":{},"new":1.50e+400}}"#,
        r#"{"brandNew":{"deep":{"n":12345678901234567890123}}}"#,
    ] {
        assert_eq!(back(line), line);
    }
}

#[test]
fn unknown_fields_of_files_are_ignored_and_old_removes_are_read() {
    let action = Action::from_json_line(r#"{"remove":{"path":"a b","new":1}}"#)
        .unwrap()
        .unwrap();
    let Action::Remove(remove) = action else {
        panic!()
    };
    assert_eq!((remove.deletion_timestamp, remove.size), (None, None));
}

#[test]
fn values_of_text_maps_without_quotes_are_the_text_that_stands_there() {
    let line = r#"{"add":{"path":"a","partitionValues":{"i":7,"d":1.50,"b":true,"n":null,"s":"x"},"size":1,"tags":{"t":12345678901234567890123,"o":{"k":[1]}}}}"#;
    let Some(Action::Add(add)) = Action::from_json_line(line).unwrap() else {
        panic!()
    };
    let value = |name: &str| add.partition_values[name].as_deref();
    assert_eq!(
        ["i", "d", "b", "n", "s"].map(value),
        [Some("7"), Some("1.50"), Some("true"), None, Some("x")]
    );
    let tags = add.tags.unwrap();
    assert_eq!(tags["t"].as_deref(), Some("12345678901234567890123"));
    assert_eq!(tags["o"].as_deref(), Some(r#"{"k":[1]}"#));
    for none in [
        r#"{"add":{"path":"a"}}"#,
        r#"{"add":{"path":"a","partitionValues":null,"tags":null}}"#,
    ] {
        let Some(Action::Add(add)) = Action::from_json_line(none).unwrap() else {
            panic!()
        };
        assert!(add.partition_values.is_empty() && add.tags.is_none());
    }
}

#[test]
fn a_line_with_nulls_beside_its_action_is_that_action() {
    let action =
        Action::from_json_line(r#"{"add":null,"txn":{"appId":"a","version":1},"new":null}"#)
            .unwrap();
    assert_eq!(
        action,
        Some(Action::Txn(SetTransaction {
            app_id: "a".into(),
            version: 1,
            last_updated: None
        }))
    );
    assert_eq!(Action::from_json_line("  \r").unwrap(), None);
    assert_eq!(Action::from_json_line("{}").unwrap(), None);
}

#[test]
fn a_torn_line_has_a_class_and_is_corruption() {
    let e = Action::from_json_line(r#"{"add":{"path":"x","#).unwrap_err();
    assert_eq!(
        e.class(),
        Some("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
    );
    assert_eq!(e.kind(), crate::error::ErrorKind::Corrupt);
}

#[test]
fn statistics_that_are_no_text_count_as_none() {
    let Some(Action::Add(add)) = Action::from_json_line(r#"{"add":{"path":"x","partitionValues":null,"size":1,"modificationTime":1,"dataChange":true,"stats":{"numRecords":1}}}"#).unwrap() else { panic!() };
    assert_eq!(add.stats, None);
    assert!(add.partition_values.is_empty());
}

#[test]
fn a_key_is_the_decoded_path_with_the_vectors_id() {
    let dv = DeletionVectorDescriptor {
        storage_type: "u".into(),
        path_or_inline_dv: "x".into(),
        offset: Some(1),
        size_in_bytes: 1,
        cardinality: 1,
    };
    let add = Add {
        path: "a%20b%2525".into(),
        deletion_vector: Some(dv),
        ..Add::default()
    };
    assert_eq!(add.key(), ("a b%25".into(), Some("ux@1".into())));
}

#[test]
fn a_tombstone_keeps_the_count_only() {
    let add = Add {
        path: "a".into(),
        size: 5,
        stats: Some(r#"{"numRecords":2,"minValues":{"a":1}}"#.into()),
        ..Add::default()
    };
    let line = Action::Remove(add.to_remove(9, true)).to_json_line();
    assert_eq!(
        line,
        r#"{"remove":{"path":"a","deletionTimestamp":9,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{},"size":5,"stats":"{\"numRecords\":2}"}}"#
    );
}

proptest! {
    #[test]
    fn adds_survive_their_line(path in ".{1,20}", values in prop::collection::btree_map(".{1,5}", prop::option::of(".{0,9}"), 0..3),
                               size in any::<i64>(), stats in prop::option::of(".{0,20}"), row in prop::option::of(any::<i64>())) {
        let add = Action::Add(Add { path, partition_values: values.into_iter().collect(), size, modification_time: size, data_change: size > 0, stats, base_row_id: row, ..Add::default() });
        let line = add.to_json_line();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(Action::from_json_line(&line).unwrap().unwrap(), add);
    }
}
