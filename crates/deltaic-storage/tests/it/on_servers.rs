//! Object stores on real servers: the contract, also where answers are lost, and what goes wrong.
//!
//! Servers are named by `DELTAIC_TEST_S3`, `DELTAIC_TEST_AZURE`, `DELTAIC_TEST_ONELAKE`, `DELTAIC_TEST_S3_IGNORES` (one
//! that takes `If-None-Match` and does nothing with it) and `DELTAIC_TEST_DYNAMODB` (a lock), in the form of [`Server`],
//! which `cargo xtask emulators` sets; without them these tests fail, and `cargo xtask test` leaves them out.

mod deletes;
mod keys;
mod listings;
mod wrong;

use std::time::Instant;

use bytes::Bytes;
use deltaic_storage::cloud::CloudOptions;
use deltaic_storage::{StorageFactory, StorageOptions, TableStore, contract};
use deltaic_testing::{Action, KeyClass, Proxy, Rule, Server, onelake};

pub const S3: &str = "DELTAIC_TEST_S3";
pub const IGNORES: &str = "DELTAIC_TEST_S3_IGNORES";
pub const AZURE: &str = "DELTAIC_TEST_AZURE";
pub const ONELAKE: &str = "DELTAIC_TEST_ONELAKE";
pub const DYNAMODB: &str = "DELTAIC_TEST_DYNAMODB";

/// A server, and an empty place on it.
pub fn server(variable: &str) -> Server {
    let mut server = Server::named(variable).unwrap();
    let folder = match variable {
        ONELAKE => "lh.Lakehouse/Tables/",
        _ => "",
    };
    server.location = format!("{}/{folder}{}", server.location, uuid::Uuid::new_v4());
    server
}

/// The same, whose commits go through a lock.
pub fn locked(variable: &str) -> Server {
    server(variable).with_named(DYNAMODB).unwrap()
}

/// What tests do with a server.
pub trait Tables: Sized {
    /// A proxy before the server, and the server through it.
    fn behind(&self, rules: impl IntoIterator<Item = Rule>) -> (Proxy, Self);
    fn with(self, options: &[(&str, &str)]) -> Self;
    fn cloud(&self) -> CloudOptions;
    fn factory(&self) -> StorageFactory;
    /// A table whose client is new and knows nothing yet.
    fn table(&self, name: &str) -> TableStore;
}

impl Tables for Server {
    fn behind(&self, rules: impl IntoIterator<Item = Rule>) -> (Proxy, Server) {
        let proxy = Proxy::start(&self.upstream().unwrap(), rules).unwrap();
        let through = self.through(&proxy);
        (proxy, through)
    }

    fn with(mut self, options: &[(&str, &str)]) -> Server {
        for (name, value) in options {
            self.options.insert((*name).to_owned(), (*value).to_owned());
        }
        self
    }

    fn cloud(&self) -> CloudOptions {
        self.options.clone().into_iter().collect()
    }

    fn factory(&self) -> StorageFactory {
        StorageFactory::new(&StorageOptions {
            cloud: self.cloud(),
            ..StorageOptions::default()
        })
    }

    fn table(&self, name: &str) -> TableStore {
        self.factory()
            .open(&format!("{}/{name}", self.location))
            .unwrap()
    }
}

async fn keep_the_contract(server: &Server, checks: Vec<contract::Check>) {
    let began = Instant::now();
    let factory = server.factory();
    let open = |number| {
        factory
            .open(&format!("{}/t {number}%20ü", server.location))
            .unwrap()
    };
    let broken = contract::run_these(checks, open).await;
    assert!(broken.is_empty(), "{broken:#?}");
    println!("{}: {:?}", server.location, began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_keeps_the_contract() {
    keep_the_contract(&server(S3), contract::checks()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_with_a_lock_keeps_the_contract() {
    keep_the_contract(&locked(S3), contract::checks()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_keeps_the_contract() {
    keep_the_contract(&server(AZURE), contract::checks()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn onelake_keeps_the_contract_and_is_sent_no_batch() {
    let options = onelake::Options::default();
    let (proxy, server) = server(ONELAKE).behind(onelake::rules(options));
    keep_the_contract(&server, contract::checks()).await;
    assert_eq!(proxy.log().count("POST", KeyClass::BatchDelete), 0);
    let deleted = proxy.log().count("DELETE", KeyClass::Data);
    assert!(deleted > 0, "{:?}", proxy.log().counts());
    println!("{:?}", proxy.log().counts());
}

/// Every 7th answer is lost after the server has done what was asked, and every 11th request before it.
async fn keeps_the_contract_where_answers_are_lost(server: Server) {
    let rules = [
        Rule::any().every(7).then(Action::ApplyThenReset),
        Rule::any().every(11).then(Action::Reset),
    ];
    let (proxy, server) = server.behind(rules);
    keep_the_contract(&server, contract::table_checks()).await;
    let (faults, total) = (proxy.log().faults(), proxy.log().total());
    assert!(faults > total / 6, "{faults} of {total}");
    println!("{faults} of {total} requests failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_keeps_the_contract_where_answers_are_lost() {
    keeps_the_contract_where_answers_are_lost(server(S3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_with_a_lock_keeps_the_contract_where_answers_are_lost() {
    // The lock is on the same server, behind the same proxy.
    keeps_the_contract_where_answers_are_lost(locked(S3)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_keeps_the_contract_where_answers_are_lost() {
    keeps_the_contract_where_answers_are_lost(server(AZURE)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_with_the_whole_for_a_part_keeps_the_contract() {
    let rule = Rule::on("GET")
        .when(|head| head.header("range").is_some())
        .then(Action::Hide("range"));
    let (proxy, server) = server(S3).behind([rule]);
    keep_the_contract(&server, contract::table_checks()).await;
    let table = server.table("parts");
    let content = Bytes::from_iter((0..300_000_u32).map(|n| (n % 251) as u8));
    table.data().create("f", content.clone()).await.unwrap();
    for (first, end) in [(0, 1), (7, 250_001), (299_999, 300_000), (100, 999_999)] {
        let read = table.data().read_range("f", first..end).await.unwrap();
        assert_eq!(
            read,
            content.slice(first as usize..end.min(300_000) as usize)
        );
    }
    assert!(proxy.log().faults() > 4);
}
