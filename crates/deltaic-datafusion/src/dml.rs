//! Statements that change rows: DELETE, UPDATE and TRUNCATE.
//!
//! Rows are found first, by position in their files, with a query over the table and its hidden columns; what then happens
//! to the files follows from the positions. So a condition may hold anything that a query may, a NULL condition matches
//! nothing, and counts are exact.

pub(crate) mod changes;
pub mod delete;
pub(crate) mod matched;
pub(crate) mod matching;
pub(crate) mod metrics;
pub mod target;
pub mod tracking;
pub mod truncate;
pub mod update;
pub(crate) mod vectors;
