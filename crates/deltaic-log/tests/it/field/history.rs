//! Time travel and the history.

use deltaic_log::history::{VersionAt, available_versions, history, version_at_timestamp};
use deltaic_log::{Operation, RandomIds, Snapshot, Transaction, Version, maintain};
use deltaic_protocol::file_name;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::TableStore;

use super::{BEGIN, add, begin, gone, live, load, modified, put, table};

/// The version that stood at a moment, or the class of the error.
async fn at(store: &TableStore, moment: i64) -> Result<Version, String> {
    let found = version_at_timestamp(&load(store).await, moment)
        .await
        .unwrap();
    found
        .into_version(moment, &Zone::utc())
        .map_err(|e| e.class().unwrap().to_owned())
}

async fn dated(times: &[i64]) -> TableStore {
    let commits: Vec<String> = (1..times.len()).map(|v| add(&format!("f{v}"))).collect();
    let all: Vec<&str> = [BEGIN]
        .into_iter()
        .chain(commits.iter().map(String::as_str))
        .collect();
    let store = table(&all).await;
    for (version, time) in (0..).zip(times) {
        modified(&store, &file_name::commit(version), *time).await;
    }
    store
}

#[tokio::test]
async fn b068_times_that_run_backwards_are_pushed_up() {
    let store = dated(&[1000, 5000, 3000, 3000, 9000]).await;
    for (moment, version) in [(4000, 0), (5000, 1), (5001, 2), (5002, 3), (8999, 3)] {
        assert_eq!(at(&store, moment).await, Ok(version), "{moment}");
    }
    let entries = history(&load(&store).await, None).await.unwrap();
    let times: Vec<i64> = entries.iter().rev().map(|e| e.timestamp).collect();
    assert_eq!(times, [1000, 5000, 5001, 5002, 9000]);
}

#[tokio::test]
async fn b069_moments_outside_of_the_log_are_refused_by_class() {
    let store = dated(&[1000, 5000]).await;
    assert_eq!(at(&store, 5000).await, Ok(1));
    assert_eq!(
        at(&store, 5001).await,
        Err("DELTA_TIMESTAMP_GREATER_THAN_COMMIT".to_owned())
    );
    assert_eq!(
        at(&store, 999).await,
        Err("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION".to_owned())
    );
}

#[tokio::test]
async fn b071_a_log_that_begins_with_a_checkpoint_is_read_from_there_on() {
    let store = dated(&[1000, 2000, 3000, 4000]).await;
    let second = Snapshot::load(&store, Some(2)).await.unwrap();
    maintain::checkpoint(&second, 0, &RandomIds).await.unwrap();
    for version in 0..=2 {
        gone(&store, &file_name::commit(version)).await;
    }
    assert_eq!(available_versions(&store).await.unwrap(), (2, 3));
    for (version, files) in [(2, vec!["f1", "f2"]), (3, vec!["f1", "f2", "f3"])] {
        let snapshot = Snapshot::load(&store, Some(version)).await.unwrap();
        assert_eq!(live(&snapshot).await, files);
    }
    assert_eq!(at(&store, 4000).await, Ok(3));
    let error = Snapshot::load(&store, Some(1)).await.unwrap_err();
    assert_eq!(error.class(), Some("DELTA_VERSION_NOT_FOUND"));
}

#[tokio::test]
async fn b074_recorded_times_count_from_their_enablement_on_and_file_times_before() {
    let properties = r#""delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"2","delta.inCommitTimestampEnablementTimestamp":"2000""#;
    let on = begin(r#""inCommitTimestamp""#, properties).replace(
        r#""minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["inCommitTimestamp"]"#,
        r#""minReaderVersion":1,"minWriterVersion":7"#,
    );
    let info = |time: i64| {
        format!("{{\"commitInfo\":{{\"inCommitTimestamp\":{time},\"timestamp\":5}}}}\n")
    };
    let commits = [
        BEGIN.to_owned(),
        add("f1"),
        format!("{}{on}", info(2000)),
        format!("{}{}", info(2500), add("f3")),
    ];
    let store = table(&commits.each_ref().map(String::as_str)).await;
    // A copy: all files are younger than every recorded time.
    for version in 0..4 {
        modified(&store, &file_name::commit(version), 9000 + version).await;
    }
    for (moment, version) in [(2000, 2), (2499, 2), (2500, 3)] {
        assert_eq!(at(&store, moment).await, Ok(version), "{moment}");
    }
    let snapshot = load(&store).await;
    assert!(matches!(
        version_at_timestamp(&snapshot, 1999).await.unwrap(),
        VersionAt::BeforeEarliest(edge) if edge.version == 0 && edge.timestamp == 9000
    ));
    assert!(matches!(
        version_at_timestamp(&snapshot, 2501).await.unwrap(),
        VersionAt::AfterLatest(edge) if edge.version == 3
    ));
    // The same with file times that were never touched.
    for version in 0..2 {
        modified(&store, &file_name::commit(version), 1000 + version).await;
    }
    for (moment, version) in [(1000, 0), (1001, 1), (1999, 1), (2000, 2)] {
        assert_eq!(at(&store, moment).await, Ok(version), "{moment}");
    }
    // A writer goes on above the newest recorded time, whatever its own clock says.
    let context = deltaic_log::CommitContext {
        clock: std::sync::Arc::new(deltaic_protocol::clock::ManualClock::at(17)),
        ..Default::default()
    };
    let next = crate::append(&snapshot, "f4", &context).await.unwrap();
    assert_eq!(
        next.snapshot.in_commit_timestamp().await.unwrap(),
        Some(2501)
    );
    // Metadata that replaces the old one, as CREATE OR REPLACE does, knows nothing of the enablement: it is kept.
    let mut replace = Transaction::begin(&next.snapshot, Operation::new("REPLACE TABLE"));
    replace.set_metadata(crate::metadata(&[(
        "delta.enableInCommitTimestamps",
        "true",
    )]));
    let replaced = replace
        .commit(&context)
        .await
        .unwrap()
        .into_result()
        .unwrap();
    let enablement = replaced.snapshot.config().in_commit_timestamp_enablement();
    assert_eq!(enablement.unwrap(), Some((2, 2000)));
    assert_eq!(at(&store, 1001).await, Ok(1));
}

#[tokio::test]
async fn b078_what_a_commit_says_about_itself_is_free() {
    let odd = r#"{"commitInfo":{"operation":"WRITE","operationParameters":{"a":1,"b":{"c":[true]},"d":null},"operationMetrics":{"rows":7,"x":null,"y":{"z":1}},"readVersion":"x","isBlindAppend":"yes","timestamp":"soon","engineInfo":5}}"#;
    let bare = r#"{"commitInfo":{}}"#;
    let store = table(&[BEGIN, odd, bare, &add("f")]).await;
    let entries = history(&load(&store).await, None).await.unwrap();
    assert_eq!(entries.len(), 4);
    let info = entries[2].commit_info.as_ref().unwrap();
    assert_eq!(info.operation.as_deref(), Some("WRITE"));
    assert_eq!(info.operation_metrics.as_ref().unwrap()["rows"], "7");
    assert_eq!(
        info.operation_parameters.as_ref().unwrap()["b"].to_string(),
        r#"{"c":[true]}"#
    );
    assert!(entries[1].commit_info.is_some() && entries[0].commit_info.is_none());
}

#[tokio::test]
async fn b080_the_history_is_newest_first_and_ends_where_the_commits_end() {
    let store = dated(&[1000, 2000, 3000, 4000, 5000]).await;
    let third = Snapshot::load(&store, Some(3)).await.unwrap();
    maintain::checkpoint(&third, 0, &RandomIds).await.unwrap();
    for version in 0..2 {
        gone(&store, &file_name::commit(version)).await;
    }
    let snapshot = load(&store).await;
    let versions = |limit| {
        let snapshot = snapshot.clone();
        async move {
            let entries = history(&snapshot, limit).await.unwrap();
            entries.iter().map(|e| e.version).collect::<Vec<Version>>()
        }
    };
    assert_eq!(versions(Some(2)).await, [4, 3]);
    assert_eq!(versions(Some(0)).await, [0; 0]);
    assert_eq!(versions(None).await, [4, 3, 2]);
}

#[tokio::test]
async fn b081_a_checkpoint_says_nothing_of_its_commit() {
    for (features, properties) in [
        ("", ""),
        (r#""v2Checkpoint""#, r#""delta.checkpointPolicy":"v2""#),
    ] {
        let info = r#"{"commitInfo":{"operation":"MARK","timestamp":1}}"#;
        let first = format!("{info}\n{}", add("f"));
        let store = table(&[&begin(features, properties), &first]).await;
        let written = maintain::checkpoint(&load(&store).await, 0, &RandomIds)
            .await
            .unwrap();
        let bytes = store.log().read(&written.files[0]).await.unwrap();
        for word in ["commitInfo", "MARK"] {
            let found = bytes.windows(word.len()).any(|w| w == word.as_bytes());
            assert!(!found, "{word} in {}", written.files[0]);
        }
        for version in 0..2 {
            gone(&store, &file_name::commit(version)).await;
        }
        put(&store, &file_name::commit(2), &add("g")).await;
        assert_eq!(history(&load(&store).await, None).await.unwrap().len(), 1);
    }
}
