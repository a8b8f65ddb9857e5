//! The grammar, statement by statement.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
