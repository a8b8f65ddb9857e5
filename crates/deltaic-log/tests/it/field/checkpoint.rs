//! Checkpoints and their pointer.

use std::collections::BTreeSet;

use bytes::Bytes;
use deltaic_log::skipping::{Column, Comparison, Predicate, StatisticsFacts, Value};
use deltaic_log::{RandomIds, Snapshot, Version, maintain};
use deltaic_protocol::file_name::{self, LAST_CHECKPOINT};
use deltaic_protocol::schema::DataType;
use deltaic_storage::TableStore;
use futures::TryStreamExt;

use super::{BEGIN, add, add_with, begin, gone, live, load, put, remove, table};

/// A table of files `f1`, `f2` … up to this version.
pub(super) async fn appends(head: &str, newest: Version) -> TableStore {
    let commits: Vec<String> = (1..=newest).map(|v| add(&format!("f{v}"))).collect();
    let all: Vec<&str> = [head]
        .into_iter()
        .chain(commits.iter().map(String::as_str))
        .collect();
    table(&all).await
}

pub(super) async fn checkpoint(store: &TableStore, version: Version) {
    let snapshot = Snapshot::load(store, Some(version)).await.unwrap();
    maintain::checkpoint(&snapshot, 0, &RandomIds)
        .await
        .unwrap();
}

async fn count(store: &TableStore) -> usize {
    load(store).await.files().await.unwrap().len()
}

#[tokio::test]
async fn b015_an_empty_pointer_is_no_pointer() {
    let store = appends(BEGIN, 12).await;
    checkpoint(&store, 10).await;
    for content in ["", "{", "[]", "null", "{\"version\":\"10\"}", "\u{0}\u{0}"] {
        put(&store, LAST_CHECKPOINT, content).await;
        let snapshot = load(&store).await;
        assert_eq!(snapshot.version(), 12, "{content:?}");
        assert_eq!(snapshot.files().await.unwrap().len(), 12, "{content:?}");
    }
}

#[tokio::test]
async fn b017_a_pointer_to_a_checkpoint_that_is_not_there_is_passed_over() {
    let store = appends(BEGIN, 12).await;
    checkpoint(&store, 10).await;
    for version in [9, 11, 12, 13, 1_000] {
        put(
            &store,
            LAST_CHECKPOINT,
            &format!("{{\"version\":{version},\"size\":1}}"),
        )
        .await;
        assert_eq!(load(&store).await.version(), 12, "{version}");
        assert_eq!(count(&store).await, 12, "{version}");
    }
    // What a checkpoint's writer points to is there.
    checkpoint(&store, 11).await;
    let text = store.log().read(LAST_CHECKPOINT).await.unwrap();
    let pointer = deltaic_log::hint::LastCheckpoint::parse(&text).unwrap();
    let named = file_name::checkpoint(pointer.version);
    assert!(store.log().stat(&named).await.unwrap().is_some());
}

#[tokio::test]
async fn b019_a_destroyed_checkpoint_is_passed_over_while_commits_tell_the_same() {
    for length in [1, 40, 5_000] {
        let store = appends(BEGIN, 12).await;
        checkpoint(&store, 5).await;
        checkpoint(&store, 10).await;
        let noise: Vec<u8> = (0..length).map(|i: usize| (i * 37 % 251) as u8).collect();
        let name = file_name::checkpoint(10);
        store
            .log()
            .overwrite(&name, Bytes::from(noise))
            .await
            .unwrap();
        let snapshot = load(&store).await;
        assert_eq!(snapshot.checkpoint_version(), Some(5));
        assert_eq!(snapshot.files().await.unwrap().len(), 12);
    }
}

/// The footer is whole and the rows are not: seen only when somebody asks for files.
#[tokio::test]
async fn b019_a_checkpoint_whose_rows_are_damaged_is_passed_over_when_files_are_read() {
    let store = appends(BEGIN, 12).await;
    checkpoint(&store, 5).await;
    checkpoint(&store, 10).await;
    let name = file_name::checkpoint(10);
    let mut bytes = store.log().read(&name).await.unwrap().to_vec();
    // The paths of the files are the first thing after the transactions.
    let at = bytes.windows(2).position(|w| w == b"f1").unwrap();
    bytes[at - 40..at + 40].fill(0xff);
    store
        .log()
        .overwrite(&name, Bytes::from(bytes))
        .await
        .unwrap();
    let snapshot = load(&store).await;
    assert_eq!(snapshot.files().await.unwrap().len(), 12);
    // Without the commits the damage is told, with the file's name.
    for version in 0..=10 {
        gone(&store, &file_name::commit(version)).await;
    }
    gone(&store, &file_name::checkpoint(5)).await;
    let error = match Snapshot::load(&store, None).await {
        Ok(snapshot) => snapshot.files().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(error.to_string().contains(&name), "{error}");
}

#[tokio::test]
async fn b020_a_checkpoint_without_all_of_its_parts_does_not_count() {
    let store = appends(BEGIN, 6).await;
    checkpoint(&store, 3).await;
    checkpoint(&store, 5).await;
    let part = store.log().read(&file_name::checkpoint(5)).await.unwrap();
    gone(&store, &file_name::checkpoint(5)).await;
    gone(&store, LAST_CHECKPOINT).await;
    for (number, of) in [(1, 3), (3, 3), (1, 4), (2, 4), (2, 5)] {
        let name = file_name::multi_part_checkpoint(5, number, of);
        store.log().overwrite(&name, part.clone()).await.unwrap();
        let snapshot = load(&store).await;
        assert_eq!(snapshot.checkpoint_version(), Some(3), "{number} of {of}");
        assert_eq!(live(&snapshot).await.len(), 6);
    }
}

fn partitioned(extra: &str) -> String {
    BEGIN
        .replace(
            r#"\"fields\":["#,
            r#"\"fields\":[{\"name\":\"p\",\"type\":\"date\",\"nullable\":false,\"metadata\":{}},{\"name\":\"q\",\"type\":\"decimal(10,2)\",\"nullable\":true,\"metadata\":{}},{\"name\":\"t\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}},"#,
        )
        .replace(r#""partitionColumns":[]"#, r#""partitionColumns":["p","q","t"]"#)
        .replace(r#""configuration":{}"#, &format!(r#""configuration":{{{extra}}}"#))
}

#[tokio::test]
async fn b023_a_partition_column_that_may_not_be_null_does_not_hinder_a_checkpoint() {
    let values = [
        r#"{"p":"0001-01-01","q":"-1.50","t":"1500-06-01 00:00:00.123456"}"#,
        r#"{"p":"9999-12-31","q":null,"t":"2026-01-01T12:00:00.000001Z"}"#,
        r#"{"p":"1582-10-14","q":"99999999.99","t":""}"#,
    ];
    for text in ["true", "false"] {
        let properties = format!(
            r#""delta.checkpoint.writeStatsAsStruct":"true","delta.checkpoint.writeStatsAsJson":"{text}""#
        );
        let files: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(i, v)| {
                let partition = format!(r#""partitionValues":{v}"#);
                add(&format!("f{i}")).replace(r#""partitionValues":{}"#, &partition)
            })
            .collect();
        let store = table(&[
            &partitioned(&properties),
            &files.join("\n"),
            &remove("other"),
        ])
        .await;
        let before = load(&store).await.files().await.unwrap();
        checkpoint(&store, 2).await;
        for version in 0..=2 {
            gone(&store, &file_name::commit(version)).await;
        }
        let after = load(&store).await.files().await.unwrap();
        let shown = |files: &deltaic_log::Files| -> BTreeSet<String> {
            files
                .iter()
                .map(|f| format!("{} {:?}", f.path, f.partition_values))
                .collect()
        };
        assert_eq!(shown(&after), shown(&before), "writeStatsAsJson {text}");
    }
}

#[tokio::test]
async fn b024_typed_statistics_of_an_older_schema_do_not_hinder_reading() {
    let stats = r#""stats":"{\"numRecords\":1,\"minValues\":{\"id\":7},\"maxValues\":{\"id\":7},\"nullCount\":{\"id\":0}}""#;
    let typed = r#""delta.checkpoint.writeStatsAsStruct":"true","delta.checkpoint.writeStatsAsJson":"false""#;
    let head = BEGIN.replace(
        r#""configuration":{}"#,
        &format!(r#""configuration":{{{typed}}}"#),
    );
    let store = table(&[&head, &add_with("f", stats)]).await;
    checkpoint(&store, 1).await;
    let metadata = head.lines().next().unwrap();
    for (version, (name, data_type)) in (2..).zip([
        ("id", "string"),
        ("id", "date"),
        ("id", "timestamp"),
        ("ID2", "long"),
        ("id", "boolean"),
    ]) {
        let newer = metadata
            .replace(r#"\"name\":\"id\""#, &format!(r#"\"name\":\"{name}\""#))
            .replace(
                r#"\"type\":\"long\""#,
                &format!(r#"\"type\":\"{data_type}\""#),
            );
        put(&store, &file_name::commit(version), &newer).await;
        let snapshot = load(&store).await;
        let file = &snapshot.files().await.unwrap()[0];
        let field = snapshot.schema().fields[0].clone();
        let column = Column::new(field.name, field.data_type.clone());
        let facts = StatisticsFacts::new(file.stats.as_deref(), Default::default());
        let low = match field.data_type {
            DataType::String => Value::String("A".into()),
            DataType::Date => Value::Date(-1_000_000),
            DataType::Timestamp => Value::Timestamp(-1),
            DataType::Boolean => Value::Boolean(false),
            _ => Value::Integer(-1),
        };
        let below = Predicate::Compare(column, Comparison::LessOrEqual, low);
        assert!(below.may_match(&facts), "{name} {data_type}");
        // The next checkpoint has the columns of the new schema.
        checkpoint(&store, version).await;
        assert_eq!(count(&store).await, 1);
    }
}

#[tokio::test]
async fn b026_fewer_indexed_columns_never_make_statistics_wrong() {
    let fields = BEGIN.replace(
        r#"\"fields\":["#,
        r#"\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"b\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"#,
    );
    let stats = r#""stats":"{\"numRecords\":1,\"minValues\":{\"a\":1,\"b\":2,\"id\":3},\"maxValues\":{\"a\":1,\"b\":2,\"id\":3},\"nullCount\":{\"a\":0,\"b\":0,\"id\":0}}""#;
    let fewer = r#""configuration":{"delta.dataSkippingNumIndexedCols":"2","delta.checkpoint.writeStatsAsJson":"false"}"#;
    let metadata = fields
        .lines()
        .next()
        .unwrap()
        .replace(r#""configuration":{}"#, fewer);
    let store = table(&[&fields, &add_with("f", stats), &metadata]).await;
    checkpoint(&store, 2).await;
    gone(&store, &file_name::commit(1)).await;
    let files = load(&store).await.files().await.unwrap();
    let facts = StatisticsFacts::new(files[0].stats.as_deref(), Default::default());
    let equal = |name: &str, value| {
        let column = Column::new(name, DataType::Long);
        Predicate::Compare(column, Comparison::Equal, Value::Integer(value)).may_match(&facts)
    };
    assert!(equal("a", 1) && equal("b", 2) && equal("id", 3));
    assert!(!equal("a", 2) && !equal("b", 3));
}

#[tokio::test]
async fn b028_removes_after_a_checkpoint_take_its_files_away() {
    for policy in ["classic", "v2"] {
        let properties = format!(r#""delta.checkpointPolicy":"{policy}""#);
        let store = appends(&begin(r#""v2Checkpoint""#, &properties), 4).await;
        checkpoint(&store, 4).await;
        let rewrite = format!("{}\n{}\n{}", remove("f1"), remove("f3"), add("g"))
            .replace("\"dataChange\":true", "\"dataChange\":false");
        put(&store, &file_name::commit(5), &rewrite).await;
        assert_eq!(live(&load(&store).await).await, ["f2", "f4", "g"]);
        checkpoint(&store, 5).await;
        let again = format!("{}\n{}", remove("g"), add("h"));
        put(&store, &file_name::commit(6), &again).await;
        assert_eq!(live(&load(&store).await).await, ["f2", "f4", "h"]);
    }
}

#[tokio::test]
async fn b029_null_among_the_values_of_maps_survives_a_checkpoint() {
    let file = add_with("f", r#""tags":{"a":null,"b":"x"}"#)
        .replace(r#""partitionValues":{}"#, r#""partitionValues":{"p":null}"#);
    let head = BEGIN.replace(
        r#""configuration":{}"#,
        r#""configuration":{"user.note":null,"k":"v"}"#,
    );
    let store = table(&[&head, &file]).await;
    let before = load(&store).await;
    assert_eq!(before.metadata().configuration["k"], "v");
    checkpoint(&store, 1).await;
    for version in 0..=1 {
        gone(&store, &file_name::commit(version)).await;
    }
    let after = load(&store).await;
    let files = after.files().await.unwrap();
    assert_eq!(files[0].partition_values["p"], None);
    assert_eq!(files[0].tags.as_ref().unwrap()["a"], None);
    assert_eq!(files[0].tags.as_ref().unwrap()["b"].as_deref(), Some("x"));
    assert_eq!(after.metadata().configuration["k"], "v");
}

async fn sidecars(store: &TableStore) -> Vec<String> {
    let all = store.data().list("_delta_log/_sidecars", None);
    let all: Vec<_> = all.try_collect().await.unwrap();
    all.into_iter()
        .filter(|f| !f.is_dir)
        .map(|f| f.path)
        .collect()
}

#[tokio::test]
async fn b031_all_files_of_all_sidecars_are_there() {
    let head = begin(r#""v2Checkpoint""#, r#""delta.checkpointPolicy":"v2""#);
    let store = appends(&head, 12).await;
    checkpoint(&store, 12).await;
    assert_eq!(sidecars(&store).await.len(), 1);
    for version in 0..=12 {
        gone(&store, &file_name::commit(version)).await;
    }
    assert_eq!(count(&store).await, 12);
}

#[tokio::test]
async fn a_checkpoint_that_lacks_a_sidecar_is_passed_over_when_files_are_read() {
    let head = begin(r#""v2Checkpoint""#, r#""delta.checkpointPolicy":"v2""#);
    let store = appends(&head, 6).await;
    checkpoint(&store, 5).await;
    for sidecar in sidecars(&store).await {
        store.data().delete_file(&sidecar).await.unwrap();
    }
    let snapshot = load(&store).await;
    assert_eq!(snapshot.files().await.unwrap().len(), 6);
    assert_eq!(snapshot.tombstones().await.unwrap().len(), 0);
    gone(&store, &file_name::commit(0)).await;
    assert!(
        load(&store).await.files().await.is_err(),
        "nothing else tells the files"
    );
}

#[tokio::test]
async fn a_path_of_a_sidecar_that_leads_elsewhere_is_taken_by_its_name() {
    let head = begin(r#""v2Checkpoint""#, r#""delta.checkpointPolicy":"v2""#);
    let store = appends(&head, 6).await;
    checkpoint(&store, 6).await;
    let name = sidecars(&store).await.remove(0);
    let bare = name.rsplit('/').next().unwrap();
    let pointer = store.log().read(LAST_CHECKPOINT).await.unwrap();
    let pointer = deltaic_log::hint::LastCheckpoint::parse(&pointer).unwrap();
    let top = pointer.v2_checkpoint.unwrap()["path"]
        .as_str()
        .unwrap()
        .to_owned();
    let text = String::from_utf8(store.log().read(&top).await.unwrap().to_vec()).unwrap();
    for version in 0..=6 {
        gone(&store, &file_name::commit(version)).await;
    }
    for path in [
        format!("memory:/elsewhere/_delta_log/_sidecars/{bare}"),
        format!("/elsewhere/{bare}"),
        format!("../../../{bare}"),
        format!("_sidecars/{bare}"),
    ] {
        let moved = text.replace(
            &format!("\"path\":\"{bare}\""),
            &format!("\"path\":\"{path}\""),
        );
        assert_ne!(moved, text);
        put(&store, &top, &moved).await;
        assert_eq!(count(&store).await, 6, "{path}");
    }
}

#[tokio::test]
async fn a_checkpoint_that_was_cut_at_the_end_of_a_line_is_passed_over() {
    let head = begin(r#""v2Checkpoint""#, r#""delta.checkpointPolicy":"v2""#);
    let store = appends(&head, 6).await;
    let written = maintain::checkpoint(&load(&store).await, 0, &RandomIds)
        .await
        .unwrap();
    let top = written.files[0].clone();
    let text = String::from_utf8(store.log().read(&top).await.unwrap().to_vec()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for kept in 0..lines.len() {
        put(&store, &top, &format!("{}\n", lines[..kept].join("\n"))).await;
        let snapshot = load(&store).await;
        assert_eq!(snapshot.checkpoint_version(), None, "{kept} lines");
        assert_eq!(snapshot.files().await.unwrap().len(), 6);
    }
    for version in 0..6 {
        gone(&store, &file_name::commit(version)).await;
    }
    assert!(Snapshot::load(&store, None).await.is_err());
    put(&store, &top, &text).await;
    assert_eq!(count(&store).await, 6);
}
