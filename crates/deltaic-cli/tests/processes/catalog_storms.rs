//! Two and more processes on one catalog: tables, views and schemas come, go and change names, and the catalog stays one
//! that lists what is there.

use std::path::Path;

use serde_json::Value;

use crate::support::{Held, Place, Random, heavy};

/// Classes that another process's CREATE, DROP or RENAME may cause.
const EXPECTED: [&str; 9] = [
    "TABLE_OR_VIEW_ALREADY_EXISTS",
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_ALREADY_EXISTS",
    "SCHEMA_NOT_FOUND",
    "SCHEMA_NOT_EMPTY",
    "DELTA_",
    "FAILED_READ_FILE",
    "EXPECT_",
    "TASK_WRITE_FAILED",
];

/// One statement among others'; an answer is one of those that fit.
fn step(session: &mut Held, sql: &str) -> bool {
    let answer = session.ask(sql);
    let Some(error) = answer.get("error") else {
        return true;
    };
    let class = error["condition"].as_str().unwrap_or_default();
    assert!(
        EXPECTED.iter().any(|known| class.starts_with(known)),
        "{sql}: {error}"
    );
    false
}

#[test]
fn processes_that_create_drop_and_rename_the_same_names_corrupt_nothing() {
    let (processes, steps) = if heavy() { (6, 300) } else { (3, 40) };
    let place = Place::empty();
    place.sql("CREATE TABLE keep (id BIGINT) USING delta; INSERT INTO keep VALUES (1)");
    let workers: Vec<_> = (0..processes)
        .map(|p| {
            let mut session = place.session();
            let mut random = Random(p + 77);
            std::thread::spawn(move || {
                let mut done = 0;
                for _ in 0..steps {
                    let (a, b) = (random.below(4), random.below(4));
                    let sql = match random.below(10) {
                        0 | 1 => format!("CREATE TABLE t{a} (id BIGINT) USING delta"),
                        2 => format!("CREATE TABLE IF NOT EXISTS t{a} (id BIGINT) USING delta"),
                        3 => {
                            format!("CREATE OR REPLACE TABLE t{a} USING delta AS SELECT {b} AS id")
                        }
                        4 | 5 => format!("DROP TABLE IF EXISTS t{a}"),
                        6 => format!("ALTER TABLE t{a} RENAME TO t{b}"),
                        7 => format!("INSERT INTO t{a} VALUES ({b})"),
                        8 => format!("SELECT * FROM t{a}"),
                        _ => format!("CREATE OR REPLACE VIEW v{a} AS SELECT * FROM keep"),
                    };
                    done += u32::from(step(&mut session, &sql));
                }
                assert_eq!(session.close(), 0);
                done
            })
        })
        .collect();
    let done: u32 = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();
    assert!(done > 0);
    check_catalog(&place);
}

/// SQLite finds its file whole; every table that is listed can be read and dropped; afterwards nothing is left of them.
fn check_catalog(place: &Place) {
    let mut session = place.session();
    assert_eq!(session.rows("SELECT * FROM keep"), [[1]]);
    let tables: Vec<String> = session
        .rows("SHOW TABLES")
        .iter()
        .map(|row| row[1].as_str().unwrap().to_owned())
        .collect();
    let mut once = tables.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), tables.len(), "a name came twice: {tables:?}");
    for table in tables.iter().filter(|name| *name != "keep") {
        session.rows(&format!("SELECT * FROM {table}"));
        let kind = if table.starts_with('v') {
            "VIEW"
        } else {
            "TABLE"
        };
        session.rows(&format!("DROP {kind} {table}"));
    }
    for n in 0..4 {
        session.rows(&format!("CREATE TABLE t{n} (id BIGINT) USING delta"));
        session.rows(&format!("INSERT INTO t{n} VALUES ({n})"));
        assert_eq!(session.rows(&format!("SELECT * FROM t{n}")), [[n]]);
        session.rows(&format!("DROP TABLE t{n}"));
    }
    let left: Vec<String> = std::fs::read_dir(place.path().join("wh"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".deltaic" && name != "keep")
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn of_processes_that_create_one_table_at_the_same_time_exactly_one_wins() {
    let rounds = if heavy() { 40 } else { 5 };
    let place = Place::empty();
    let mut sessions: Vec<Held> = (0..3).map(|_| place.session()).collect();
    for session in &mut sessions {
        session.rows("SELECT 1");
    }
    for round in 0..rounds {
        for (n, session) in sessions.iter_mut().enumerate() {
            session.send(&format!(
                "CREATE TABLE r{round} USING delta AS SELECT {n} AS id"
            ));
        }
        let mut winners = Vec::new();
        for (n, session) in sessions.iter_mut().enumerate() {
            let answer = session.answer().unwrap();
            match answer.get("error") {
                None => winners.push(n),
                Some(error) => {
                    let class = error["condition"].as_str().unwrap_or_default();
                    let known = [
                        "TABLE_OR_VIEW_ALREADY_EXISTS",
                        "DELTA_TABLE_ALREADY_EXISTS",
                        "DELTA_CONCURRENT",
                        "DELTA_PROTOCOL_CHANGED",
                        "DELTA_METADATA_CHANGED",
                        "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION",
                    ];
                    assert!(known.iter().any(|k| class.starts_with(k)), "{error}");
                }
            }
        }
        let [winner] = winners[..] else {
            panic!("round {round}: {winners:?} won")
        };
        for session in &mut sessions {
            assert_eq!(
                session.rows(&format!("SELECT id FROM r{round}")),
                [[winner]]
            );
        }
    }
}

#[test]
fn a_catalog_that_two_processes_open_for_the_first_time_is_made_once() {
    for _ in 0..if heavy() { 20 } else { 3 } {
        let place = Place::empty();
        let children: Vec<_> = (0..4)
            .map(|n| {
                crate::support::piped(place.command(&[
                    "sql",
                    "--quiet",
                    &format!("CREATE SCHEMA s{n}"),
                ]))
            })
            .collect();
        for child in children {
            let ended = crate::support::ended(child.wait_with_output().unwrap());
            assert_eq!(ended.status, 0, "{}", ended.err);
        }
        assert_eq!(place.rows("SHOW SCHEMAS").len(), 5);
    }
}

#[test]
fn schemas_and_catalogs_that_come_and_go_leave_no_orphans() {
    let steps = if heavy() { 150 } else { 25 };
    let place = Place::empty();
    let workers: Vec<_> = (0..2)
        .map(|p| {
            let mut session = place.session();
            let mut random = Random(p + 5);
            std::thread::spawn(move || {
                for n in 0..steps {
                    let s = random.below(2);
                    let sql = match random.below(4) {
                        0 | 1 => format!("CREATE SCHEMA IF NOT EXISTS s{s}"),
                        2 => format!("DROP SCHEMA IF EXISTS s{s} CASCADE"),
                        _ => format!("CREATE TABLE s{s}.t{p}_{n} (id INT) USING delta"),
                    };
                    step(&mut session, &sql);
                }
                assert_eq!(session.close(), 0);
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    let mut session = place.session();
    for s in 0..2 {
        let answer = session.ask(&format!("SHOW TABLES IN s{s}"));
        let Some(rows) = answer["rows"].as_array() else {
            continue;
        };
        for row in rows {
            session.rows(&format!("SELECT * FROM s{s}.{}", row[1].as_str().unwrap()));
        }
        session.rows(&format!("DROP SCHEMA s{s} CASCADE"));
    }
    let schemas = session.rows("SHOW SCHEMAS");
    assert_eq!(schemas, [[Value::from("default")]]);
}

#[test]
fn a_catalog_file_that_is_none_is_an_error_that_names_it_and_is_left_alone() {
    for content in [&b"this is no database, but it is long enough to have a header of one hundred bytes, which SQLite looks at first"[..], b"SQLite format 3\0 and then nonsense"] {
        let place = Place::empty();
        let file = place.path().join("wh/.deltaic/catalog.db");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        for sql in ["SHOW TABLES", "CREATE TABLE t (id INT) USING delta", "SELECT * FROM t"] {
            let ended = place.run(&["sql", "--quiet", sql]);
            assert!([8, 9].contains(&ended.status), "{sql}: {} {}", ended.status, ended.err);
            assert!(ended.err.contains("catalog.db"), "{sql}: {}", ended.err);
        }
        assert_eq!(std::fs::read(&file).unwrap(), content);
        assert!(!Path::new(&place.table("t")).exists());
    }
}
