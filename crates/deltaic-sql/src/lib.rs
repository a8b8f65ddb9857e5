//! Text to statements: Spark SQL with Delta's commands.
//!
//! [`parse`] gives a [`Statement`] whose expressions and queries are sqlparser's AST. Time travel inside queries is read with
//! [`travel::relation`]. Errors have Spark's classes, texts and positions.

pub mod ast;
pub mod literal;
pub mod travel;

#[allow(dead_code)]
mod lexer;

pub use ast::{Name, Statement, Travel};
