//! Ctrl-C and closed pipes: the program ends as programs do, at once, without a panic and without half a statement.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::model::{check_log, ids, vacuum_leaves_what_is_live};
use crate::support::{Place, Random, ended, heavy, piped};

fn interrupt(id: u32) {
    let status = Command::new("kill")
        .args(["-INT", &id.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Long enough that it is never done before the signal.
const LONG: &str = "SELECT count(*) FROM range(0, 1000000000000, 1, 4) WHERE id % 7 = 3";

#[test]
fn ctrl_c_ends_a_long_query_soon_with_130() {
    let place = Place::empty();
    for sql in [
        LONG,
        "SELECT sum(a.id + b.id) FROM range(100000000) a CROSS JOIN range(1000000) b",
        "SELECT max(s) FROM (SELECT sha2(CAST(id AS STRING), 256) AS s FROM range(0, 10000000000, 1, 2))",
    ] {
        let child = piped(place.command(&["sql", "--quiet", sql]));
        std::thread::sleep(Duration::from_millis(2000));
        let start = Instant::now();
        interrupt(child.id());
        let ended = ended(child.wait_with_output().unwrap());
        assert_eq!(ended.status, 130, "{sql}: {}{}", ended.out, ended.err);
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{sql}: {:?}",
            start.elapsed()
        );
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
    }
}

#[test]
fn ctrl_c_in_a_long_write_leaves_nothing_half_visible() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT) USING delta; INSERT INTO t VALUES (1), (2)");
    let mut judge = place.session();
    for sql in [
        "INSERT INTO t SELECT id FROM range(0, 100000000000, 1, 4)",
        "CREATE TABLE n USING delta AS SELECT id FROM range(0, 100000000000, 1, 4)",
        "INSERT OVERWRITE t SELECT id FROM range(0, 100000000000, 1, 4)",
    ] {
        let child = piped(place.command(&["sql", "--quiet", "--output", "json", sql]));
        std::thread::sleep(Duration::from_millis(2500));
        interrupt(child.id());
        let ended = ended(child.wait_with_output().unwrap());
        assert_eq!(ended.status, 130, "{sql}: {}{}", ended.out, ended.err);
        let answer: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert!(answer["error"]["message"].is_string(), "{answer}");
        judge.refresh();
        assert!(ids(&mut judge, "t").into_iter().eq([1, 2]), "{sql}");
        check_log(&place, &mut judge, "t");
        vacuum_leaves_what_is_live(&place, &mut judge, "t");
        assert_eq!(judge.rows("SHOW TABLES").len(), 1, "{sql}");
    }
    // The name of the table that was not made is free.
    judge.rows("CREATE TABLE n (id INT) USING delta");
    assert_eq!(judge.rows("SELECT * FROM n").len(), 0);
}

#[test]
fn ctrl_c_at_any_moment_of_a_script_ends_it_between_two_whole_statements() {
    let rounds = if heavy() { 40 } else { 4 };
    let mut random = Random::seeded("Ctrl-C");
    let place = Place::empty();
    place.sql(
        "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2')",
    );
    let mut judge = place.session();
    for round in 0..rounds {
        let before = ids(&mut judge, "t");
        let script: String = (0..400)
            .map(|n| {
                let id = round * 10_000 + n * 2;
                format!("INSERT INTO t VALUES ({id}), ({});\n", id + 1)
            })
            .collect();
        std::fs::write(place.path().join("script.sql"), script).unwrap();
        let mut child = piped(place.command(&["sql", "--quiet", "-f", "script.sql"]));
        drop(child.stdin.take());
        std::thread::sleep(Duration::from_millis(300 + random.below(1500)));
        interrupt(child.id());
        let ended = ended(child.wait_with_output().unwrap());
        assert_eq!(ended.status, 130, "{}{}", ended.out, ended.err);
        judge.refresh();
        let found = ids(&mut judge, "t");
        let new = found.difference(&before).count() as i64;
        assert!(new % 2 == 0 && new < 800, "{new} rows");
        assert!(
            found
                .difference(&before)
                .copied()
                .eq(round * 10_000..round * 10_000 + new)
        );
        check_log(&place, &mut judge, "t");
    }
}

#[test]
fn ctrl_c_between_two_short_statements_is_not_lost() {
    let place = Place::empty();
    // Hardly anything but the moments between statements, and the printing of answers that nobody reads yet.
    let script = "SELECT 1 AS a;\n".repeat(20_000);
    std::fs::write(place.path().join("script.sql"), script).unwrap();
    let mut random = Random::seeded("Ctrl-C between statements");
    for _ in 0..if heavy() { 40 } else { 6 } {
        let mut child = piped(place.command(&["sql", "-f", "script.sql"]));
        drop(child.stdin.take());
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let reader = std::thread::spawn(move || {
            let mut rest = Vec::new();
            out.read_to_end(&mut rest).unwrap();
        });
        std::thread::sleep(Duration::from_millis(random.below(200)));
        let start = Instant::now();
        interrupt(child.id());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130));
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
        reader.join().unwrap();
    }
}

#[test]
fn a_reader_that_closes_the_pipe_ends_the_program_without_a_panic() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT) USING delta; INSERT INTO t VALUES (1)");
    let many = "SELECT id, sha2(CAST(id AS STRING), 256) FROM range(50000)";
    for words in [
        vec!["sql", "--rows", "50000", many],
        vec!["sql", "--output", "json", many, many],
        vec![
            "sql",
            "--keep-going",
            "--output",
            "json",
            "SELECT * FROM nothing",
            many,
            "SELECT 1/0",
        ],
        vec!["history", "t"],
        vec!["--help"],
    ] {
        let mut child = piped(place.command(&words));
        drop(child.stdin.take());
        // The end that reads is gone before anything was written, or after the first line.
        let mut out = BufReader::new(child.stdout.take().unwrap());
        if words.contains(&"50000") {
            out.read_line(&mut String::new()).unwrap();
        }
        drop(out);
        let mut err = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        let status = child.wait().unwrap();
        assert!(!err.contains("panicked"), "{words:?}: {err}");
        // 101 is the status of a panic, 1 that of a defect.
        assert!(
            !matches!(status.code(), Some(101 | 1)),
            "{words:?}: {status}: {err}"
        );
    }
    // An expected error is printed among the answers; the reader may be gone by then too.
    std::fs::write(
        place.path().join("s.sql"),
        "-- expect error: DIVIDE_BY_ZERO\nSELECT 1/0;\n".repeat(20),
    )
    .unwrap();
    let mut child = piped(place.command(&["sql", "-f", "s.sql"]));
    drop((child.stdin.take(), child.stdout.take()));
    let output = child.wait_with_output().unwrap();
    assert!(
        !String::from_utf8_lossy(&output.stderr).contains("panicked"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn standard_streams_that_are_full_or_closed_are_no_reason_to_panic() {
    let place = Place::empty();
    for (redirect, sql) in [
        (">/dev/full", "SELECT 1"),
        ("2>/dev/full", "SELECT * FROM nothing"),
        (">&-", "SELECT 1"),
        ("2>&-", "SELECT * FROM nothing"),
        ("<&-", "SELECT 1"),
        (">/dev/full 2>/dev/full", "SELECT 1; SELECT * FROM nothing"),
    ] {
        let plain = place.command(&["sql", "--quiet", sql]);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec \"$@\" {redirect}"), "sh"]);
        command
            .arg(plain.get_program())
            .args(plain.get_args())
            .current_dir(place.path())
            .stdin(Stdio::null());
        let ended = ended(command.output().unwrap());
        assert!(
            !matches!(ended.status, 101 | 134 | 139),
            "{redirect}: {} {}",
            ended.status,
            ended.err
        );
        assert!(!ended.err.contains("panicked"), "{redirect}: {}", ended.err);
    }
}

#[test]
fn the_pipe_ends_when_its_input_ends_even_in_the_middle_of_a_line() {
    let place = Place::empty();
    let ended = place.run_with_input(
        &["sql", "--pipe"],
        b"{\"sql\": \"SELECT 1 AS a\"}\n{\"sql\": \"SELECT 2 AS b\"}",
    );
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(ended.out.lines().count(), 2, "{}", ended.out);
}
