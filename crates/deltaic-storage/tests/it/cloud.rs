//! Object stores on real servers: the contract, also where answers are lost, and what goes wrong.
//!
//! Servers are named by `DELTAIC_TEST_S3`, `DELTAIC_TEST_AZURE` and `DELTAIC_TEST_ONELAKE` (options as `KEY=VALUE`, separated
//! by spaces, and the location of an empty folder as `location=…`), which `cargo xtask emulators` sets; without them these
//! tests fail, and `cargo xtask test` leaves them out.

mod deletes;
mod listings;
mod wrong;

use std::time::Instant;

use deltaic_storage::cloud::CloudOptions;
use deltaic_storage::{StorageFactory, StorageOptions, TableStore, contract};
use deltaic_testing::{Action, KeyClass, Proxy, Rule, onelake};

pub const S3: &str = "DELTAIC_TEST_S3";
pub const AZURE: &str = "DELTAIC_TEST_AZURE";
pub const ONELAKE: &str = "DELTAIC_TEST_ONELAKE";

/// A server and an empty place on it.
#[derive(Clone)]
pub struct Server {
    pub options: CloudOptions,
    pub location: String,
}

impl Server {
    pub fn new(variable: &str) -> Server {
        let text = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no server: cargo xtask emulators run -- cargo test --workspace --test it cloud")
        });
        let mut options: CloudOptions = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let location = options.remove("location").unwrap();
        let folder = match variable {
            ONELAKE => "lh.Lakehouse/Tables/",
            _ => "",
        };
        Server {
            options,
            location: format!("{location}/{folder}{}", uuid::Uuid::new_v4()),
        }
    }

    fn endpoint(&mut self) -> &mut String {
        self.options
            .iter_mut()
            .find(|(name, _)| name.ends_with("endpoint"))
            .unwrap()
            .1
    }

    /// A proxy before the server, and the server through it.
    pub fn behind(&self, rules: impl IntoIterator<Item = Rule>) -> (Proxy, Server) {
        let mut through = self.clone();
        let endpoint = through.endpoint();
        let address = endpoint.trim_start_matches("http://");
        let (host, path) = address.split_once('/').unwrap_or((address, ""));
        let proxy = Proxy::start(host, rules).unwrap();
        *endpoint = format!("{}/{path}", proxy.url())
            .trim_end_matches('/')
            .to_owned();
        (proxy, through)
    }

    pub fn with(mut self, options: &[(&str, &str)]) -> Server {
        for (name, value) in options {
            self.options.insert((*name).to_owned(), (*value).to_owned());
        }
        self
    }

    pub fn factory(&self) -> StorageFactory {
        StorageFactory::new(&StorageOptions {
            cloud: self.options.clone(),
            ..StorageOptions::default()
        })
    }

    pub fn table(&self, name: &str) -> TableStore {
        self.factory()
            .open(&format!("{}/{name}", self.location))
            .unwrap()
    }

    async fn keeps_the_contract(&self) {
        self.keeps(contract::checks()).await;
    }

    async fn keeps(&self, checks: Vec<contract::Check>) {
        let began = Instant::now();
        let factory = self.factory();
        let open = |number| {
            factory
                .open(&format!("{}/t {number}%20ü", self.location))
                .unwrap()
        };
        let broken = contract::run_these(checks, open).await;
        assert!(broken.is_empty(), "{broken:#?}");
        println!("{}: {:?}", self.location, began.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_keeps_the_contract() {
    Server::new(S3).keeps_the_contract().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_keeps_the_contract() {
    Server::new(AZURE).keeps_the_contract().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn onelake_keeps_the_contract_and_is_sent_no_batch() {
    let options = onelake::Options::default();
    let (proxy, server) = Server::new(ONELAKE).behind(onelake::rules(options));
    server.keeps_the_contract().await;
    assert_eq!(proxy.log().count("POST", KeyClass::BatchDelete), 0);
    let deleted = proxy.log().count("DELETE", KeyClass::Data);
    assert!(deleted > 0, "{:?}", proxy.log().counts());
    println!("{:?}", proxy.log().counts());
}

/// Every 7th answer is lost after the server has done what was asked, and every 11th request before it.
async fn keeps_the_contract_where_answers_are_lost(variable: &str) {
    let rules = [
        Rule::any().every(7).then(Action::ApplyThenReset),
        Rule::any().every(11).then(Action::Reset),
    ];
    let (proxy, server) = Server::new(variable).behind(rules);
    server.keeps(contract::table_checks()).await;
    let (faults, total) = (proxy.log().faults(), proxy.log().total());
    assert!(faults > total / 6, "{faults} of {total}");
    println!("{faults} of {total} requests failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn s3_keeps_the_contract_where_answers_are_lost() {
    keeps_the_contract_where_answers_are_lost(S3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azure_keeps_the_contract_where_answers_are_lost() {
    keeps_the_contract_where_answers_are_lost(AZURE).await;
}
