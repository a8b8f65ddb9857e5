//! What users get wrong, and servers that are down: a classed error in time, with what to do next, and nothing half made.

use std::time::{Duration, Instant};

use bytes::Bytes;
use deltaic_protocol::error::{DeltaError, ErrorKind};
use deltaic_storage::TableStore;
use deltaic_testing::{Action, Answer, Rule, Server};
use futures::{StreamExt, TryStreamExt};

use super::{AZURE, S3, Tables, server};

const COMMIT: &str = "00000000000000000001.json";
/// What the user allows one operation.
const PATIENCE: Duration = Duration::from_secs(2);
/// What a busy machine may add to it; without the user's limit an operation takes three minutes.
const SLACK: Duration = Duration::from_secs(45);
/// The port of the discard service: nobody listens there, and the system gives it to nobody.
const NOBODY: &str = "127.0.0.1:9";

const DENIED: &str = "java.nio.file.AccessDeniedException";
const IO: &str = "java.io.IOException";
const MISSING: &str = "java.io.FileNotFoundException";

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Try {
    List,
    Read,
    Commit,
    Delete,
}

const ALL: &[Try] = &[Try::List, Try::Read, Try::Commit, Try::Delete];

async fn attempt(table: &TableStore, what: Try) -> Result<(), DeltaError> {
    match what {
        Try::List => table
            .log()
            .list_from("")
            .try_collect::<Vec<_>>()
            .await
            .map(|_| ()),
        Try::Read => table
            .log()
            .read("00000000000000000000.json")
            .await
            .map(|_| ()),
        Try::Commit => table
            .log()
            .create(COMMIT, Bytes::from_static(b"mine"))
            .await
            .map(|_| ()),
        Try::Delete => {
            let mut told: Vec<_> = table
                .data()
                .delete_files(vec!["a".to_owned()], 1)
                .collect()
                .await;
            told.remove(0).1.map(|_| ())
        }
    }
}

struct Case {
    server: Server,
    tries: &'static [Try],
    /// The error's exception.
    java: &'static str,
    /// A part of the hint.
    hint: &'static str,
}

/// Tries everything; each is an error of this form in time. `honest` is the server without what is wrong: nothing is made
/// there, and what was there stays.
async fn check(name: &str, case: Case, honest: &Server) {
    let before = honest.table("t");
    before
        .log()
        .create("00000000000000000000.json", Bytes::from_static(b"first"))
        .await
        .unwrap();
    before
        .data()
        .create("a", Bytes::from_static(b"x"))
        .await
        .unwrap();
    let table = case
        .server
        .clone()
        .with(&[("retry_timeout", "2s")])
        .table("t");
    for what in case.tries {
        let began = Instant::now();
        let Err(error) = attempt(&table, *what).await else {
            panic!("{name}: {what:?} works");
        };
        let took = began.elapsed();
        assert!(took < PATIENCE + SLACK, "{name}, {what:?}: {took:?}");
        let said = format!(
            "{name}, {what:?} after {took:?}: {error}; {:?}",
            error.hint()
        );
        println!("{said}");
        assert_eq!(error.java_class(), case.java, "{said}");
        assert!(
            error.hint().is_some_and(|hint| hint.contains(case.hint)),
            "{said}"
        );
        assert!(
            matches!(error.kind(), ErrorKind::Storage | ErrorKind::NotFound),
            "{said}"
        );
        assert!(
            error
                .path()
                .is_some_and(|path| path.starts_with(case.server.location.as_str())),
            "{said}"
        );
        let secrets = case
            .server
            .options
            .iter()
            .filter(|(key, _)| key.contains("secret") || key.ends_with("account_key"));
        for (_, secret) in secrets.filter(|(_, secret)| secret.len() > 6) {
            assert!(!format!("{error:?}{said}").contains(secret), "{said}");
        }
    }
    let mut left: Vec<String> = before
        .data()
        .list("", None)
        .map_ok(|meta| meta.path)
        .try_collect()
        .await
        .unwrap();
    left.sort();
    assert_eq!(
        left,
        ["_delta_log/00000000000000000000.json", "a"],
        "{name}"
    );
}

/// A server before which all requests of a kind are answered so.
async fn answered(
    variable: &str,
    name: &str,
    rule: Rule,
    answer: Answer,
    tries: &'static [Try],
    java: &'static str,
    hint: &'static str,
) {
    let honest = server(variable);
    let (_proxy, server) = honest.behind([rule.then(Action::Answer(answer))]);
    let case = Case {
        server,
        tries,
        java,
        hint,
    };
    check(&format!("{name} on {variable}"), case, &honest).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_not_there() {
    for variable in [S3, AZURE] {
        let honest = server(variable);
        let mut server = honest.clone();
        server.location = server
            .location
            .replacen("://deltaic", "://no-such-bucket", 1);
        let case = Case {
            server,
            tries: &[Try::List, Try::Read, Try::Commit],
            java: MISSING,
            hint: "check the name of the bucket",
        };
        check(&format!("no bucket on {variable}"), case, &honest).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_are_wrong() {
    let honest = server(AZURE);
    let server = honest.clone().with(&[(
        "azure_storage_account_key",
        "d3Jvbmctd3Jvbmctd3Jvbmctd3Jvbmctd3Jvbmc=",
    )]);
    let case = Case {
        server,
        tries: ALL,
        java: DENIED,
        hint: "not accepted",
    };
    check("a wrong key on Azure", case, &honest).await;
    let unknown = Answer::s3(
        403,
        "InvalidAccessKeyId",
        "The AWS Access Key Id you provided does not exist in our records.",
    );
    answered(
        S3,
        "an unknown key",
        Rule::any(),
        unknown,
        ALL,
        DENIED,
        "not accepted",
    )
    .await;
    let wrong = Answer::s3(
        403,
        "SignatureDoesNotMatch",
        "The request signature we calculated does not match",
    );
    answered(
        S3,
        "a wrong secret",
        Rule::any(),
        wrong,
        ALL,
        DENIED,
        "not accepted",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_that_are_missing() {
    let denied = || Answer::s3(403, "AccessDenied", "Access Denied");
    let listing = || {
        Rule::on("GET")
            .when(|head| head.query.contains("list-type") || head.query.contains("comp=list"))
    };
    let writing = || Rule::any().when(|head| !matches!(head.method.as_str(), "GET" | "HEAD"));
    for variable in [S3, AZURE] {
        answered(
            variable,
            "no right to list",
            listing(),
            denied(),
            &[Try::List],
            DENIED,
            "right to list",
        )
        .await;
        answered(
            variable,
            "read only",
            writing(),
            denied(),
            &[Try::Commit, Try::Delete],
            DENIED,
            "policy",
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_expires_on_the_way() {
    let expired = Answer::s3(400, "ExpiredToken", "The provided token has expired.");
    answered(
        S3,
        "an expired token",
        Rule::any(),
        expired.clone(),
        ALL,
        DENIED,
        "token has expired",
    )
    .await;
    for (status, code, detail) in [
        (
            403,
            "AuthenticationFailed",
            "Signature not valid in the specified time frame: Start [a] - Expiry [b] - Current [c]",
        ),
        (
            401,
            "InvalidAuthenticationInfo",
            "Lifetime validation failed. The token is expired.",
        ),
    ] {
        let expired = Answer::status(status)
            .header("content-type", "application/xml")
            .header("x-ms-error-code", code)
            .body(format!(
                "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>Server failed to authenticate the request.</Message>\
                 <AuthenticationErrorDetail>{detail}</AuthenticationErrorDetail></Error>"
            ));
        let what = "an expired signature or token";
        answered(
            AZURE,
            what,
            Rule::any(),
            expired,
            ALL,
            DENIED,
            "token has expired",
        )
        .await;
    }
    // In the middle of a listing: the second page.
    let honest = server(S3);
    let table = honest.table("t");
    let names: Vec<String> = (0..1010).map(|n| format!("f-{n:05}")).collect();
    futures::stream::iter(&names)
        .map(|name| table.data().create(name, Bytes::new()))
        .buffer_unordered(32)
        .try_collect::<Vec<_>>()
        .await
        .unwrap();
    let rule = Rule::any().skip(1).then(Action::Answer(expired));
    let (_proxy, server) = honest.behind([rule]);
    let listed: Vec<_> = server.table("t").data().list("", None).collect().await;
    assert_eq!(listed.len(), 1001);
    let error = listed[1000].as_ref().unwrap_err();
    assert!(
        error.hint().unwrap().contains("token has expired"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_of_another_region() {
    let malformed = Answer::s3(
        400,
        "AuthorizationHeaderMalformed",
        "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-west-1'",
    );
    answered(
        S3,
        "a wrong region",
        Rule::any(),
        malformed,
        ALL,
        IO,
        "another region",
    )
    .await;
    let moved = Answer::s3(
        301,
        "PermanentRedirect",
        "The bucket you are attempting to access must be addressed using the specified endpoint.",
    );
    answered(
        S3,
        "a moved bucket",
        Rule::any(),
        moved,
        ALL,
        IO,
        "another region",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_down_busy_or_silent() {
    for variable in [S3, AZURE] {
        let honest = server(variable);
        let (proxy, mut down) = honest.behind([]);
        let address = proxy.address().to_string();
        drop(proxy);
        for value in down.options.values_mut() {
            *value = value.replace(&address, NOBODY);
        }
        let case = Case {
            server: down,
            tries: ALL,
            java: IO,
            hint: "endpoint answers",
        };
        check(&format!("nobody there on {variable}"), case, &honest).await;
        let busy = Answer::s3(503, "SlowDown", "Please reduce your request rate.");
        answered(
            variable,
            "busy for ever",
            Rule::any(),
            busy,
            ALL,
            IO,
            "endpoint answers",
        )
        .await;
        let honest = server(variable);
        let (_proxy, server) =
            honest.behind([Rule::any().then(Action::Delay(Duration::from_secs(3600)))]);
        let case = Case {
            server,
            tries: ALL,
            java: IO,
            hint: "endpoint answers",
        };
        check(&format!("silent on {variable}"), case, &honest).await;
    }
}
