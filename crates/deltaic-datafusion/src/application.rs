//! Delta tables in a plain DataFusion application: a session that understands them, tables by path, catalogs by folder.

pub mod catalog;
pub mod checks;
mod exec;
pub mod factory;
pub mod inserts;
pub mod open;
mod planner;
mod rule;
pub mod session;
mod travel;
