//! Ranges of versions, the files of a commit's changes, and schemas that fit.
#![allow(clippy::unwrap_used)]

use deltaic_protocol::action::{AddCdcFile, CommitInfo};
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::timestamp::Zone;

use super::range::{Resolved, decide, first_from, last_until};
use super::*;
use crate::history::VersionAt;
use crate::tests::{parse, table, write};

const FEED: &str = "delta.enableChangeDataFeed=true";

fn commit(version: Version, timestamp: i64) -> CommitTime {
    CommitTime { version, timestamp }
}

fn text<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.class().unwrap_or("no class").to_string(),
    }
}

#[test]
fn a_start_is_the_first_version_not_before_the_moment() {
    let zone = Zone::utc();
    let check = |at, moment, beyond| text(first_from(at, moment, &zone, beyond));
    assert_eq!(check(VersionAt::Found(commit(3, 500)), 500, false), "3");
    assert_eq!(check(VersionAt::Found(commit(3, 500)), 501, false), "4");
    assert_eq!(
        check(VersionAt::BeforeEarliest(commit(2, 500)), 1, false),
        "2"
    );
    let after = VersionAt::AfterLatest(commit(7, 500));
    assert_eq!(
        check(after, 501, false),
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    );
    assert_eq!(check(after, 501, true), "8");
}

#[test]
fn an_end_is_the_last_version_not_after_the_moment() {
    let zone = Zone::utc();
    let check = |at, moment, beyond| text(last_until(at, moment, &zone, beyond));
    assert_eq!(check(VersionAt::Found(commit(3, 500)), 900, false), "3");
    let before = VersionAt::BeforeEarliest(commit(2, 500));
    assert_eq!(
        check(before, 1, true),
        "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"
    );
    let after = VersionAt::AfterLatest(commit(7, 500));
    assert_eq!(
        check(after, 501, false),
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    );
    assert_eq!(check(after, 501, true), "7");
}

#[test]
fn bounds_are_checked_against_the_newest_version_and_each_other() {
    let at = |version, moment| Resolved { version, moment };
    let check = |start, end, beyond| text(decide(start, end, 5, beyond));
    let versions = |start, end| format!("{:?}", ChangeRange::Versions { start, end });
    assert_eq!(check(at(5, None), None, false), versions(5, None));
    assert_eq!(
        check(at(6, None), None, false),
        "DELTA_CDC_START_VERSION_AFTER_LATEST"
    );
    assert_eq!(check(at(6, None), None, true), "Empty");
    assert_eq!(
        check(at(2, None), Some(at(9, None)), false),
        versions(2, Some(9))
    );
    assert_eq!(
        check(at(3, None), Some(at(2, None)), false),
        "DELTA_INVALID_CDC_RANGE"
    );
    // Two moments between versions 2 and 3.
    assert_eq!(
        check(at(3, Some(10)), Some(at(2, Some(20))), false),
        "Empty"
    );
    assert_eq!(
        check(at(3, Some(20)), Some(at(2, Some(10))), false),
        "DELTA_INVALID_CDC_RANGE"
    );
    assert_eq!(
        check(at(3, Some(10)), Some(at(2, None)), false),
        "DELTA_INVALID_CDC_RANGE"
    );
}

fn changed(log: &str) -> Vec<String> {
    let actions = parse(&format!("//- 1\n{log}")).remove(0).1;
    shown(actions)
}

fn shown(actions: Vec<Action>) -> Vec<String> {
    let store = crate::tests::memory_store();
    let id = |vector: &Option<deltaic_protocol::deletion_vector::DeletionVectorDescriptor>| {
        vector
            .as_ref()
            .map_or("-".to_string(), |v| v.unique_id().to_string())
    };
    let mut out: Vec<String> = files::changed_files(store.root(), actions)
        .unwrap()
        .into_iter()
        .map(|file| {
            format!(
                "{:?} {} marked={} without={}",
                file.kind,
                file.file.path,
                id(&file.marked),
                id(&file.file.deletion_vector)
            )
        })
        .collect();
    out.sort();
    out
}

#[test]
fn added_rows_were_inserted_and_removed_ones_deleted() {
    assert_eq!(
        changed("+ a 10\n- b 10 p=1\n+ c 10 quiet"),
        ["Delete b marked=- without=-", "Insert a marked=- without=-"]
    );
}

#[test]
fn two_vectors_of_one_file_tell_by_their_difference() {
    let old = |name: &str| changed(&format!("- a 10 p=1 {name}\n+ a 10 p=1"));
    let (one, two) = ("dv=x", "dv=y");
    let x = changed("+ a 10 dv=x")[0]
        .rsplit_once("without=")
        .unwrap()
        .1
        .to_string();
    let y = changed("+ a 10 dv=y")[0]
        .rsplit_once("without=")
        .unwrap()
        .1
        .to_string();
    assert_eq!(old(one), [format!("Insert a marked={x} without=-")]);
    assert_eq!(
        changed("- a 10 p=1\n+ a 10 p=1 dv=x"),
        [format!("Delete a marked={x} without=-")]
    );
    assert_eq!(
        changed(&format!("- a 10 p=1 {one}\n+ a 10 p=1 {two}")),
        [
            format!("Delete a marked={y} without={x}"),
            format!("Insert a marked={x} without={y}")
        ]
    );
    assert!(changed("- a 10 p=1\n+ a 10 p=1").is_empty());
}

#[test]
fn files_of_changes_stand_for_their_commit_alone() {
    let mut actions = parse("//- 1\n+ a 10\n- b 10").remove(0).1;
    actions.push(Action::Cdc(AddCdcFile {
        path: "_change_data/c".into(),
        size: 3,
        ..AddCdcFile::default()
    }));
    assert_eq!(
        shown(actions),
        ["Recorded _change_data/c marked=- without=-"]
    );
}

#[test]
fn a_merge_that_changed_no_row_has_no_changes() {
    let metrics = |updated: &str| {
        let mut info = CommitInfo {
            operation: Some("MERGE".into()),
            ..CommitInfo::default()
        };
        info.operation_metrics = Some(
            [
                ("numTargetRowsInserted", "0"),
                ("numTargetRowsUpdated", updated),
                ("numTargetRowsDeleted", "0"),
            ]
            .map(|(name, count)| (name.to_string(), count.to_string()))
            .into(),
        );
        let mut actions = parse("//- 1\n+ a 10").remove(0).1;
        actions.push(Action::CommitInfo(Box::new(info)));
        shown(actions).len()
    };
    assert_eq!((metrics("0"), metrics("1")), (0, 1));
}

#[test]
fn a_removed_file_without_its_size_is_refused() {
    let mut actions = parse("//- 1\n- a 10").remove(0).1;
    for action in &mut actions {
        if let Action::Remove(remove) = action {
            remove.size = None;
        }
    }
    let store = crate::tests::memory_store();
    assert_eq!(
        text(files::changed_files(store.root(), actions)),
        "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA"
    );
}

async fn read(feed: &ChangeFeed) -> String {
    let times = feed.times().await.unwrap();
    let mut seen = Vec::new();
    let done = feed
        .read(&times, |commit| {
            seen.push((commit.version, commit.files.len()));
            Ok(())
        })
        .await;
    match done {
        Ok(()) => format!("{seen:?}"),
        Err(error) => {
            let given = |name: &str| {
                error
                    .parameters()
                    .iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value.clone())
                    .unwrap_or_default()
            };
            format!(
                "{} {}{}",
                error.class().unwrap(),
                given("version"),
                given("incompatibleVersion")
            )
        }
    }
}

#[tokio::test]
async fn the_feed_must_have_been_on_in_every_version_that_is_read() {
    let log =
        format!("//- 0\n M\n P 1 2\n//- 1\n M {FEED}\n//- 2\n + a 10\n//- 3\n M\n//- 4\n + b 10");
    let store = table(&log).await;
    let latest = Snapshot::load(&store, None).await.unwrap();
    let at = |start, end| {
        let latest = &latest;
        async move {
            let feed = ChangeFeed::open(latest, start, end, ChangeOptions::default())
                .await
                .unwrap();
            read(&feed).await
        }
    };
    let backwards = ChangeFeed::open(&latest, 2, Some(1), ChangeOptions::default()).await;
    assert_eq!(text(backwards), "DELTA_INVALID_CDC_RANGE");
    let unknown = ChangeFeed::open(&latest, 7, Some(8), ChangeOptions::default()).await;
    assert_eq!(text(unknown), "DELTA_VERSION_NOT_FOUND");
    assert_eq!(at(0, None).await, "DELTA_MISSING_CHANGE_DATA 0");
    assert_eq!(at(1, Some(2)).await, "[(1, 0), (2, 1)]");
    assert_eq!(at(1, Some(9)).await, "DELTA_MISSING_CHANGE_DATA 3");
    assert_eq!(at(4, None).await, "DELTA_MISSING_CHANGE_DATA 4");
}

#[tokio::test]
async fn a_part_of_the_range_is_checked_from_its_own_first_version() {
    let log = format!(
        "//- 0\n M {FEED}\n P 1 2\n//- 1\n M\n//- 2\n M {FEED}\n//- 3\n + a 10\n//- 4\n + b 10"
    );
    let store = table(&log).await;
    let latest = Snapshot::load(&store, None).await.unwrap();
    let feed = ChangeFeed::open(&latest, 0, None, ChangeOptions::default())
        .await
        .unwrap();
    let times = feed.times().await.unwrap();
    let mut seen = Vec::new();
    feed.read(&times[3..], |commit| {
        seen.push(commit.version);
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(seen, [3, 4]);
    let off = feed.read(&times[1..2], |_| Ok(())).await;
    assert_eq!(text(off), "DELTA_MISSING_CHANGE_DATA");
}

#[tokio::test]
async fn partition_columns_must_stay() {
    let log =
        format!("//- 0\n M {FEED}\n P 1 2\n//- 1\n + a 10\n//- 2\n M/p {FEED}\n//- 3\n + b 10 p=1");
    let store = table(&log).await;
    let latest = Snapshot::load(&store, None).await.unwrap();
    let feed = |start, end| {
        let latest = &latest;
        async move {
            ChangeFeed::open(latest, start, end, ChangeOptions::default())
                .await
                .unwrap()
        }
    };
    assert_eq!(
        read(&feed(0, Some(1)).await).await,
        "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA 0"
    );
    assert_eq!(read(&feed(2, None).await).await, "[(2, 0), (3, 1)]");
}

#[tokio::test]
async fn a_hole_in_the_range_is_no_silence() {
    let store = table(&format!("//- 0\n M {FEED}\n P 1 2\n//- 1\n + a 10")).await;
    let latest = Snapshot::load(&store, None).await.unwrap();
    let feed = ChangeFeed::open(&latest, 0, None, ChangeOptions::default())
        .await
        .unwrap();
    store
        .data()
        .delete_file(&format!(
            "{}/{}",
            deltaic_storage::LOG_DIR,
            deltaic_protocol::file_name::commit(1)
        ))
        .await
        .unwrap();
    assert_eq!(text(feed.times().await), "DELTA_VERSIONS_NOT_CONTIGUOUS");
    write(&store, "//- 1\n + a 10").await;
    assert_eq!(feed.times().await.unwrap().len(), 2);
}

fn metadata(fields: &[(&str, &str, DataType, bool)], mode: Option<&str>) -> Metadata {
    let schema = StructType::new(fields.iter().map(|(name, physical, data_type, nullable)| {
        let field = StructField::new(*name, data_type.clone(), *nullable);
        match name == physical && mode.is_none() {
            true => field,
            false => field.with_metadata(
                deltaic_protocol::schema::metadata::COLUMN_MAPPING_PHYSICAL_NAME,
                *physical,
            ),
        }
    }));
    let mut metadata = Metadata {
        schema_string: schema.to_json(),
        ..empty_metadata()
    };
    if let Some(mode) = mode {
        metadata
            .configuration
            .insert(key::COLUMN_MAPPING_MODE.to_string(), mode.to_string());
    }
    metadata
}

fn empty_metadata() -> Metadata {
    parse("//- 0\n M")
        .remove(0)
        .1
        .into_iter()
        .find_map(|action| match action {
            Action::Metadata(metadata) => Some(metadata),
            _ => None,
        })
        .unwrap()
}

fn fits(old: &Metadata, new: &Metadata) -> (bool, bool) {
    // Old rows read with the new schema, and new rows with the old one.
    (
        compatible::fits((new, 2), (old, 1)).unwrap(),
        compatible::fits((old, 1), (new, 2)).unwrap(),
    )
}

#[test]
fn only_added_columns_fit() {
    let long = || ("a", "a", DataType::Long, true);
    let one = metadata(&[long()], None);
    let two = metadata(&[long(), ("b", "b", DataType::String, true)], None);
    assert_eq!(fits(&one, &one), (true, true));
    assert_eq!(fits(&one, &two), (true, true));
    assert_eq!(fits(&two, &one), (false, false));
    let other_type = metadata(&[("a", "a", DataType::Integer, true)], None);
    assert_eq!(fits(&other_type, &one), (false, false));
    let other_case = metadata(&[("A", "A", DataType::Long, true)], None);
    assert_eq!(fits(&one, &other_case), (false, false));
}

#[test]
fn rows_with_null_do_not_fit_a_column_without() {
    let open = metadata(&[("a", "a", DataType::Long, true)], None);
    let strict = metadata(&[("a", "a", DataType::Long, false)], None);
    assert_eq!(fits(&open, &strict), (false, true));
    assert_eq!(fits(&strict, &open), (true, false));
}

#[test]
fn renamed_and_dropped_columns_do_not_fit() {
    let mode = Some("name");
    let a = || ("a", "x", DataType::Long, true);
    let b = || ("b", "y", DataType::Long, true);
    let both = metadata(&[a(), b()], mode);
    let renamed = metadata(&[a(), ("c", "y", DataType::Long, true)], mode);
    let dropped = metadata(&[a()], mode);
    let replaced = metadata(&[a(), ("b", "z", DataType::Long, true)], mode);
    assert_eq!(fits(&both, &renamed), (false, false));
    assert_eq!(fits(&both, &dropped), (false, false));
    assert_eq!(fits(&both, &replaced), (false, false));
    assert_eq!(fits(&dropped, &both), (true, true));
}

#[test]
fn a_mapping_may_come_and_must_not_go() {
    let plain = metadata(&[("a", "a", DataType::Long, true)], None);
    let mapped = metadata(&[("a", "a", DataType::Long, true)], Some("name"));
    assert_eq!(fits(&plain, &mapped), (true, true));
    assert_eq!(fits(&mapped, &plain), (false, false));
}
