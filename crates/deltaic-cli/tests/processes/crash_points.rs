//! Deaths at chosen places instead of random ones: in the middle of writing a file of a certain size (a file size limit
//! ends the process there), and, where `strace` is at hand, at each single system call that changes the disk.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::model::{UNCHECKED, check_log, ids, vacuum_leaves_what_is_live};
use crate::support::{Place, heavy};

/// The program under a limit of file size in units of 512 bytes; writing more ends it with SIGXFSZ.
fn limited(place: &Place, blocks: u32, words: &[&str]) -> Command {
    let plain = place.command(words);
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -f $0; ulimit -c 0; exec \"$@\"",
        &blocks.to_string(),
    ]);
    command.arg(plain.get_program()).args(plain.get_args());
    command.current_dir(place.path()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_death_in_the_middle_of_a_file_leaves_the_table_as_it_was_or_with_the_whole_statement() {
    const XFSZ: i32 = 25;
    let place = Place::empty();
    // Column names make commits and checkpoints long, so that limits fall into them too.
    let columns: Vec<String> = (0..60)
        .map(|n| format!("column_with_a_long_name_{n} STRING"))
        .collect();
    place.sql(&format!(
        "CREATE TABLE t (id BIGINT, {}) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2')",
        columns.join(", ")
    ));
    place.sql("INSERT INTO t (id) VALUES (0)");
    let mut judge = place.session();
    let mut rows = ids(&mut judge, "t");
    let mut died = 0;
    for (n, blocks) in [2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96]
        .into_iter()
        .enumerate()
    {
        let id = n as i64 + 1;
        // No catalog: SQLite's own files would be the first to meet the limit.
        let path = place.table("t").display().to_string();
        let insert = format!("INSERT INTO delta.`{path}` (id) VALUES ({id})");
        let status = limited(&place, blocks, &["sql", "--quiet", &insert])
            .status()
            .unwrap();
        died += i32::from(status.signal() == Some(XFSZ));
        judge.refresh();
        let found = ids(&mut judge, "t");
        let mut after = rows.clone();
        after.insert(id);
        assert!(
            found == rows && !status.success() || found == after,
            "{blocks} blocks: {status}: {found:?}"
        );
        rows = found;
        check_log(&place, &mut judge, "t");
    }
    assert!(died > 0, "no limit was low enough");
    // Commits after a checkpoint that failed make one that does not.
    for id in 100..104 {
        judge.rows(&format!("INSERT INTO t (id) VALUES ({id})"));
        rows.insert(id);
    }
    assert_eq!(
        place
            .ids("SELECT id FROM t")
            .into_iter()
            .collect::<BTreeSet<_>>(),
        rows
    );
    vacuum_leaves_what_is_live(&place, &mut judge, "t");
}

/// Statements whose every step on the disk is a place to die.
const STEPPED: [(&str, &str); 5] = [
    ("INSERT INTO t VALUES (500)", "insert"),
    ("DELETE FROM t WHERE id % 2 = 0", "delete"),
    ("UPDATE t SET id = id + 300 WHERE id % 3 = 0", "update"),
    ("RESTORE TABLE t TO VERSION AS OF 1", "restore"),
    ("VACUUM t RETAIN 0 HOURS", "vacuum"),
];

/// The calls that change the disk.
const CALLS: &str = "openat,write,pwrite64,link,linkat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,ftruncate";

#[test]
fn a_death_at_any_system_call_leaves_the_table_as_it_was_or_with_the_whole_statement() {
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=none", "true"])
        .output();
    if !traced.is_ok_and(|output| output.status.success()) {
        println!(
            "left out: there is no strace here (Debian: apt-get install strace), or it may not trace"
        );
        return;
    }
    // Of every statement a few places, or all.
    let (stride, vectors): (usize, &[bool]) = if heavy() {
        (1, &[false, true])
    } else {
        (23, &[true])
    };
    for with_vectors in vectors {
        for (sql, what) in STEPPED {
            let place = template(*with_vectors);
            let steps = count_calls(&place, sql);
            assert!(steps > 3, "{what}: {steps} calls");
            for at in (1..=steps).step_by(stride) {
                die_at(
                    &template(*with_vectors),
                    sql,
                    at,
                    &format!("{what} (vectors {with_vectors}), call {at} of {steps}"),
                );
            }
        }
    }
}

/// A table whose next commit makes a checkpoint.
fn template(vectors: bool) -> Place {
    let place = Place::empty();
    place.sql(&format!(
        "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.enableDeletionVectors' = '{vectors}'); \
         INSERT INTO t SELECT id FROM range(0, 20, 1, 2); INSERT INTO t VALUES (100); DELETE FROM t WHERE id IN (3, 13)"
    ));
    place
}

fn traced(place: &Place, sql: &str, rules: &[String]) -> Command {
    let path = place.table("t").display().to_string();
    // By path, so that the calls are those on the table and not those of the catalog.
    let sql = sql.replacen(" t ", &format!(" delta.`{path}` "), 1);
    let plain = place.command(&["sql", "--quiet", UNCHECKED, &sql]);
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-qq",
        "-P",
        &path,
        "-P",
        &format!("{path}/_delta_log"),
    ]);
    command
        .args(rules)
        .arg(plain.get_program())
        .args(plain.get_args());
    command
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// How many calls the statement makes that could change the disk.
fn count_calls(place: &Place, sql: &str) -> usize {
    let log = place.path().join("calls");
    let rules = [
        "-e".to_owned(),
        format!("trace={CALLS}"),
        "-o".to_owned(),
        log.display().to_string(),
    ];
    let mut command = traced(place, sql, &rules);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read_to_string(log).unwrap().lines().count()
}

fn die_at(place: &Place, sql: &str, at: usize, what: &str) {
    let mut judge = place.session();
    let before = ids(&mut judge, "t");
    let after: BTreeSet<i64> = match sql.split(' ').next().unwrap() {
        "INSERT" => before.iter().copied().chain([500]).collect(),
        "DELETE" => before.iter().copied().filter(|id| id % 2 == 1).collect(),
        "UPDATE" => before
            .iter()
            .map(|id| if id % 3 == 0 { id + 300 } else { *id })
            .collect(),
        "RESTORE" => (0..20).collect(),
        _ => before.clone(),
    };
    let rules = [
        "-e".to_owned(),
        format!("inject={CALLS}:signal=SIGKILL:when={at}"),
        "-o".to_owned(),
        "/dev/null".to_owned(),
    ];
    let status = traced(place, sql, &rules)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    judge.refresh();
    let found = ids(&mut judge, "t");
    if status.success() {
        assert_eq!(found, after, "{what}");
    } else {
        assert!(found == before || found == after, "{what}: {found:?}");
    }
    check_log(place, &mut judge, "t");
    vacuum_leaves_what_is_live(place, &mut judge, "t");
    judge.rows("INSERT INTO t VALUES (900)");
    assert_eq!(ids(&mut judge, "t").len(), found.len() + 1, "{what}");
}
