//! The analyser through its public doors: queries over tables in memory, checked for names, types, rows and errors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod assignments;
mod errors;
mod expressions;
mod functions;
mod predicates;
mod queries;
mod support;
