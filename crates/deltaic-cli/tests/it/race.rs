//! Several processes at one table and one catalog.

use std::process::Stdio;

use serde_json::Value;

use crate::{Place, heavy};

#[test]
fn processes_that_append_at_the_same_time_lose_no_row_and_see_no_error() {
    let (processes, inserts) = if heavy() { (10, 100) } else { (4, 8) };
    let place = Place::empty();
    let ended = place.run(&["sql", "CREATE TABLE t (id BIGINT) USING delta"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let children: Vec<_> = (0..processes)
        .map(|p| {
            let statements: Vec<String> = (0..inserts)
                .map(|n| format!("INSERT INTO t VALUES ({})", p * 1000 + n))
                .collect();
            let mut command = place.command(&["sql", "--quiet", &statements.join(";")]);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let ended = place.run(&[
        "sql",
        "--output",
        "json",
        "SELECT count(*), count(DISTINCT id) FROM t; DESCRIBE HISTORY t",
    ]);
    let answers: Vec<Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let all = processes * inserts;
    assert_eq!(
        answers[0]["rows"],
        serde_json::json!([[all, all]]),
        "{}",
        ended.err
    );
    assert_eq!(answers[1]["rows"].as_array().unwrap().len(), all + 1);
}

#[test]
fn processes_that_use_one_catalog_do_not_corrupt_it() {
    let place = Place::empty();
    let children: Vec<_> = (0..4)
        .map(|p| {
            let statements: Vec<String> = (0..6)
                .map(|n| format!("CREATE SCHEMA IF NOT EXISTS s{n}; CREATE TABLE s{n}.t{p} (id INT) USING delta; DROP TABLE s{n}.t{p}; CREATE TABLE s{n}.u{p} (id INT) USING delta"))
                .collect();
            let mut command = place.command(&["sql", "--quiet", &statements.join(";")]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for n in 0..6 {
        let ended = place.run(&["sql", "--output", "json", &format!("SHOW TABLES IN s{n}")]);
        let answer: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(answer["rows"].as_array().unwrap().len(), 4, "{}", ended.out);
    }
}
