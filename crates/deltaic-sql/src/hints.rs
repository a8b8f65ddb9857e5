//! The hints of a SELECT: `/*+ COALESCE(1), REPARTITION(4, id) */`.

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Select};

use crate::parser::Parser;

/// One hint.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// In upper case.
    pub name: String,
    pub args: Vec<Expr>,
}

/// The hints of a SELECT, in their order.
pub fn hints(select: &Select) -> Vec<Hint> {
    select
        .optimizer_hints
        .iter()
        .flat_map(|hint| of_text(&hint.text))
        .collect()
}

fn of_text(text: &str) -> Vec<Hint> {
    // Checked when the SELECT was parsed.
    let parsed = Parser::new(text).whole(|parser| {
        let mut found = Vec::new();
        while parser.ident_of(parser.peek()).is_some() {
            found.push(parser.primary()?);
            parser.eat_symbol(",");
        }
        Ok(found)
    });
    parsed
        .unwrap_or_default()
        .into_iter()
        .filter_map(hint)
        .collect()
}

fn hint(expr: Expr) -> Option<Hint> {
    match expr {
        Expr::Identifier(name) => Some(Hint {
            name: name.value.to_ascii_uppercase(),
            args: Vec::new(),
        }),
        Expr::Function(Function { name, args, .. }) => {
            let args = match args {
                FunctionArguments::List(list) => {
                    list.args.into_iter().filter_map(argument).collect()
                }
                _ => Vec::new(),
            };
            Some(Hint {
                name: name.to_string().to_ascii_uppercase(),
                args,
            })
        }
        _ => None,
    }
}

fn argument(arg: FunctionArg) -> Option<Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}
