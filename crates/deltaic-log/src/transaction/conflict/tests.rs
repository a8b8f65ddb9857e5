//! The rules of the conflict check, one by one.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::skipping::{Comparison, Value};
use crate::tests::parse;
use deltaic_protocol::action::Protocol;
use deltaic_protocol::error::DeltaError;
use deltaic_protocol::schema::DataType;
use deltaic_storage::Scheme;
use expect_test::{Expect, expect};

pub(super) struct Case {
    pub(super) scope: ReadScope,
    pub(super) ours: &'static str,
    pub(super) changes_metadata: bool,
    pub(super) changes_protocol: bool,
    pub(super) isolation: Option<IsolationLevel>,
    pub(super) protocol: Protocol,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            scope: ReadScope::default(),
            ours: "",
            changes_metadata: false,
            changes_protocol: false,
            isolation: None,
            protocol: Protocol::legacy(1, 2),
        }
    }
}

fn metadata(log: &str) -> Metadata {
    parse(log)
        .remove(0)
        .1
        .into_iter()
        .find_map(|a| {
            if let Action::Metadata(m) = a {
                Some(m)
            } else {
                None
            }
        })
        .unwrap()
}

impl Case {
    pub(super) fn outcome(&self, winner: &str) -> Option<CommitConflict> {
        let ours = parse(&format!("//- 0\n{}", self.ours)).remove(0).1;
        let theirs = parse(&format!("//- 5\n{winner}")).remove(0).1;
        let read = metadata("//- 0\nM/p");
        let columns = vec![("p".to_owned(), Column::new("p", DataType::Integer))];
        let ours = Ours {
            root: &TableRoot::new(Scheme::File, "/t"),
            scope: &self.scope,
            actions: &ours,
            changes_protocol: self.changes_protocol,
            changes_metadata: self.changes_metadata,
            isolation: self.isolation.unwrap_or(IsolationLevel::Serializable),
            metadata: Some(&read),
            protocol: Some(&self.protocol),
            partition_columns: &columns,
            zone: &Zone::utc(),
        };
        let mut conflict = check(
            &ours,
            &Winner {
                version: 5,
                actions: &theirs,
            },
        )?;
        conflict.table = "spark_catalog.default.t".to_owned();
        Some(conflict)
    }

    fn check(&self, winner: &str, expected: Expect) {
        let text = self
            .outcome(winner)
            .map_or("fine".to_owned(), |c| DeltaError::from(c).to_string());
        expected.assert_eq(&text);
    }
}

pub(super) fn reads_partition(value: i64) -> ReadScope {
    let predicate = Predicate::Compare(
        Column::new("p", DataType::Integer),
        Comparison::Equal,
        Value::Integer(value),
    );
    ReadScope {
        predicates: vec![predicate],
        ..ReadScope::default()
    }
}

#[test]
fn blind_appends_go_together() {
    Case {
        ours: "+ b",
        ..Case::default()
    }
    .check("info WRITE blind\n+ a p=1", expect!["fine"]);
}

#[test]
fn files_that_should_have_been_read_are_a_conflict() {
    let case = Case {
        scope: reads_partition(1),
        ours: "- x p=1",
        ..Case::default()
    };
    case.check("info WRITE blind\n+ a p=1", expect!["[DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT] Transaction conflict detected. a concurrent WRITE added data to table spark_catalog.default.t committed at version 5. The concurrent operation modified data in the partition [p=1] that should have been read by this operation. Please retry the operation. Refer to https://docs.delta.io/latest/concurrency-control.html for more information."]);
    case.check("info WRITE blind\n+ a p=2", expect!["fine"]);
}

#[test]
fn predicates_on_other_columns_read_the_whole_partition() {
    let predicate = Predicate::Compare(
        Column::new("id", DataType::Long),
        Comparison::Equal,
        Value::Integer(1),
    );
    let case = Case {
        scope: ReadScope {
            predicates: vec![predicate],
            ..ReadScope::default()
        },
        ..Case::default()
    };
    assert_eq!(
        case.outcome("info WRITE\n+ a p=2").unwrap().kind,
        ConflictKind::ConcurrentAppend
    );
}

#[test]
fn the_level_decides_which_appends_count() {
    let whole = || ReadScope {
        whole_table: true,
        ..ReadScope::default()
    };
    let case = |isolation| Case {
        scope: whole(),
        isolation: Some(isolation),
        ..Case::default()
    };
    let (blind, seeing) = ("info WRITE blind\n+ a p=1", "info MERGE\n+ a p=1");
    assert!(case(IsolationLevel::Serializable).outcome(blind).is_some());
    assert!(
        case(IsolationLevel::WriteSerializable)
            .outcome(blind)
            .is_none()
    );
    assert!(
        case(IsolationLevel::WriteSerializable)
            .outcome(seeing)
            .is_some()
    );
    assert!(
        case(IsolationLevel::SnapshotIsolation)
            .outcome(seeing)
            .is_none()
    );
    let with_metadata = Case {
        changes_metadata: true,
        ..case(IsolationLevel::WriteSerializable)
    };
    assert!(with_metadata.outcome(blind).is_some());
    assert!(
        case(IsolationLevel::WriteSerializable)
            .outcome("+ a p=1")
            .is_some(),
        "a winner that says nothing is not blind"
    );
}

#[test]
fn deleted_files_that_were_read_are_a_conflict_at_every_level() {
    let scope = ReadScope {
        files: BTreeSet::from(["x y".to_owned()]),
        ..ReadScope::default()
    };
    let case = Case {
        scope,
        isolation: Some(IsolationLevel::SnapshotIsolation),
        ..Case::default()
    };
    case.check("info DELETE\n- x%20y p=3", expect!["[DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT] Transaction conflict detected, a concurrent DELETE deleted data from table spark_catalog.default.t (committed at version 5) that this transaction read. The concurrent operation deleted data in the partition [p=3] that was read by this operation. Please retry the operation. Refer to https://docs.delta.io/latest/concurrency-control.html for more information."]);
    case.check("info DELETE\n- other p=3", expect!["fine"]);
    let whole = Case {
        scope: ReadScope {
            whole_table: true,
            ..ReadScope::default()
        },
        ..Case::default()
    };
    assert_eq!(
        whole.outcome("info DELETE\n- other p=3").unwrap().kind,
        ConflictKind::ConcurrentDeleteRead
    );
}

#[test]
fn deleting_the_same_file_twice_is_a_conflict() {
    let case = Case {
        ours: "- x",
        ..Case::default()
    };
    assert_eq!(
        case.outcome("info DELETE\n- file:/t/x").unwrap().kind,
        ConflictKind::ConcurrentDeleteDelete
    );
}

#[test]
fn metadata_changes_conflict_unless_they_are_harmless() {
    let case = Case {
        ours: "+ a",
        ..Case::default()
    };
    assert_eq!(
        case.outcome("info ALTER\nM/p delta.appendOnly=true")
            .unwrap()
            .kind,
        ConflictKind::MetadataChanged
    );
    assert!(
        case.outcome("info SET\nM/p delta.enableDeletionVectors=true")
            .is_none()
    );
    assert!(
        case.outcome("info SET\nM/p delta.enableDeletionVectors=false")
            .is_some()
    );
    let own = Case {
        changes_metadata: true,
        ..Case::default()
    };
    assert!(
        own.outcome("info SET\nM/p delta.enableDeletionVectors=true")
            .is_some()
    );
}

#[test]
fn protocols_domains_and_applications_conflict() {
    let protocol = Case {
        changes_protocol: true,
        ..Case::default()
    };
    protocol.check("info UPGRADE\nP 1 2", expect![[r#"
        [DELTA_PROTOCOL_CHANGED] ProtocolChangedException: The protocol version of the Delta table has been changed by a concurrent update. 
        Conflicting commit: {"operation":"UPGRADE","isBlindAppend":false}
        Refer to https://docs.delta.io/latest/concurrency-control.html for more details."#]]);
    assert!(Case::default().outcome("info UPGRADE\nP 1 2").is_none());
    let domain = Case {
        ours: "domain d x",
        ..Case::default()
    };
    assert_eq!(
        domain.outcome("domain d y").unwrap().kind,
        ConflictKind::ConcurrentTransaction
    );
    let merged = Case {
        ours: "domain delta.rowTracking x",
        ..Case::default()
    };
    assert!(merged.outcome("domain delta.rowTracking y").is_none());
    let app = Case {
        scope: ReadScope {
            app_ids: BTreeSet::from(["app".to_owned()]),
            ..ReadScope::default()
        },
        ..Case::default()
    };
    assert_eq!(
        app.outcome("txn app 3").unwrap().kind,
        ConflictKind::ConcurrentTransaction
    );
    assert!(app.outcome("txn other 3").is_none());
}

#[test]
fn a_feature_that_went_is_a_conflict_and_one_that_came_is_none() {
    let features = |names: &[&str]| Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: Some(names.iter().map(|n| (*n).to_owned()).collect()),
        writer_features: Some(names.iter().map(|n| (*n).to_owned()).collect()),
    };
    let case = Case {
        ours: "+ a",
        protocol: features(&["deletionVectors", "v2Checkpoint"]),
        ..Case::default()
    };
    assert!(
        case.outcome("P 3 7 deletionVectors v2Checkpoint timestampNtz")
            .is_none()
    );
    for went in ["P 3 7 v2Checkpoint", "P 1 2"] {
        let conflict = case.outcome(went).map(|c| c.kind);
        assert_eq!(conflict, Some(ConflictKind::ProtocolChanged), "{went}");
    }
}

/// Metadata of another writer, from that which was read.
fn changed(change: impl Fn(&mut Metadata)) -> bool {
    let read = metadata("//- 0\nM/p");
    let mut theirs = read.clone();
    change(&mut theirs);
    is_tolerated(&read, &theirs)
}

#[test]
fn metadata_that_asks_nothing_of_older_files_is_no_conflict() {
    let set = |key: &'static str, value: &'static str| {
        move |m: &mut Metadata| {
            m.configuration.insert(key.to_owned(), value.to_owned());
        }
    };
    for (key, value, fine) in [
        ("delta.enableRowTracking", "true", true),
        ("delta.enableRowTracking", "false", false),
        ("delta.rowTracking.materializedRowIdColumnName", "x", true),
        ("delta.enableDeletionVectors", "TRUE", true),
        ("delta.enableInCommitTimestamps", "true", true),
        ("delta.inCommitTimestampEnablementVersion", "7", true),
        ("delta.checkpointPolicy", "v2", true),
        ("delta.checkpointPolicy", "classic", false),
        ("delta.columnMapping.mode", "name", true),
        ("delta.columnMapping.mode", "id", false),
        ("delta.columnMapping.maxColumnId", "7", false),
        ("delta.appendOnly", "true", false),
        ("delta.constraints.c", "id > 0", false),
        ("mine", "x", false),
    ] {
        assert_eq!(changed(set(key, value)), fine, "{key}={value}");
    }
    assert!(!changed(|m| m.description = Some("new".to_owned())));
    assert!(!changed(|m| m.partition_columns.clear()));
}

#[test]
fn a_schema_that_keeps_its_names_and_types_is_no_conflict() {
    let fields =
        |m: &mut Metadata, change: &dyn Fn(usize, &mut deltaic_protocol::schema::StructField)| {
            let mut schema = m.schema().unwrap();
            for (at, field) in schema.fields.iter_mut().enumerate() {
                change(at, field);
            }
            m.schema_string = schema.to_json();
        };
    let mapped = |m: &mut Metadata, physical: &str| {
        m.configuration
            .insert("delta.columnMapping.mode".to_owned(), "name".to_owned());
        m.configuration
            .insert("delta.columnMapping.maxColumnId".to_owned(), "2".to_owned());
        fields(m, &|at, field| {
            let name = if physical.is_empty() {
                field.name.clone()
            } else {
                physical.to_owned()
            };
            *field = field
                .clone()
                .with_metadata("delta.columnMapping.id", at + 1)
                .with_metadata("delta.columnMapping.physicalName", name);
        });
    };
    assert!(changed(|m| mapped(m, "")));
    assert!(!changed(|m| mapped(m, "col-1")), "files have other names");
    assert!(changed(|m| fields(m, &|_, field| {
        *field = field
            .clone()
            .with_metadata("delta.identity.highWaterMark", 9);
    })));
    assert!(!changed(|m| fields(m, &|_, field| {
        *field = field.clone().with_metadata("delta.identity.step", 9);
    })));
    assert!(!changed(|m| fields(m, &|_, field| field.nullable = false)));
    assert!(!changed(|m| fields(m, &|_, field| field.name.push('x'))));
    assert!(!changed(
        |m| fields(m, &|_, field| field.data_type = DataType::String)
    ));
}
