//! Object stores: the contract on real servers, and commits whose answers are lost.
//!
//! Servers are named by `DELTAIC_TEST_S3` and `DELTAIC_TEST_AZURE` (options as `KEY=VALUE`, separated by spaces, and
//! the location of an empty folder as `location=…`), which `cargo xtask emulators` sets; without them these tests fail,
//! and `cargo xtask test` leaves them out.

use deltaic_storage::cloud::CloudOptions;
use deltaic_storage::{StorageFactory, StorageOptions, contract};

pub fn server(variable: &str) -> (StorageFactory, String) {
    let (cloud, location) = servers(&[variable]);
    let options = StorageOptions {
        cloud,
        ..StorageOptions::default()
    };
    (StorageFactory::new(&options), location)
}

/// The options of several servers together, and the location.
pub fn servers(variables: &[&str]) -> (CloudOptions, String) {
    let mut options = CloudOptions::new();
    for variable in variables {
        let text = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no server: cargo xtask emulators run -- cargo test --workspace --test it cloud")
        });
        options.extend(
            text.split_whitespace()
                .filter_map(|pair| pair.split_once('='))
                .map(|(key, value)| (key.to_owned(), value.to_owned())),
        );
    }
    let location = options.remove("location").unwrap();
    (options, location)
}

async fn keeps_the_contract(variables: &[&str]) {
    let (cloud, location) = servers(variables);
    let factory = StorageFactory::new(&StorageOptions {
        cloud,
        ..StorageOptions::default()
    });
    let run = uuid::Uuid::new_v4();
    let broken = contract::run(|number| {
        factory
            .open(&format!("{location}/{run}/t {number}%20ü"))
            .unwrap()
    })
    .await;
    assert!(broken.is_empty(), "{broken:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_keeps_the_contract() {
    keeps_the_contract(&["DELTAIC_TEST_S3"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_keeps_the_contract() {
    keeps_the_contract(&["DELTAIC_TEST_AZURE"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_with_a_lock_keeps_the_contract() {
    keeps_the_contract(&["DELTAIC_TEST_S3", "DELTAIC_TEST_DYNAMODB"]).await;
}
