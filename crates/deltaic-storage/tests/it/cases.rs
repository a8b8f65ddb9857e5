//! Places and options as users have met them.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_storage::cloud::{CloudBackend, CloudOptions};
use deltaic_storage::{StorageFactory, StorageOptions, TableStore};
use futures::TryStreamExt;
use object_store::memory::InMemory;

use crate::odd::{Condition, Odd};

async fn names(table: &TableStore, start: &str) -> Vec<String> {
    table
        .log()
        .list_from(start)
        .map_ok(|entry| entry.path)
        .try_collect()
        .await
        .unwrap()
}

fn commit(version: u64) -> String {
    format!("{version:020}.json")
}

#[tokio::test]
async fn a_store_that_lists_nothing_after_a_key_is_asked_for_all() {
    let place = "abfss://ws@onelake.dfs.fabric.microsoft.com";
    let mut odd = Odd::new(Arc::new(InMemory::new()), Condition::Kept);
    odd.nothing_after_a_key = true;
    let table = StorageFactory::default()
        .with_bucket(place, CloudBackend::new(Arc::new(odd), place))
        .open(&format!("{place}/lh.Lakehouse/Tables/t"))
        .unwrap();
    for version in 0..4 {
        table
            .log()
            .create(&commit(version), Bytes::from_static(b"x"))
            .await
            .unwrap();
    }
    assert_eq!(names(&table, &commit(2)).await, [commit(2), commit(3)]);
    assert_eq!(names(&table, &commit(9)).await, Vec::<String>::new());
    assert_eq!(names(&table, "").await.len(), 4);
}

#[tokio::test]
async fn a_table_at_the_root_of_a_container_is_one_like_others() {
    let place = "abfss://c@acc.dfs.core.windows.net";
    let table = StorageFactory::default()
        .with_bucket(place, CloudBackend::new(Arc::new(InMemory::new()), place))
        .open(&format!("{place}/"))
        .unwrap();
    table
        .log()
        .create(&commit(0), Bytes::from_static(b"x"))
        .await
        .unwrap();
    table
        .data()
        .create("p=1/f.parquet", Bytes::from_static(b"y"))
        .await
        .unwrap();
    assert_eq!(names(&table, "").await, [commit(0)]);
    let mut all: Vec<String> = table
        .data()
        .list("", None)
        .map_ok(|entry| entry.path)
        .try_collect()
        .await
        .unwrap();
    all.sort();
    assert_eq!(
        all,
        [
            format!("_delta_log/{}", commit(0)),
            "p=1/f.parquet".to_owned()
        ]
    );
    table.data().delete_file("p=1/f.parquet").await.unwrap();
    assert_eq!(table.data().stat("p=1/f.parquet").await.unwrap(), None);
    assert_eq!(names(&table, "").await, [commit(0)]);
}

fn refusal(location: &str, options: &[(&str, &str)]) -> deltaic_protocol::error::DeltaError {
    let options: CloudOptions = options
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let factory = StorageFactory::new(&StorageOptions {
        cloud: options,
        ..StorageOptions::default()
    });
    match factory.open(location) {
        Ok(_) => panic!("{location} opens"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn an_endpoint_without_encryption_is_refused_where_an_option_forbids_it() {
    for name in ["allow_http", "aws_allow_http", "AWS_ALLOW_HTTP"] {
        let error = refusal(
            "s3://b/t",
            &[("aws_endpoint", "http://127.0.0.1:9"), (name, "false")],
        );
        assert!(error.text().contains("allow_http"), "{error}");
        assert!(error.hint().unwrap().contains("https://"), "{error}");
    }
    let error = refusal(
        "abfss://c@acc.dfs.core.windows.net/t",
        &[
            ("azure_storage_endpoint", "http://127.0.0.1:9/acc"),
            ("azure_storage_account_key", "a2V5"),
            ("azure_allow_http", "0"),
        ],
    );
    assert!(error.text().contains("azure_allow_http"), "{error}");
}

#[tokio::test]
async fn switches_and_times_that_are_none_are_named() {
    for (name, value) in [
        ("aws_virtual_hosted_style_request", "maybe"),
        ("aws_skip_signature", "sure"),
        ("allow_http", "perhaps"),
        ("timeout", "0"),
        ("aws_timeout", "0s"),
    ] {
        let error = refusal("s3://b/t", &[(name, value)]);
        assert!(error.text().contains(name), "{error}");
        assert!(!error.text().contains("perhaps"), "{error}");
    }
}

#[tokio::test]
async fn a_profile_that_is_nowhere_is_named() {
    let error = refusal(
        "s3://b/t",
        &[("aws_profile", "no-such-profile"), ("aws_region", "x")],
    );
    assert!(error.text().contains("no-such-profile"), "{error}");
}
