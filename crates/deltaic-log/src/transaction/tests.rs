//! Commits: their text, races, refusals, and what follows them.
#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::checksum::read_checksum;
use crate::commit::read_commit;
use crate::tests::{action, memory_store, show, table, write};
use deltaic_protocol::action::{Metadata, Protocol};
use deltaic_protocol::clock::ManualClock;
use deltaic_protocol::file_name;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_storage::hook::{FaultMode, FaultPlan, OpKind};
use expect_test::expect;
use std::sync::Arc;

fn context() -> CommitContext {
    CommitContext {
        clock: Arc::new(ManualClock::at(1_000)),
        engine_info: "Test/1".to_owned(),
        ..CommitContext::default()
    }
}

fn stage(transaction: &mut Transaction, lines: &str) {
    transaction.stage_all(
        lines
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .map(action),
    );
}

async fn commit_with(snapshot: &Snapshot, lines: &str, context: &CommitContext) -> Result<Commit> {
    let mut transaction = Transaction::begin(
        snapshot,
        Operation::new("WRITE").text_parameter("mode", "Append"),
    );
    stage(&mut transaction, lines);
    transaction.commit(context).await
}

async fn append(snapshot: &Snapshot, lines: &str) -> CommitResult {
    commit_with(snapshot, lines, &context())
        .await
        .unwrap()
        .into_result()
        .unwrap()
}

async fn create(store: &TableStore, lines: &str) -> CommitResult {
    let mut transaction = Transaction::create(
        store,
        Operation::new("CREATE TABLE").text_parameter("isManaged", "true"),
    );
    stage(&mut transaction, lines);
    transaction
        .commit(&context())
        .await
        .unwrap()
        .into_result()
        .unwrap()
}

async fn text(store: &TableStore, version: Version) -> String {
    let bytes = store.log().read(&file_name::commit(version)).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let id = text
        .split("\"txnId\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap()
        .to_owned();
    text.replace(&id, "<txn>")
}

#[tokio::test]
async fn commits_look_like_the_references() {
    let store = memory_store();
    let created = create(&store, "M\nP 1 2").await;
    append(&created.snapshot, "+ a.parquet").await;
    expect![[r#"
        {"commitInfo":{"timestamp":1000,"operation":"CREATE TABLE","operationParameters":{"isManaged":"true"},"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{},"engineInfo":"Test/1","txnId":"<txn>"}}
        {"metaData":{"id":"test-table","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"p\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}
        {"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
    "#]].assert_eq(&text(&store, 0).await);
    expect![[r#"
        {"commitInfo":{"timestamp":1000,"operation":"WRITE","operationParameters":{"mode":"Append"},"readVersion":0,"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{},"engineInfo":"Test/1","txnId":"<txn>"}}
        {"add":{"path":"a.parquet","partitionValues":{},"size":100,"modificationTime":0,"dataChange":true,"stats":"{\"numRecords\":10}"}}
    "#]].assert_eq(&text(&store, 1).await);
}

#[tokio::test]
async fn the_new_snapshot_equals_a_loaded_one() {
    let store = memory_store();
    let mut snapshot = create(&store, "M\nP 1 2").await.snapshot;
    for i in 0..25 {
        snapshot = append(&snapshot, &format!("+ f{i}\ntxn app {i}"))
            .await
            .snapshot;
    }
    let loaded = Snapshot::load(&store, None).await.unwrap();
    assert_eq!(loaded.checkpoint_version(), Some(20));
    assert_eq!(show(&loaded).await, show(&snapshot).await);
    assert_eq!(
        loaded.summary().await.unwrap(),
        snapshot.summary().await.unwrap()
    );
}

#[tokio::test]
async fn losing_a_race_is_no_error_for_blind_appends() {
    let store = memory_store();
    let base = create(&store, "M\nP 1 2").await.snapshot;
    for i in 0..3 {
        append(&base.update().await.unwrap(), &format!("+ other{i}")).await;
    }
    let result = append(&base, "+ mine").await;
    assert_eq!((result.version, result.attempts), (4, 2));
    let info = result.snapshot.commit_info().await.unwrap().unwrap();
    assert_eq!(info.read_version, Some(0));
    assert_eq!(
        show(&result.snapshot).await,
        show(&Snapshot::load(&store, None).await.unwrap()).await
    );
}

#[tokio::test]
async fn a_reader_of_the_whole_table_conflicts_with_an_append() {
    let store = memory_store();
    let base = create(&store, "M\nP 1 2\n+ a").await.snapshot;
    append(&base, "+ b").await;
    let mut transaction = Transaction::begin(&base, Operation::new("DELETE"));
    transaction.read_whole_table();
    stage(&mut transaction, "- a");
    let e = transaction
        .commit(&context())
        .await
        .unwrap()
        .into_result()
        .unwrap_err();
    expect!["[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected. a concurrent WRITE added data to table delta.`memory:/t` committed at version 1. The concurrent operation modified data that should have been read by this operation. Please retry the operation. Refer to https://docs.delta.io/latest/concurrency-control.html for more information."].assert_eq(&e.to_string());
}

#[tokio::test]
async fn two_creations_of_one_table_conflict() {
    let store = memory_store();
    create(&store, "M\nP 1 2").await;
    let mut transaction = Transaction::create(&store, Operation::new("CREATE TABLE"));
    stage(&mut transaction, "M\nP 1 2");
    let Commit::Conflict(conflict) = transaction.commit(&context()).await.unwrap() else {
        panic!("no conflict")
    };
    assert_eq!(conflict.kind, ConflictKind::ProtocolChanged);
    assert!(
        DeltaError::from(*conflict)
            .text()
            .contains("Creating the table ahead of time will avoid this conflict.")
    );
}

#[tokio::test]
async fn a_put_that_failed_after_taking_effect_counts_as_done() {
    let store = memory_store();
    let base = create(&store, "M\nP 1 2").await.snapshot;
    let plan = FaultPlan::filtered(0, FaultMode::FailAfter, |op| {
        op.kind == OpKind::Write && op.path.ends_with(".json")
    });
    let shaky = Snapshot::load(&store.hooked(Arc::new(plan)), None)
        .await
        .unwrap();
    let result = append(&shaky, "+ a").await;
    assert_eq!((result.version, result.attempts), (1, 1));
    assert_eq!(append(&base, "+ b").await.version, 2);
}

#[tokio::test]
async fn a_put_that_failed_without_effect_is_an_error() {
    let store = memory_store();
    create(&store, "M\nP 1 2").await;
    let plan = FaultPlan::filtered(0, FaultMode::Fail, |op| op.kind == OpKind::Write);
    let shaky = Snapshot::load(&store.hooked(Arc::new(plan)), None)
        .await
        .unwrap();
    let e = commit_with(&shaky, "+ a", &context()).await.unwrap_err();
    assert_eq!(e.version(), Some(1));
}

#[tokio::test]
async fn what_a_commit_must_not_do_is_refused() {
    let store = table("//- 0\n M delta.appendOnly=true\n P 1 2\n + a").await;
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    let refused = async |lines: &str| {
        commit_with(&snapshot, lines, &context())
            .await
            .unwrap_err()
            .to_string()
    };
    expect!["[DELTA_CANNOT_MODIFY_APPEND_ONLY] This table is configured to only allow appends. If you would like to permit updates or deletes, use 'ALTER TABLE null SET TBLPROPERTIES (delta.appendOnly=false)'."].assert_eq(&refused("- a").await);
    expect![[r#"
        [DELTA_DUPLICATE_ACTIONS_FOUND] File operation 'add' for path x%20y was specified several times.
        It conflicts with x y. 
        It is not valid for multiple file operations with the same path to exist in a single commit."#]].assert_eq(&refused("{\"add\":{\"path\":\"x y\"}}\n+ x%20y").await);
    assert!(
        refused("+ b\n- b quiet")
            .await
            .contains("DELTA_DUPLICATE_ACTIONS_FOUND")
    );
    assert!(
        commit_with(&snapshot, "+ a dv=y quiet\n- a quiet", &context())
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_commit_does_not_land_in_another_table_or_below_a_cleaned_log() {
    let log = "//- 0\n M\n P 1 2\n//- 1\n + a\n//- 2\n + b";
    let store = table(log).await;
    let held = Snapshot::load(&store, Some(1)).await.unwrap();
    let cleaned = Snapshot::load(&store, None).await.unwrap();
    crate::maintain::checkpoint(&cleaned, 0, &crate::RandomIds)
        .await
        .unwrap();
    for version in 0..=1 {
        store
            .log()
            .delete(&file_name::commit(version))
            .await
            .unwrap();
    }
    let outcome = commit_with(&held, "+ c", &context()).await.unwrap();
    assert_eq!(
        outcome.into_result().unwrap_err().class(),
        Some("DELTA_CONCURRENT_WRITE")
    );
    store.log().delete(&file_name::commit(2)).await.unwrap();
    store.log().delete(&file_name::checkpoint(2)).await.unwrap();
    let gone = commit_with(&held, "+ c", &context()).await.unwrap_err();
    assert_eq!(gone.class(), Some("DELTA_TABLE_NOT_FOUND"));
    let other = log.replace("M\n", "{\"metaData\":{\"id\":\"other\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"\",\"partitionColumns\":[],\"configuration\":{}}}\n");
    write(&store, &other.replace("+ a", "+ longer-name")).await;
    let outcome = commit_with(&held, "+ c", &context()).await.unwrap();
    assert_eq!(
        outcome.into_result().unwrap_err().class(),
        Some("DELTA_METADATA_CHANGED")
    );
}

#[tokio::test]
async fn empty_commits_are_left_out_when_asked() {
    let store = memory_store();
    let base = create(&store, "M\nP 1 2").await.snapshot;
    let skipped = Transaction::begin(&base, Operation::new("DELETE").skip_empty())
        .commit(&context())
        .await
        .unwrap();
    assert!(skipped.into_result().unwrap().skipped);
    let kept = Transaction::begin(&base, Operation::new("VACUUM START"))
        .commit(&context())
        .await
        .unwrap()
        .into_result()
        .unwrap();
    let info = kept.snapshot.commit_info().await.unwrap().unwrap();
    assert_eq!(
        (
            kept.version,
            info.isolation_level.as_deref(),
            info.is_blind_append
        ),
        (1, Some("SnapshotIsolation"), Some(true))
    );
}

#[tokio::test]
async fn in_commit_timestamps_ascend_and_their_enablement_is_recorded() {
    let store = table("//- 0\n M\n P 1 2").await;
    store
        .data()
        .set_modified("_delta_log/00000000000000000000.json", 5_000)
        .await
        .unwrap();
    let base = Snapshot::load(&store, None).await.unwrap();
    let enabled = append(
        &base,
        "M delta.enableInCommitTimestamps=true\nP 1 7 inCommitTimestamp",
    )
    .await
    .snapshot;
    assert_eq!(enabled.commit_timestamp().await.unwrap(), 5_001);
    let configuration = &enabled.metadata().configuration;
    assert_eq!(
        configuration["delta.inCommitTimestampEnablementVersion"],
        "1"
    );
    assert_eq!(
        configuration["delta.inCommitTimestampEnablementTimestamp"],
        "5001"
    );
    let mine = append(&enabled, "+ a").await;
    let late = append(&enabled, "+ b").await;
    assert_eq!(mine.snapshot.commit_timestamp().await.unwrap(), 5_002);
    assert_eq!(
        (
            late.version,
            late.snapshot.commit_timestamp().await.unwrap()
        ),
        (3, 5_003)
    );
    assert_eq!(
        read_checksum(&store, 3)
            .await
            .unwrap()
            .in_commit_timestamp_opt,
        Some(5_003)
    );
}

#[tokio::test]
async fn row_ids_are_given_anew_after_a_lost_race() {
    let store = memory_store();
    let base = create(&store, "M\nP 1 7 rowTracking domainMetadata")
        .await
        .snapshot;
    append(&base, "+ a").await;
    let second = append(&base, "+ b\n+ c").await;
    let ids: Vec<_> = second
        .snapshot
        .files()
        .await
        .unwrap()
        .iter()
        .map(|a| (a.path.clone(), a.base_row_id, a.default_row_commit_version))
        .collect();
    assert_eq!(
        ids,
        [
            ("a".to_owned(), Some(0), Some(1)),
            ("b".to_owned(), Some(10), Some(2)),
            ("c".to_owned(), Some(20), Some(2))
        ]
    );
    let domain = second.snapshot.domain("delta.rowTracking").unwrap();
    assert_eq!(
        domain.configuration,
        r#"{"rowIdHighWaterMark":29,"domainName":"delta.rowTracking"}"#
    );
}

#[tokio::test]
async fn checksums_are_written_for_every_version_and_never_changed() {
    let store = memory_store();
    let mut snapshot = create(&store, "M\nP 3 7 deletionVectors").await.snapshot;
    snapshot = append(&snapshot, "+ a 10\n+ b 9000 dv=x").await.snapshot;
    let first = read_checksum(&store, 1).await.unwrap();
    assert_eq!(
        (
            first.num_files,
            first.table_size_bytes,
            first.num_deletion_vectors_opt,
            first.num_deleted_records_opt
        ),
        (2, 9010, Some(1), Some(3))
    );
    assert_eq!(first.all_files.as_ref().map(Vec::len), Some(2));
    assert_eq!(
        first.file_size_histogram.as_ref().unwrap().file_counts[..3],
        [1, 1, 0]
    );
    assert_eq!(
        first.summary().as_ref(),
        Some(snapshot.summary().await.unwrap().as_ref())
    );
    // A session that begins here carries the totals on from the checksum.
    let fresh = Snapshot::load(&store, None).await.unwrap();
    append(&fresh, "- b 9000 dv=x").await;
    assert_eq!(read_checksum(&store, 2).await.unwrap().table_size_bytes, 10);
}

#[tokio::test]
async fn a_log_is_cleaned_after_a_checkpoint() {
    let store = table(
        "//- 0\n M delta.checkpointInterval=3 delta.logRetentionDuration=interval_2_days\n P 1 2",
    )
    .await;
    store
        .data()
        .set_modified(&format!("_delta_log/{}", file_name::commit(0)), 1)
        .await
        .unwrap();
    let mut snapshot = Snapshot::load(&store, None).await.unwrap();
    let day = 86_400_000;
    let clock = ManualClock::at(300 * day);
    let context = CommitContext {
        clock: Arc::new(clock.clone()),
        ..context()
    };
    for version in 1..=9 {
        snapshot = commit_with(&snapshot, &format!("+ f{version}"), &context)
            .await
            .unwrap()
            .into_result()
            .unwrap()
            .snapshot;
        let age = if version <= 4 {
            10 * version
        } else {
            300 * day
        };
        store
            .data()
            .set_modified(&format!("_delta_log/{}", file_name::commit(version)), age)
            .await
            .unwrap();
    }
    assert_eq!(
        crate::history::available_versions(&store).await.unwrap(),
        (3, 9)
    );
    assert_eq!(
        Snapshot::load(&store, Some(5))
            .await
            .unwrap()
            .files()
            .await
            .unwrap()
            .len(),
        5
    );
    assert!(
        store
            .log()
            .stat(&file_name::checksum(1))
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(
        Snapshot::load(&store, Some(1)).await.unwrap_err().text(),
        "Cannot time travel Delta table to version 1. Available versions: [3, 9]."
    );
}

#[tokio::test]
async fn failures_after_the_commit_do_not_undo_it() {
    let store = table("//- 0\n M delta.checkpointInterval=1\n P 1 2").await;
    let plan = FaultPlan::filtered(0, FaultMode::Stop, |op| {
        op.kind == OpKind::Write && !op.path.ends_with(".json")
    });
    let shaky = Snapshot::load(&store.hooked(Arc::new(plan)), None)
        .await
        .unwrap();
    let result = append(&shaky, "+ a").await;
    assert_eq!(result.warnings.len(), 2, "{:?}", result.warnings);
    assert_eq!(read_commit(&store, 1).await.unwrap().len(), 2);
    write(&store, "//- 2\n + b").await;
    assert_eq!(Snapshot::load(&store, None).await.unwrap().version(), 2);
}

#[tokio::test]
async fn columns_of_the_change_feed_are_reserved_where_it_is_on() {
    let feed = "delta.enableChangeDataFeed";
    let metadata = |names: &[&str], on: bool| {
        let schema = StructType::new(
            names
                .iter()
                .map(|name| StructField::nullable(*name, DataType::Long)),
        );
        let mut metadata = Metadata::new("test-table", &schema);
        if on {
            metadata
                .configuration
                .insert(feed.to_owned(), "true".to_owned());
        }
        metadata
    };
    let class = |from: Option<Metadata>, to: Metadata| async move {
        let store = memory_store();
        if let Some(from) = from {
            let text = crate::commit::commit_text(&[
                Action::Metadata(from),
                Action::Protocol(Protocol::legacy(1, 4)),
            ]);
            store
                .log()
                .create(&file_name::commit(0), bytes::Bytes::from(text))
                .await
                .unwrap();
        }
        let operation = Operation::new("WRITE");
        let mut transaction = match Snapshot::try_load(&store).await.unwrap() {
            Some(snapshot) => Transaction::begin(&snapshot, operation),
            None => Transaction::create(&store, operation),
        };
        transaction.set_metadata(to);
        transaction.set_protocol(Protocol::legacy(1, 4));
        match transaction.commit(&context()).await {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.class().unwrap().to_owned(),
        }
    };
    let own = ["id", "_commit_version"];
    let contains = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS";
    assert_eq!(class(None, metadata(&own, true)).await, contains);
    assert_eq!(class(None, metadata(&own, false)).await, "fine");
    let off = Some(metadata(&own, false));
    assert_eq!(class(off, metadata(&own, true)).await, contains);
    let on = || Some(metadata(&["id"], true));
    assert_eq!(
        class(on(), metadata(&["id", "_Change_Type"], true)).await,
        "RESERVED_CDC_COLUMNS_ON_WRITE"
    );
    assert_eq!(class(on(), metadata(&own, false)).await, "fine");
}
