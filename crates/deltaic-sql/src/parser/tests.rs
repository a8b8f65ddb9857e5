//! The grammar, statement by statement.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commands;
mod errors;
mod expressions;
mod fuzz;
mod queries;

use crate::ast::Statement;
use sqlparser::ast::{Expr, Query};

fn parsed(sql: &str) -> Statement {
    crate::parse(sql).unwrap_or_else(|error| panic!("{error}"))
}

fn query(sql: &str) -> Query {
    match parsed(sql) {
        Statement::Query(query) => *query,
        other => panic!("{other:?}"),
    }
}

/// sqlparser's own text of an expression.
fn shown(sql: &str) -> String {
    expr(sql).to_string()
}

fn expr(sql: &str) -> Expr {
    crate::parse_expr(sql).unwrap_or_else(|error| panic!("{error}"))
}
