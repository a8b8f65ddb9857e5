//! Checksums and log cleanup.

use deltaic_log::{FileSummary, RandomIds, Snapshot, Version, maintain};
use deltaic_protocol::file_name;
use deltaic_storage::TableStore;
use futures::StreamExt;

use super::checkpoint::{appends, checkpoint};
use super::{BEGIN, add, load, modified, put};

const DAY: i64 = 86_400_000;

#[tokio::test]
async fn b034_a_checksum_speaks_of_its_own_version_alone() {
    let store = appends(BEGIN, 6).await;
    let lie = r#"{"tableSizeBytes":99,"numFiles":77,"numMetadata":1,"numProtocol":1,"fileSizeHistogram":{"sortedBinBoundaries":[0],"fileCounts":[77],"totalBytes":[99]}}"#;
    for version in [3, 4, 6] {
        put(&store, &file_name::checksum(version), lie).await;
    }
    let snapshot = Snapshot::load(&store, Some(5)).await.unwrap();
    let totals = snapshot.summary().await.unwrap();
    assert_eq!((totals.num_files, totals.size_in_bytes), (5, 50));
    assert_eq!(
        totals.as_ref(),
        &FileSummary::of(snapshot.files().await.unwrap().iter())
    );
}

/// A checksum of version 6 that says seven files; the log has six.
fn lie(more: &str) -> String {
    let metadata = BEGIN
        .lines()
        .next()
        .unwrap()
        .trim_end_matches('}')
        .to_owned()
        + "}}}";
    let metadata = &metadata[r#"{"metaData":"#.len()..metadata.len() - 1];
    format!(
        r#"{{"tableSizeBytes":70,"numFiles":7,"numMetadata":1,"numProtocol":1,"metadata":{metadata},"protocol":{{"minReaderVersion":1,"minWriterVersion":2}},"fileSizeHistogram":{{"sortedBinBoundaries":[0],"fileCounts":[7],"totalBytes":[70]}}{more}}}"#
    )
}

#[tokio::test]
async fn a_version_that_is_not_what_its_checksum_counted_gets_no_checkpoint() {
    let store = appends(BEGIN, 6).await;
    put(&store, &file_name::checksum(6), &lie("")).await;
    let snapshot = load(&store).await;
    for error in [
        snapshot.verify_checksum().await.unwrap_err(),
        maintain::checkpoint(&load(&store).await, 0, &RandomIds)
            .await
            .unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "[DELTA_TXN_LOG_FAILED_INTEGRITY] The transaction log has failed integrity checks. Failed verification at version 6 of:\n\
             Table size (bytes) - Expected: 70 Computed: 60\nNumber of files - Expected: 7 Computed: 6"
        );
    }
    let there = store.log().stat(&file_name::checkpoint(6)).await.unwrap();
    assert_eq!(there, None);
    assert_eq!(
        snapshot.files().await.unwrap().len(),
        6,
        "reading goes by the log"
    );
    // Who knows better says so.
    maintain::checkpoint_unverified(&load(&store).await, 0, &RandomIds)
        .await
        .unwrap();
    assert_eq!(load(&store).await.checkpoint_version(), Some(6));
}

#[tokio::test]
async fn a_checksum_that_another_commit_left_does_not_count() {
    let mark = |txn: &str| format!("{{\"commitInfo\":{{\"txnId\":\"{txn}\"}}}}\n{}", add("f6"));
    for (stale, checksum) in [
        (
            "of another table",
            lie("").replace(r#""id":"t""#, r#""id":"u""#),
        ),
        ("of another commit", lie(r#","txnId":"other""#)),
        ("torn", lie("")[..90].to_owned()),
        ("empty", String::new()),
    ] {
        let store = appends(BEGIN, 5).await;
        put(&store, &file_name::commit(6), &mark("own")).await;
        put(&store, &file_name::checksum(6), &checksum).await;
        let snapshot = load(&store).await;
        snapshot.verify_checksum().await.unwrap();
        assert_eq!(snapshot.summary().await.unwrap().num_files, 6, "{stale}");
        maintain::checkpoint(&load(&store).await, 0, &RandomIds)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_checksum_with_other_metadata_is_told_and_not_used() {
    let store = appends(BEGIN, 7).await;
    for (what, checksum) in [
        (
            "Metadata",
            lie("").replace(r#""configuration":{}"#, r#""configuration":{"k":"v"}"#),
        ),
        (
            "Protocol",
            lie("").replace(r#""minWriterVersion":2"#, r#""minWriterVersion":5"#),
        ),
    ] {
        put(&store, &file_name::checksum(7), &checksum).await;
        let snapshot = load(&store).await;
        assert_eq!(snapshot.summary().await.unwrap().size_in_bytes, 70);
        let error = snapshot.verify_checksum().await.unwrap_err();
        assert_eq!(error.class(), Some("DELTA_TXN_LOG_FAILED_INTEGRITY"));
        assert!(
            error.to_string().contains(&format!("{what} - Expected: ")),
            "{error}"
        );
    }
}

const SHORT: &str = r#""delta.logRetentionDuration":"interval 2 days","delta.deletedFileRetentionDuration":"interval 1 days""#;

/// Commits of these days, and checkpoints at these versions.
async fn dated(days: &[i64], checkpoints: &[Version]) -> TableStore {
    let head = BEGIN.replace(
        r#""configuration":{}"#,
        &format!(r#""configuration":{{{SHORT}}}"#),
    );
    let store = appends(&head, days.len() as Version - 1).await;
    for (version, day) in (0..).zip(days) {
        modified(&store, &file_name::commit(version), day * DAY + 1).await;
    }
    for version in checkpoints {
        checkpoint(&store, *version).await;
        let at = days[*version as usize] * DAY + 2;
        modified(&store, &file_name::checkpoint(*version), at).await;
    }
    store
}

/// Cleans at noon of a day; the versions that can be read then.
async fn readable(store: &TableStore, day: i64) -> (Version, Version) {
    maintain::clean(&load(store).await, day * DAY + DAY / 2)
        .await
        .unwrap();
    let range = deltaic_log::history::available_versions(store)
        .await
        .unwrap();
    for version in range.0..=range.1 {
        let snapshot = Snapshot::load(store, Some(version)).await.unwrap();
        assert_eq!(snapshot.files().await.unwrap().len(), version as usize);
    }
    range
}

#[tokio::test]
async fn b035_without_a_checkpoint_nothing_goes() {
    let store = dated(&[1; 120], &[]).await;
    assert_eq!(readable(&store, 300).await, (0, 119));
}

#[tokio::test]
async fn b037_a_checkpoint_after_the_cutoff_does_not_count() {
    // Versions to 5 are old; the only checkpoint is at 9.
    let store = dated(&[1, 1, 1, 1, 1, 1, 300, 300, 300, 300], &[9]).await;
    assert_eq!(readable(&store, 300).await, (0, 9));
}

#[tokio::test]
async fn b038_what_a_protected_version_is_built_from_stays() {
    let one_old: Vec<i64> = [1].into_iter().chain([300; 9]).collect();
    assert_eq!(readable(&dated(&one_old, &[9]).await, 300).await, (0, 9));
    // The newest old commit is 5: its state was the table's until the first commit of day 300.
    let store = dated(&[1, 1, 1, 1, 1, 1, 300, 300], &[3, 6]).await;
    assert_eq!(readable(&store, 300).await, (3, 7));
}

#[tokio::test]
async fn b041_cleanup_takes_commits_checkpoints_checksums_and_compacted_files() {
    let store = dated(&[1, 1, 1, 1, 1, 300, 300], &[1, 3, 4]).await;
    for version in 0..=6 {
        put(&store, &file_name::checksum(version), "{}").await;
        modified(&store, &file_name::checksum(version), DAY).await;
    }
    for (start, end) in [(0, 2), (2, 5), (4, 5), (5, 6)] {
        put(&store, &file_name::compacted(start, end), &add("never")).await;
    }
    put(&store, "_last_vacuum_info", "{}").await;
    put(&store, "notes.txt", "mine").await;
    maintain::clean(&load(&store).await, 300 * DAY)
        .await
        .unwrap();
    let mut listed = store.log().list_from("0");
    let mut names = Vec::new();
    while let Some(file) = listed.next().await {
        names.push(file.unwrap().path);
    }
    let kept: Vec<String> = [
        file_name::checkpoint(4),
        file_name::checksum(4),
        file_name::commit(4),
        file_name::compacted(5, 6),
        file_name::checksum(5),
        file_name::commit(5),
        file_name::checksum(6),
        file_name::commit(6),
        "_last_checkpoint".to_owned(),
        "_last_vacuum_info".to_owned(),
        "notes.txt".to_owned(),
    ]
    .into();
    names.sort();
    assert_eq!(names, kept);
}
