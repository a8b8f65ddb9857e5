//! The storage crate from outside: its contract on every backend, names, races between processes, faults.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cloud;
mod contract;
mod errors;
mod faults;
mod names;
mod paths;
mod processes;
mod seeded;
mod settle;
