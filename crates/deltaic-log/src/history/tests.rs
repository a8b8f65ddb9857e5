//! Times of commits, the history, and versions by moment.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::tests::{table, write};
use deltaic_protocol::file_name;
use deltaic_protocol::timestamp::Zone;
use deltaic_storage::FileMeta;

async fn at(store: &TableStore, version: Version, modified_ms: i64) {
    store
        .data()
        .set_modified(
            &format!("{LOG_DIR}/{}", file_name::commit(version)),
            modified_ms,
        )
        .await
        .unwrap();
}

async fn three_commits() -> TableStore {
    let store =
        table("//- 0\n info CREATE\n M\n P 1 2\n//- 1\n + a\n//- 2\n info WRITE blind\n + b").await;
    for (version, time) in [(0, 1_000), (1, 5_000), (2, 4_000)] {
        at(&store, version, time).await;
    }
    store
}

#[test]
fn times_ascend_strictly() {
    let commits: Vec<CommitFile> = [0, 5, 10, 7, 8, 14]
        .into_iter()
        .enumerate()
        .map(|(version, modified_ms)| {
            let version = version as Version;
            CommitFile {
                version,
                file: FileMeta {
                    path: file_name::commit(version),
                    size: 1,
                    modified_ms,
                    is_dir: false,
                    e_tag: None,
                },
            }
        })
        .collect();
    let times: Vec<i64> = monotonic_times(&commits)
        .into_iter()
        .map(|t| t.timestamp)
        .collect();
    assert_eq!(times, [0, 5, 10, 11, 12, 14]);
}

#[tokio::test]
async fn the_history_is_newest_first_and_reads_no_more_than_asked() {
    let store = three_commits().await;
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    let all = history(&snapshot, None).await.unwrap();
    let lines: Vec<(Version, i64, Option<String>)> = all
        .iter()
        .map(|e| {
            (
                e.version,
                e.timestamp,
                e.commit_info.as_ref().and_then(|i| i.operation.clone()),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            (2, 5_001, Some("WRITE".to_owned())),
            (1, 5_000, None),
            (0, 1_000, Some("CREATE".to_owned()))
        ]
    );
    assert_eq!(history(&snapshot, Some(1)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_moment_finds_the_newest_version_that_is_not_later() {
    let store = three_commits().await;
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    let found = |version, timestamp| VersionAt::Found(CommitTime { version, timestamp });
    for (moment, expected) in [
        (1_000, found(0, 1_000)),
        (4_999, found(0, 1_000)),
        (5_000, found(1, 5_000)),
        (5_001, found(2, 5_001)),
    ] {
        assert_eq!(
            version_at_timestamp(&snapshot, moment).await.unwrap(),
            expected,
            "{moment}"
        );
    }
    let early = version_at_timestamp(&snapshot, 999)
        .await
        .unwrap()
        .into_version(999, &Zone::utc())
        .unwrap_err();
    assert_eq!(
        early.to_string(),
        "[DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION] The provided timestamp (1970-01-01 00:00:00.999) is before the earliest version available to\nthis table (1970-01-01 00:00:01.0). Please use a timestamp after 1970-01-01 00:00:01."
    );
    let late = version_at_timestamp(&snapshot, 5_002)
        .await
        .unwrap()
        .into_version(5_002, &Zone::utc())
        .unwrap_err();
    assert_eq!(
        late.to_string(),
        "[DELTA_TIMESTAMP_GREATER_THAN_COMMIT] The provided timestamp (1970-01-01 00:00:05.002) is after the latest version available to this\ntable (1970-01-01 00:00:05.001). Please use a timestamp before or at 1970-01-01 00:00:05."
    );
}

#[tokio::test]
async fn in_commit_timestamps_count_from_their_enablement_on() {
    let store = table("//- 0\n M\n P 1 2\n//- 1\n + a").await;
    let config = "delta.enableInCommitTimestamps=true delta.inCommitTimestampEnablementVersion=2 delta.inCommitTimestampEnablementTimestamp=9000";
    let stamped = |version: i64, time: i64| {
        format!("//- {version}\n {{\"commitInfo\":{{\"inCommitTimestamp\":{time}}}}}\n")
    };
    write(
        &store,
        &format!(
            "{} M {config}\n P 1 7 inCommitTimestamp\n{}{}",
            stamped(2, 9_000),
            stamped(3, 9_500),
            stamped(4, 12_000)
        ),
    )
    .await;
    for (version, time) in [
        (0, 1_000),
        (1, 2_000),
        (2, 50_000),
        (3, 50_000),
        (4, 50_000),
    ] {
        at(&store, version, time).await;
    }
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    assert_eq!(snapshot.commit_timestamp().await.unwrap(), 12_000);
    let times: Vec<i64> = history(&snapshot, None)
        .await
        .unwrap()
        .into_iter()
        .map(|e| e.timestamp)
        .collect();
    assert_eq!(times, [12_000, 9_500, 9_000, 2_000, 1_000]);
    for (moment, version) in [
        (1_500, 0),
        (2_000, 1),
        (8_999, 1),
        (9_000, 2),
        (9_600, 3),
        (12_000, 4),
    ] {
        let found = version_at_timestamp(&snapshot, moment).await.unwrap();
        assert!(
            matches!(found, VersionAt::Found(CommitTime { version: v, .. }) if v == version),
            "{moment}: {found:?}"
        );
    }
    assert!(matches!(
        version_at_timestamp(&snapshot, 12_001).await.unwrap(),
        VersionAt::AfterLatest(_)
    ));
    assert!(matches!(
        version_at_timestamp(&snapshot, 1).await.unwrap(),
        VersionAt::BeforeEarliest(_)
    ));
}

/// What is told without the table's state is what its newest snapshot tells.
async fn the_newest_tells_the_same(store: &TableStore, moments: &[i64]) {
    let snapshot = Snapshot::load(store, None).await.unwrap();
    for limit in [None, Some(1), Some(2), Some(100)] {
        let told = latest_history(store, limit).await.unwrap();
        assert_eq!(told, history(&snapshot, limit).await.unwrap(), "{limit:?}");
    }
    for moment in moments {
        let told = latest_version_at(store, *moment).await.unwrap();
        let of_snapshot = version_at_timestamp(&snapshot, *moment).await.unwrap();
        assert_eq!(told, of_snapshot, "{moment}");
    }
}

#[tokio::test]
async fn the_newest_commit_tells_whether_times_are_recorded() {
    let moments = [0, 1_000, 1_500, 4_999, 5_000, 5_001, 9_000, 12_000, 20_000];
    let store = three_commits().await;
    the_newest_tells_the_same(&store, &moments).await;
    // Switched on, in use, and off again.
    let on = "delta.enableInCommitTimestamps=true delta.inCommitTimestampEnablementVersion=3 delta.inCommitTimestampEnablementTimestamp=9000";
    let stamped = |version: i64, time: i64| {
        format!("//- {version}\n {{\"commitInfo\":{{\"inCommitTimestamp\":{time}}}}}\n")
    };
    let enabled = format!("{} M {on}\n P 1 7 inCommitTimestamp\n", stamped(3, 9_000));
    write(&store, &format!("{enabled}{}", stamped(4, 12_000))).await;
    the_newest_tells_the_same(&store, &moments).await;
    write(&store, "//- 5\n M\n").await;
    at(&store, 5, 15_000).await;
    the_newest_tells_the_same(&store, &moments).await;
}

#[tokio::test]
async fn a_folder_without_a_log_has_no_newest_commit() {
    let store = table("").await;
    for error in [
        latest_history(&store, None).await.unwrap_err(),
        latest_version_at(&store, 0).await.unwrap_err(),
    ] {
        assert_eq!(error.class(), Some("DELTA_NO_COMMITS_FOUND"));
    }
}

/// Its times stand after those of the commits before it, which are listed but not read.
#[tokio::test]
async fn a_limited_history_reads_no_commit_further_back() {
    let store = three_commits().await;
    store
        .log()
        .overwrite(&file_name::commit(1), "torn".into())
        .await
        .unwrap();
    at(&store, 1, 5_000).await;
    let told = latest_history(&store, Some(1)).await.unwrap();
    assert_eq!(
        (told.len(), told[0].version, told[0].timestamp),
        (1, 2, 5_001)
    );
}

/// A store that keeps whole seconds: what the history shows is what time travel finds, however little of it is shown.
#[tokio::test]
async fn a_short_history_shows_the_times_that_time_travel_knows() {
    let commits: Vec<String> = (1..=200).map(|v| format!("//- {v}\n + f{v}")).collect();
    let store = table(&format!("//- 0\n M\n P 1 2\n{}", commits.join("\n"))).await;
    for version in 0..=200 {
        let second = i64::from(version > 20) + i64::from(version > 190);
        at(&store, version, second * 1_000).await;
    }
    let all = latest_history(&store, None).await.unwrap();
    for limit in [1, 2, 11, 50, 170, 190, 201] {
        let shown = latest_history(&store, Some(limit)).await.unwrap();
        assert_eq!(shown, all[..limit], "{limit}");
        for entry in shown {
            let at = latest_version_at(&store, entry.timestamp).await.unwrap();
            assert!(
                matches!(at, VersionAt::Found(found) if found.version == entry.version),
                "{limit} {at:?}"
            );
        }
    }
}
