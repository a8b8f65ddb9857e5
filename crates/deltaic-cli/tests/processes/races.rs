//! Several processes at one table: nothing is lost, and a refusal names the writer that won.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;

use crate::model::{check_log, ids};
use crate::support::{Held, Place, Random, heavy, rows_of};

#[test]
fn processes_that_append_make_a_commit_for_each_insert_and_see_no_error() {
    let (processes, inserts) = if heavy() { (10, 100) } else { (4, 15) };
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT) USING delta");
    let children: Vec<_> = (0..processes)
        .map(|p| {
            let statements: Vec<String> = (0..inserts)
                .map(|n| format!("INSERT INTO t VALUES ({})", p * 1000 + n))
                .collect();
            let mut command = place.command(&["sql", "--quiet", &statements.join(";")]);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
    }
    let mut session = place.session();
    let all = processes * inserts;
    let expected: BTreeSet<i64> = (0..all).map(|n| n / inserts * 1000 + n % inserts).collect();
    assert_eq!(ids(&mut session, "t"), expected);
    check_log(&place, &mut session, "t");
    let history = session.rows("DESCRIBE HISTORY t");
    assert_eq!(history.len() as i64, all + 1);
    // A commit that was tried again after another writer's must read as if it had been first.
    let writes = session.ask("DESCRIBE HISTORY t");
    let names: Vec<&Value> = writes["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c[0])
        .collect();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    for row in rows_of(&writes).iter().take(all as usize) {
        assert_eq!(row[at("operation")], "WRITE", "{row:?}");
        assert_eq!(row[at("isBlindAppend")], true, "{row:?}");
        assert_eq!(row[at("operationMetrics")]["numOutputRows"], "1", "{row:?}");
    }
}

/// What a process of the mixed race does over and over.
#[derive(Clone, Copy, Debug)]
enum Role {
    Insert,
    Delete,
    Update,
    Vacuum,
    Alter,
}

const ROLES: [Role; 6] = [
    Role::Insert,
    Role::Insert,
    Role::Delete,
    Role::Update,
    Role::Vacuum,
    Role::Alter,
];

#[test]
fn writers_of_all_kinds_lose_nothing_and_are_refused_only_by_each_other() {
    mixed_race(false);
}

#[test]
fn writers_of_all_kinds_lose_nothing_with_deletion_vectors() {
    mixed_race(true);
}

fn mixed_race(vectors: bool) {
    let rounds = if heavy() { 60 } else { 8 };
    let place = Place::empty();
    place.sql(&format!(
        "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '3', 'delta.enableDeletionVectors' = '{vectors}')"
    ));
    // Each process owns ids of its own: what it was told is what must be there of them.
    let workers: Vec<_> = ROLES
        .iter()
        .enumerate()
        .map(|(p, role)| {
            let session = place.session();
            let role = *role;
            let mut random = Random(p as u64 + 1);
            std::thread::spawn(move || work(session, role, p as i64 * 100_000, rounds, &mut random))
        })
        .collect();
    let mut expected = BTreeSet::new();
    let mut refused = 0;
    for worker in workers {
        let (own, refusals) = worker.join().unwrap();
        expected.extend(own);
        refused += refusals;
    }
    println!("{refused} refusals");
    let mut session = place.session();
    assert_eq!(ids(&mut session, "t"), expected);
    check_log(&place, &mut session, "t");
}

/// Run one role; the rows that its process must find, and how often it was refused.
fn work(
    mut session: Held,
    role: Role,
    base: i64,
    rounds: i64,
    random: &mut Random,
) -> (BTreeSet<i64>, u32) {
    let mut own = BTreeSet::new();
    let mut refused = 0;
    for n in 0..rounds {
        let id = base + n;
        let mut after = own.clone();
        match role {
            Role::Insert => {
                after.insert(id);
                let sql = format!("INSERT INTO t VALUES ({id})");
                step(&mut session, &sql, &mut own, after, &mut refused);
            }
            Role::Delete | Role::Update => {
                after.extend([id, id + 50_000]);
                let sql = format!("INSERT INTO t VALUES ({id}), ({})", id + 50_000);
                step(&mut session, &sql, &mut own, after, &mut refused);
                let mut after = own.clone();
                let Some(target) = own
                    .iter()
                    .nth(random.below(own.len() as u64) as usize)
                    .copied()
                else {
                    continue;
                };
                after.remove(&target);
                let sql = if matches!(role, Role::Delete) {
                    format!("DELETE FROM t WHERE id = {target}")
                } else {
                    let to = base + 90_000 + n;
                    after.insert(to);
                    format!("UPDATE t SET id = {to} WHERE id = {target}")
                };
                step(&mut session, &sql, &mut own, after, &mut refused);
            }
            Role::Vacuum => {
                step(&mut session, "VACUUM t", &mut own, after, &mut refused);
            }
            Role::Alter => {
                let sql = format!("ALTER TABLE t SET TBLPROPERTIES ('my.key' = '{n}')");
                step(&mut session, &sql, &mut own, after, &mut refused);
                std::thread::sleep(std::time::Duration::from_millis(150));
            }
        }
    }
    assert_eq!(session.close(), 0);
    (own, refused)
}

fn step(
    session: &mut Held,
    sql: &str,
    own: &mut BTreeSet<i64>,
    after: BTreeSet<i64>,
    refused: &mut u32,
) {
    let answer = session.ask(sql);
    let Some(error) = answer.get("error") else {
        *own = after;
        return;
    };
    let class = error["condition"].as_str().unwrap_or_default();
    assert!(
        class.starts_with("DELTA_CONCURRENT_") || class.starts_with("DELTA_METADATA_CHANGED"),
        "{sql}: {error}"
    );
    *refused += 1;
}

#[test]
fn a_reader_sees_whole_commits_while_others_write() {
    let rounds = if heavy() { 200 } else { 20 };
    let place = Place::empty();
    place.sql(
        "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2')",
    );
    place.sql("INSERT INTO t SELECT id FROM range(0, 10, 1, 2)");
    let mut writer = place.session();
    let writing = std::thread::spawn(move || {
        for n in 0..rounds {
            // Ten rows leave and ten come, in one commit each.
            writer.rows(&format!(
                "INSERT OVERWRITE t SELECT id + {n} FROM range(0, 10, 1, 2)"
            ));
        }
        writer.close()
    });
    let mut reader = place.session();
    while !writing.is_finished() {
        let seen = ids(&mut reader, "t");
        let first = *seen.first().unwrap();
        assert!(seen.into_iter().eq(first..first + 10), "from {first}");
    }
    assert_eq!(writing.join().unwrap(), 0);
}
