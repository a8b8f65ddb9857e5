//! `--memory-limit`: what the system would otherwise end ends with an error, and what can spill goes on.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::{Ended, Place};

fn limited(place: &Place, sql: &[&str]) -> Ended {
    let words = ["sql", "--memory-limit", "256m", "--output", "json"];
    place.run(&[&words[..], sql].concat())
}

fn class(ended: &Ended) -> String {
    let lines = ended.out.lines().chain(ended.err.lines());
    let found = lines
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|line| Some(line.get("error")?.get("condition")?.as_str()?.to_owned()));
    found.unwrap_or_else(|| panic!("{} {} {}", ended.status, ended.out, ended.err))
}

#[test]
fn an_answer_that_does_not_fit_is_an_error_of_its_own() {
    let place = Place::empty();
    let ended = limited(
        &place,
        &["SELECT id, concat(id, repeat('x', 500)) AS x FROM range(1000000)"],
    );
    assert_eq!(
        (ended.status, class(&ended).as_str()),
        (11, "UNABLE_TO_ACQUIRE_MEMORY")
    );
}

#[test]
fn a_statement_that_needs_too_much_leaves_the_table_as_it_was() {
    let place = Place::empty();
    let ended = limited(
        &place,
        &[
            "CREATE TABLE t (id BIGINT, x STRING)",
            "INSERT INTO t VALUES (1, 'a')",
            "INSERT INTO t SELECT max(id), max(array_join(xs, '')) FROM (SELECT max(id) AS id, collect_list(concat(id, \
             repeat('x', 1000))) AS xs FROM range(400000))",
        ],
    );
    assert_eq!(ended.status, 11, "{} {}", ended.out, ended.err);
    assert!(
        ended.out.contains("UNABLE_TO_ACQUIRE_MEMORY"),
        "{}",
        ended.out
    );
    let rows = place.run(&["sql", "--output", "json", "SELECT id, x FROM t"]);
    assert!(rows.out.contains(r#"[[1,"a"]]"#), "{}", rows.out);
    let history = place.run(&["history", "--output", "json", "t"]);
    assert!(!history.out.contains("[2,"), "{}", history.out);
}

/// The rows take more than is allowed.
#[test]
fn a_sort_of_more_rows_than_fit_is_done_in_parts() {
    let place = Place::empty();
    let ended = limited(
        &place,
        &[
            "CREATE TABLE t AS SELECT id, concat(id, repeat('x', 400)) AS x FROM range(800000) ORDER BY x DESC",
            "SELECT count(*), min(length(x)), count(DISTINCT id) FROM t",
        ],
    );
    assert_eq!(ended.status, 0, "{} {}", ended.out, ended.err);
    assert!(ended.out.contains("[[800000,401,800000]]"), "{}", ended.out);
}

#[test]
fn a_limit_that_is_no_size_is_refused() {
    let place = Place::empty();
    for limit in ["many", "0", "1k", "-1g"] {
        let ended = place.run(&["sql", &format!("--memory-limit={limit}"), "SELECT 1"]);
        assert_eq!(ended.status, 2, "{limit}: {}", ended.err);
    }
}
