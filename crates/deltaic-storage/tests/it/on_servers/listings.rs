//! Listings on real servers that break off, or whose answer is something else; waits that a server asks for.

use std::time::{Duration, Instant};

use bytes::Bytes;
use deltaic_protocol::error::Result;
use deltaic_storage::TableStore;
use deltaic_testing::{Action, Answer, KeyClass, Rule};
use futures::{StreamExt, TryStreamExt, stream};

use super::{AZURE, S3, Tables, server};

/// More than a page of S3, whose pages hold 1000.
const FILES: usize = 1203;

async fn fill(table: &TableStore) {
    stream::iter(0..FILES)
        .map(|n| async move {
            table
                .data()
                .create(&format!("f-{n:05}"), Bytes::new())
                .await
        })
        .buffer_unordered(32)
        .try_collect::<Vec<_>>()
        .await
        .unwrap();
}

async fn list(table: &TableStore) -> Result<Vec<String>> {
    table
        .data()
        .list("", None)
        .map_ok(|meta| meta.path)
        .try_collect()
        .await
}

/// Listings of S3 carry `list-type`, those of Azure `comp=list`.
fn listings() -> Rule {
    Rule::on("GET")
        .when(|head| head.query.contains("list-type") || head.query.contains("comp=list"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_that_breaks_off_is_taken_up_and_whole() {
    let actions = [
        Action::CutBody(3000),
        Action::CutBody(0),
        Action::Reset,
        Action::ApplyThenReset,
        Action::Answer(Answer::status(500)),
        Action::Answer(Answer::s3(503, "SlowDown", "slow down")),
        Action::Answer(Answer::s3(
            200,
            "InternalError",
            "we encountered an internal error",
        )),
        Action::Answer(Answer::status(200).body("<html>welcome</html>")),
        Action::Answer(Answer::status(200)),
    ];
    for variable in [S3, AZURE] {
        let server = server(variable);
        fill(&server.table("t")).await;
        for action in &actions {
            // The second page of S3, and the first of Azure and then once more.
            for skip in [0, 1] {
                let (proxy, server) =
                    server.behind([listings().skip(skip).times(2).then(action.clone())]);
                let listed = list(&server.table("t")).await.unwrap();
                assert_eq!(listed.len(), FILES, "{variable} {action:?} after {skip}");
                assert!(listed.is_sorted(), "{variable} {action:?}");
                if variable == S3 || skip == 0 {
                    assert_eq!(
                        proxy.log().faults(),
                        2,
                        "{variable} {action:?} after {skip}"
                    );
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_that_stays_broken_is_an_error_in_time() {
    let actions = [
        Action::CutBody(3000),
        Action::Reset,
        Action::Answer(Answer::s3(200, "InternalError", "we encountered an internal error")),
        Action::Answer(Answer::status(200).body("<html>welcome</html>")),
        Action::Answer(Answer::status(200)),
        Action::Answer(Answer::status(200).body(
            "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>x</Key></Contents></ListBucketResult>",
        )),
    ];
    for (variable, option) in [(S3, "aws_retry_timeout"), (AZURE, "azure_retry_timeout")] {
        let server = server(variable);
        fill(&server.table("t")).await;
        let server = server.with(&[(option, "1s")]);
        for action in &actions {
            let (_proxy, server) = server.behind([listings().then(action.clone())]);
            let began = Instant::now();
            let error = list(&server.table("t")).await.unwrap_err();
            let took = began.elapsed();
            assert!(
                took < Duration::from_secs(3),
                "{variable} {action:?}: {took:?}"
            );
            assert!(
                error.text().contains("Failed to list") && error.hint().is_some(),
                "{error}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_not_asked_before_the_time_that_it_names() {
    for variable in [S3, AZURE] {
        for status in [429, 503] {
            let answer = Answer::status(status).header("retry-after", "2");
            let rule = Rule::any().times(1).then(Action::Answer(answer));
            // A commit that is not preceded by a probe.
            let (proxy, server) = server(variable)
                .with(&[("aws_conditional_put", "etag")])
                .behind([rule]);
            let table = server.table("t");
            let began = Instant::now();
            table
                .log()
                .create("00000000000000000000.json", Bytes::from_static(b"x"))
                .await
                .unwrap();
            let took = began.elapsed();
            assert!(
                (2000..10_000).contains(&took.as_millis()),
                "{variable} {status}: {took:?}"
            );
            assert_eq!(
                proxy.log().count("PUT", KeyClass::Commit),
                2,
                "{variable} {status}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_longer_than_the_user_has_is_not_begun() {
    let answer = Answer::status(503).header("retry-after", "3600");
    let (_proxy, server) = server(S3).behind([Rule::any().then(Action::Answer(answer))]);
    let table = server.with(&[("aws_retry_timeout", "2s")]).table("t");
    let began = Instant::now();
    table
        .log()
        .read("00000000000000000000.json")
        .await
        .unwrap_err();
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
}

/// A page of S3 or Azure with one object, which goes on at a place.
fn page(variable: &str, key: &str, next: &str) -> Answer {
    let modified = "2026-01-01T00:00:00.000Z";
    let body = match variable {
        S3 => format!(
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{next}</NextContinuationToken><Contents>\
             <Key>{key}</Key><LastModified>{modified}</LastModified><ETag>e</ETag><Size>1</Size></Contents></ListBucketResult>"
        ),
        _ => format!(
            "<EnumerationResults><Blobs><Blob><Name>{key}</Name><Properties><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT\
             </Last-Modified><Content-Length>1</Content-Length><Content-Type>a/b</Content-Type><Etag>e</Etag></Properties></Blob>\
             </Blobs><NextMarker>{next}</NextMarker></EnumerationResults>"
        ),
    };
    Answer::status(200)
        .header("content-type", "application/xml")
        .body(body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_without_an_end_is_an_error_in_time() {
    for (variable, option, place) in [
        (S3, "aws_retry_timeout", "continuation-token"),
        (AZURE, "azure_retry_timeout", "marker"),
    ] {
        let server = server(variable).with(&[(option, "1s")]);
        let (_, path) = server.location.split_once("://").unwrap();
        let (_, folder) = path.split_once('/').unwrap();
        let key = |n: usize| format!("{folder}/t/f{n}");
        let answer = |n: usize, next: &str| Action::Answer(page(variable, &key(n), next));
        // Back to the page itself, to the one before, and round in threes.
        for circle in [1, 2, 3] {
            let mut rules: Vec<Rule> = (0..circle)
                .map(|n| {
                    let next = format!("at{}", (n + 1) % circle);
                    listings()
                        .query(&format!("{place}=at{n}"))
                        .then(answer(n, &next))
                })
                .collect();
            rules.push(listings().then(answer(9, "at0")));
            let (_proxy, server) = server.behind(rules);
            let began = Instant::now();
            let error = list(&server.table("t")).await.unwrap_err();
            assert!(
                began.elapsed() < Duration::from_secs(3),
                "{variable} {circle}"
            );
            let told = ["where it already was", "again and again"]
                .iter()
                .any(|told| error.text().contains(told));
            assert!(
                told && error.hint().is_some(),
                "{variable} {circle}: {error}"
            );
        }
    }
}
