//! The server that a variable names: options, bucket, and a fresh folder for each test.

use deltaic_storage::cloud::CloudOptions;
use deltaic_storage::{StorageFactory, StorageOptions, TableRoot, TableStore};

pub struct Server {
    options: CloudOptions,
    location: String,
}

impl Server {
    pub fn named(variable: &str) -> Server {
        let text = std::env::var(variable).unwrap_or_else(|_| {
            panic!(
                "{variable} names no server: cargo xtask emulators run -- cargo test --manifest-path crosscheck/Cargo.toml --test it"
            )
        });
        let mut options: CloudOptions = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let location = options
            .remove("location")
            .unwrap_or_else(|| panic!("{variable} has no location=…"));
        Server { options, location }
    }

    pub fn option(&self, name: &str) -> &str {
        self.options
            .get(name)
            .unwrap_or_else(|| panic!("the server has no {name}"))
    }

    /// Bucket or container.
    pub fn bucket(&self) -> String {
        self.root().bucket().container
    }

    /// Storage account.
    pub fn account(&self) -> String {
        self.root().bucket().account.unwrap()
    }

    fn root(&self) -> TableRoot {
        TableRoot::parse(&self.location).unwrap()
    }

    /// A table of its own, whose location needs quoting in most places.
    pub fn table(&self) -> TableStore {
        self.table_below(&self.location)
    }

    /// The same in another bucket of the server.
    pub fn table_in(&self, bucket: &str) -> TableStore {
        self.table_below(&format!("s3://{bucket}"))
    }

    fn table_below(&self, location: &str) -> TableStore {
        let options = StorageOptions {
            cloud: self.options.clone(),
            ..StorageOptions::default()
        };
        let run = uuid::Uuid::new_v4();
        StorageFactory::new(&options)
            .open(&format!("{location}/{run}/t 1%20+ü"))
            .unwrap()
    }
}
