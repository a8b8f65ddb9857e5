//! Expressions: AST to nodes.

mod accessor;
mod column;
mod expression;
mod function;
mod literal;
mod subquery;
mod window;
