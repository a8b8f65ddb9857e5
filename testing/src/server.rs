//! The servers that tests may use, as variables name them.

use std::collections::BTreeMap;

use crate::Proxy;

/// A server, and the location of an empty folder in a bucket of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// `s3://bucket/folder`, `abfss://container@account.dfs.core.windows.net/folder`.
    pub location: String,
    /// Options for its client.
    pub options: BTreeMap<String, String>,
}

impl Server {
    /// The server that a variable names (`DELTAIC_TEST_S3`, `DELTAIC_TEST_AZURE`, `DELTAIC_TEST_ONELAKE`): options as
    /// `KEY=VALUE`, separated by spaces, and the folder as `location=…`.
    ///
    /// # Errors
    /// The variable is not set or has no location; the text says how to set it.
    pub fn named(variable: &str) -> Result<Server, String> {
        let text = std::env::var(variable).map_err(|_| {
            format!("{variable} names no server; `cargo xtask emulators run -- COMMAND` starts one and sets it")
        })?;
        Server::parse(&text).ok_or(format!("{variable} has no location=…"))
    }

    fn parse(text: &str) -> Option<Server> {
        let mut options: BTreeMap<String, String> = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let location = options.remove("location")?;
        Some(Server { location, options })
    }

    /// The server in the form of a variable.
    pub fn to_variable(&self) -> String {
        let mut text = format!("location={}", self.location);
        for (key, value) in &self.options {
            text.push_str(&format!(" {key}={value}"));
        }
        text
    }

    /// Host and port, for a proxy before it.
    ///
    /// # Errors
    /// No option holds an address.
    pub fn upstream(&self) -> Result<String, String> {
        let address = self.options.values().find_map(|value| authority(value));
        address
            .map(str::to_owned)
            .ok_or("no option of the server holds its address".to_owned())
    }

    /// The same server, reached through a proxy.
    #[must_use]
    pub fn through(&self, proxy: &Proxy) -> Server {
        let near = proxy.address().to_string();
        let options = self.options.iter().map(|(key, value)| {
            let value = match authority(value) {
                Some(far) => value.replacen(far, &near, 1),
                None => value.clone(),
            };
            (key.clone(), value)
        });
        Server {
            location: self.location.clone(),
            options: options.collect(),
        }
    }
}

/// Host and port of a web address.
fn authority(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once("://")?;
    scheme.starts_with("http").then(|| rest.split('/').next())?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::Server;
    use crate::Proxy;

    #[test]
    fn a_proxy_takes_the_place_of_the_server() {
        let server =
            Server::parse("location=abfss://c@a.dfs.core.windows.net/x azure_storage_endpoint=http://127.0.0.1:99/a k=v")
                .unwrap();
        assert_eq!(server.upstream().unwrap(), "127.0.0.1:99");
        let proxy = Proxy::start("127.0.0.1:99", []).unwrap();
        let near = server.through(&proxy);
        assert_eq!(
            near.options["azure_storage_endpoint"],
            format!("http://{}/a", proxy.address())
        );
        assert_eq!(
            (near.location.clone(), &near.options["k"][..]),
            (server.location, "v")
        );
        assert_eq!(Server::parse(&near.to_variable()), Some(near.clone()));
        assert_eq!(Server::parse("k=v"), None);
    }
}
