//! Deletions on real servers: in batches where they are taken, one by one where not, and what is said of each file.

use bytes::Bytes;
use deltaic_storage::{DeleteOutcome, TableStore};
use deltaic_testing::{Action, Answer, KeyClass, Rule, onelake};
use futures::{StreamExt, TryStreamExt, stream};

use super::{AZURE, ONELAKE, S3, Tables, server};

async fn fill(table: &TableStore, count: usize) -> Vec<String> {
    let names: Vec<String> = (0..count)
        .map(|n| format!("p={}/ä b%{n:04}", n % 3))
        .collect();
    stream::iter(names.clone())
        .map(|name| async move { table.data().create(&name, Bytes::from_static(b"x")).await })
        .buffer_unordered(16)
        .try_collect::<Vec<_>>()
        .await
        .unwrap();
    names
}

async fn left(table: &TableStore) -> usize {
    table
        .data()
        .list("", None)
        .try_collect::<Vec<_>>()
        .await
        .unwrap()
        .len()
}

/// Deletes all files and one that is not there; nothing fails, and nothing is left.
async fn all_go(table: &TableStore, names: Vec<String>) {
    let mut doomed = names;
    doomed.push("not/there".to_owned());
    let count = doomed.len();
    let results: Vec<_> = table.data().delete_files(doomed, 4).collect().await;
    assert_eq!(results.len(), count);
    for (path, outcome) in &results {
        let outcome = outcome
            .as_ref()
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(
            *outcome == DeleteOutcome::Deleted || path == "not/there",
            "{path}"
        );
    }
    assert_eq!(left(table).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_go_in_as_few_requests_as_the_server_allows() {
    for (variable, requests) in [(S3, 2), (AZURE, 5)] {
        let (proxy, server) = server(variable).behind([]);
        let table = server.table("t");
        let names = fill(&table, 1030).await;
        proxy.log().clear();
        all_go(&table, names).await;
        // Azurite breaks off connections under load; such a batch is sent again.
        let sent = proxy.log().count("POST", KeyClass::BatchDelete);
        assert!(
            (requests..=3 * requests).contains(&sent),
            "{variable}: {sent}"
        );
        assert_eq!(proxy.log().count("DELETE", KeyClass::Data), 0, "{variable}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_that_are_lost_busy_or_unreadable_are_repeated() {
    let actions = [
        Action::Reset,
        Action::ApplyThenReset,
        Action::ApplyThenAnswer(Answer::status(500)),
        Action::Answer(Answer::status(503).header("retry-after", "0")),
        Action::Answer(Answer::s3(
            200,
            "InternalError",
            "we encountered an internal error",
        )),
        Action::Answer(Answer::status(200).body("<html>welcome</html>")),
        Action::CutBody(40),
    ];
    for variable in [S3, AZURE] {
        for action in &actions {
            let rule = Rule::on("POST").times(2).then(action.clone());
            let (proxy, server) = server(variable).behind([rule]);
            let table = server.table("t");
            let names = fill(&table, 5).await;
            all_go(&table, names).await;
            assert_eq!(proxy.log().faults(), 2, "{variable} {action:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_no_batches_gets_single_requests() {
    let s3 = Rule::on("POST")
        .query("delete")
        .then(Action::Answer(Answer::s3(
            405,
            "MethodNotAllowed",
            "the method is not allowed",
        )));
    for (variable, rule) in [(S3, s3), (AZURE, onelake::no_batch())] {
        let (proxy, server) = server(variable).behind([rule]);
        let table = server.table("t");
        let names = fill(&table, 30).await;
        all_go(&table, names).await;
        // Asked once; from then on it is known.
        all_go(&table, fill(&table, 3).await).await;
        assert_eq!(
            proxy.log().count("POST", KeyClass::BatchDelete),
            1,
            "{variable}"
        );
        assert_eq!(
            proxy.log().count("DELETE", KeyClass::Data),
            35,
            "{variable}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn onelake_deletes_one_by_one_and_waits_when_told_to() {
    let options = onelake::Options {
        throttle_every: 29,
        ..onelake::Options::default()
    };
    let (proxy, server) = server(ONELAKE).behind(onelake::rules(options));
    let table = server.table("t");
    let names = fill(&table, 60).await;
    all_go(&table, names).await;
    assert_eq!(proxy.log().count("POST", KeyClass::BatchDelete), 0);
    assert!(proxy.log().faults() >= 4);
    // An answer that is lost: the file is gone, and that is what is said.
    let names = fill(&table, 4).await;
    proxy.set_rules([Rule::on("DELETE").every(2).then(Action::ApplyThenReset)]);
    all_go(&table, names).await;
    proxy.set_rules([Rule::on("DELETE")
        .path("0002")
        .then(Action::Answer(Answer::azure(
            403,
            "AuthorizationPermissionMismatch",
            "no right to delete",
        )))]);
    refused_alone(&table).await;
}

/// One file may not be deleted: it is named, the others go.
async fn refused_alone(table: &TableStore) {
    let names = fill(table, 5).await;
    let results: Vec<_> = table.data().delete_files(names, 2).collect().await;
    let failed: Vec<_> = results
        .iter()
        .filter(|(_, outcome)| outcome.is_err())
        .collect();
    assert_eq!(failed.len(), 1);
    let (path, Err(error)) = failed[0] else {
        unreachable!()
    };
    assert!(path.ends_with("0002"), "{path}");
    assert_eq!(
        error.java_class(),
        "java.nio.file.AccessDeniedException",
        "{error}"
    );
    assert_eq!(error.path(), Some(table.root().display(path).as_str()));
    assert_eq!(left(table).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_in_which_one_file_fails_names_it() {
    let answer = |key: &str| {
        Answer::status(200).header("content-type", "application/xml").body(format!(
            "<?xml version=\"1.0\"?><DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>{key}</Key>\
             <Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>"
        ))
    };
    let server = server(S3);
    let folder = server
        .location
        .split_once("://")
        .unwrap()
        .1
        .split_once('/')
        .unwrap()
        .1
        .to_owned();
    let rule = Rule::on("POST")
        .query("delete")
        .then(Action::Answer(answer(&format!("{folder}/t/b"))));
    let alone = Rule::on("DELETE")
        .path("/t/b")
        .then(Action::Answer(Answer::s3(403, "AccessDenied", "no")));
    let (proxy, server) = server.behind([rule, alone]);
    let server = server.with(&[("aws_retry_timeout", "2s")]);
    let table = server.table("t");
    let doomed = vec!["a".to_owned(), "b".to_owned()];
    let mut results: Vec<_> = table.data().delete_files(doomed, 1).collect().await;
    results.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(results[0].1.is_ok());
    let error = results[1].1.as_ref().unwrap_err();
    assert_eq!(error.path(), Some(table.root().display("b").as_str()));
    assert_eq!(error.java_class(), "java.nio.file.AccessDeniedException");
    assert!(error.text().contains("AccessDenied"), "{error}");
    // A right that is missing is missing for the next try too.
    assert_eq!(proxy.log().count("DELETE", KeyClass::Data), 1);
    assert_eq!(proxy.log().count("POST", KeyClass::BatchDelete), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_azure_in_which_one_file_is_refused_names_it_and_its_reason() {
    let part = |id: usize, status: &str| {
        format!(
            "--b\r\nContent-Type: application/http\r\nContent-ID: {id}\r\n\r\nHTTP/1.1 {status}\r\n\r\n\r\n"
        )
    };
    let answer = Answer::status(202)
        .header("content-type", "multipart/mixed; boundary=b")
        .body(format!(
            "{}{}--b--\r\n",
            part(0, "202 Accepted"),
            part(1, "403 This request is not authorized")
        ));
    let whole = Rule::on("POST")
        .query("comp=batch")
        .then(Action::Answer(answer));
    let alone = Rule::on("DELETE")
        .path("/t/b")
        .then(Action::Answer(Answer::azure(
            403,
            "AuthorizationPermissionMismatch",
            "not authorized",
        )));
    let (proxy, server) = server(AZURE).behind([whole, alone]);
    let table = server.table("t");
    let doomed = vec!["a".to_owned(), "b".to_owned()];
    let mut results: Vec<_> = table.data().delete_files(doomed, 1).collect().await;
    results.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(results[0].1.is_ok());
    let error = results[1].1.as_ref().unwrap_err();
    assert_eq!(
        error.java_class(),
        "java.nio.file.AccessDeniedException",
        "{error}"
    );
    assert!(
        error.text().contains("AuthorizationPermissionMismatch"),
        "{error}"
    );
    assert_eq!(proxy.log().count("DELETE", KeyClass::Data), 1);
    assert_eq!(proxy.log().count("POST", KeyClass::BatchDelete), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_a_file_that_nobody_named_leaves_all_of_the_batch_in_doubt() {
    for key in ["", "of/another/place"] {
        let answer = Answer::status(200)
            .header("content-type", "application/xml")
            .body(format!(
                "<DeleteResult><Error><Key>{key}</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>"
            ));
        let rule = Rule::on("POST")
            .query("delete")
            .then(Action::Answer(answer));
        let (proxy, server) = server(S3).behind([rule]);
        let table = server.table("t");
        let names = fill(&table, 5).await;
        let results: Vec<_> = table.data().delete_files(names, 2).collect().await;
        assert_eq!(results.len(), 5);
        for (path, outcome) in &results {
            let error = outcome.as_ref().unwrap_err();
            assert_eq!(error.path(), Some(table.root().display(path).as_str()));
            assert!(error.text().contains("AccessDenied"), "{error}");
        }
        proxy.set_rules([]);
        assert_eq!(left(&table).await, 5);
    }
}
