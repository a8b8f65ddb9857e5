//! The program on object stores: many processes at one table, also behind a proxy that loses answers after the server has
//! done what it was asked. Servers are named by variables; see `deltaic_testing::Server`.

use std::process::{Command, Stdio};

use deltaic_testing::{Action, Answer, Proxy, Rule, Server};
use serde_json::{Value, json};

use crate::{Place, heavy};

fn server(variable: &str) -> Server {
    let server = Server::named(variable).unwrap_or_else(|missing| panic!("{missing}"));
    let run = uuid::Uuid::new_v4();
    Server {
        location: format!("{}/{run}", server.location),
        ..server
    }
}

/// The program, with a table's location for `@`, and that of one below it for `#`.
fn command(place: &Place, server: &Server, sql: &str) -> Command {
    let table = |name: &str| format!("delta.`{}/{name}`", server.location);
    // A location may have an @ of its own.
    let pieces: Vec<String> = sql
        .split('@')
        .map(|piece| piece.replace('#', &table("t/deep/inner")))
        .collect();
    let sql = pieces.join(&table("t"));
    let mut command = place.command(&["sql", "--output", "json", &sql]);
    for (key, value) in &server.options {
        command.args(["--storage-option", &format!("{key}={value}")]);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn answers(mut command: Command) -> Vec<Value> {
    let output = command.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    // Refusals are answers too, where they are asked for as JSON.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{out}");
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Each process appends its own numbers one by one; afterwards each number is there once, in a commit of its own.
fn race(server: &Server, writers: &Server) {
    let (processes, appends) = if heavy() { (20, 100) } else { (4, 10) };
    let place = Place::empty();
    answers(command(
        &place,
        server,
        "CREATE TABLE @ (id BIGINT) USING delta",
    ));
    let children: Vec<_> = (0..processes)
        .map(|p| {
            let statements: Vec<String> = (0..appends)
                .map(|n| format!("INSERT INTO @ VALUES ({})", p * 1000 + n))
                .collect();
            let own = Place::empty();
            let child = command(&own, writers, &statements.join(";")).spawn();
            (own, child.unwrap())
        })
        .collect();
    for (_own, child) in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let found = answers(command(
        &place,
        server,
        "SELECT count(*), count(DISTINCT id) FROM @; DESCRIBE HISTORY @",
    ));
    let all = processes * appends;
    assert_eq!(found[0]["rows"], json!([[all, all]]));
    assert_eq!(found[1]["rows"].as_array().unwrap().len(), all + 1);
}

/// Every 7th answer is lost after the server has done what it was asked.
fn with_lost_answers(server: &Server) {
    let rule = Rule::any().every(7).then(Action::ApplyThenReset);
    let proxy = Proxy::start(&server.upstream().unwrap(), [rule]).unwrap();
    race(server, &server.through(&proxy));
    assert!(proxy.log().faults() > 0);
}

#[test]
fn processes_that_append_on_s3_lose_nothing() {
    let server = server("DELTAIC_TEST_S3");
    race(&server, &server);
}

#[test]
fn processes_that_append_on_azure_lose_nothing() {
    let server = server("DELTAIC_TEST_AZURE");
    race(&server, &server);
}

#[test]
fn processes_whose_answers_are_lost_on_s3_lose_and_double_nothing() {
    with_lost_answers(&server("DELTAIC_TEST_S3"));
}

#[test]
fn processes_whose_answers_are_lost_on_azure_lose_and_double_nothing() {
    with_lost_answers(&server("DELTAIC_TEST_AZURE"));
}

/// A table below another one in the same bucket keeps its files, and the name of a partition is the key that other engines ask for.
fn neighbours(server: &Server) {
    let place = Place::empty();
    let run = |sql: &str| answers(command(&place, server, sql));
    run("CREATE TABLE @ USING delta AS SELECT 1 AS id, 'brand \u{f8ff}' AS p");
    run(
        "CREATE TABLE # USING delta PARTITIONED BY (p) AS SELECT id, '\u{f8ff}12 ' AS p FROM range(5)",
    );
    run("INSERT INTO @ SELECT 2, 'x'; DELETE FROM @ WHERE id = 1");
    let done = run(
        "SET spark.databricks.delta.retentionDurationCheck.enabled = false; VACUUM @ RETAIN 0 HOURS; SELECT * FROM @",
    );
    assert_eq!(done.last().unwrap()["rows"], json!([[2, "x"]]));
    let rows = run("SELECT sum(id), max(p) FROM #");
    assert_eq!(rows[0]["rows"], json!([[10, "\u{f8ff}12 "]]));
}

#[test]
fn vacuum_on_s3_leaves_the_table_below_alone() {
    neighbours(&server("DELTAIC_TEST_S3"));
}

#[test]
fn vacuum_on_azure_leaves_the_table_below_alone() {
    neighbours(&server("DELTAIC_TEST_AZURE"));
}

/// Credentials that run out in the middle of a scan and of a write: the statement fails as a whole, says what to do, and nothing
/// half-written is visible.
fn expiring(server: &Server, expired: &Answer) {
    let place = Place::empty();
    let rows: Vec<String> = (0..6)
        .map(|n| format!("INSERT INTO @ VALUES ({n}), ({n} + 100)"))
        .collect();
    let made = format!("CREATE TABLE @ (id BIGINT) USING delta; {}", rows.join(";"));
    answers(command(&place, server, &made));
    for (method, class, sql) in [
        (
            "GET",
            "FAILED_READ_FILE.NO_HINT",
            "SELECT id FROM @ WHERE id % 2 = 0",
        ),
        (
            "PUT",
            "TASK_WRITE_FAILED",
            "INSERT INTO @ SELECT /*+ REPARTITION(4) */ id FROM range(0, 4000, 1, 4)",
        ),
    ] {
        let rule = Rule::on(method)
            .path(".parquet")
            .skip(1)
            .then(Action::Answer(expired.clone()));
        let proxy = Proxy::start(&server.upstream().unwrap(), [rule]).unwrap();
        let output = command(&place, &server.through(&proxy), sql)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(proxy.log().faults() > 0, "{said}");
        assert_eq!(output.status.code(), Some(9), "{said}");
        assert!(said.contains(class), "{said}");
        assert!(said.contains("token has expired"), "{said}");
        let left = answers(command(&place, server, "SELECT count(*), sum(id) FROM @"));
        assert_eq!(left[0]["rows"], json!([[12, 630]]));
    }
}

#[test]
fn a_token_that_expires_in_the_middle_of_a_statement_on_s3() {
    let expired = Answer::s3(400, "ExpiredToken", "The provided token has expired.");
    expiring(&server("DELTAIC_TEST_S3"), &expired);
}

#[test]
fn a_signature_that_expires_in_the_middle_of_a_statement_on_azure() {
    let expired = Answer::status(403)
        .header("content-type", "application/xml")
        .header("x-ms-error-code", "AuthenticationFailed")
        .body(
            "<?xml version=\"1.0\"?><Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.</Message>\
             <AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [a] - Expiry [b] - Current [c]\
             </AuthenticationErrorDetail></Error>",
        );
    expiring(&server("DELTAIC_TEST_AZURE"), &expired);
}

/// A table that was renamed keeps its files where they are, and its old name can be used again.
fn renamed(server: &Server) {
    let place = Place::empty();
    let catalog = place.path().join("catalog.db");
    let run = |sql: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deltaic"));
        command.args(["sql", "--output", "json", sql]);
        command.args(["--warehouse", &format!("{}/wh", server.location)]);
        command.arg("--catalog").arg(&catalog);
        for (key, value) in &server.options {
            command.args(["--storage-option", &format!("{key}={value}")]);
        }
        answers(command)
    };
    run("CREATE TABLE a USING delta AS SELECT 1 AS id; ALTER TABLE a RENAME TO b");
    run(
        "CREATE TABLE a USING delta AS SELECT 2 AS id; ALTER TABLE a RENAME TO c; CREATE TABLE a AS SELECT 3 AS id",
    );
    run("INSERT INTO a VALUES (33); CREATE OR REPLACE TABLE c AS SELECT 22 AS id");
    let rows = run("SELECT * FROM a ORDER BY id; SELECT * FROM b; SELECT * FROM c");
    let rows: Vec<&Value> = rows.iter().map(|answer| &answer["rows"]).collect();
    assert_eq!(rows, [&json!([[3], [33]]), &json!([[1]]), &json!([[22]])]);
    run("DROP TABLE b; DROP TABLE a; CREATE TABLE a AS SELECT 4 AS id");
    let rows = run("SELECT * FROM a; SELECT * FROM c");
    assert_eq!(rows[0]["rows"], json!([[4]]));
    assert_eq!(rows[1]["rows"], json!([[22]]));
}

#[test]
fn a_name_is_free_again_after_rename_on_s3() {
    renamed(&server("DELTAIC_TEST_S3"));
}

#[test]
fn a_name_is_free_again_after_rename_on_azure() {
    renamed(&server("DELTAIC_TEST_AZURE"));
}
