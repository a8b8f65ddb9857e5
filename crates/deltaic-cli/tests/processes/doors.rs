//! Every command: a help with an example, and JSON for programs, for answers as for errors.

use serde_json::Value;

use crate::support::Place;

const COMMANDS: [&str; 6] = [
    "sql",
    "vacuum",
    "restore",
    "history",
    "detail",
    "properties",
];

#[test]
fn every_command_has_a_help_with_an_example_of_itself() {
    let place = Place::empty();
    let top = place.run(&["--help"]);
    assert_eq!(top.status, 0);
    for command in COMMANDS {
        assert!(top.out.contains(command), "{command} is not listed");
        let ended = place.run(&[command, "--help"]);
        assert_eq!(ended.status, 0, "{command}: {}", ended.err);
        assert!(ended.out.contains("Example:"), "{command}");
        let example = ended
            .out
            .lines()
            .find(|line| line.trim_start().starts_with("deltaic "))
            .unwrap();
        assert!(example.contains(command), "{example}");
    }
    // What follows "Commands:" is what is tested here.
    let listed: Vec<&str> = top
        .out
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(listed, COMMANDS);
}

/// Every line on standard output is a JSON object.
fn lines(what: &str, out: &str) -> Vec<Value> {
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{what}: {e}: {line}"));
    let lines: Vec<Value> = out.lines().map(parse).collect();
    assert!(lines.iter().all(Value::is_object), "{what}: {out}");
    lines
}

#[test]
fn output_json_is_json_for_every_command() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT, `odd\"name\"` STRING) USING delta; INSERT INTO t VALUES (1, 'a\nb\t\"c\"\\\\'), (2, NULL)");
    for words in [
        vec!["sql", "SELECT * FROM t ORDER BY id"],
        vec!["sql", "CREATE TABLE u (id INT) USING delta"],
        vec![
            "sql",
            "SHOW TABLES; DESCRIBE t; DESCRIBE DETAIL t; DESCRIBE HISTORY t",
        ],
        vec!["vacuum", "t"],
        vec!["vacuum", "t", "--dry-run"],
        vec!["restore", "t", "--version", "1"],
        vec!["history", "t"],
        vec!["detail", "t"],
        vec!["properties", "t"],
        vec!["properties", "t", "--set", "a=b"],
        vec!["properties", "./wh/t", "--unset", "a"],
    ] {
        let mut words = words.clone();
        words.extend(["--output", "json"]);
        let ended = place.run(&words);
        assert_eq!(ended.status, 0, "{words:?}: {}{}", ended.out, ended.err);
        for line in lines(&format!("{words:?}"), &ended.out) {
            assert!(
                line["columns"].is_array() && line["rows"].is_array(),
                "{words:?}: {line}"
            );
        }
    }
    let rows = place.rows("SELECT * FROM t ORDER BY id");
    assert_eq!(rows[0][1], "a\nb\t\"c\"\\");
}

#[test]
fn output_json_is_json_for_every_error_and_the_status_is_that_of_its_kind() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT NOT NULL) USING delta");
    for (status, class, words) in [
        (
            4,
            "TABLE_OR_VIEW_NOT_FOUND",
            vec!["sql", "SELECT * FROM nothing"],
        ),
        (
            2,
            "PARSE_SYNTAX_ERROR",
            vec!["sql", "SELECT FROM WHERE \u{1f600} '"],
        ),
        (7, "DIVIDE_BY_ZERO", vec!["sql", "SELECT 1/0"]),
        (
            7,
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
            vec!["sql", "INSERT INTO t VALUES (NULL)"],
        ),
        (4, "TABLE_OR_VIEW_NOT_FOUND", vec!["vacuum", "nothing"]),
        (
            7,
            "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
            vec!["vacuum", "t", "--retain-hours", "0"],
        ),
        (4, "", vec!["restore", "nothing", "--version", "1"]),
        (4, "", vec!["restore", "t", "--version", "9"]),
        (4, "", vec!["history", "./nothing"]),
        (4, "", vec!["detail", "nothing.at.all"]),
        (4, "", vec!["properties", "nothing"]),
        (
            3,
            "DELTA_UNKNOWN_CONFIGURATION",
            vec!["properties", "t", "--set", "delta.nonsense=1"],
        ),
        (5, "", vec!["sql", "OPTIMIZE t"]),
        (4, "", vec!["sql", "-f", "nowhere.sql"]),
    ] {
        let mut words = words.clone();
        words.extend(["--output", "json"]);
        let ended = place.run(&words);
        let found = lines(&format!("{words:?}"), &ended.out);
        assert_eq!(found.len(), 1, "{words:?}: {}{}", ended.out, ended.err);
        let error = &found[0]["error"];
        assert!(error["message"].is_string(), "{words:?}: {error}");
        assert!(
            error["condition"]
                .as_str()
                .unwrap_or_default()
                .starts_with(class),
            "{words:?}: {error}"
        );
        assert_eq!(ended.status, status, "{words:?}: {error}");
        assert_eq!(ended.err, "", "{words:?}");
    }
}

#[test]
fn a_wrong_command_line_is_status_two_and_says_what_is_wrong() {
    let place = Place::empty();
    for (words, said) in [
        (vec!["vacuum"], "TABLE"),
        (vec!["vacuum", "t", "--retain-hours", "many"], "many"),
        (vec!["restore", "t"], "--version"),
        (vec!["history", "t", "--limit", "-1"], "-1"),
        (vec!["properties", "t", "--set", "novalue"], "KEY=VALUE"),
        (vec!["sql", "--conf", "=x", "SELECT 1"], "KEY=VALUE"),
        (vec!["sql", "--profile", "delta-9", "SELECT 1"], "delta-4.3"),
        (vec!["dance"], "dance"),
        (vec![], "Usage"),
    ] {
        let ended = place.run(&words);
        assert_eq!(ended.status, 2, "{words:?}: {}{}", ended.out, ended.err);
        assert!(ended.err.contains(said), "{words:?}: {}", ended.err);
    }
}

#[test]
fn odd_numbers_on_the_command_line_are_refused_and_not_run() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id INT) USING delta; INSERT INTO t VALUES (1)");
    for hours in ["NaN", "inf", "1e300", "-inf"] {
        let ended = place.run(&["vacuum", "t", &format!("--retain-hours={hours}")]);
        assert!(
            (2..=9).contains(&ended.status),
            "{hours}: {} {}{}",
            ended.status,
            ended.out,
            ended.err
        );
    }
    for version in ["-1", "1.5", "18446744073709551615", "9223372036854775808"] {
        let ended = place.run(&["restore", "t", &format!("--version={version}")]);
        assert!(
            (2..=9).contains(&ended.status),
            "{version}: {} {}{}",
            ended.status,
            ended.out,
            ended.err
        );
    }
    assert_eq!(place.ids("SELECT id FROM t"), [1]);
}
