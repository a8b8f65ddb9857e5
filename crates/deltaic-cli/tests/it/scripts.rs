//! `deltaic sql` with statements, files and standard input.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Place;

const SETUP: &str = "CREATE TABLE t (id BIGINT, word STRING) USING delta;\nINSERT INTO t VALUES (1, 'one'), (2, NULL);\n";

#[test]
fn statements_print_tables_as_spark_does() {
    let place = Place::empty();
    let ended = place.run(&["sql", SETUP, "SELECT * FROM t ORDER BY id"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(
        ended.out.trim_end(),
        "+---+----+\n|id |word|\n+---+----+\n|1  |one |\n|2  |NULL|\n+---+----+"
    );
}

#[test]
fn json_output_is_one_object_per_answer() {
    let place = Place::empty();
    let ended = place.run(&["sql", "--output", "json", "SELECT 1 AS a; SELECT 'x' AS b"]);
    let lines: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["rows"], serde_json::json!([[1]]));
    assert_eq!(lines[1]["columns"][0][1], "string");
}

#[test]
fn standard_input_is_a_script() {
    let place = Place::empty();
    let ended = place.run_with_input(&["sql"], "SELECT 40 + 2 AS answer");
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.out.contains("|42    |"), "{}", ended.out);
}

#[test]
fn an_expected_error_is_printed_and_the_run_goes_on() {
    let place = Place::empty();
    let script = format!(
        "{SETUP}-- expect error: TABLE_OR_VIEW_NOT_FOUND\nSELECT * FROM nothing;\nSELECT count(*) AS n FROM t;\n"
    );
    std::fs::write(place.path().join("lesson.sql"), script).unwrap();
    let ended = place.run(&["sql", "-f", "lesson.sql"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(
        ended.out.contains("TABLE_OR_VIEW_NOT_FOUND"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("|2  |"), "{}", ended.out);
}

#[test]
fn an_expected_error_that_does_not_come_is_a_failure() {
    let place = Place::empty();
    let ended = place.run_with_input(
        &["sql"],
        "-- expect error: DIVIDE_BY_ZERO\nSELECT 1;\nSELECT 'not reached' AS a;",
    );
    assert_eq!(ended.status, 10);
    assert!(ended.err.contains("DIVIDE_BY_ZERO"), "{}", ended.err);
    assert!(!ended.out.contains("not reached"), "{}", ended.out);
}

#[test]
fn an_error_of_another_class_than_the_expected_one_is_a_failure() {
    let place = Place::empty();
    let ended = place.run_with_input(
        &["sql"],
        "-- expect error: DIVIDE_BY_ZERO\nSELECT * FROM nothing;",
    );
    assert_eq!(ended.status, 4, "{}", ended.err);
}

#[test]
fn an_unexpected_error_stops_the_run_with_the_status_of_its_kind() {
    let place = Place::empty();
    let ended = place.run(&["sql", "SELEC 1; SELECT 'not reached' AS a"]);
    assert_eq!(ended.status, 2, "{}", ended.err);
    assert!(ended.err.contains("PARSE_SYNTAX_ERROR"), "{}", ended.err);
    assert!(ended.err.contains(" hint: "), "{}", ended.err);
    assert!(!ended.out.contains("not reached"), "{}", ended.out);
    let ended = place.run(&["sql", "SELECT * FROM nothing"]);
    assert_eq!(ended.status, 4, "{}", ended.err);
    let ended = place.run(&["sql", "SELECT 1 / 0"]);
    assert_eq!(ended.status, 7, "{}", ended.err);
}

#[test]
fn keep_going_runs_the_rest_and_still_fails() {
    let place = Place::empty();
    let ended = place.run(&[
        "sql",
        "--keep-going",
        "SELECT * FROM nothing; SELECT 'reached' AS a",
    ]);
    assert_eq!(ended.status, 4);
    assert!(ended.out.contains("reached"), "{}", ended.out);
}

#[test]
fn parameters_come_from_the_command_line_from_marks_and_from_answers() {
    let place = Place::empty();
    let script = "-- param: a = from the script\n-- param: b = 2\nSELECT :a AS a, :b AS b;\n-- keep: kept = x\nSELECT 7 AS x;\n-- param: b = 3\nSELECT :kept + :b AS y;\n";
    let ended = place.run_with_input(
        &["sql", "--output", "json", "--param", "a=from outside"],
        script,
    );
    assert_eq!(ended.status, 0, "{} {}", ended.out, ended.err);
    let lines: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["rows"], serde_json::json!([["from outside", 2]]));
    assert_eq!(lines[2]["rows"], serde_json::json!([[10]]));
}

#[test]
fn tables_persist_between_runs() {
    let place = Place::empty();
    assert_eq!(place.run(&["sql", SETUP]).status, 0);
    let ended = place.run(&["sql", "SELECT count(*) AS n FROM t"]);
    assert!(ended.out.contains("|2  |"), "{} {}", ended.out, ended.err);
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let place = Place::empty();
    let ended = place.run(&["sql", "-f", "nowhere.sql"]);
    assert_eq!(ended.status, 4);
    assert!(ended.err.contains("nowhere.sql"), "{}", ended.err);
}

#[test]
fn ctrl_c_stops_the_statement_and_the_run() {
    let place = Place::empty();
    let long = "SELECT count(*) FROM range(0, 1000000000000, 1, 2) WHERE id % 7 = 3";
    let mut command = place.command(&["sql", "--quiet", long, "SELECT 'not reached' AS a"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // Long enough to be in the middle of it, on a busy machine too.
    std::thread::sleep(Duration::from_millis(2500));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!String::from_utf8_lossy(&output.stdout).contains("not reached"));
}
