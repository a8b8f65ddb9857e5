//! The storage crate from outside: its contract on every backend, names, races between processes, faults.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod contract;
mod errors;
mod faults;
mod lock;
mod names;
mod odd;
mod on_servers;
mod paths;
mod probe;
mod processes;
mod secrets;
mod seeded;
mod settle;
