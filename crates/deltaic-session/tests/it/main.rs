#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! The session through its public doors: statements in, answers out.

mod assignments;
mod change_histories;
mod changes;
mod clone;
mod column_properties;
mod convert;
mod creates;
mod definitions;
mod drops;
mod evolution;
mod features;
mod field;
mod guards;
mod helpers;
mod histories;
mod idempotent;
mod inventory;
mod lengths;
mod lesson;
mod names;
mod parameters;
mod partitions;
mod processes;
mod row_metadata;
mod settings;
mod subqueries;
mod tables;
mod variants;
mod views;
mod volatile;
mod zeros;
