//! Storage and log against the vendors' own clients, on servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod on_servers;
