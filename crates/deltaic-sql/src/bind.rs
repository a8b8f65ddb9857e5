//! Parameters and `IDENTIFIER(…)`: replaced by values and names before a statement runs, wherever they stand.

#[cfg(test)]
mod tests;

use deltaic_protocol::error::{DeltaError, Result, SqlContext};
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, ObjectName, ObjectNamePart, TableFactor, Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;

use crate::ast::{Name, Statement};
use crate::visit::{self, Edit};

/// The values of a statement's parameters, as constant expressions (see [`crate::literal`]).
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Parameters {
    #[default]
    None,
    /// For `:name`.
    Named(Vec<(String, Expr)>),
    /// For `?`, in the order of the text.
    Positional(Vec<Expr>),
}

/// The statement with every parameter replaced by its value and every `IDENTIFIER(…)` by the name it stands for.
///
/// # Errors
/// `UNBOUND_SQL_PARAMETER` for a parameter without a value, `INVALID_QUERY_MIXED_QUERY_PARAMETERS` where both kinds stand in
/// one statement, `NOT_A_CONSTANT_STRING` for an `IDENTIFIER` that is no constant string, `PARSE_SYNTAX_ERROR` for one whose
/// text is no name.
pub fn bind(mut statement: Statement, parameters: &Parameters) -> Result<Statement> {
    let mut found = Found::default();
    visit::statement(&mut statement, &mut found)?;
    found.check()?;
    visit::statement(
        &mut statement,
        &mut Binder {
            parameters,
            positions: found.sorted(),
        },
    )?;
    Ok(statement)
}

/// As [`bind`], for an expression alone.
///
/// # Errors
/// As [`bind`].
pub fn bind_expr(mut expr: Expr, parameters: &Parameters) -> Result<Expr> {
    let mut found = Found::default();
    visit::expr(&mut expr, &mut found)?;
    found.check()?;
    visit::expr(
        &mut expr,
        &mut Binder {
            parameters,
            positions: found.sorted(),
        },
    )?;
    Ok(expr)
}

/// Where the parameters stand.
#[derive(Default)]
struct Found {
    positional: Vec<Span>,
    named: bool,
}

impl Found {
    fn check(&self) -> Result<()> {
        if self.named && !self.positional.is_empty() {
            return Err(DeltaError::new("INVALID_QUERY_MIXED_QUERY_PARAMETERS"));
        }
        Ok(())
    }

    fn sorted(mut self) -> Vec<Span> {
        self.positional
            .sort_by_key(|span| (span.start.line, span.start.column));
        self.positional
    }
}

impl Edit for Found {
    fn expr(&mut self, expr: &mut Expr) -> Result<()> {
        if let Expr::Value(ValueWithSpan {
            value: Value::Placeholder(text),
            span,
        }) = expr
        {
            match text.as_str() {
                "?" => self.positional.push(*span),
                _ => self.named = true,
            }
        }
        Ok(())
    }

    fn name(&mut self, _: &mut Name) -> Result<()> {
        Ok(())
    }

    fn relation(&mut self, _: &mut TableFactor) -> Result<()> {
        Ok(())
    }
}

struct Binder<'a> {
    parameters: &'a Parameters,
    positions: Vec<Span>,
}

impl Binder<'_> {
    fn value(&self, text: &str, span: Span) -> Result<Expr> {
        let found = match (text.strip_prefix(':'), self.parameters) {
            (Some(name), Parameters::Named(values)) => values
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value),
            (None, Parameters::Positional(values)) => self
                .positions
                .iter()
                .position(|position| *position == span)
                .and_then(|index| values.get(index)),
            _ => None,
        };
        match found {
            Some(value) => Ok(placed(value.clone(), span)),
            None => {
                let pos = span.start.column.saturating_sub(1) as usize;
                let name = text
                    .strip_prefix(':')
                    .map_or_else(|| format!("_{pos}"), str::to_owned);
                let context = SqlContext::Analysis {
                    line: span.start.line as usize,
                    pos,
                };
                Err(DeltaError::new("UNBOUND_SQL_PARAMETER")
                    .param("name", name)
                    .with_context(context))
            }
        }
    }

    /// The parts of the name that an `IDENTIFIER(…)` stands for.
    fn parts(&self, inner: &Expr) -> Result<Vec<Ident>> {
        let text = constant(inner)?;
        match crate::parse_name(&text)? {
            Name::Parts(parts) => Ok(parts
                .into_iter()
                .map(|part| Ident {
                    span: span_of(inner),
                    ..part
                })
                .collect()),
            Name::Identifier(_) | Name::Path(_) => {
                Err(not_constant(inner, "NOT_A_CONSTANT_STRING.NOT_CONSTANT"))
            }
        }
    }

    /// An object name without its `IDENTIFIER(…)`.
    fn object_name(&self, name: &mut ObjectName) -> Result<bool> {
        if let [ObjectNamePart::Function(function)] = name.0.as_slice()
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner))] = function.args.as_slice()
        {
            *name = self.parts(inner)?.into();
            return Ok(true);
        }
        Ok(false)
    }
}

impl Edit for Binder<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Result<()> {
        match expr {
            Expr::Value(ValueWithSpan {
                value: Value::Placeholder(text),
                span,
            }) => {
                let value = self.value(text, *span)?;
                *expr = value;
            }
            Expr::Function(function) => {
                let resolved = self.object_name(&mut function.name)?;
                let column = resolved && matches!(function.args, FunctionArguments::None);
                if let (true, Some(named)) = (column, column_of(&function.name)) {
                    *expr = named;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, name: &mut Name) -> Result<()> {
        if let Name::Identifier(inner) = name {
            *name = Name::Parts(self.parts(inner)?);
        }
        Ok(())
    }

    fn relation(&mut self, factor: &mut TableFactor) -> Result<()> {
        if let TableFactor::Table { name, .. } | TableFactor::Function { name, .. } = factor {
            self.object_name(name)?;
        }
        Ok(())
    }
}

/// A name as a column.
fn column_of(name: &ObjectName) -> Option<Expr> {
    let mut parts: Vec<Ident> = name
        .0
        .iter()
        .filter_map(|part| part.as_ident().cloned())
        .collect();
    let last = parts.pop()?;
    if parts.is_empty() {
        return Some(Expr::Identifier(last));
    }
    parts.push(last);
    Some(Expr::CompoundIdentifier(parts))
}

/// The value at the parameter's place in the text, so that errors point there.
fn placed(value: Expr, span: Span) -> Expr {
    match value {
        Expr::Value(value) => Expr::Value(ValueWithSpan {
            value: value.value,
            span,
        }),
        other => other,
    }
}

fn span_of(expr: &Expr) -> Span {
    use sqlparser::ast::Spanned;
    expr.span()
}

/// The text of a constant string expression.
fn constant(expr: &Expr) -> Result<String> {
    match fold(expr) {
        Some(Folded::Text(text)) => Ok(text),
        Some(Folded::Null) => Err(not_constant(expr, "NOT_A_CONSTANT_STRING.NULL")),
        Some(Folded::Other(data_type)) => {
            let error = not_constant(expr, "NOT_A_CONSTANT_STRING.WRONG_TYPE");
            Err(error.param("dataType", format!("\"{data_type}\"")))
        }
        None => Err(not_constant(expr, "NOT_A_CONSTANT_STRING.NOT_CONSTANT")),
    }
}

fn not_constant(expr: &Expr, class: &'static str) -> DeltaError {
    let span = span_of(expr);
    let error = DeltaError::new(class)
        .param("name", "IDENTIFIER")
        .param("expr", format!("\"{}\"", crate::render::expr(expr)));
    if span.start.line == 0 {
        return error;
    }
    let pos = span.start.column.saturating_sub(1) as usize;
    error.with_context(SqlContext::Analysis {
        line: span.start.line as usize,
        pos,
    })
}

enum Folded {
    Text(String),
    Null,
    /// A constant of another type.
    Other(&'static str),
}

/// The value of an expression over string constants; `None` where it is none.
fn fold(expr: &Expr) -> Option<Folded> {
    Some(match expr {
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Value::SingleQuotedString(text) => Folded::Text(text.clone()),
            Value::Null => Folded::Null,
            Value::Number(_, true) => Folded::Other("BIGINT"),
            Value::Number(..) => Folded::Other("INT"),
            Value::Boolean(_) => Folded::Other("BOOLEAN"),
            _ => return None,
        },
        Expr::Nested(inner) => fold(inner)?,
        Expr::BinaryOp {
            left,
            op: BinaryOperator::StringConcat,
            right,
        } => concat(&[left, right])?,
        Expr::Cast {
            expr,
            data_type: DataType::String(_),
            ..
        } => match text(expr)? {
            Some(text) => Folded::Text(text),
            None => Folded::Null,
        },
        Expr::Function(function) => call(function)?,
        _ => return None,
    })
}

/// The constant as text; `Some(None)` for NULL.
fn text(expr: &Expr) -> Option<Option<String>> {
    Some(match fold(expr)? {
        Folded::Text(text) => Some(text),
        Folded::Null => None,
        Folded::Other(_) => Some(
            crate::literal::text_of(expr)?
                .trim_end_matches('L')
                .to_owned(),
        ),
    })
}

fn concat(parts: &[&Expr]) -> Option<Folded> {
    let mut out = String::new();
    for part in parts {
        match text(part)? {
            Some(text) => out.push_str(&text),
            None => return Some(Folded::Null),
        }
    }
    Some(Folded::Text(out))
}

fn call(function: &Function) -> Option<Folded> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    let mut args = Vec::new();
    for arg in &list.args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) = arg else {
            return None;
        };
        args.push(arg);
    }
    let changed = |change: fn(&str) -> String| {
        let [only] = args.as_slice() else { return None };
        Some(text(only)?.map_or(Folded::Null, |text| Folded::Text(change(&text))))
    };
    match function.name.to_string().to_ascii_lowercase().as_str() {
        "concat" => concat(&args),
        "lower" | "lcase" => changed(str::to_lowercase),
        "upper" | "ucase" => changed(str::to_uppercase),
        "trim" => changed(|text| text.trim_matches(' ').to_owned()),
        "coalesce" | "nvl" | "ifnull" => {
            for arg in &args {
                if let Some(text) = text(arg)? {
                    return Some(Folded::Text(text));
                }
            }
            Some(Folded::Null)
        }
        "concat_ws" => {
            let (separator, rest) = args.split_first()?;
            let Some(separator) = text(separator)? else {
                return Some(Folded::Null);
            };
            let parts: Option<Vec<Option<String>>> = rest.iter().map(|arg| text(arg)).collect();
            Some(Folded::Text(
                parts?
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(&separator),
            ))
        }
        "replace" => {
            let [subject, search, replacement] = args.as_slice() else {
                return None;
            };
            Some(match (text(subject)?, text(search)?, text(replacement)?) {
                (Some(subject), Some(search), Some(replacement)) => {
                    Folded::Text(subject.replace(&search, &replacement))
                }
                _ => Folded::Null,
            })
        }
        _ => None,
    }
}
