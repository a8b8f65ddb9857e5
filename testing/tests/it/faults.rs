//! Each action: what the client sees, and whether the server did it.

use std::time::{Duration, Instant};

use deltaic_testing::{Action, Answer, KeyClass, Proxy, Rule};

use crate::{answering, ask, before, server};

const COMMIT: &str = "/b/t/_delta_log/00000000000000000001.json";

#[test]
fn every_action_does_what_it_says() {
    for (action, status, done) in [
        (
            Action::Answer(Answer::s3(503, "SlowDown", "slow down")),
            Some(503),
            0,
        ),
        (Action::ApplyThenAnswer(Answer::status(500)), Some(500), 1),
        (Action::Reset, None, 0),
        (Action::ApplyThenReset, None, 1),
        (Action::CutBody(2), None, 1),
        (Action::Delay(Duration::from_millis(1)), Some(200), 1),
    ] {
        let server = server();
        let proxy = before(
            &server,
            [Rule::on("PUT")
                .path("_delta_log")
                .times(1)
                .then(action.clone())],
        );
        let seen = ask(proxy.address(), "PUT", COMMIT, "x").map(|(status, _, _)| status);
        assert_eq!(seen, status, "{action:?}");
        assert_eq!(server.log().total(), done, "{action:?}");
        // Once only, and nothing else.
        assert_eq!(ask(proxy.address(), "PUT", COMMIT, "x").unwrap().2, "hello");
        assert_eq!(ask(proxy.address(), "GET", COMMIT, "").unwrap().2, "hello");
        let faulty = !matches!(action, Action::Delay(_));
        assert_eq!(proxy.log().faults(), usize::from(faulty), "{action:?}");
        assert_eq!(proxy.log().count("PUT", KeyClass::Commit), 2);
        let first = &proxy.log().requests()[0];
        assert_eq!((first.applied, first.sent), (done == 1, 1), "{action:?}");
    }
}

#[test]
fn every_nth_request_after_the_first_ones_is_hit() {
    let server = server();
    let rule = Rule::any()
        .query("n=")
        .skip(1)
        .every(3)
        .times(2)
        .then(Action::Answer(Answer::status(429)));
    let proxy = before(&server, [rule]);
    let hit: Vec<usize> = (0..12)
        .filter(|n| {
            ask(proxy.address(), "GET", &format!("/x?n={n}"), "")
                .unwrap()
                .0
                == 429
        })
        .collect();
    assert_eq!(hit, [3, 6]);
    assert_eq!(ask(proxy.address(), "GET", "/x", "").unwrap().0, 200);
}

#[test]
fn chance_is_repeatable_and_follows_the_seed() {
    let server = server();
    let run = |seed| {
        let rule = Rule::any()
            .permille(300)
            .then(Action::Answer(Answer::status(500)));
        let proxy = Proxy::seeded(&server.address().to_string(), [rule], seed).unwrap();
        (0..60)
            .map(|_| ask(proxy.address(), "GET", "/x", "").unwrap().0 == 500)
            .collect::<Vec<bool>>()
    };
    let first = run(7);
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
    let hits = first.iter().filter(|hit| **hit).count();
    assert!((5..40).contains(&hits), "{hits}");
}

#[test]
fn a_server_that_is_not_there_is_a_broken_connection() {
    let gone = server();
    let proxy = before(&gone, []);
    drop(gone);
    assert_eq!(ask(proxy.address(), "GET", "/x", ""), None);
}

#[test]
fn a_latency_holds_for_all_requests_and_rules_can_change() {
    let server = answering(Answer::status(200));
    let proxy = before(&server, []);
    proxy.set_latency(Duration::from_millis(60));
    let start = Instant::now();
    ask(proxy.address(), "GET", "/x", "").unwrap();
    assert!(start.elapsed() >= Duration::from_millis(60));
    proxy.set_latency(Duration::ZERO);
    proxy.set_rules([Rule::any().then(Action::Answer(Answer::azure(
        403,
        "AuthenticationFailed",
        "no",
    )))]);
    let (status, head, body) = ask(proxy.address(), "GET", "/x", "").unwrap();
    assert_eq!(status, 403);
    assert!(
        head.contains("x-ms-error-code: AuthenticationFailed")
            && body.contains("<Message>no</Message>")
    );
    proxy.log().clear();
    assert_eq!(proxy.log().total(), 0);
}

#[test]
fn requests_are_classed_by_their_address() {
    let server = server();
    let proxy = before(&server, []);
    for (method, target, class) in [
        ("GET", "/b?list-type=2&prefix=t%2F", KeyClass::Listing),
        ("GET", "/a/c?restype=container&comp=list", KeyClass::Listing),
        ("POST", "/b?delete", KeyClass::BatchDelete),
        (
            "POST",
            "/a/c?restype=container&comp=batch",
            KeyClass::BatchDelete,
        ),
        ("POST", "/b/x?uploads", KeyClass::Data),
        ("PUT", COMMIT, KeyClass::Commit),
        (
            "GET",
            "/b/t/_delta_log/_last_checkpoint",
            KeyClass::LastCheckpoint,
        ),
        (
            "GET",
            "/b/t/_delta_log/00000000000000000010.checkpoint.parquet",
            KeyClass::Checkpoint,
        ),
        (
            "GET",
            "/b/t/_delta_log/_sidecars/x.parquet",
            KeyClass::Checkpoint,
        ),
        (
            "PUT",
            "/b/t/_delta_log/00000000000000000001.crc",
            KeyClass::Checksum,
        ),
        ("GET", "/b/t/_delta_log/_commits/1.json", KeyClass::OtherLog),
        ("GET", "/b/t/part-0.parquet", KeyClass::Data),
    ] {
        proxy.log().clear();
        ask(proxy.address(), method, target, "").unwrap();
        assert_eq!(
            proxy.log().count(method, class),
            1,
            "{method} {target}: {:?}",
            proxy.log().counts()
        );
    }
}
