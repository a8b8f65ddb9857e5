//! Files of the log with damaged bytes: a table opens or is refused, nothing panics, and nothing takes much memory or time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deltaic_log::checksum::VersionChecksum;
use deltaic_log::commit::{commit_text, parse_actions};
use deltaic_log::hint::LastCheckpoint;
use deltaic_log::history::history;
use deltaic_log::{RandomIds, Snapshot, maintain};
use deltaic_protocol::Action;
use deltaic_protocol::action::{Add, DomainMetadata, Protocol, SetTransaction};
use deltaic_protocol::deletion_vector::DeletionVectorDescriptor;
use deltaic_protocol::file_name::{self, LAST_CHECKPOINT};
use deltaic_storage::TableStore;
use futures::TryStreamExt;
use proptest::prelude::*;

use crate::{FAR_FUTURE_MS, file, memory_store, metadata};

/// How bytes come to be others.
#[derive(Debug, Clone)]
enum Damage {
    /// One byte becomes this one.
    Byte(prop::sample::Index, u8),
    /// Four bytes become these: lengths and counts are numbers.
    Number(prop::sample::Index, u32),
    /// So many bytes go.
    Gone(prop::sample::Index, usize),
    /// These come.
    Come(prop::sample::Index, Vec<u8>),
    /// The rest goes.
    Cut(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let number = prop_oneof![
        Just(0),
        Just(u32::MAX),
        Just(0x7fff_ffff),
        Just(0x7fff_ff7f),
        any::<u32>()
    ];
    prop_oneof![
        6 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        3 => (at(), number).prop_map(|(at, number)| Damage::Number(at, number)),
        1 => (at(), 1..40usize).prop_map(|(at, count)| Damage::Gone(at, count)),
        1 => (at(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, b)| Damage::Come(at, b)),
        1 => at().prop_map(Damage::Cut),
    ]
}

fn damaged(bytes: &[u8], all: &[Damage]) -> Bytes {
    let mut out = bytes.to_vec();
    for damage in all {
        let len = out.len().max(1);
        match damage {
            Damage::Byte(at, byte) => {
                if let Some(place) = out.get_mut(at.index(len)) {
                    *place = *byte;
                }
            }
            Damage::Number(at, number) => {
                for (place, byte) in out.iter_mut().skip(at.index(len)).zip(number.to_le_bytes()) {
                    *place = byte;
                }
            }
            Damage::Gone(at, count) => {
                let at = at.index(len).min(out.len());
                out.drain(at..(at + count).min(out.len()));
            }
            Damage::Come(at, bytes) => {
                let at = at.index(len).min(out.len());
                out.splice(at..at, bytes.iter().copied());
            }
            Damage::Cut(at) => out.truncate(at.index(len)),
        }
    }
    out.into()
}

/// A table with a checkpoint at its newest version: what stands in it, by its name.
async fn table(v2: bool) -> Vec<(String, Bytes)> {
    let store = memory_store();
    let mut properties = vec![("delta.checkpoint.writeStatsAsStruct", "true")];
    if v2 {
        properties.push(("delta.checkpointPolicy", "v2"));
    }
    let mut table = metadata(&properties);
    table.partition_columns = vec![];
    let mut features = vec!["deletionVectors".to_owned(), "v2Checkpoint".to_owned()];
    let readers = Some(features.clone());
    features.push("domainMetadata".to_owned());
    let mut head = vec![
        Action::Protocol(Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: readers,
            writer_features: Some(features),
        }),
        Action::Metadata(table),
        Action::Txn(SetTransaction {
            app_id: "a".to_owned(),
            version: 4,
            last_updated: Some(1),
        }),
        Action::DomainMetadata(DomainMetadata {
            domain: "d".to_owned(),
            configuration: "{}".to_owned(),
            removed: false,
        }),
    ];
    for number in 0..20 {
        let stats = format!(
            r#"{{"numRecords":{number},"minValues":{{"id":{number}}},"maxValues":{{"id":{number}}},"nullCount":{{"id":0}}}}"#
        );
        head.push(Action::Add(Add {
            stats: Some(stats),
            deletion_vector: (number % 5 == 0).then(|| DeletionVectorDescriptor {
                storage_type: "u".to_owned(),
                path_or_inline_dv: "ab^-aqEH.-t@S}K{vb[*k^".to_owned(),
                offset: Some(number),
                size_in_bytes: 4,
                cardinality: 1,
            }),
            ..file(&format!("f{number}.parquet"))
        }));
    }
    let gone = file("f0.parquet").to_remove(FAR_FUTURE_MS, true);
    for (version, actions) in [head, vec![Action::Remove(gone)]].iter().enumerate() {
        let name = file_name::commit(version as i64);
        let text = Bytes::from(commit_text(actions));
        store.log().create(&name, text).await.unwrap();
    }
    let snapshot = Snapshot::load(&store, None).await.unwrap();
    maintain::checkpoint(&snapshot, FAR_FUTURE_MS, &RandomIds)
        .await
        .unwrap();
    let listed: Vec<_> = store
        .data()
        .list("_delta_log", None)
        .try_collect()
        .await
        .unwrap();
    let mut out = Vec::new();
    for entry in listed {
        let content = store.data().read(&entry.path).await.unwrap();
        out.push((entry.path, content));
    }
    out
}

async fn put(files: &[(String, Bytes)]) -> TableStore {
    let store = memory_store();
    for (path, content) in files {
        store.data().create(path, content.clone()).await.unwrap();
    }
    store
}

/// All that is asked of a table.
async fn look_at(store: &TableStore) {
    let _ = LastCheckpoint::parse(&store.log().read(LAST_CHECKPOINT).await.unwrap_or_default());
    let Ok(snapshot) = Snapshot::load(store, None).await else {
        return;
    };
    let _ = snapshot.summary().await;
    let _ = snapshot.tombstones().await;
    let _ = snapshot.live_tombstones(FAR_FUTURE_MS).await;
    let mut names = snapshot.file_names(|(path, vector)| (path.len(), vector.cloned()));
    while let Ok(Some(_)) = names.try_next().await {}
    if let Ok(files) = snapshot.files().await {
        let _ = deltaic_log::FileSummary::of(files.iter());
    }
    let _ = history(&snapshot, None).await;
    let _ = snapshot.verify_checksum().await;
    let _ = maintain::checkpoint(&snapshot, FAR_FUTURE_MS, &RandomIds).await;
}

fn run(work: impl Future<Output = ()>) {
    let start = Instant::now();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Names and contents.
type Files = Arc<Vec<(String, Bytes)>>;

/// The files of both kinds of table, made once.
fn tables() -> &'static [Files; 2] {
    static TABLES: std::sync::OnceLock<[Files; 2]> = std::sync::OnceLock::new();
    TABLES.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        [false, true].map(|v2| Arc::new(runtime.block_on(table(v2))))
    })
}

/// The most memory that this process has held.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok())
        .unwrap_or(0_u64)
        >> 10
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..ProptestConfig::with_cases(
        std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
    ) })]

    #[test]
    fn a_table_with_damaged_files_opens_or_is_refused(
        v2 in any::<bool>(),
        without_commits in any::<bool>(),
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec(damage(), 1..6),
    ) {
        let mut files: Vec<(String, Bytes)> = tables()[usize::from(v2)]
            .iter()
            .filter(|(path, _)| !(without_commits && path.ends_with("00.json")))
            .cloned()
            .collect();
        let at = which.index(files.len());
        files[at].1 = damaged(&files[at].1, &damage);
        run(async { look_at(&put(&files).await).await });
        prop_assert!(peak_mib() < 1024, "{} MiB", peak_mib());
    }

    /// The footer and the page heads are where a damaged checkpoint lies the most.
    #[test]
    fn a_damaged_checkpoint_is_read_or_refused(
        v2 in any::<bool>(),
        from_end in any::<bool>(),
        damage in prop::collection::vec(damage(), 1..4),
    ) {
        let mut files: Vec<(String, Bytes)> = tables()[usize::from(v2)].to_vec();
        files.retain(|(path, _)| !path.ends_with(".json") || path.contains("checkpoint"));
        for (path, content) in &mut files {
            if path.ends_with(".parquet") {
                let split = if from_end { content.len() * 2 / 3 } else { 0 };
                *content = [&content[..split], &damaged(&content[split..], &damage)[..]].concat().into();
            }
        }
        run(async { look_at(&put(&files).await).await });
        prop_assert!(peak_mib() < 1024, "{} MiB", peak_mib());
    }

    #[test]
    fn the_text_of_a_commit_is_read_or_refused(damage in prop::collection::vec(damage(), 0..6)) {
        let (name, content) = &tables()[0][0];
        let store = memory_store();
        if let Ok(actions) = parse_actions(store.root(), name, 0, &damaged(content, &damage)) {
            prop_assert!(parse_actions(store.root(), name, 0, commit_text(&actions).as_bytes()).is_ok());
        }
    }

    #[test]
    fn a_pointer_is_read_or_none(damage in prop::collection::vec(damage(), 0..4), version in any::<i64>(), size in any::<i64>()) {
        let text = LastCheckpoint::new(version, size).to_text();
        let _ = LastCheckpoint::parse(&damaged(text.as_bytes(), &damage));
        let plain = format!(r#"{{"version":{version},"size":{size},"parts":{size}}}"#);
        let _ = LastCheckpoint::parse(plain.as_bytes());
        let mut files = tables()[0].to_vec();
        files.retain(|(path, _)| !path.ends_with(LAST_CHECKPOINT));
        files.push((format!("_delta_log/{LAST_CHECKPOINT}"), plain.into()));
        run(async {
            let snapshot = Snapshot::load(&put(&files).await, None).await.unwrap();
            assert_eq!(snapshot.version(), 1);
        });
    }

    #[test]
    fn a_checksum_of_any_numbers_is_held_against_the_log(
        numbers in prop::collection::vec(prop_oneof![any::<i64>(), Just(i64::MAX), Just(i64::MIN), Just(19)], 6),
        bins in prop::collection::vec(any::<i64>(), 0..4),
    ) {
        let bins = serde_json::to_string(&bins).unwrap();
        let (store, metadata) = (&tables()[0], serde_json::Value::Null);
        let text = format!(
            r#"{{"tableSizeBytes":{},"numFiles":{},"numDeletedRecordsOpt":{},"numDeletionVectorsOpt":{},"numMetadata":1,"numProtocol":1,
            "fileSizeHistogram":{{"sortedBinBoundaries":{bins},"fileCounts":{bins},"totalBytes":{bins}}},
            "deletedRecordCountsHistogramOpt":{{"deletedRecordCounts":{bins}}},"metadata":{metadata}}}"#,
            numbers[0], numbers[1], numbers[2], numbers[3]
        );
        if let Ok(checksum) = serde_json::from_str::<VersionChecksum>(&text) {
            let _ = checksum.summary();
        }
        let mut files = store.to_vec();
        files.retain(|(path, _)| !path.ends_with(".crc"));
        files.push(("_delta_log/00000000000000000001.crc".to_owned(), text.into()));
        run(async { look_at(&put(&files).await).await });
    }

    /// Sizes and counts of files as large as a number can be.
    #[test]
    fn files_of_any_size_are_counted(
        sizes in prop::collection::vec(prop_oneof![any::<i64>(), Just(i64::MAX), Just(i64::MIN)], 1..6),
        cardinality in prop_oneof![any::<i64>(), Just(i64::MAX)],
        removed in any::<bool>(),
    ) {
        let mut files = tables()[0].to_vec();
        let mut actions = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let add = Add {
                size: *size,
                modification_time: *size,
                deletion_vector: Some(DeletionVectorDescriptor {
                    storage_type: "i".to_owned(),
                    path_or_inline_dv: String::new(),
                    offset: None,
                    size_in_bytes: i32::MIN,
                    cardinality,
                }),
                ..file(&format!("large-{number}"))
            };
            if removed {
                actions.push(Action::Remove(add.to_remove(*size, true)));
            } else {
                actions.push(Action::Add(add));
            }
        }
        files.push(("_delta_log/00000000000000000002.json".to_owned(), commit_text(&actions).into()));
        run(async {
            let store = put(&files).await;
            look_at(&store).await;
            if let Ok(snapshot) = Snapshot::load(&store, Some(1)).await
                && snapshot.summary().await.is_ok()
                && let Ok(newest) = snapshot.update().await
            {
                let _ = newest.summary().await;
            }
        });
    }
}
