//! SIGKILL in the middle of whatever runs: the table opens afterwards, and holds what was answered.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Place, heavy};

const OFF: &str = "SET spark.databricks.delta.retentionDurationCheck.enabled = false";

/// A statement and what the table holds after it.
struct Planned {
    sql: String,
    rows: BTreeSet<i64>,
}

#[test]
fn a_killed_process_leaves_a_table_with_all_that_was_answered() {
    let rounds = if heavy() { 80 } else { 5 };
    for vectors in [false, true] {
        let place = Place::empty();
        let create = format!(
            "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = '{vectors}')"
        );
        assert_eq!(place.run(&["sql", &create]).status, 0);
        let mut rows = BTreeSet::new();
        for round in 0..rounds {
            let plan = plan(&rows, version(&place), round);
            // Spread over the whole round, without two rounds at the same place.
            let delay = Duration::from_millis(60 + (round as u64 * 137) % 900);
            let answered = run_and_kill(&place, &plan, delay);
            let after = read(&place);
            let sure = answered
                .checked_sub(1)
                .map_or(&rows, |last| &plan[last].rows);
            let maybe = plan.get(answered).map_or(sure, |next| &next.rows);
            assert!(
                &after == sure || &after == maybe,
                "round {round}, {answered} answered: {after:?} is neither {sure:?} nor {maybe:?}"
            );
            rows = after;
        }
    }
}

/// Inserts, deletes, an update, a restore, then VACUUM, and inserts until the end.
fn plan(rows: &BTreeSet<i64>, version: i64, round: i64) -> Vec<Planned> {
    let base = round * 1000;
    let mut state = rows.clone();
    let mut plan = vec![Planned {
        sql: OFF.to_owned(),
        rows: state.clone(),
    }];
    let mut add = |sql: String, state: &BTreeSet<i64>| {
        plan.push(Planned {
            sql,
            rows: state.clone(),
        })
    };
    state.extend([base, base + 1, base + 2]);
    add(
        format!(
            "INSERT INTO t VALUES ({base}), ({}), ({})",
            base + 1,
            base + 2
        ),
        &state,
    );
    let whole = state.clone();
    state.remove(&base);
    add(format!("DELETE FROM t WHERE id = {base}"), &state);
    state.remove(&(base + 1));
    state.insert(base + 11);
    add(
        format!("UPDATE t SET id = id + 10 WHERE id = {}", base + 1),
        &state,
    );
    state = whole;
    add(
        format!("RESTORE TABLE t TO VERSION AS OF {}", version + 1),
        &state,
    );
    add("VACUUM t RETAIN 0 HOURS".to_owned(), &state);
    for n in 20..60 {
        state.insert(base + n);
        add(format!("INSERT INTO t VALUES ({})", base + n), &state);
        if n % 10 == 9 {
            add("VACUUM t RETAIN 0 HOURS".to_owned(), &state);
        }
    }
    plan
}

/// Send all statements, kill after the delay, and count the answers that came.
fn run_and_kill(place: &Place, plan: &[Planned], delay: Duration) -> usize {
    let mut child = place
        .command(&["sql", "--pipe"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let input: String = plan
        .iter()
        .map(|step| format!("{}\n", json!({"sql": step.sql})))
        .collect();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    std::thread::sleep(delay);
    child.kill().unwrap();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child.wait().unwrap();
    drop(stdin);
    let whole = out.rfind('\n').map_or("", |end| &out[..end]);
    for line in whole.lines() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
    }
    whole.lines().count()
}

fn ask(place: &Place, sql: &str) -> Vec<Vec<Value>> {
    let ended = place.run(&["sql", "--output", "json", sql]);
    assert_eq!(ended.status, 0, "{sql}: {}{}", ended.out, ended.err);
    let answer: Value = serde_json::from_str(&ended.out).unwrap();
    serde_json::from_value(answer["rows"].clone()).unwrap()
}

fn read(place: &Place) -> BTreeSet<i64> {
    ask(place, "SELECT id FROM t")
        .into_iter()
        .map(|row| row[0].as_i64().unwrap())
        .collect()
}

fn version(place: &Place) -> i64 {
    ask(place, "DESCRIBE HISTORY t LIMIT 1")[0][0]
        .as_i64()
        .unwrap()
}
