//! The program on object stores: many processes at one table, also behind a proxy that loses answers after the server has
//! done what it was asked. Servers are named by variables; see `deltaic_testing::Server`.

use std::process::{Command, Stdio};

use deltaic_testing::{Action, Proxy, Rule, Server};
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
