//! Logs as crashes, careless hands and other writers leave them: each damage is an error of its kind that names file and
//! version, or is healed by what else is there; wrong rows are never an answer, and nothing is touched.

use std::fs;

use crate::support::{Ended, Place, contents};

/// Five versions: created, then four rows.
fn table() -> Place {
    table_with("")
}

fn table_with(properties: &str) -> Place {
    let place = Place::empty();
    place.sql(&format!(
        "CREATE TABLE t (id BIGINT) USING delta {properties}"
    ));
    place.sql("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); INSERT INTO t VALUES (3); INSERT INTO t VALUES (4)");
    place
}

fn commit(version: u64) -> String {
    format!("{version:020}.json")
}

/// Every statement on the table fails with the status and names what the words say; the files stay as they are.
fn check_damage(place: &Place, status: i32, words: &[&str]) {
    let before = contents(&place.table("t"));
    for sql in [
        "SELECT * FROM t",
        "INSERT INTO t VALUES (9)",
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET id = 7 WHERE id = 1",
        "VACUUM t",
        "DESCRIBE DETAIL t",
        "ALTER TABLE t SET TBLPROPERTIES ('a' = 'b')",
    ] {
        let ended = place.run(&["sql", "--quiet", sql]);
        check_error(sql, &ended, status, words);
    }
    assert_eq!(contents(&place.table("t")), before, "the files changed");
}

fn check_error(what: &str, ended: &Ended, status: i32, words: &[&str]) {
    assert_eq!(ended.status, status, "{what}: {}{}", ended.out, ended.err);
    for word in words {
        assert!(
            ended.err.contains(word),
            "{what}: no {word} in {}",
            ended.err
        );
    }
    assert!(
        ended.err.starts_with("error: ["),
        "{what} has no class: {}",
        ended.err
    );
    assert!(ended.err.contains(" hint: "), "{what}: {}", ended.err);
}

#[test]
fn a_torn_last_line_is_named_with_file_and_version() {
    let place = table();
    let file = place.log("t", &commit(4));
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 25]).unwrap();
    check_damage(&place, 8, &[&commit(4), "version 4"]);
    // What lies before is still there.
    assert_eq!(place.ids("SELECT id FROM t VERSION AS OF 3"), [1, 2, 3]);
}

#[test]
fn an_empty_commit_and_one_of_zero_bytes_do_not_bring_wrong_rows() {
    for content in ["", "\n\n"] {
        let place = table();
        fs::write(place.log("t", &commit(4)), content).unwrap();
        let ended = place.run(&["sql", "--quiet", "SELECT count(*) FROM t"]);
        // The reference reads it as a commit without actions.
        assert!(
            ended.status == 8 || ended.out.contains("|3 "),
            "{} {}",
            ended.out,
            ended.err
        );
    }
}

#[test]
fn a_missing_commit_in_the_middle_is_named_with_its_version() {
    let place = table();
    fs::remove_file(place.log("t", &commit(2))).unwrap();
    check_damage(
        &place,
        8,
        &["DELTA_VERSIONS_NOT_CONTIGUOUS", "_delta_log", "version 2"],
    );
}

#[test]
fn a_missing_first_commit_is_named() {
    let place = table();
    fs::remove_file(place.log("t", &commit(0))).unwrap();
    check_damage(&place, 8, &["DELTA_TRUNCATED_TRANSACTION_LOG", &commit(0)]);
}

#[test]
fn a_line_that_is_not_utf8_is_named_with_file_and_version() {
    let place = table();
    let file = place.log("t", &commit(3));
    let mut content = fs::read(&file).unwrap();
    let at = content.windows(6).position(|w| w == b"\"path\"").unwrap();
    content[at + 9] = 0xff;
    fs::write(&file, content).unwrap();
    check_damage(&place, 8, &[&commit(3), "version 3"]);
}

#[test]
fn lines_that_are_json_but_no_action_are_refused_or_passed_over_and_never_misread() {
    // An object with an unknown key is an action of a later release; whatever changes how a table is read comes with a
    // table feature, so it can be passed over.
    let place = table();
    let file = place.log("t", &commit(4));
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        format!("{{\"newAction\":{{\"x\":[1,{{}}]}}}}\n{whole}"),
    )
    .unwrap();
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4]);
    place.sql("INSERT INTO t VALUES (5)");
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4, 5]);
    for line in [
        "[]",
        "7",
        "\"add\"",
        "{\"add\":7}",
        "{\"add\":{}}",
        "{\"add\":{\"path\":null}}",
        "{\"protocol\":{\"minReaderVersion\":\"x\"}}",
        "{",
        "\u{0}",
    ] {
        let place = table();
        let file = place.log("t", &commit(4));
        let whole = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{whole}{line}\n")).unwrap();
        let ended = place.run(&["sql", "--quiet", "SELECT count(*) FROM t"]);
        check_error(line, &ended, 8, &[&commit(4), "version 4"]);
    }
}

#[test]
fn a_json_tower_in_a_commit_does_not_overflow_the_stack() {
    let place = table();
    let file = place.log("t", &commit(4));
    let whole = fs::read_to_string(&file).unwrap();
    let tower = format!(
        "{{\"commitInfo\":{}1{}}}\n",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    fs::write(&file, format!("{whole}{tower}")).unwrap();
    let ended = place.run(&["sql", "--quiet", "SELECT count(*) FROM t"]);
    assert!(
        ended.status == 0 || ended.status == 8,
        "{} {}",
        ended.status,
        ended.err
    );
}

#[test]
fn a_hint_without_its_checkpoint_or_without_sense_hides_nothing() {
    let place = table_with("TBLPROPERTIES ('delta.checkpointInterval' = '2')");
    let hint = place.log("t", "_last_checkpoint");
    let whole = fs::read_to_string(&hint).unwrap();
    for content in [
        "",
        "{",
        "{\"version\":99,\"size\":1}",
        "{\"version\":1,\"size\":1}",
        "{\"version\":-5}",
        "\u{fffd}",
        "[]",
        &whole[..whole.len() / 2],
    ] {
        fs::write(&hint, content).unwrap();
        assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4], "{content}");
    }
    fs::write(&hint, [0xff, 0xfe, 0]).unwrap();
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4]);
    fs::remove_file(&hint).unwrap();
    fs::create_dir(&hint).unwrap();
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4], "a folder");
    fs::remove_dir(&hint).unwrap();
    fs::write(&hint, &whole).unwrap();
    for version in [2, 4] {
        let _ = fs::remove_file(place.log("t", &format!("{version:020}.checkpoint.parquet")));
    }
    assert_eq!(
        place.ids("SELECT id FROM t"),
        [1, 2, 3, 4],
        "the checkpoints are gone"
    );
    place.sql("INSERT INTO t VALUES (5)");
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4, 5]);
}

#[test]
fn a_log_that_needs_its_checkpoint_and_has_none_is_an_error() {
    let place = table_with("TBLPROPERTIES ('delta.checkpointInterval' = '2')");
    for version in 0..=2 {
        fs::remove_file(place.log("t", &commit(version))).unwrap();
    }
    assert_eq!(
        place.ids("SELECT id FROM t"),
        [1, 2, 3, 4],
        "from the checkpoint"
    );
    for version in [2, 4] {
        let _ = fs::remove_file(place.log("t", &format!("{version:020}.checkpoint.parquet")));
    }
    check_damage(
        &place,
        8,
        &["DELTA_TRUNCATED_TRANSACTION_LOG", "_delta_log"],
    );
}

#[test]
fn a_damaged_checkpoint_is_passed_over_where_the_commits_are_there_and_named_where_not() {
    let place = table_with("TBLPROPERTIES ('delta.checkpointInterval' = '2')");
    let file = place.log("t", &format!("{:020}.checkpoint.parquet", 4));
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    for byte in flipped.iter_mut().skip(40).step_by(7) {
        *byte ^= 0x55;
    }
    for content in [
        &b"PAR1"[..],
        b"not parquet at all",
        &whole[..whole.len() / 2],
        &flipped,
        b"",
    ] {
        fs::write(&file, content).unwrap();
        assert_eq!(
            place.ids("SELECT id FROM t"),
            [1, 2, 3, 4],
            "{} bytes",
            content.len()
        );
    }
    // Now it is the only thing that knows the beginning.
    fs::remove_file(place.log("t", &format!("{:020}.checkpoint.parquet", 2))).unwrap();
    for version in 0..=3 {
        fs::remove_file(place.log("t", &commit(version))).unwrap();
    }
    for content in [&whole[..whole.len() / 2], &flipped] {
        fs::write(&file, content).unwrap();
        let ended = place.run(&["sql", "--quiet", "SELECT * FROM t"]);
        check_error("a damaged checkpoint", &ended, 8, &["_delta_log"]);
    }
}

#[test]
fn a_checksum_that_is_damaged_or_lies_is_no_reason_to_fail_or_to_answer_wrong() {
    let place = table();
    for content in [
        "{",
        "",
        "{\"numFiles\":0,\"tableSizeBytes\":0,\"numMetadata\":1,\"numProtocol\":1}",
    ] {
        for version in 0..=4 {
            let file = place.log("t", &format!("{version:020}.crc"));
            if file.exists() {
                fs::write(&file, content).unwrap();
            }
        }
        assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4], "{content}");
    }
    place.sql("INSERT INTO t VALUES (5)");
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4, 5]);
}

#[test]
fn a_commit_that_is_a_folder_is_an_error_that_names_it() {
    let place = table();
    let file = place.log("t", &commit(4));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let ended = place.run(&["sql", "--quiet", "INSERT INTO t VALUES (9)"]);
    assert!(
        [8, 9].contains(&ended.status),
        "{} {}",
        ended.status,
        ended.err
    );
    assert!(ended.err.contains(&commit(4)), "{}", ended.err);
    assert!(file.is_dir());
}

#[test]
fn a_log_that_is_a_file_or_empty_or_not_there_is_no_table() {
    for kind in ["file", "empty", "none"] {
        let place = table();
        let log = place.table("t").join("_delta_log");
        fs::remove_dir_all(&log).unwrap();
        match kind {
            "file" => fs::write(&log, "not a folder").unwrap(),
            "empty" => fs::create_dir(&log).unwrap(),
            _ => {}
        }
        let path = place.table("t");
        for sql in [
            "SELECT * FROM t".to_owned(),
            "INSERT INTO t VALUES (9)".to_owned(),
            "DELETE FROM t".to_owned(),
            "VACUUM t".to_owned(),
            "DESCRIBE HISTORY t".to_owned(),
            format!("SELECT * FROM delta.`{}`", path.display()),
            format!("INSERT INTO delta.`{}` VALUES (9)", path.display()),
            format!("VACUUM delta.`{}`", path.display()),
        ] {
            let before = contents(&path);
            let ended = place.run(&["sql", "--quiet", &sql]);
            assert!(
                (3..=9).contains(&ended.status),
                "{kind}: {sql}: {} {}",
                ended.status,
                ended.err
            );
            assert!(ended.err.contains("/wh/t"), "{kind}: {sql}: {}", ended.err);
            assert_eq!(contents(&path), before, "{kind}: {sql}");
        }
        // It can always be dropped.
        place.sql("DROP TABLE t");
    }
}

#[test]
fn a_table_whose_folder_vanishes_under_a_held_session_is_not_brought_back_in_half() {
    for sql in [
        "INSERT INTO t VALUES (9)",
        "SELECT * FROM t",
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET id = 0",
        "VACUUM t",
        "DESCRIBE HISTORY t",
    ] {
        let place = table();
        let mut session = place.session();
        assert_eq!(session.rows("SELECT count(*) FROM t"), [[4]]);
        fs::remove_dir_all(place.table("t")).unwrap();
        let answer = session.ask(sql);
        let error = answer
            .get("error")
            .unwrap_or_else(|| panic!("{sql}: {answer}"));
        assert!(
            error["condition"].is_string() || error["javaClass"].is_string(),
            "{sql}: {error}"
        );
        assert!(
            error["path"].as_str().unwrap_or_default().contains("wh/t"),
            "{sql}: {error}"
        );
        assert!(!place.log("t", &commit(5)).exists(), "{sql}");
        assert_eq!(session.close(), 0);
    }
}

#[test]
fn names_that_are_no_commits_are_passed_over() {
    let place = table();
    let log = place.table("t").join("_delta_log");
    for name in [
        "00000000000000000005.json.tmp",
        "5.json",
        "00000000000000000005.JSON",
        ".00000000000000000005.json.crc",
        "99999999999999999999.json.bak",
        "00000000000000000005.checkpoint.parquet.tmp",
        "_commits",
        "ünïcode \u{1f600}.json",
        "0x000000000000000005.json",
    ] {
        fs::write(log.join(name), "junk").unwrap();
    }
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4]);
    place.sql("INSERT INTO t VALUES (5)");
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2, 3, 4, 5]);
}
