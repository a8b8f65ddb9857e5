//! Statements and scripts of odd shape: huge, deep, empty, cut, with strange line ends and strange bytes. An error is fine
//! where the reference has one; a crash, an endless run or a misreading is not.

use crate::support::{Ended, Place};

/// Ended by itself with an answer or an error of the statement: no signal, no defect, no panic.
fn check_sane(what: &str, ended: &Ended) {
    assert!(
        ended.status == 0 || (2..=9).contains(&ended.status),
        "{what}: {} {}",
        ended.status,
        tail(&ended.err)
    );
    assert!(
        !ended.err.contains("panicked") && !ended.err.contains("INTERNAL_ERROR"),
        "{what}: {}",
        tail(&ended.err)
    );
}

fn tail(text: &str) -> String {
    text.chars()
        .rev()
        .take(600)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect()
}

#[test]
fn deep_nesting_is_answered_or_refused_and_does_not_overflow_the_stack() {
    let place = Place::empty();
    for depth in [50, 400, 5_000, 60_000] {
        let tower = |open: &str, middle: &str, close: &str| {
            format!(
                "SELECT {}{middle}{}",
                open.repeat(depth),
                close.repeat(depth)
            )
        };
        for (what, sql) in [
            ("parentheses", tower("(", "1", ")")),
            ("functions", tower("abs(", "1", ")")),
            ("not", format!("SELECT {} true", "NOT ".repeat(depth))),
            ("minus", format!("SELECT {} 1", "- ".repeat(depth))),
            ("plus", format!("SELECT 1{}", " + 1".repeat(depth))),
            ("and", format!("SELECT true{}", " AND true".repeat(depth))),
            (
                "or",
                format!(
                    "SELECT id FROM range(1) WHERE id = 0{}",
                    " OR id = 0".repeat(depth)
                ),
            ),
            ("concat", format!("SELECT 'a'{}", " || 'a'".repeat(depth))),
            ("case", tower("CASE WHEN true THEN ", "1", " END")),
            ("cast", tower("CAST(", "1", " AS INT)")),
            ("arrays", tower("array(", "1", ")")),
            ("subqueries", tower("(SELECT ", "1", ")")),
            (
                "derived tables",
                format!(
                    "{}SELECT 1{}",
                    "SELECT * FROM (".repeat(depth),
                    ")".repeat(depth)
                ),
            ),
            (
                "unions",
                format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(depth)),
            ),
            (
                "subscripts",
                format!("SELECT array(1){}", "[0]".repeat(depth)),
            ),
            (
                "fields",
                format!("SELECT named_struct('a', 1){}", ".a".repeat(depth)),
            ),
            (
                "types",
                format!(
                    "SELECT CAST(NULL AS {}INT{})",
                    "ARRAY<".repeat(depth),
                    ">".repeat(depth)
                ),
            ),
            (
                "comments",
                format!("SELECT {} 1 {}", "/*".repeat(depth), "*/".repeat(depth)),
            ),
            (
                "with",
                format!(
                    "{}SELECT 1{}",
                    "WITH a AS (".repeat(depth),
                    ") SELECT * FROM a".repeat(depth)
                ),
            ),
        ] {
            // Deep plans take long in an unoptimised program; past the first refusal nothing new is learned of them.
            let ended = place.run_with_input(&["sql", "--quiet"], sql.as_bytes());
            check_sane(&format!("{depth} {what}"), &ended);
        }
    }
}

#[test]
fn deep_types_are_stored_or_refused() {
    let place = Place::empty();
    for depth in [20, 200, 3_000] {
        let ty = format!(
            "{}INT{}",
            "STRUCT<a: ARRAY<".repeat(depth),
            ">>".repeat(depth)
        );
        let sql = format!(
            "CREATE OR REPLACE TABLE t (x {ty}) USING delta; INSERT INTO t VALUES (NULL); SELECT * FROM t; DESCRIBE t"
        );
        let ended = place.run_with_input(&["sql", "--quiet"], sql.as_bytes());
        check_sane(&format!("{depth}"), &ended);
    }
}

#[test]
fn long_statements_are_run() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT, s STRING) USING delta");
    let rows: Vec<String> = (0..3_000).map(|n| format!("({n}, 'word {n}')")).collect();
    let ended = place.run_with_input(
        &["sql", "--quiet"],
        format!("INSERT INTO t VALUES {}", rows.join(", ")).as_bytes(),
    );
    assert_eq!(ended.status, 0, "{}", tail(&ended.err));
    assert_eq!(
        place.rows("SELECT count(*), max(length(s)) FROM t"),
        [[3000, 9]]
    );
    let long = "x".repeat(3_000_000);
    let ended = place.run_with_input(
        &["sql", "--quiet"],
        format!("INSERT INTO t VALUES (-1, '{long}')").as_bytes(),
    );
    assert_eq!(ended.status, 0, "{}", tail(&ended.err));
    assert_eq!(
        place.rows("SELECT length(s) FROM t WHERE id = -1"),
        [[3_000_000]]
    );
    let many: Vec<String> = (0..3_000).map(|n| n.to_string()).collect();
    assert_eq!(
        place.rows(&format!(
            "SELECT count(*) FROM t WHERE id IN ({})",
            many.join(", ")
        )),
        [[3000]]
    );
    let columns: Vec<String> = (0..500).map(|n| format!("c{n} INT")).collect();
    place.sql(&format!(
        "CREATE TABLE wide ({}) USING delta; INSERT INTO wide (c0, c499) VALUES (1, 2)",
        columns.join(", ")
    ));
    assert_eq!(
        place.rows("SELECT c0, c499, c250 FROM wide"),
        [[
            serde_json::json!(1),
            serde_json::json!(2),
            serde_json::Value::Null
        ]]
    );
}

#[test]
fn scripts_without_statements_do_nothing() {
    let place = Place::empty();
    for text in [
        "",
        "\n",
        ";",
        ";;;\n;",
        "-- only a comment",
        "-- a\r\n-- b\r\n",
        "/* open */",
        " \t\r\n",
        "\u{feff}",
    ] {
        let ended = place.run_with_input(&["sql", "--quiet"], text.as_bytes());
        assert_eq!(
            (ended.status, ended.out.as_str(), ended.err.as_str()),
            (0, "", ""),
            "{text:?}"
        );
        let file = place.path().join("empty.sql");
        std::fs::write(&file, text).unwrap();
        let ended = place.run(&["sql", "-f", "empty.sql"]);
        assert_eq!(
            (ended.status, ended.out.trim()),
            (0, ""),
            "{text:?}: {}",
            ended.err
        );
    }
}

#[test]
fn line_ends_and_marks_of_other_systems_change_nothing() {
    let place = Place::empty();
    let script = "-- a lesson\nCREATE TABLE t (id INT, -- the key\n  s STRING) USING delta;\nINSERT INTO t VALUES (1, 'a'), (2, '-- no; comment');\n-- expect error: DIVIDE_BY_ZERO\nSELECT 1/0;\n/* a; b */ SELECT count(*) AS n FROM t;\n";
    let mut outs = Vec::new();
    for text in [
        script.to_owned(),
        script.replace('\n', "\r\n"),
        format!("\u{feff}{script}"),
        script.trim_end().trim_end_matches(';').to_owned(),
    ] {
        let place = Place::empty();
        let ended = place.run_with_input(&["sql", "--quiet"], text.as_bytes());
        assert_eq!(ended.status, 0, "{text:?}: {}{}", ended.out, ended.err);
        assert!(ended.out.contains("|2  |"), "{}", ended.out);
        outs.push(ended.out.replace('\r', ""));
    }
    outs.dedup();
    assert_eq!(outs.len(), 1, "{outs:?}");
    // A line end within a text belongs to the text.
    let rows = place.rows("SELECT length('a\r\nb')");
    assert_eq!(rows, [[4]]);
}

#[test]
fn bytes_that_are_no_text_are_refused_and_named() {
    let place = Place::empty();
    std::fs::write(place.path().join("latin.sql"), b"SELECT '\xe9\xff'").unwrap();
    let ended = place.run(&["sql", "-f", "latin.sql"]);
    assert!(
        ended.status >= 2 && ended.err.contains("latin.sql"),
        "{} {}",
        ended.status,
        ended.err
    );
    check_sane("latin", &ended);
    let ended = place.run_with_input(&["sql"], b"SELECT '\xe9\xff'");
    check_sane("input", &ended);
    assert_ne!(ended.status, 0);
    // NUL is a sign like others within a text, and none outside.
    let ended = place.run_with_input(
        &["sql", "--quiet", "--output", "json"],
        b"SELECT 'a\0b' AS s",
    );
    check_sane("NUL in a text", &ended);
    let ended = place.run_with_input(&["sql", "--quiet"], b"SELECT \0 1");
    check_sane("NUL", &ended);
    assert_eq!(ended.status, 2, "{} {}", ended.out, ended.err);
    let ended = place.run_with_input(
        &["sql", "--pipe"],
        b"{\"sql\": \"SELECT '\xff'\"}\n{\"sql\": \"SELECT 1 AS a\"}\n",
    );
    assert_eq!(ended.out.lines().count(), 2, "{} {}", ended.out, ended.err);
    assert!(
        ended.out.lines().next().unwrap().contains("error"),
        "{}",
        ended.out
    );
}

#[test]
fn statements_that_are_cut_anywhere_are_errors_and_nothing_worse() {
    let place = Place::empty();
    let sql = "CREATE OR REPLACE TABLE IF a.`b``c` (id BIGINT NOT NULL COMMENT 'x\\'y', s STRUCT<a: MAP<STRING, DECIMAL(10, 2)>>) USING delta PARTITIONED BY (id) TBLPROPERTIES ('k' = \"v\") AS WITH q AS (SELECT /*+ COALESCE(1) */ * FROM t VERSION AS OF 1 WHERE x BETWEEN 1e3 AND INTERVAL '1' DAY) SELECT CASE WHEN a IS NULL THEN 0x1F ELSE :p END FROM q";
    let mut session = place.session();
    for end in (0..sql.len()).filter(|end| sql.is_char_boundary(*end)) {
        let answer = session.ask(&sql[..end]);
        // What stands there may be a whole statement: a table without columns.
        if let Some(name) = sql[..end].strip_prefix("CREATE OR REPLACE TABLE ")
            && !name.is_empty()
            && name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            assert!(answer.get("error").is_none(), "{end}: {answer}");
            continue;
        }
        assert!(answer.get("error").is_some(), "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            !message.contains("INTERNAL_ERROR") && !message.contains("panick"),
            "{end}: {answer}"
        );
    }
    assert_eq!(session.close(), 0);
}

#[test]
fn requests_on_the_pipe_of_any_shape_get_an_answer_each() {
    let place = Place::empty();
    let requests = [
        "null",
        "1",
        "[]",
        "{}",
        "\"sql\"",
        "{\"sql\": 1}",
        "{\"sql\": null}",
        "{\"sql\": \"\"}",
        "{\"sql\": \";\"}",
        "{\"sql\": \"SELECT 1; SELECT 2\"}",
        "{\"sql\": \"SELECT :a\", \"args\": 7}",
        "{\"sql\": \"SELECT :a\", \"args\": {\"a\": [1, {\"b\": 2}]}}",
        "{\"sql\": \"SELECT ?\", \"args\": []}",
        "{\"sql\": \"SELECT :a\", \"args\": {\"a\": 1e400}}",
        "{\"sql\": \"SELECT :a\", \"args\": {\"a\": 99999999999999999999}}",
        "{\"refresh\": 1}",
        "{\"sql\"",
        "{\"sql\": \"\\ud800\"}",
    ];
    let input: String = requests
        .iter()
        .map(|request| format!("{request}\n"))
        .collect();
    let ended = place.run_with_input(&["sql", "--pipe"], input.as_bytes());
    assert_eq!(ended.status, 0, "{}", ended.err);
    let answers: Vec<&str> = ended.out.lines().collect();
    assert_eq!(answers.len(), requests.len(), "{}", ended.out);
    for (request, answer) in requests.iter().zip(answers) {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert!(
            answer.is_object() && !answer.to_string().contains("INTERNAL_ERROR"),
            "{request}: {answer}"
        );
    }
}
