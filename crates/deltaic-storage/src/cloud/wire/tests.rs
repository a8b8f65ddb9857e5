//! Which answers count as whole, and how long a server may let wait.

use std::time::Duration;

use bytes::Bytes;
use chrono::DateTime;

use super::{Kept, Refusal, document, each_once, goes_on, known, numbers, refusal, retry_after};

const LISTING: &[&str] = &["ListBucketResult", "EnumerationResults"];

fn check(text: &str) -> Result<(), String> {
    document(&Bytes::from(text.to_owned()), LISTING)
}

#[test]
fn listings_of_both_kinds_are_listings() {
    for text in [
        "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\"><IsTruncated>false</IsTruncated></ListBucketResult>\n",
        "\u{feff}<?xml version=\"1.0\"?><EnumerationResults ServiceEndpoint=\"x\"><Blobs /></EnumerationResults>",
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>",
        "<ListBucketResult/>",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}

#[test]
fn anything_else_is_not() {
    for (text, why) in [
        ("", "no ListBucketResult"),
        ("<html><body>Welcome</body></html>", "no ListBucketResult"),
        (
            "<ListBucketResults></ListBucketResults>",
            "no ListBucketResult",
        ),
        (
            "<?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>",
            ": InternalError",
        ),
        ("<ListBucketResult><Contents><Key>a</Key>", "breaks off"),
        ("<ListBucketResult><Contents/>", "breaks off"),
        (
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            "does not say where",
        ),
        (
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken></NextContinuationToken></ListBucketResult>",
            "does not say where",
        ),
    ] {
        let said = check(text).unwrap_err();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn a_wait_is_seconds_or_a_date() {
    let now = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z")
        .unwrap()
        .to_utc();
    assert_eq!(retry_after(" 7 ", now), Some(Duration::from_secs(7)));
    assert_eq!(
        retry_after("Thu, 01 Jan 2026 00:00:09 GMT", now),
        Some(Duration::from_secs(9))
    );
    assert_eq!(
        retry_after("Wed, 31 Dec 2025 00:00:09 GMT", now),
        Some(Duration::ZERO)
    );
    assert_eq!(retry_after("soon", now), None);
}

#[test]
fn a_refusal_is_found_below_other_errors() {
    let inner = Refusal {
        status: 403,
        code: "AccessDenied".to_owned(),
        message: String::new(),
        expired: false,
    };
    let outer = object_store::Error::Generic {
        store: "S3",
        source: Box::new(std::io::Error::other(inner.clone())),
    };
    assert_eq!(
        refusal(&outer),
        None,
        "an io error shows its inner error's source, not itself"
    );
    let outer = object_store::Error::Generic {
        store: "S3",
        source: Box::new(inner.clone()),
    };
    assert_eq!(refusal(&outer), Some(&inner));
    assert_eq!(inner.to_string(), "the server answers 403, AccessDenied");
}

#[test]
fn a_listing_that_goes_on_where_it_was_has_no_end() {
    let s3 = |token: &str| {
        format!(
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken></ListBucketResult>"
        )
    };
    let azure = |marker: &str| {
        format!("<EnumerationResults><NextMarker>{marker}</NextMarker></EnumerationResults>")
    };
    for (text, place, good) in [
        (s3("b"), None, true),
        (s3("b"), Some("a"), true),
        (s3("a"), Some("a"), false),
        (s3("a&amp;b"), Some("a&b"), false),
        (azure("2!1"), Some("2!0"), true),
        (azure("2!1"), Some("2!1"), false),
        (azure(""), Some(""), true),
    ] {
        let found = goes_on(&Bytes::from(text.clone()), place);
        assert_eq!(found.is_ok(), good, "{text} {place:?}");
    }
}

#[test]
fn refusals_of_keys_that_nobody_named_are_no_answer() {
    let keys = ["a.parquet", "p=&<1>/b", "c d"].map(str::to_owned).into();
    let answer = |errors: &[(&str, &str)]| {
        let errors: String = errors
            .iter()
            .map(|(key, code)| {
                format!("<Error><Key>{key}</Key><Code>{code}</Code><Message>m</Message></Error>")
            })
            .collect();
        known(
            &format!("<DeleteResult><Deleted><Key>x</Key></Deleted>{errors}</DeleteResult>"),
            &keys,
        )
    };
    assert!(answer(&[]).is_ok());
    assert!(
        answer(&[
            ("a.parquet", "AccessDenied"),
            ("p=&amp;&lt;1&gt;/b", "AccessDenied"),
            ("c d", "X")
        ])
        .is_ok()
    );
    for key in ["", "b.parquet", "a.parquet/", "P=1"] {
        let error = answer(&[("a.parquet", "AccessDenied"), (key, "AccessDenied")]).unwrap_err();
        let refused = refusal(&error).map(|refusal| refusal.code.as_str());
        assert_eq!(refused, Some("AccessDenied"), "{key}");
        let error = answer(&[(key, "SlowDown")]).unwrap_err();
        assert_eq!(
            error.kind(),
            object_store::client::HttpErrorKind::Interrupted,
            "{key}"
        );
    }
    assert!(
        known(
            "<DeleteResult><Error><Code>InternalError</Code></Error></DeleteResult>",
            &keys
        )
        .is_err()
    );
}

#[test]
fn a_batch_of_azure_answers_each_request_once() {
    let part = |id: &str| {
        format!(
            "--batch\r\nContent-Type: application/http\r\nContent-ID: {id}\r\n\r\nHTTP/1.1 202 Accepted\r\n\r\n"
        )
    };
    let asked = numbers(&[part("0"), part("1")].concat()).collect();
    for good in [
        [part("1"), part("0")].concat(),
        // The refusal of the whole.
        "--batch\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 403 no\r\n".to_owned(),
    ] {
        assert!(each_once(&good, &asked).is_ok(), "{good}");
    }
    for bad in [
        vec![part("0")],
        vec![part("0"), part("0")],
        vec![part("0"), part("1"), part("2")],
        vec![part("0"), part("7")],
        vec![part("0"), part("-1")],
    ] {
        assert!(each_once(&bad.concat(), &asked).is_err(), "{bad:?}");
    }
}

#[test]
fn soft_delete_shows_in_the_answers_to_a_batch() {
    let kept = Kept::default();
    kept.look("HTTP/1.1 202 Accepted\r\nx-ms-delete-type-permanent: true\r\n");
    assert!(!kept.is_so());
    kept.look("HTTP/1.1 202 Accepted\r\nX-Ms-Delete-Type-Permanent: false\r\n");
    assert!(kept.is_so());
}
