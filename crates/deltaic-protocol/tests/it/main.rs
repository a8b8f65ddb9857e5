//! The protocol crate on texts and bytes that nobody meant: each is read or refused, without a panic and in little memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bytes;
mod hostile;
mod texts;
