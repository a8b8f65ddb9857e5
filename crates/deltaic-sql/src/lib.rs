//! Text to statements: Spark SQL with Delta's commands.
//!
//! [`parse`] gives a [`Statement`] whose expressions and queries are sqlparser's AST. The grammar is read by a parser of its
//! own and not by sqlparser's, for two reasons: Spark reserves no keyword, and an error must name the token at which Spark's
//! grammar ends. Time travel inside queries is read with [`travel::relation`]; parameters and `IDENTIFIER(…)` are resolved by
//! [`bind::bind`]. Errors have Spark's classes, texts and positions.

pub mod ast;
pub mod bind;
pub mod context;
pub mod data_type;
pub mod hints;
pub mod interval;
pub mod literal;
pub mod render;
pub mod travel;

mod lexer;
mod parser;
mod script;
mod visit;

use deltaic_protocol::error::Result;
use deltaic_protocol::schema::{DataType, StructType};

pub use ast::{Name, Statement, Travel};
pub use bind::{Parameters, bind};
pub use script::{ScriptStatement, split};

use parser::Parser;

/// One statement; comments and a trailing `;` are allowed.
///
/// # Errors
/// `PARSE_SYNTAX_ERROR` and the other classes of Spark's parser, with the position in `text`.
pub fn parse(text: &str) -> Result<Statement> {
    Parser::new(text).whole(Parser::statement)
}

/// One expression, such as a CHECK constraint or a predicate.
///
/// # Errors
/// As [`parse`].
pub fn parse_expr(text: &str) -> Result<ast::Expr> {
    Parser::new(text).whole(Parser::expr)
}

/// A query without anything around it, such as the text of a view.
///
/// # Errors
/// As [`parse`].
pub fn parse_query(text: &str) -> Result<ast::Query> {
    Parser::new(text).whole(Parser::query)
}

/// A data type such as `struct<a:int,b:array<string>>`.
///
/// # Errors
/// As [`parse`]; `UNSUPPORTED_DATATYPE` for a type that Spark does not have.
pub fn parse_data_type(text: &str) -> Result<DataType> {
    Parser::new(text).whole(|parser| Ok(parser.spark_type()?.0))
}

/// A dotted name such as ``a.`b c` ``.
///
/// # Errors
/// As [`parse`].
pub fn parse_name(text: &str) -> Result<Name> {
    Parser::new(text).whole(Parser::name)
}

/// A table schema as text: `a INT NOT NULL, b STRING COMMENT 'x'`.
///
/// # Errors
/// As [`parse`].
pub fn parse_schema(text: &str) -> Result<StructType> {
    let columns = Parser::new(text).whole(|parser| {
        parser.comma_separated(|p| {
            let name = p.ident()?;
            p.column(vec![name], false)
        })
    })?;
    Ok(StructType::new(
        columns.iter().map(ast::ColumnDefinition::field),
    ))
}
