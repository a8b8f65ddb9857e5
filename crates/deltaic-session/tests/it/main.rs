#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! The session through its public doors: statements in, answers out.

mod change_histories;
mod changes;
mod clone;
mod convert;
mod drops;
mod features;
mod field;
mod guards;
mod helpers;
mod histories;
mod inventory;
mod lesson;
mod names;
mod parameters;
mod partitions;
mod processes;
mod row_metadata;
mod settings;
mod tables;
mod variants;
mod views;
mod volatile;
mod zeros;
