//! Logs that claim or nest more than there can be: refused or read, at once and in little memory.

use std::time::{Duration, Instant};

use bytes::Bytes;
use deltaic_log::commit::commit_text;
use deltaic_log::history::{history, version_at_timestamp};
use deltaic_log::{CommitContext, RandomIds, Snapshot, maintain};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, Protocol};
use deltaic_protocol::file_name::{self, LAST_CHECKPOINT};
use deltaic_storage::TableStore;

use crate::{FAR_FUTURE_MS, append, file, memory_store, metadata};

const DEEP: usize = 10_000;

async fn put(store: &TableStore, name: &str, content: impl Into<Bytes>) {
    store.log().create(name, content.into()).await.unwrap();
}

/// A table of one file.
async fn table(add: Add) -> TableStore {
    let store = memory_store();
    let actions = [
        Action::Protocol(Protocol::legacy(1, 2)),
        Action::Metadata(metadata(&[("delta.checkpoint.writeStatsAsStruct", "true")])),
        Action::Add(add),
    ];
    put(&store, &file_name::commit(0), commit_text(&actions)).await;
    store
}

/// Opens a table and asks it everything; what comes of it does not matter, as long as something does, soon.
async fn look_at(store: &TableStore) -> bool {
    let start = Instant::now();
    let loaded = Snapshot::load(store, None).await;
    if let Ok(snapshot) = &loaded {
        let _ = (snapshot.files().await, snapshot.tombstones().await);
        let _ = (snapshot.summary().await, snapshot.update().await);
        let _ = (
            history(snapshot, None).await,
            version_at_timestamp(snapshot, 5).await,
        );
        let _ = append(snapshot, "next.parquet", &CommitContext::default()).await;
        let _ = maintain::checkpoint(snapshot, FAR_FUTURE_MS, &RandomIds).await;
        let _ = maintain::clean(snapshot, FAR_FUTURE_MS).await;
    }
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    loaded.is_ok()
}

#[tokio::test]
async fn a_schema_without_end_is_refused() {
    let field = r#"{"type":"struct","fields":[{"name":"a","nullable":true,"metadata":{},"type":"#;
    let schema = format!("{}\"long\"{}", field.repeat(DEEP), "}]}".repeat(DEEP));
    let store = memory_store();
    let mut deep = metadata(&[]);
    deep.schema_string = schema;
    let actions = [
        Action::Protocol(Protocol::legacy(1, 2)),
        Action::Metadata(deep),
    ];
    put(&store, &file_name::commit(0), commit_text(&actions)).await;
    assert!(!look_at(&store).await);
}

#[tokio::test]
async fn statistics_without_end_are_no_statistics() {
    let nested = format!("{}1{}", "{\"id\":".repeat(DEEP), "}".repeat(DEEP));
    for stats in [
        nested.clone(),
        format!(r#"{{"numRecords":1,"minValues":{nested}}}"#),
        format!(r#"{{"numRecords":1,"unknown":{nested}}}"#),
        "[".repeat(DEEP),
        format!(r#"{{"numRecords":{}}}"#, "9".repeat(DEEP)),
        format!(
            r#"{{"numRecords":1,"minValues":{{"id":1e{}}}}}"#,
            "9".repeat(DEEP)
        ),
    ] {
        let add = Add {
            stats: Some(stats),
            ..file("a.parquet")
        };
        assert!(look_at(&table(add).await).await);
    }
}

#[tokio::test]
async fn statistics_of_many_megabytes_are_read() {
    let text = "x".repeat(4_000_000);
    let stats = format!(r#"{{"numRecords":1,"minValues":{{"id":"{text}","b":"{text}"}}}}"#);
    let add = Add {
        stats: Some(stats),
        ..file("a.parquet")
    };
    assert!(look_at(&table(add).await).await);
}

/// Names that speak of more parts, or of later versions, than there are.
#[tokio::test]
async fn names_that_claim_too_much_do_no_harm() {
    for name in [
        "00000000000000000000.checkpoint.0000000001.4294967295.parquet",
        "00000000000000000000.checkpoint.4294967295.4294967295.parquet",
        "00000000000000000000.checkpoint.0000000000.0000000000.parquet",
        "00000000000000000000.checkpoint.parquet",
        "09223372036854775807.checkpoint.parquet",
        "99999999999999999999.checkpoint.parquet",
        "00000000000000000000.09223372036854775807.compacted.json",
        "09223372036854775807.00000000000000000000.compacted.json",
        "09223372036854775807.crc",
        "99999999999999999999.json",
        "99999999999999999999999999999999999999.json",
    ] {
        let store = table(file("a.parquet")).await;
        put(&store, name, "").await;
        assert!(look_at(&store).await, "{name}");
        let newest = Snapshot::load(&store, None).await.unwrap();
        assert!(newest.version() < 5, "{name}: {}", newest.version());
    }
}

#[tokio::test]
async fn the_last_version_that_a_number_can_name_has_none_after_it() {
    let store = table(file("a.parquet")).await;
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    maintain::checkpoint(&snapshot, FAR_FUTURE_MS, &RandomIds)
        .await
        .unwrap();
    let checkpoint = store.log().read(&file_name::checkpoint(0)).await.unwrap();
    let commit = store.log().read(&file_name::commit(0)).await.unwrap();
    for last in [i64::MAX, i64::MAX - 1] {
        let store = memory_store();
        put(&store, &file_name::checkpoint(last), checkpoint.clone()).await;
        put(&store, &file_name::commit(last), commit.clone()).await;
        look_at(&store).await;
        let store = memory_store();
        put(&store, &file_name::commit(0), commit.clone()).await;
        put(&store, &file_name::commit(last), commit.clone()).await;
        look_at(&store).await;
    }
}

#[tokio::test]
async fn no_version_that_is_asked_for_is_too_far_away_to_be_refused() {
    let store = table(file("a.parquet")).await;
    let newest = Snapshot::load(&store, None).await.unwrap();
    for version in [i64::MAX, i64::MAX - 1, i64::MAX / 2 + 1, 1, -1, i64::MIN] {
        assert!(Snapshot::load(&store, Some(version)).await.is_err());
        assert!(newest.at_version(version).await.is_err());
    }
    for moment in [i64::MAX, i64::MIN] {
        assert!(version_at_timestamp(&newest, moment).await.is_ok());
    }
}

#[tokio::test]
async fn pointers_that_claim_too_much_are_passed_over() {
    let deep = format!("{}1{}", "[".repeat(DEEP), "]".repeat(DEEP));
    let wide = format!("[{}0]", "0,".repeat(100_000));
    for text in [
        r#"{"version":0,"size":1,"parts":4294967295}"#.to_owned(),
        r#"{"version":9223372036854775807,"size":9223372036854775807}"#.to_owned(),
        r#"{"version":-1,"size":1}"#.to_owned(),
        format!(r#"{{"version":0,"size":1,"checkpointSchema":{deep}}}"#),
        format!(r#"{{"version":0,"size":1,"v2Checkpoint":{wide},"checksum":"0"}}"#),
        deep,
        wide,
    ] {
        let store = table(file("a.parquet")).await;
        put(&store, LAST_CHECKPOINT, text).await;
        assert!(look_at(&store).await);
    }
}
