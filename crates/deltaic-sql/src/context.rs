//! Where an expression stands in the text of its statement, as Spark shows it under errors of evaluation:
//! `== SQL (line 1, position 8) ==` and the expression underlined.

#[cfg(test)]
mod tests;

use deltaic_protocol::error::SqlContext;
use sqlparser::ast::{
    AccessExpr, CastKind, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    Subscript, Value,
};
use sqlparser::tokenizer::Span;

use crate::lexer::{Kind, Token};
use crate::parser::Parser;

/// The place of `expr` in the statement that it was parsed from; `None` for expressions made later.
pub fn locate(text: &str, expr: &Expr) -> Option<SqlContext> {
    let finder = Finder {
        parser: Parser::new(text),
    };
    let (first, last) = finder.range(expr)?;
    let (first, last) = (finder.token(first)?, finder.token(last)?);
    let fragment = text.get(first.start..last.end)?;
    let len = fragment.chars().count();
    Some(SqlContext::Fragment {
        line: first.line,
        pos: first.column,
        sql: text.to_owned(),
        len,
    })
}

/// First and last token of an expression.
type Range = (usize, usize);

struct Finder<'a> {
    parser: Parser<'a>,
}

impl Finder<'_> {
    fn token(&self, index: usize) -> Option<&Token> {
        self.parser.tokens.get(index)
    }

    fn is(&self, index: usize, test: impl Fn(&Token) -> bool) -> bool {
        self.token(index).is_some_and(test)
    }

    /// The token that begins at a span.
    fn at(&self, span: Span) -> Option<usize> {
        let (line, column) = (
            span.start.line as usize,
            (span.start.column as usize).checked_sub(1)?,
        );
        self.parser
            .tokens
            .binary_search_by(|token| (token.line, token.column).cmp(&(line, column)))
            .ok()
    }

    fn ident(&self, ident: &Ident) -> Option<Range> {
        let at = self.at(ident.span)?;
        Some((at, at))
    }

    fn name(&self, name: &ObjectName) -> Option<Range> {
        let idents: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        Some((
            self.at(idents.first()?.span)?,
            self.at(idents.last()?.span)?,
        ))
    }

    /// From the operand's first token to the last of `others`.
    fn around(&self, first: &Expr, last: &Expr) -> Option<Range> {
        Some((self.range(first)?.0, self.range(last)?.1))
    }

    /// The `)` that closes what is open at token `from`.
    fn closing(&self, from: usize) -> Option<usize> {
        let mut depth = 0usize;
        for index in from..self.parser.tokens.len() {
            if self.is(index, |token| token.is_symbol("(")) {
                depth += 1;
            } else if self.is(index, |token| token.is_symbol(")")) {
                match depth.checked_sub(1) {
                    Some(0) | None => return Some(index),
                    Some(less) => depth = less,
                }
            }
        }
        None
    }

    /// `WORD ( inner …)`: from the word to the closing parenthesis.
    fn called(&self, inner: Range) -> Option<Range> {
        let open = inner.0.checked_sub(1)?;
        Some((open.checked_sub(1)?, self.closing(open)?))
    }

    fn range(&self, expr: &Expr) -> Option<Range> {
        match expr {
            Expr::Identifier(ident) => self.ident(ident),
            Expr::CompoundIdentifier(parts) => {
                Some((self.at(parts.first()?.span)?, self.at(parts.last()?.span)?))
            }
            Expr::Value(value) => {
                let (first, last) = self.value(value.span)?;
                let marked = matches!(value.value, Value::HexStringLiteral(_));
                Some((first.checked_sub(usize::from(marked))?, last))
            }
            Expr::TypedString(typed) => {
                let (first, last) = self.value(typed.value.span)?;
                Some((first.checked_sub(1)?, last))
            }
            Expr::Interval(interval) => self.interval(self.range(&interval.value)?),
            Expr::BinaryOp { left, right, .. } => self.around(left, right),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.around(left, right)
            }
            Expr::Between { expr, high, .. } => self.around(expr, high),
            Expr::Like {
                expr,
                pattern,
                escape_char,
                ..
            }
            | Expr::ILike {
                expr,
                pattern,
                escape_char,
                ..
            } => {
                let (first, last) = self.around(expr, pattern)?;
                Some((
                    first,
                    if escape_char.is_some() {
                        last + 2
                    } else {
                        last
                    },
                ))
            }
            Expr::RLike { expr, pattern, .. } => self.around(expr, pattern),
            Expr::InList { expr, list, .. } => {
                Some((self.range(expr)?.0, self.range(list.last()?)?.1 + 1))
            }
            Expr::UnaryOp { expr, .. } => {
                let (first, last) = self.range(expr)?;
                Some((first.checked_sub(1)?, last))
            }
            Expr::IsNull(expr)
            | Expr::IsTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsUnknown(expr) => self.behind(expr, 2),
            Expr::IsNotNull(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsNotFalse(expr)
            | Expr::IsNotUnknown(expr) => self.behind(expr, 3),
            // Spark's position of an expression in parentheses is that of the expression.
            Expr::Nested(expr) => self.inner(expr),
            Expr::Cast {
                kind: CastKind::DoubleColon,
                expr,
                ..
            } => self.double_colon(self.range(expr)?),
            Expr::Cast { expr, .. } | Expr::Extract { expr, .. } | Expr::Trim { expr, .. } => {
                self.word_before(self.range(expr)?)
            }
            Expr::Position { expr, .. } => self.called(self.range(expr)?),
            Expr::Function(function) => self.function(
                &function.name,
                &function.args,
                function.over.is_some() || function.filter.is_some(),
            ),
            Expr::Case {
                case_token,
                end_token,
                ..
            } => Some((self.at(case_token.0.span)?, self.at(end_token.0.span)?)),
            Expr::CompoundFieldAccess { root, access_chain } => {
                let (first, _) = self.range(root)?;
                let last = match access_chain.last()? {
                    AccessExpr::Dot(field) => self.range(field)?.1,
                    AccessExpr::Subscript(Subscript::Index { index }) => self.range(index)?.1 + 1,
                    AccessExpr::Subscript(_) => return None,
                };
                Some((first, last))
            }
            Expr::Tuple(fields) => Some((
                self.range(fields.first()?)?.0.checked_sub(1)?,
                self.range(fields.last()?)?.1 + 1,
            )),
            _ => None,
        }
    }

    fn inner(&self, expr: &Expr) -> Option<Range> {
        let (first, last) = self.range(expr)?;
        // As an operand it is seen with its parentheses.
        Some((first.checked_sub(1)?, last + 1))
    }

    fn behind(&self, expr: &Expr, words: usize) -> Option<Range> {
        let (first, last) = self.range(expr)?;
        Some((first, last + words))
    }

    /// A literal: adjacent strings belong to it, so do a sign and the mark of a parameter.
    fn value(&self, span: Span) -> Option<Range> {
        let first = self.at(span)?;
        let mut last = first;
        while self.is(last, |token| token.kind == Kind::Text)
            && self.is(last + 1, |token| token.kind == Kind::Text)
        {
            last += 1;
        }
        if self.is(first, |token| token.is_symbol(":")) {
            last += 1;
        }
        let signed = self.is(first, |token| {
            matches!(token.kind, Kind::Integer | Kind::Number)
        }) && first.checked_sub(1).is_some_and(|before| {
            self.is(before, |token| token.is_symbol("-")) && self.starts_operand(before)
        });
        Some((if signed { first - 1 } else { first }, last))
    }

    /// The token at `index` cannot stand between two operands, as what comes before it is none.
    fn starts_operand(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else {
            return true;
        };
        self.is(before, |token| match token.kind {
            Kind::Symbol => !token.is_symbol(")") && !token.is_symbol("]"),
            Kind::Word => [
                "SELECT", "AND", "OR", "NOT", "WHERE", "WHEN", "THEN", "ELSE", "BETWEEN", "BY",
                "VALUES", "ON",
            ]
            .iter()
            .any(|w| token.is(w)),
            _ => false,
        })
    }

    fn interval(&self, (first, last): Range) -> Option<Range> {
        let word = (0..first)
            .rev()
            .take(3)
            .find(|index| self.is(*index, |token| token.is("INTERVAL")))?;
        let mut last = last;
        let words = |token: &Token| {
            let upper = token.value.to_ascii_uppercase();
            let unit = upper.strip_suffix('S').unwrap_or(&upper);
            [
                "YEAR",
                "MONTH",
                "WEEK",
                "DAY",
                "HOUR",
                "MINUTE",
                "SECOND",
                "MILLISECOND",
                "MICROSECOND",
                "TO",
            ]
            .contains(&unit)
        };
        while self.is(last + 1, |token| token.kind == Kind::Word && words(token)) {
            last += 1;
        }
        Some((word, last))
    }

    fn double_colon(&self, (first, last): Range) -> Option<Range> {
        let mut parser = Parser::new(self.parser.text);
        parser.at = last + 2;
        parser.data_type().ok()?;
        Some((first, parser.at - 1))
    }

    /// The word whose parentheses hold `inner`, to their end.
    fn word_before(&self, (first, _): Range) -> Option<Range> {
        let open = (0..first)
            .rev()
            .find(|index| self.is(*index, |token| token.is_symbol("(")))?;
        Some((open.checked_sub(1)?, self.closing(open)?))
    }

    fn function(&self, name: &ObjectName, args: &FunctionArguments, more: bool) -> Option<Range> {
        let (first, last) = self.name(name)?;
        if matches!(args, FunctionArguments::None) {
            return Some((first, last));
        }
        // SUBSTRING(a FROM b) and its kin were made plain calls; their parentheses are the same.
        if let FunctionArguments::List(list) = args
            && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(_))) = list.args.first()
            && !self.is(last + 1, |token| token.is_symbol("("))
        {
            return None;
        }
        let mut end = self.closing(last + 1)?;
        while more && self.is(end + 1, |token| token.is("FILTER") || token.is("OVER")) {
            end = if self.is(end + 2, |token| token.is_symbol("(")) {
                self.closing(end + 2)?
            } else {
                end + 2
            };
        }
        Some((first, end))
    }
}
