//! Data files and deletion vectors that are missing, cut or changed: the read fails with the reference's class and names
//! the file, other versions can still be read, and no statement makes it worse.

use std::fs;
use std::path::PathBuf;

use crate::support::{Ended, Place, contents, data_files};

/// A table of two files, and the path of one of them.
fn table(properties: &str) -> (Place, PathBuf) {
    let place = Place::empty();
    place.sql(&format!(
        "CREATE TABLE t (id BIGINT, word STRING) USING delta {properties}"
    ));
    place.sql("INSERT INTO t SELECT id, concat('w', id) FROM range(0, 50, 1, 1)");
    let first = data_files(&place.table("t"));
    place.sql("INSERT INTO t VALUES (100, 'later')");
    let file = place.table("t").join(&first[0]);
    (place, file)
}

fn check_failed_read(place: &Place, class: &str, file: &str) {
    let before = contents(&place.table("t"));
    for sql in [
        "SELECT * FROM t",
        "SELECT sum(length(word)) FROM t",
        "DELETE FROM t WHERE word = 'w3'",
        "UPDATE t SET word = 'x' WHERE word = 'w3'",
        "INSERT OVERWRITE t SELECT * FROM t",
        "CREATE TABLE copy USING delta AS SELECT * FROM t",
    ] {
        let ended = place.run(&["sql", "--quiet", sql]);
        check(sql, &ended, class, file);
    }
    let after = contents(&place.table("t"));
    for (path, content) in &before {
        assert_eq!(after.get(path), Some(content), "{}", path.display());
    }
    let commits = |files: &std::collections::BTreeMap<PathBuf, Vec<u8>>| {
        files
            .keys()
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .count()
    };
    assert_eq!(
        commits(&before),
        commits(&after),
        "a statement that failed has committed"
    );
    // A table that could not be filled is not there.
    assert!(place.rows("SHOW TABLES").iter().all(|row| row[1] == "t"));
}

fn check(what: &str, ended: &Ended, class: &str, file: &str) {
    assert!(
        [4, 8, 9].contains(&ended.status),
        "{what}: {} {}{}",
        ended.status,
        ended.out,
        ended.err
    );
    assert!(ended.err.contains(class), "{what}: {}", ended.err);
    assert!(
        ended.err.contains(file),
        "{what}: no {file} in {}",
        ended.err
    );
}

fn name(file: &std::path::Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_missing_data_file_is_named() {
    let (place, file) = table("");
    fs::remove_file(&file).unwrap();
    check_failed_read(&place, "FAILED_READ_FILE.FILE_NOT_EXIST", &name(&file));
    // What does not touch the file still works.
    assert_eq!(place.rows("SELECT count(*) FROM t"), [[51]]);
    assert_eq!(place.ids("SELECT id FROM t WHERE id = 100"), [100]);
    place.sql("INSERT INTO t VALUES (101, 'more')");
    place.sql("DESCRIBE HISTORY t; DESCRIBE DETAIL t; VACUUM t");
}

#[test]
fn a_data_file_that_is_cut_empty_or_changed_is_named() {
    let (place, file) = table("");
    let whole = fs::read(&file).unwrap();
    let mut scrambled = whole.clone();
    let end = scrambled.len() - 8;
    for byte in &mut scrambled[4..end] {
        *byte = byte.wrapping_mul(31).wrapping_add(7);
    }
    for content in [
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
        &whole[..3],
        &[],
        &scrambled,
        &vec![0; whole.len()],
    ] {
        fs::write(&file, content).unwrap();
        check_failed_read(&place, "FAILED_READ_FILE", &name(&file));
    }
}

#[test]
fn a_data_file_that_is_a_folder_is_named() {
    let (place, file) = table("");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    check_failed_read(&place, "FAILED_READ_FILE", &name(&file));
}

#[test]
fn another_parquet_file_in_its_place_is_no_reason_to_panic() {
    let (place, file) = table("");
    place.sql("CREATE TABLE other (id STRING, word ARRAY<INT>) USING delta; INSERT INTO other VALUES ('x', array(1))");
    let other = place
        .table("other")
        .join(&data_files(&place.table("other"))[0]);
    fs::copy(other, &file).unwrap();
    let ended = place.run(&["sql", "--quiet", "SELECT * FROM t"]);
    assert!(
        [3, 7, 8].contains(&ended.status),
        "{} {}",
        ended.status,
        ended.err
    );
    assert!(ended.err.contains(&name(&file)), "{}", ended.err);
}

#[test]
fn a_deletion_vector_that_is_missing_cut_or_changed_is_an_error_and_never_brings_deleted_rows_back()
{
    let (place, _) = table("TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')");
    place.sql("DELETE FROM t WHERE id % 2 = 0 AND id < 50");
    assert_eq!(place.rows("SELECT count(word) FROM t"), [[26]]);
    let files = data_files(&place.table("t"));
    let vectors: Vec<&String> = files.iter().filter(|name| name.ends_with(".bin")).collect();
    let [vector] = vectors[..] else {
        panic!("{files:?}")
    };
    let file = place.table("t").join(vector);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let mut length = whole.clone();
    length[1] = 0x7f;
    for (what, content) in [
        ("cut", &whole[..whole.len() / 2]),
        ("empty", &[]),
        ("flipped", &flipped),
        ("length", &length),
    ] {
        fs::write(&file, content).unwrap();
        check_vector(&place, what, vector);
    }
    fs::remove_file(&file).unwrap();
    check_vector(&place, "missing", vector);
    fs::write(&file, &whole).unwrap();
    assert_eq!(place.rows("SELECT count(word) FROM t"), [[26]]);
}

fn check_vector(place: &Place, what: &str, vector: &str) {
    for sql in [
        "SELECT word FROM t",
        "DELETE FROM t WHERE word = 'w3'",
        "UPDATE t SET word = 'x' WHERE id = 5",
    ] {
        let ended = place.run(&["sql", "--quiet", sql]);
        assert!(
            [4, 8, 9].contains(&ended.status),
            "{what}: {sql}: {} {}{}",
            ended.status,
            ended.out,
            ended.err
        );
        assert!(
            ended.err.starts_with("error: ["),
            "{what}: {sql}: {}",
            ended.err
        );
        assert!(
            ended.err.contains(vector),
            "{what}: {sql}: no {vector} in {}",
            ended.err
        );
    }
}

#[test]
fn files_that_vanish_under_a_running_query_give_its_rows_or_an_error() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT) USING delta");
    place.sql("INSERT INTO t SELECT id FROM range(0, 4000, 1, 40)");
    for wait in [0, 20, 60, 150] {
        let copy = format!("c{wait}");
        place.sql(&format!(
            "CREATE TABLE {copy} USING delta AS SELECT id FROM t"
        ));
        let mut session = place.session();
        session.rows("SELECT 1");
        session.send(&format!(
            "SELECT count(*), sum(c.id + r.id * 0) FROM {copy} c CROSS JOIN range(100) r"
        ));
        std::thread::sleep(std::time::Duration::from_millis(wait));
        place.sql(&format!("DROP TABLE {copy}"));
        let answer = session.answer().unwrap();
        match answer.get("error") {
            None => assert_eq!(answer["rows"][0][0], 400_000, "{wait}"),
            Some(error) => {
                let class = error["condition"].as_str().unwrap_or_default();
                let known = class.starts_with("FAILED_READ_FILE") || class.contains("NOT_FOUND");
                assert!(
                    known && error["message"].as_str().unwrap().contains(&copy),
                    "{wait}: {error}"
                );
            }
        }
        assert_eq!(session.close(), 0);
    }
}
