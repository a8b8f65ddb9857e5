//! Replay: which actions count.

use deltaic_log::skipping::{Column, Comparison, Predicate, StatisticsFacts, Value};
use deltaic_log::{Snapshot, Version};
use deltaic_protocol::error::ErrorKind;
use deltaic_protocol::file_name;
use deltaic_protocol::schema::DataType;

use super::{BEGIN, add, add_with, begin, gone, live, load, put, remove, table};

const SMALL: &str = r#""stats":"{\"numRecords\":1,\"minValues\":{\"id\":0},\"maxValues\":{\"id\":0},\"nullCount\":{\"id\":0}}""#;
const VECTOR: &str = r#""deletionVector":{"storageType":"u","pathOrInlineDv":"vBn[lx{q8@P<9BNH/isA","offset":1,"sizeInBytes":36,"cardinality":2}"#;

#[tokio::test]
async fn b001_the_newest_statistics_of_a_file_count_and_a_removed_file_is_gone() {
    let store = table(&[BEGIN, &add("f"), &add_with("f", SMALL)]).await;
    let snapshot = load(&store).await;
    let files = snapshot.files().await.unwrap();
    assert_eq!(files.len(), 1, "the file is there once");
    let above = Predicate::Compare(
        Column::new("id", DataType::Long),
        Comparison::Greater,
        Value::Integer(5),
    );
    let facts = StatisticsFacts::new(files[0].stats.as_deref(), Default::default());
    assert!(!above.may_match(&facts), "the statistics are the new ones");
    put(&store, &file_name::commit(3), &remove("f")).await;
    assert_eq!(live(&snapshot.update().await.unwrap()).await, [""; 0]);
    assert_eq!(live(&load(&store).await).await, [""; 0]);
}

#[tokio::test]
async fn b003_a_commit_gives_a_file_its_deletion_vector_in_any_order_of_its_lines() {
    let stats = r#""stats":"{\"numRecords\":4,\"tightBounds\":false,\"future\":{\"x\":[1]}}""#;
    let lines = [remove("f"), add_with("f", &format!("{VECTOR},{stats}"))];
    for order in [[0, 1], [1, 0]] {
        let commit = format!("{}\n{}\n", lines[order[0]], lines[order[1]]);
        let head = begin(r#""deletionVectors""#, "");
        let store = table(&[&head, &add("f"), &commit]).await;
        let before = Snapshot::load(&store, Some(1)).await.unwrap();
        for snapshot in [load(&store).await, before.update().await.unwrap()] {
            assert_eq!(live(&snapshot).await, ["f vBn[lx{q8@P<9BNH/isA"]);
            let totals = snapshot.summary().await.unwrap();
            assert_eq!((totals.num_files, totals.num_deleted_records), (1, 2));
        }
    }
}

#[tokio::test]
async fn b007_a_relative_and_an_absolute_spelling_are_one_file() {
    let absolute = "memory:/t/p=1/f%20g.parquet";
    for (first, second) in [
        ("p=1/f%20g.parquet", absolute),
        (absolute, "p=1/f%20g.parquet"),
    ] {
        let store = table(&[BEGIN, &add(first), &remove(second)]).await;
        assert_eq!(live(&load(&store).await).await, [""; 0], "{first}");
    }
}

#[tokio::test]
async fn b008_a_hole_in_the_log_is_an_error_that_names_it() {
    let commits: Vec<String> = (1..=5).map(|v| add(&format!("f{v}"))).collect();
    let all: Vec<&str> = [BEGIN]
        .into_iter()
        .chain(commits.iter().map(String::as_str))
        .collect();
    let store = table(&all).await;
    let at_four = Snapshot::load(&store, Some(4)).await.unwrap();
    gone(&store, &file_name::commit(3)).await;
    let error = Snapshot::load(&store, None).await.unwrap_err();
    assert_eq!(error.class(), Some("DELTA_VERSIONS_NOT_CONTIGUOUS"));
    assert_eq!(error.version(), Some(3));
    assert!(
        error.to_string().contains("between versions 2 and 4"),
        "{error}"
    );
    // Below the hole all is well, and a checkpoint above it covers it.
    let below = Snapshot::load(&store, Some(2)).await.unwrap();
    assert_eq!(live(&below).await, ["f1", "f2"]);
    deltaic_log::maintain::checkpoint(&at_four, 0, &deltaic_log::RandomIds)
        .await
        .unwrap();
    assert_eq!(
        live(&load(&store).await).await,
        ["f1", "f2", "f3", "f4", "f5"]
    );
}

#[tokio::test]
async fn b010_only_names_of_twenty_digits_are_commits() {
    let store = table(&[BEGIN, &add("f")]).await;
    let stray = add("stray");
    for name in [
        "00000000000000000002.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "2.json",
        "00000000000000000002.json.tmp",
        "00000000000000000002.json~",
        ".00000000000000000002.json.crc",
        "0000000000000000002.json",
        "000000000000000000002.json",
        "_staged_commits/00000000000000000002.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "00000000000000000002.d/00000000000000000002.json",
        "00000000000000000002.JSON",
    ] {
        put(&store, name, &stray).await;
    }
    let snapshot = load(&store).await;
    assert_eq!(
        (snapshot.version(), live(&snapshot).await),
        (1, vec!["f".to_owned()])
    );
    assert_eq!(snapshot.update().await.unwrap().version(), 1);
}

#[tokio::test]
async fn b012_statistics_that_are_no_text_are_no_statistics() {
    let object = r#""stats":{"numRecords":3,"maxValues":{"id":1},"nullCounts":{"id":0}}"#;
    let misspelt = r#""stats":"{\"numRecords\":3,\"nullCounts\":{\"id\":3}}""#;
    let commit = format!("{}\n{}", add_with("f", object), add_with("g", misspelt));
    let store = table(&[BEGIN, &commit]).await;
    let snapshot = load(&store).await;
    for file in snapshot.files().await.unwrap().iter() {
        let facts = StatisticsFacts::new(file.stats.as_deref(), Default::default());
        let column = Column::new("id", DataType::Long);
        let far = Predicate::Compare(column.clone(), Comparison::Greater, Value::Integer(9));
        assert!(far.may_match(&facts), "{}", file.path);
        let set = Predicate::Not(Box::new(Predicate::IsNull(column)));
        assert!(set.may_match(&facts), "{}", file.path);
    }
    assert_eq!(live(&snapshot).await, ["f", "g"]);
}

#[tokio::test]
async fn b117_a_second_vector_takes_the_place_of_the_first() {
    let other = VECTOR.replace(r#""offset":1"#, r#""offset":43"#);
    let removed = remove("f").replace(r#""size":10"#, &format!(r#""size":10,{VECTOR}"#));
    let first = format!("{}\n{}", remove("f"), add_with("f", VECTOR));
    let second = format!("{removed}\n{}", add_with("f", &other));
    let head = begin(r#""deletionVectors""#, "");
    let store = table(&[&head, &add("f"), &first, &second]).await;
    let snapshot = load(&store).await;
    let files = snapshot.files().await.unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].deletion_vector.as_ref().unwrap().offset, Some(43));
}

#[tokio::test]
async fn b122_a_vector_named_by_its_path_and_by_its_uuid_is_one_vector() {
    // The file that the UUID stands for, as another writer names it.
    let name = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
    let vector = |kind: &str, place: &str, offset: i32| {
        format!(
            r#""deletionVector":{{"storageType":"{kind}","pathOrInlineDv":"{place}","offset":{offset},"sizeInBytes":36,"cardinality":2}}"#
        )
    };
    for (folder, prefix) in [("", ""), ("ab/", "ab")] {
        let by_uuid = |offset| vector("u", &format!("{prefix}^-aqEH.-t@S}}K{{vb[*k^"), offset);
        let by_path = vector("p", &format!("memory:/t/{folder}{name}"), 1);
        for (first, second) in [(&by_path, &by_uuid(1)), (&by_uuid(1), &by_path)] {
            let removed = remove("f").replace(r#""size":10"#, &format!(r#""size":10,{second}"#));
            let update = format!("{removed}\n{}", add_with("f", &by_uuid(43)));
            let head = begin(r#""deletionVectors""#, "");
            let store = table(&[&head, &add_with("f", first), &update]).await;
            let files = load(&store).await.files().await.unwrap();
            assert_eq!(files.len(), 1, "{first} then {second}");
            assert_eq!(files[0].deletion_vector.as_ref().unwrap().offset, Some(43));
        }
    }
}

/// A commit that was never written to its end is seen; one of no bytes says nothing, as in the reference, and holds its place.
#[tokio::test]
async fn torn_commits_are_errors_and_empty_ones_say_nothing() {
    let store = table(&[BEGIN, "", &add("f")]).await;
    let snapshot = load(&store).await;
    assert_eq!(
        (snapshot.version(), live(&snapshot).await),
        (2, vec!["f".to_owned()])
    );
    let whole = format!("{}\n{}\n", add("g"), add("h"));
    for cut in [whole.len() - 2, whole.len() - 30, 5] {
        let store = table(&[BEGIN, &whole[..cut]]).await;
        let error = Snapshot::load(&store, None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{cut}");
        assert_eq!(error.version(), Some(1 as Version));
    }
    // A line end short is whole.
    let store = table(&[BEGIN, whole.trim_end()]).await;
    assert_eq!(live(&load(&store).await).await, ["g", "h"]);
}
