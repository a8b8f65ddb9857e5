//! SIGKILL at random moments of every kind of writing statement. Afterwards the table opens, holds every row that was
//! acknowledged and no half of a statement that was not, and VACUUM takes what the dead process left.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::model::{UNCHECKED, check_log, ids, vacuum_leaves_what_is_live};
use crate::support::{Held, Place, Random, heavy};

/// The statement that dies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Insert,
    InsertMany,
    Overwrite,
    Delete,
    Update,
    Restore,
    Vacuum,
}

const VICTIMS: [Victim; 7] = [
    Victim::Insert,
    Victim::InsertMany,
    Victim::Overwrite,
    Victim::Delete,
    Victim::Update,
    Victim::Restore,
    Victim::Vacuum,
];

#[test]
fn a_process_that_is_killed_leaves_a_whole_table() {
    let mut random = Random::seeded("kills");
    // Half of the rounds on each kind of table.
    let rounds = if heavy() { 250 } else { 7 };
    for vectors in [false, true] {
        let mut table = Table::new(vectors);
        for round in 0..rounds {
            let victim = VICTIMS[round % VICTIMS.len()];
            table.round(victim, round as i64, &mut random);
        }
        check_log(&table.place, &mut table.judge, "t");
        println!(
            "vectors {vectors}: {} of {rounds} died before the answer",
            table.died
        );
    }
}

struct Table {
    place: Place,
    /// A process that is never killed looks at what the others left.
    judge: Held,
    /// How long a statement takes here, smoothed.
    usual: [Duration; VICTIMS.len()],
    died: usize,
}

impl Table {
    fn new(vectors: bool) -> Self {
        let place = Place::empty();
        place.sql(&format!(
            "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = '{vectors}')"
        ));
        let judge = place.session();
        Self {
            place,
            judge,
            usual: [Duration::from_millis(150); VICTIMS.len()],
            died: 0,
        }
    }

    fn round(&mut self, victim: Victim, round: i64, random: &mut Random) {
        let base = round * 1000;
        // Something to delete, to update, to go back to, and to vacuum.
        self.judge.rows(&format!(
            "INSERT INTO t SELECT id + {base} FROM range(0, 20, 1, 2)"
        ));
        let version = self.judge.rows("DESCRIBE HISTORY t LIMIT 1")[0][0].clone();
        let whole = ids(&mut self.judge, "t");
        self.judge.rows(&format!(
            "DELETE FROM t WHERE id IN ({}, {})",
            base + 1,
            base + 11
        ));
        let before = ids(&mut self.judge, "t");
        let mut after = before.clone();
        let sql = match victim {
            Victim::Insert => {
                after.insert(base + 500);
                format!("INSERT INTO t VALUES ({})", base + 500)
            }
            Victim::InsertMany => {
                after.extend(base + 500..base + 900);
                format!(
                    "INSERT INTO t SELECT id + {} FROM range(0, 400, 1, 8)",
                    base + 500
                )
            }
            Victim::Overwrite => {
                after = (base..base + 30).collect();
                format!("INSERT OVERWRITE t SELECT id + {base} FROM range(0, 30, 1, 3)")
            }
            Victim::Delete => {
                after.retain(|id| id % 2 == 1);
                "DELETE FROM t WHERE id % 2 = 0".to_owned()
            }
            Victim::Update => {
                after = before
                    .iter()
                    .map(|id| if id % 3 == 0 { id + 300 } else { *id })
                    .collect();
                "UPDATE t SET id = id + 300 WHERE id % 3 = 0".to_owned()
            }
            Victim::Restore => {
                after = whole;
                format!("RESTORE TABLE t TO VERSION AS OF {version}")
            }
            Victim::Vacuum => "VACUUM t RETAIN 0 HOURS".to_owned(),
        };
        if victim == Victim::Update && after.len() != before.len() {
            // Two rows would become one id; the model holds sets.
            return;
        }
        let answered = self.kill_during(victim, &sql, random);
        self.judge.refresh();
        let found = ids(&mut self.judge, "t");
        if answered {
            assert_eq!(found, after, "round {round}: {sql} was answered");
        } else {
            self.died += 1;
            assert!(
                found == before || found == after,
                "round {round}: {sql}: {found:?} is neither {before:?} nor {after:?}"
            );
        }
        // A process that comes new to the table sees the same.
        if round % 5 == 0 {
            let fresh: BTreeSet<i64> = self.place.ids("SELECT id FROM t").into_iter().collect();
            assert_eq!(fresh, found);
        }
        vacuum_leaves_what_is_live(&self.place, &mut self.judge, "t");
    }

    /// Run the statement in a process that is killed at a random moment of it; whether it was answered.
    fn kill_during(&mut self, victim: Victim, sql: &str, random: &mut Random) -> bool {
        let mut session = self.place.session();
        session.rows(UNCHECKED);
        // The first look at the table is no part of the statement.
        session.rows("SELECT count(*) FROM t");
        let usual = &mut self.usual[VICTIMS.iter().position(|v| *v == victim).unwrap()];
        let wait = Duration::from_micros(random.below(usual.as_micros() as u64 * 5 / 4));
        let start = Instant::now();
        session.send(sql);
        if random.below(4) == 0 {
            // Let it end, to know how long it takes.
            let answer = session.answer().unwrap();
            assert!(answer.get("error").is_none(), "{sql}: {answer}");
            *usual = (*usual + start.elapsed()) / 2;
            session.kill();
            return true;
        }
        std::thread::sleep(wait);
        let answers = session.kill();
        if let Some(answer) = answers.first() {
            assert!(answer.get("error").is_none(), "{sql}: {answer}");
        }
        !answers.is_empty()
    }
}

#[test]
fn a_process_that_is_killed_while_it_creates_or_drops_a_table_leaves_a_catalog_that_works() {
    let rounds = if heavy() { 60 } else { 4 };
    let mut random = Random::seeded("kills of CREATE and DROP");
    let place = Place::empty();
    place.sql("CREATE TABLE keep (id BIGINT) USING delta; INSERT INTO keep VALUES (1)");
    for round in 0..rounds {
        let name = format!("n{round}");
        let mut session = place.session();
        session.rows("SELECT 1");
        for n in 0..40 {
            session.send(&format!(
                "CREATE TABLE {name} USING delta AS SELECT id FROM range({n}, {}, 1, 2)",
                n + 4
            ));
            session.send(&format!("ALTER TABLE {name} RENAME TO {name}_b"));
            session.send(&format!("DROP TABLE {name}_b"));
        }
        std::thread::sleep(Duration::from_millis(20 + random.below(700)));
        for answer in session.kill() {
            assert!(answer.get("error").is_none(), "{answer}");
        }
        let mut judge = place.session();
        for row in judge.rows("SHOW TABLES") {
            let table = row[1].as_str().unwrap().to_owned();
            // What is listed can be read, or is at least dropped.
            let answer = judge.ask(&format!("SELECT count(*) FROM {table}"));
            if table == "keep" {
                assert_eq!(answer["rows"][0][0], 1, "{answer}");
            } else {
                judge.rows(&format!("DROP TABLE {table}"));
            }
        }
        // The name can be used again, whatever the dead process left of it.
        for table in [name.clone(), format!("{name}_b")] {
            let answer = judge.ask(&format!(
                "CREATE OR REPLACE TABLE {table} USING delta AS SELECT 7 AS id"
            ));
            assert!(answer.get("error").is_none(), "{answer}");
            assert_eq!(judge.rows(&format!("SELECT * FROM {table}")), [[7]]);
            judge.rows(&format!("DROP TABLE {table}"));
        }
        assert_eq!(judge.close(), 0);
    }
}
