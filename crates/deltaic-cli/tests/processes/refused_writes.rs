//! Places that take no bytes: read-only folders, full disks, limits of file size. The statement fails as a failure of the
//! storage, names the place, and leaves what was there.
//!
//! A user that may do everything meets a read-only or a full disk only where one is mounted; the tests mount a small one
//! in a namespace of their own. Where the system does not allow that, they do with what it has: `/proc` takes no files
//! from anybody, and a limit of file size is the nearest thing to a full disk.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Ended, Place, contents, ended, program};

/// Set in the child that runs in a namespace of its own: the folder to mount at.
const INSIDE: &str = "DELTAIC_TEST_MOUNT";

/// Run a test of this file again, where it may mount. Whether the system allows it.
fn run_inside(test: &str) -> bool {
    let allowed = |words: &[&str]| {
        let status = Command::new("unshare")
            .args(words)
            .arg("true")
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let own_user: &[&str] = &["--user", "--map-root-user", "--mount"];
    let words = match (allowed(own_user), allowed(&["--mount"])) {
        (true, _) => own_user,
        (false, true) => &["--mount"],
        (false, false) => {
            println!("left out: the system allows no mounts here");
            return false;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(words)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    true
}

/// The place to mount at, in the child.
fn inside() -> Option<std::path::PathBuf> {
    std::env::var_os(INSIDE).map(Into::into)
}

fn mount(options: &str, at: &Path) {
    let status = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "deltaic-test"])
        .arg(at)
        .status()
        .unwrap();
    assert!(status.success());
}

fn run(folder: &Path, sql: &str) -> Ended {
    // The warehouse is in the folder; where one runs from is elsewhere, so that the folder can be anything.
    let mut command = program(folder, &["sql", "--quiet", sql]);
    ended(
        command
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    )
}

fn check(sql: &str, ended: &Ended, path: &str) {
    assert_eq!(ended.status, 9, "{sql}: {}{}", ended.out, ended.err);
    assert!(ended.err.contains(path), "{sql}: {}", ended.err);
    assert!(ended.err.contains(" hint: "), "{sql}: {}", ended.err);
}

/// Statements that write, on a table of one column by path.
fn writes(path: &str) -> Vec<String> {
    vec![
        format!("INSERT INTO delta.`{path}` VALUES (9)"),
        format!("DELETE FROM delta.`{path}` WHERE id = 1"),
        format!("UPDATE delta.`{path}` SET id = 7 WHERE id = 1"),
        format!("ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('a' = 'b')"),
        format!("RESTORE TABLE delta.`{path}` TO VERSION AS OF 1"),
        format!("INSERT OVERWRITE delta.`{path}` VALUES (9)"),
        format!("CREATE OR REPLACE TABLE delta.`{path}` USING delta AS SELECT 1 AS id"),
    ]
}

#[test]
fn a_place_that_takes_no_files_is_a_failure_of_the_storage() {
    let place = Place::empty();
    for (what, sql) in [
        (
            "a table by path",
            "CREATE TABLE delta.`/proc/deltaic/t` (id INT) USING delta".to_owned(),
        ),
        (
            "an external table",
            "CREATE TABLE e (id INT) USING delta LOCATION '/proc/deltaic/t'".to_owned(),
        ),
        (
            "a new table with rows",
            "CREATE TABLE c USING delta LOCATION '/proc/deltaic/t' AS SELECT 1 AS id".to_owned(),
        ),
    ] {
        let ended = place.run(&["sql", "--quiet", &sql]);
        check(what, &ended, "/proc/deltaic");
    }
    assert_eq!(
        place.rows("SHOW TABLES"),
        Vec::<Vec<serde_json::Value>>::new()
    );
    // A warehouse that can not be.
    let ended = run(
        Path::new("/proc/deltaic"),
        "CREATE TABLE t (id INT) USING delta",
    );
    check("a warehouse", &ended, "/proc/deltaic");
    // A file where the folder should be.
    std::fs::write(place.path().join("file"), "x").unwrap();
    let file = place.path().join("file");
    let ended = place.run(&[
        "sql",
        "--quiet",
        &format!(
            "CREATE TABLE delta.`{}/t` (id INT) USING delta",
            file.display()
        ),
    ]);
    check("below a file", &ended, "/file");
    let ended = run(&file, "CREATE TABLE t (id INT) USING delta");
    check("a warehouse below a file", &ended, "/file");
}

#[test]
fn a_folder_without_write_permission_is_a_failure_of_the_storage() {
    let place = Place::empty();
    place.sql("CREATE TABLE t (id BIGINT) USING delta; INSERT INTO t VALUES (1), (2)");
    let table = place.table("t");
    let path = table.display().to_string();
    let set = |mode| {
        for folder in [table.join("_delta_log"), table.clone()] {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    // The administrator may write all the same; then the mounted disk below is the test.
    let bound = std::fs::write(table.join("probe"), "x").is_err();
    let before = contents(&table);
    let outcomes: Vec<_> = if bound { writes(&path) } else { vec![] }
        .into_iter()
        .map(|sql| (place.run(&["sql", "--quiet", &sql]), sql))
        .collect();
    let read = place.ids("SELECT id FROM t");
    let after = contents(&table);
    set(0o755);
    assert_eq!(read, [1, 2]);
    assert_eq!(before, after);
    for (ended, sql) in outcomes {
        check(&sql, &ended, "/wh/t");
        assert!(ended.err.contains("permission"), "{sql}: {}", ended.err);
    }
}

#[test]
fn a_read_only_disk_can_be_read_and_refuses_every_write() {
    let Some(at) = inside() else {
        run_inside("refused_writes::a_read_only_disk_can_be_read_and_refuses_every_write");
        return;
    };
    mount("size=64m", &at);
    let setup = run(
        &at,
        "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2'); INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3)",
    );
    assert_eq!(setup.status, 0, "{}", setup.err);
    let status = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&at)
        .status()
        .unwrap();
    assert!(status.success());
    let table = at.join("wh/t");
    let path = table.display().to_string();
    let before = contents(&at);
    // By name and by path: the catalog can be read too.
    for sql in [
        "SELECT sum(id) FROM t".to_owned(),
        format!("SELECT sum(id) FROM delta.`{path}`"),
        "DESCRIBE HISTORY t".to_owned(),
        "DESCRIBE DETAIL t".to_owned(),
        "SHOW TABLES".to_owned(),
        "SELECT sum(id) FROM t VERSION AS OF 1".to_owned(),
        "VACUUM t DRY RUN".to_owned(),
    ] {
        let ended = run(&at, &sql);
        assert_eq!(ended.status, 0, "{sql}: {}", ended.err);
    }
    for sql in writes(&path) {
        check(&sql, &run(&at, &sql), "/wh/t");
    }
    for sql in [
        "INSERT INTO t VALUES (9)",
        "CREATE TABLE n (id INT) USING delta",
        "DROP TABLE t",
        "CREATE SCHEMA s",
        "CREATE VIEW v AS SELECT 1",
    ] {
        let ended = run(&at, sql);
        check(sql, &ended, at.to_str().unwrap());
    }
    assert_eq!(contents(&at), before);
}

#[test]
fn a_full_disk_is_a_failure_of_the_storage_and_what_was_there_stays() {
    let Some(at) = inside() else {
        run_inside(
            "refused_writes::a_full_disk_is_a_failure_of_the_storage_and_what_was_there_stays",
        );
        return;
    };
    mount("size=2m", &at);
    let setup = run(
        &at,
        "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2'); INSERT INTO t VALUES (1), (2)",
    );
    assert_eq!(setup.status, 0, "{}", setup.err);
    let table = at.join("wh/t");
    let path = table.display().to_string();
    // Leave less and less room; each statement either works or fails as a whole.
    let mut rows = 2;
    for left in [64 << 10, 12 << 10, 4 << 10, 0] {
        fill(&at, left);
        let before = contents(&table);
        for sql in writes(&path) {
            let is_insert = sql.starts_with("INSERT INTO");
            if !is_insert && left > 0 {
                continue;
            }
            let ended = run(&at, &sql);
            if ended.status == 0 {
                rows += 1;
            } else {
                check(&sql, &ended, "/wh/t");
                assert!(
                    ended.err.contains("full") || ended.err.contains("No space"),
                    "{sql}: {}",
                    ended.err
                );
            }
        }
        let after = contents(&table);
        for (file, content) in &before {
            if !file.ends_with("_last_checkpoint") {
                assert_eq!(after.get(file), Some(content), "{}", file.display());
            }
        }
        let read = run(&at, &format!("SELECT count(*) AS n FROM delta.`{path}`"));
        assert!(
            read.out.contains(&format!("|{rows} ")),
            "{left}: {} {}",
            read.out,
            read.err
        );
    }
    // By name: the catalog needs room of its own, and says so, or needs none.
    let read = run(&at, "SELECT count(*) AS n FROM t");
    assert!(
        read.status == 0 && read.out.contains(&format!("|{rows} ")) || read.status == 9,
        "{} {}",
        read.out,
        read.err
    );
    let created = run(
        &at,
        "CREATE TABLE n USING delta AS SELECT id FROM range(100000)",
    );
    check("CREATE TABLE", &created, "/wh/");
    // With room again everything works.
    std::fs::remove_file(at.join("filler")).unwrap();
    let again = run(
        &at,
        &format!(
            "INSERT INTO delta.`{path}` VALUES (10); CREATE TABLE n (id INT) USING delta; SELECT count(*) AS n FROM t"
        ),
    );
    assert!(
        again.out.contains(&format!("|{} ", rows + 1)),
        "{} {}",
        again.out,
        again.err
    );
}

/// Fill the disk but for so many bytes.
fn fill(at: &Path, left: usize) {
    use std::io::Write;
    let filler = at.join("filler");
    let _ = std::fs::remove_file(&filler);
    let mut file = std::fs::File::create(&filler).unwrap();
    let block = [7; 4096];
    let mut written = 0;
    while file.write_all(&block).is_ok() {
        written += block.len();
    }
    file.set_len(written.saturating_sub(left) as u64).unwrap();
}

#[test]
fn a_file_that_may_not_grow_is_a_failure_of_the_storage() {
    let place = Place::empty();
    place.sql(
        "CREATE TABLE t (id BIGINT, word STRING) USING delta; INSERT INTO t VALUES (1, 'one')",
    );
    let path = place.table("t").display().to_string();
    let before = contents(&place.table("t"));
    for sql in [
        format!(
            "INSERT INTO delta.`{path}` SELECT id, concat('word ', sha2(CAST(id AS STRING), 256)) FROM range(0, 40000, 1, 1)"
        ),
        format!(
            "INSERT INTO delta.`{path}` SELECT id, concat('word ', sha2(CAST(id AS STRING), 256)) FROM range(0, 40000, 1, 4)"
        ),
    ] {
        let plain = program(place.path(), &["sql", "--quiet", &sql]);
        let mut command = Command::new("sh");
        // 64 KiB; the signal that would end the program is passed over, as a full disk sends none.
        command.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$@\"", "sh"]);
        command
            .arg(plain.get_program())
            .args(plain.get_args())
            .current_dir(place.path());
        let ended = ended(command.stdin(Stdio::null()).output().unwrap());
        check(&sql, &ended, "/wh/t");
    }
    let after = contents(&place.table("t"));
    for (file, content) in &before {
        assert_eq!(after.get(file), Some(content), "{}", file.display());
    }
    assert_eq!(place.ids("SELECT id FROM t"), [1]);
    place.sql("INSERT INTO t VALUES (2, 'two')");
    assert_eq!(place.ids("SELECT id FROM t"), [1, 2]);
}
