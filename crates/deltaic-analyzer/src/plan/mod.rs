//! Queries: AST to plans.

mod aggregate;
mod from;
mod function;
mod generate;
mod grouping;
mod join;
mod order;
mod query;
mod select;
mod set;
mod stars;
mod values;
mod windows;
