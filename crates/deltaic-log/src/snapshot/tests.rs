//! Loading and updating: replay, hints, damage, cost.
#![allow(clippy::unwrap_used)]
use super::*;
use crate::checkpoint::{CheckpointColumns, CheckpointContent, write_checkpoint};
use crate::ids::RandomIds;
use crate::maintain;
use crate::tests::{memory_store, show, table, write};
use bytes::Bytes;
use deltaic_protocol::file_name::LAST_CHECKPOINT;
use deltaic_storage::hook::{OpKind, RequestCounter};
use expect_test::{Expect, expect};
use futures::TryStreamExt;

async fn check(log: &str, version: Option<Version>, expected: Expect) {
    let store = table(log).await;
    let text = match Snapshot::load(&store, version).await {
        Ok(snapshot) => show(&snapshot).await,
        Err(e) => format!("{e} at {:?} version {:?}", e.path(), e.version()),
    };
    expected.assert_eq(&text);
}

const LOG: &str = "
    //- 0
    M
    P 1 2
    //- 1
    + a.parquet
    + b%20c.parquet
    txn app 1
    //- 2
    - file:/t/a.parquet
    - /t/b%20c.parquet
    + d.parquet
    txn app 2
";

#[tokio::test]
async fn the_newest_action_of_each_file_counts_whatever_its_spelling() {
    let log = LOG.replace("file:", "memory:");
    check(
        &log,
        None,
        expect![[r#"
        version 2
        + d.parquet
        - memory:/t/a.parquet
        - /t/b%20c.parquet
        txn app 2
    "#]],
    )
    .await;
    check(
        &log,
        Some(1),
        expect![[r#"
        version 1
        + a.parquet
        + b%20c.parquet
        txn app 1
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_new_deletion_vector_is_a_new_logical_file() {
    check(
        "
        //- 0
        M
        P 3 7 deletionVectors
        + a.parquet
        //- 1
        - a.parquet
        + a.parquet dv=x
        //- 2
        - a.parquet dv=x
        + a.parquet dv=y
        domain d one
        //- 3
        domain d two removed
        domain e three
    ",
        None,
        expect![[r#"
        version 3
        + a.parquet dv=y
        - a.parquet
        - a.parquet dv=x
        domain e three
    "#]],
    )
    .await;
}

#[tokio::test]
async fn versions_outside_of_the_log_are_told_with_the_range() {
    check(LOG, Some(9), expect![[r#"[DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version 9. Available versions: [0, 2]. at Some("memory:/t") version Some(9)"#]]).await;
    check(LOG, Some(-1), expect![[r#"[DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version -1. Available versions: [0, 2]. at Some("memory:/t") version Some(-1)"#]]).await;
}

#[tokio::test]
async fn a_place_without_a_log_is_no_table() {
    check("", None, expect![[r#"[DELTA_TABLE_NOT_FOUND] Delta table `/t` doesn't exist. at Some("memory:/t") version None"#]]).await;
}

#[tokio::test]
async fn a_log_without_protocol_or_metadata_is_told() {
    check("//- 0\n M\n + a", None, expect![[r#"
        [DELTA_STATE_RECOVER_ERROR] The protocol of your Delta table could not be recovered while Reconstructing
        version: 0. Did you manually delete files in the _delta_log directory? at Some("memory:/t/_delta_log") version Some(0)"#]]).await;
    check("//- 0\n P 1 2\n + a", None, expect![[r#"
        [DELTA_STATE_RECOVER_ERROR] The metadata of your Delta table could not be recovered while Reconstructing
        version: 0. Did you manually delete files in the _delta_log directory? at Some("memory:/t/_delta_log") version Some(0)"#]]).await;
}

#[tokio::test]
async fn a_protocol_that_is_too_new_is_refused() {
    check("//- 0\n M\n P 99 7", None, expect![[r#"[DELTA_INVALID_PROTOCOL_VERSION] Unsupported Delta protocol version: table "/t" requires reader version 99 and writer version 7, but Delta Lake "4.3.0" supports reader versions 1, 2, 3 and writer versions 1, 2, 3, 4, 5, 6, 7. Please upgrade to a newer release. at None version Some(0)"#]]).await;
}

async fn damaged(content: &'static [u8]) -> String {
    let store = table("//- 0\n M\n P 1 2").await;
    store
        .log()
        .create(&file_name::commit(1), Bytes::from_static(content))
        .await
        .unwrap();
    let e = Snapshot::load(&store, None).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Corrupt);
    format!(
        "{:?} at {:?} version {:?}",
        e.class(),
        e.path(),
        e.version()
    )
}

#[tokio::test]
async fn damaged_commits_name_file_and_version() {
    let torn = damaged(b"{\"commitInfo\":{}}\n{\"add\":{\"path\":\"a\",\"si").await;
    assert_eq!(
        torn,
        r#"Some("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION") at Some("memory:/t/_delta_log/00000000000000000001.json") version Some(1)"#
    );
    let binary = damaged(b"{\"commitInfo\":{\"note\":\"\xff\xfe\"}}\n").await;
    assert_eq!(
        binary,
        r#"Some("FAILED_READ_FILE.NO_HINT") at Some("memory:/t/_delta_log/00000000000000000001.json") version Some(1)"#
    );
}

#[tokio::test]
async fn unknown_actions_and_blank_lines_are_passed_over() {
    let store = table("//- 0\n M\n P 1 2").await;
    let content = b"\n{\"future\":{\"x\":1}}\n\n{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true,\"new\":[]}}\n";
    store
        .log()
        .create(&file_name::commit(1), Bytes::from_static(content))
        .await
        .unwrap();
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    assert_eq!(snapshot.files().await.unwrap().len(), 1);
}

async fn long_log(store: &TableStore, versions: Version) {
    write(store, "//- 0\n M delta.checkpointInterval=5\n P 1 2").await;
    for version in 1..=versions {
        write(
            store,
            &format!(
                "//- {version}\n + f{version}.parquet\n - f{}.parquet @{}",
                version - 2,
                i64::MAX
            ),
        )
        .await;
    }
}

#[tokio::test]
async fn wrong_hints_never_hide_commits() {
    let store = memory_store();
    long_log(&store, 7).await;
    let early = Snapshot::load(&store, Some(5)).await.unwrap();
    maintain::checkpoint(&early, 0, &RandomIds).await.unwrap();
    let expected = show(&Snapshot::load(&store, None).await.unwrap()).await;
    for hint in [
        "",
        "{\"vers",
        "nonsense",
        "{\"version\":99,\"size\":1}",
        "{\"version\":3,\"size\":1}",
        "{\"version\":5,\"size\":1,\"parts\":2}",
        "{\"version\":7,\"size\":1}",
    ] {
        store
            .log()
            .overwrite(LAST_CHECKPOINT, Bytes::from(hint))
            .await
            .unwrap();
        assert_eq!(
            show(&Snapshot::load(&store, None).await.unwrap()).await,
            expected,
            "{hint}"
        );
        assert_eq!(
            Snapshot::load(&store, Some(2)).await.unwrap().version(),
            2,
            "{hint}"
        );
    }
}

#[tokio::test]
async fn a_damaged_checkpoint_is_passed_over_while_commits_can_stand_in() {
    let store = memory_store();
    long_log(&store, 7).await;
    let expected = show(&Snapshot::load(&store, None).await.unwrap()).await;
    store
        .log()
        .create(&file_name::checkpoint(5), Bytes::from_static(b"PAR1 torn"))
        .await
        .unwrap();
    assert_eq!(
        show(&Snapshot::load(&store, None).await.unwrap()).await,
        expected
    );
    for version in 0..=5 {
        store
            .log()
            .delete(&file_name::commit(version))
            .await
            .unwrap();
    }
    let e = Snapshot::load(&store, None).await.unwrap_err();
    assert_eq!(
        (e.class(), e.version()),
        (Some("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER"), Some(5))
    );
    assert!(
        e.path()
            .unwrap()
            .ends_with("00000000000000000005.checkpoint.parquet")
    );
}

#[tokio::test]
async fn checkpoints_of_both_kinds_carry_the_whole_state() {
    for v2 in [false, true] {
        let store = memory_store();
        long_log(&store, 6).await;
        write(
            &store,
            "//- 7\n txn app 4 9\n domain d text\n + x.parquet p=3 dv=q",
        )
        .await;
        let before = Snapshot::load(&store, None).await.unwrap();
        let content = CheckpointContent {
            version: 7,
            protocol: before.protocol().clone(),
            metadata: before.metadata().clone(),
            txns: before.txns().values().cloned().collect(),
            domains: before.domains().values().cloned().collect(),
            num_adds: before.files().await.unwrap().len(),
            removes: before.tombstones().await.unwrap(),
            columns: CheckpointColumns {
                stats_text: true,
                ..CheckpointColumns::default()
            },
            v2,
        };
        let uuid = || uuid::Uuid::new_v4().to_string();
        write_checkpoint(&store, &content, before.file_chunks(), &uuid)
            .await
            .unwrap();
        for version in 0..=7 {
            store
                .log()
                .delete(&file_name::commit(version))
                .await
                .unwrap();
        }
        let after = Snapshot::load(&store, None).await.unwrap();
        assert_eq!(after.checkpoint_version(), Some(7));
        // Tombstones come before files in a checkpoint, each kind in its order.
        assert_eq!(show(&after).await, show(&before).await);
        assert_eq!(after.protocol(), before.protocol());
        assert_eq!(after.metadata(), before.metadata());
        let (one, other) = (after.files().await.unwrap(), before.files().await.unwrap());
        let quiet = |add: &Arc<Add>| Add {
            data_change: false,
            ..add.as_ref().clone()
        };
        assert_eq!(
            one.iter().map(quiet).collect::<Vec<_>>(),
            other.iter().map(quiet).collect::<Vec<_>>()
        );
    }
}

#[tokio::test]
async fn updating_reads_new_commits_and_nothing_else() {
    let counter = Arc::new(RequestCounter::new());
    let store = memory_store().hooked(counter.clone());
    long_log(&store, 40).await;
    let held = Snapshot::load(&store, None).await.unwrap();
    counter.reset();
    assert_eq!(held.update().await.unwrap().version(), 40);
    assert_eq!(
        (
            counter.of_kind(OpKind::List),
            counter.of_kind(OpKind::Read),
            counter.of_kind(OpKind::Stat)
        ),
        (0, 1, 1)
    );
    write(&store, "//- 41\n + n.parquet").await;
    counter.reset();
    let updated = held.update().await.unwrap();
    assert_eq!(
        (counter.of_kind(OpKind::List), counter.of_kind(OpKind::Read)),
        (0, 2)
    );
    assert_eq!(
        show(&updated).await,
        show(&Snapshot::load(&store, None).await.unwrap()).await
    );
    assert_eq!(held.version(), 40, "the old handle stays what it was");
}

#[tokio::test]
async fn a_table_made_anew_at_the_same_place_is_noticed() {
    let store = table("//- 0\n M\n P 1 2\n//- 1\n + a").await;
    let held = Snapshot::load(&store, None).await.unwrap();
    for version in 0..=1 {
        store
            .log()
            .delete(&file_name::commit(version))
            .await
            .unwrap();
    }
    assert_eq!(
        held.update().await.unwrap_err().class(),
        Some("DELTA_TABLE_NOT_FOUND")
    );
    write(&store, "//- 0\n M\n P 1 2\n//- 1\n + another.parquet 7").await;
    let updated = held.update().await.unwrap();
    assert_eq!(updated.files().await.unwrap()[0].path, "another.parquet");
}

#[tokio::test]
async fn totals_follow_commits_and_equal_those_of_the_files() {
    let store = memory_store();
    long_log(&store, 3).await;
    let mut held = Snapshot::load(&store, None).await.unwrap();
    held.summary().await.unwrap();
    for version in 4..60 {
        write(&store, &format!("//- {version}\n + f{version}.parquet {version}000\n - f{}.parquet\n + f1.parquet 5 quiet", version - 2)).await;
        held = held.update().await.unwrap();
        let known = held.known_summary().unwrap().as_ref().clone();
        assert_eq!(known, FileSummary::of(held.files().await.unwrap().iter()));
    }
    assert!(held.file_state().depth() < 10);
}

/// Puts a compacted file of this text beside the log.
async fn compact(store: &TableStore, start: Version, end: Version, content: &'static str) {
    store
        .log()
        .overwrite(
            &file_name::compacted(start, end),
            Bytes::from_static(content.as_bytes()),
        )
        .await
        .unwrap();
}

/// A compacted file of versions 1 to 2 that names a file of its own, to tell whether it was read.
const COMPACTED: &str = r#"{"commitInfo":{"operation":"WRITE","inCommitTimestamp":7}}
{"remove":{"path":"a.parquet","dataChange":true,"deletionTimestamp":0}}
{"add":{"path":"only-here.parquet","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}
{"cdc":{"path":"_change_data/c.parquet","partitionValues":{},"size":1,"dataChange":false}}
{"txn":{"appId":"app","version":2}}
"#;

#[tokio::test]
async fn a_compacted_file_is_read_in_place_of_its_commits() {
    let store = table(&LOG.replace("file:", "memory:")).await;
    write(&store, "//- 3\n + e.parquet").await;
    compact(&store, 1, 2, COMPACTED).await;
    let newest = Snapshot::load(&store, None).await.unwrap();
    expect![[r#"
        version 3
        + only-here.parquet
        + e.parquet
        - a.parquet
        txn app 2
    "#]]
    .assert_eq(&show(&newest).await);
    // What a version says about itself comes from its commit.
    let second = Snapshot::load(&store, Some(2)).await.unwrap();
    assert_eq!(second.files().await.unwrap()[0].path, "only-here.parquet");
    assert_eq!(second.commit_info().await.unwrap(), None);
    // Versions inside of the range know nothing of what came after them.
    let first = Snapshot::load(&store, Some(1)).await.unwrap();
    expect![[r#"
        version 1
        + a.parquet
        + b%20c.parquet
        txn app 1
    "#]]
    .assert_eq(&show(&first).await);
}

#[tokio::test]
async fn commits_stand_in_for_a_damaged_compacted_file() {
    for content in [
        "",
        "\n\n",
        &COMPACTED[..COMPACTED.len() - 9],
        "{\"add\":{\"size\":1}}",
    ] {
        let store = table(&LOG.replace("file:", "memory:")).await;
        compact(&store, 1, 2, content).await;
        let snapshot = Snapshot::load(&store, None).await.unwrap();
        let files = snapshot.files().await.unwrap();
        assert_eq!(files.len(), 1, "{content:?}");
        assert_eq!(files[0].path, "d.parquet", "{content:?}");
    }
}

#[tokio::test]
async fn a_snapshot_below_a_compacted_file_is_brought_up_to_date_from_the_commits() {
    let store = table(&LOG.replace("file:", "memory:")).await;
    let first = Snapshot::load(&store, Some(1)).await.unwrap();
    compact(&store, 1, 2, COMPACTED).await;
    let newest = first.update().await.unwrap();
    assert_eq!(newest.files().await.unwrap()[0].path, "d.parquet");
    let entries = crate::history::history(&newest, None).await.unwrap();
    assert_eq!(entries.len(), 3);
}

async fn paths(snapshot: &Snapshot) -> Vec<String> {
    let chunks: Vec<Vec<Arc<str>>> = snapshot.file_paths().try_collect().await.unwrap();
    chunks.concat().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn paths_are_those_of_the_files_whoever_has_read_them() {
    for properties in ["", "delta.checkpointPolicy=v2"] {
        let features = "P 3 7 deletionVectors v2Checkpoint";
        let store = table(&format!(
            "//- 0
            M {properties}
            {features}
            + a.parquet
            + p=a%20b/c.parquet
            + memory:/other/d.parquet
            + e.parquet dv=x"
        ))
        .await;
        let first = Snapshot::load(&store, None).await.unwrap();
        maintain::checkpoint(&first, 0, &RandomIds).await.unwrap();
        write(
            &store,
            "//- 1
            - a.parquet
            - e.parquet dv=x
            + e.parquet dv=y
            + f.parquet",
        )
        .await;
        let snapshot = Snapshot::load(&store, None).await.unwrap();
        assert_eq!(snapshot.checkpoint_version(), Some(0));
        let expected = [
            "p=a b/c.parquet",
            "/other/d.parquet",
            "e.parquet",
            "f.parquet",
        ];
        assert_eq!(paths(&snapshot).await, expected);
        assert_eq!(snapshot.files().await.unwrap().len(), expected.len());
        assert_eq!(paths(&snapshot).await, expected);
    }
}
