//! Keys, tokens and passwords of object stores are not told: not by errors, not by what is printed of options and
//! stores.

use std::io::{Read, Write};
use std::net::TcpListener;

use bytes::Bytes;
use deltaic_protocol::error::DeltaError;
use deltaic_storage::cloud::CloudOptions;
use deltaic_storage::{StorageFactory, StorageOptions};
use futures::TryStreamExt;
use object_store::ObjectStoreExt;

/// Base64, so that it can be a key of Azure's too.
const CANARY: &str = "Y2FuYXJ5LXNlY3JldC12YWx1ZQ==";
/// How it stands in an address.
const ENCODED: &str = "Y2FuYXJ5LXNlY3JldC12YWx1ZQ%3D%3D";

fn options(pairs: &[(&str, &str)]) -> CloudOptions {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.replace("CANARY", CANARY)))
        .collect()
}

fn is_silent(text: &str) {
    assert!(!text.contains(CANARY) && !text.contains(ENCODED), "{text}");
    assert!(!text.contains("Y2FuYXJ5"), "{text}");
}

/// All that an error can tell.
fn is_silent_error(error: &DeltaError) {
    is_silent(&format!(
        "{error}\n{error:?}\n{:?}\n{}",
        error.hint(),
        error.text()
    ));
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        is_silent(&format!("{inner} {inner:?}"));
        source = inner.source();
    }
}

const S3: &[(&str, &str)] = &[
    ("aws_access_key_id", "AKID"),
    ("aws_secret_access_key", "CANARY"),
    ("aws_session_token", "CANARY"),
    ("aws_access_key_id_dynamodb", "AKID"),
    ("aws_secret_access_key_dynamodb", "CANARY"),
    ("aws_sse_customer_key_base64", "CANARY"),
    ("aws_max_retries", "0"),
    ("aws_retry_timeout", "1s"),
];

#[test]
fn what_is_printed_of_options_and_stores() {
    let cloud = options(S3);
    is_silent(&format!("{cloud:?}"));
    let options = StorageOptions {
        cloud,
        ..StorageOptions::default()
    };
    is_silent(&format!("{options:?}"));
    let factory = StorageFactory::new(&options);
    let table = factory.open("s3://b/t").unwrap();
    let store = table.object_store();
    is_silent(&format!(
        "{factory:?} {table:?} {:?} {:?} {store}",
        table.log(),
        table.data()
    ));
}

#[test]
fn options_that_cannot_be_used() {
    let wrong: &[(&str, &[(&str, &str)])] = &[
        ("s3://b/t", &[("aws_skip_signature", "CANARY")]),
        ("s3://b/t", &[("aws_conditional_put", "CANARY")]),
        ("s3://b/t", &[("s3_locking_provider", "CANARY")]),
        ("s3://b/t", &[("aws_secret_access_key", "CANARY")]),
        (
            "s3://b/t",
            &[("aws_proxy_url", "http://user:CANARY@[broken")],
        ),
        (
            "s3://b/t",
            &[
                ("aws_endpoint", "http://user:CANARY@[broken"),
                ("aws_proxy_url", "::CANARY"),
            ],
        ),
        ("s3://b/t", &[("aws_ca_bundle", "CANARY")]),
        ("s3://b/t", &[("aws_max_retries", "CANARY")]),
        ("s3://b/t", &[("retry_timeout", "CANARY")]),
        (
            "s3://b/t",
            &[
                ("aws_server_side_encryption", "sse-c"),
                ("aws_sse_customer_key_base64", "CANARY!"),
            ],
        ),
        (
            "abfss://c@a.dfs.core.windows.net/t",
            &[("azure_storage_account_key", "!CANARY")],
        ),
        (
            "abfss://c@a.dfs.core.windows.net/t",
            &[("azure_storage_sas_token", "CANARY")],
        ),
        (
            "abfss://c@a.dfs.core.windows.net/t",
            &[("azure_storage_connection_string", "CANARY;x")],
        ),
        ("az://c/t", &[("azure_storage_account_key", "CANARY")]),
        (
            "abfss://c@a.dfs.core.windows.net/t",
            &[
                ("azure_storage_endpoint", "h h/?sig=CANARY"),
                ("azure_storage_token", "CANARY"),
            ],
        ),
    ];
    let mut refused = 0;
    for (place, pairs) in wrong {
        let factory = StorageFactory::default().with_cloud_options(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.replace("CANARY", CANARY))),
        );
        match factory.open(place) {
            Err(error) => {
                refused += 1;
                is_silent_error(&error);
            }
            Ok(table) => println!("opens: {table:?} {pairs:?}"),
        }
    }
    assert!(refused >= 11, "{refused} of {}", wrong.len());
}

/// A server that refuses everything and repeats all that it was sent in the places where S3 does.
fn echo(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = vec![0; 16 * 1024];
            let read = stream.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..read]).into_owned();
            let address = head.split_whitespace().nth(1).unwrap_or_default();
            let body = format!(
                "<Error><Code>ExpiredToken</Code><Message>http://127.0.0.1:{port}{address}</Message><Token-0>{CANARY}</Token-0>\
                 <StringToSign>{CANARY}</StringToSign><SignatureProvided>{CANARY}</SignatureProvided>\
                 <CanonicalRequest>x-amz-security-token:{CANARY}</CanonicalRequest></Error>"
            );
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

async fn every_request(factory: &StorageFactory, place: &str) {
    let table = factory.open(place).unwrap();
    let name = "00000000000000000000.json";
    let content = Bytes::from_static(b"{}");
    let mut errors = vec![
        table.log().read(name).await.unwrap_err(),
        table.log().create(name, content.clone()).await.unwrap_err(),
        table.log().overwrite(name, content).await.unwrap_err(),
        table.log().stat(name).await.unwrap_err(),
        table.data().read_range("x", 0..4).await.unwrap_err(),
    ];
    errors.push(
        table
            .log()
            .list_from("0")
            .try_collect::<Vec<_>>()
            .await
            .unwrap_err(),
    );
    errors.push(table.data().delete_file("x").await.unwrap_err());
    for error in errors {
        is_silent_error(&error);
    }
    // The way of data files.
    let (store, key) = (
        table.object_store(),
        table.data_path("x").unwrap().object_path(),
    );
    is_silent(&format!("{:?}", store.get(&key).await.unwrap_err()));
    is_silent(&format!(
        "{:?}",
        store.put(&key, "1".into()).await.unwrap_err()
    ));
}

#[tokio::test]
async fn requests_that_are_refused_or_lost() {
    let refusing = [
        "400 Bad Request",
        "403 Forbidden",
        "409 Conflict",
        "500 Wrong",
    ]
    .map(echo);
    for port in refusing.into_iter().chain([9]) {
        let endpoint = format!("http://127.0.0.1:{port}");
        for extra in [
            &[("s3_locking_provider", "none")],
            &[("s3_locking_provider", "dynamodb")],
        ] {
            let mut cloud = options(S3);
            cloud.extend(
                options(extra)
                    .iter()
                    .map(|(n, v)| (n.to_owned(), v.to_owned())),
            );
            for name in ["aws_endpoint", "aws_endpoint_url_dynamodb"] {
                cloud.insert(name.to_owned(), endpoint.clone());
            }
            cloud.insert("aws_conditional_put".to_owned(), "etag".to_owned());
            let factory = StorageFactory::new(&StorageOptions {
                cloud,
                ..StorageOptions::default()
            });
            every_request(&factory, "s3://b/t").await;
        }
        let signed = [
            ("azure_storage_sas_token", "sv=2021-10-04&sp=rwl&sig=CANARY"),
            ("azure_max_retries", "0"),
            ("azure_retry_timeout", "1s"),
        ];
        let mut cloud = options(&signed);
        cloud.insert("azure_storage_endpoint".to_owned(), format!("{endpoint}/a"));
        let factory = StorageFactory::new(&StorageOptions {
            cloud,
            ..StorageOptions::default()
        });
        every_request(&factory, "abfss://c@a.dfs.core.windows.net/t").await;
    }
}
