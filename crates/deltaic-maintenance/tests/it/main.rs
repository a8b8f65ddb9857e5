//! The maintenance crate from outside: random histories, crashes, the commands on real tables.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod alter;
mod clone;
mod convert;
mod crash;
mod faulty;
mod features;
mod hostile;
mod kit;
mod lite;
mod protection;
mod repair;
mod restore;
mod send;
mod travel;
mod vacuum;
