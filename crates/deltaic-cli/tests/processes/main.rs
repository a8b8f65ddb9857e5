//! The program among others, under fire, and on broken ground: races, SIGKILL, damaged tables, full and read-only disks,
//! and input that nobody would type. Every test runs the real program in processes of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

mod catalog_storms;
mod crash_points;
mod damaged_data;
mod damaged_log;
mod doors;
mod kills;
mod model;
mod names;
mod races;
mod refused_writes;
mod signals;
mod support;
mod texts;
