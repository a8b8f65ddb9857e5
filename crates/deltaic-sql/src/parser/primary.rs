//! The operands of expressions: literals, columns, parameters, parentheses, CASE, CAST, lambdas, and the accesses behind them.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    AccessExpr, CaseWhen, CastKind, DataType, Expr, Ident, LambdaFunction, LambdaFunctionParameter,
    LambdaSyntax, OneOrManyWithParens, Subscript, TimezoneInfo, TypedString, Value, ValueWithSpan,
};
use sqlparser::tokenizer::{Span, TokenWithSpan};

use super::{Follow, Parsed, Parser};
use crate::lexer::{Kind, Token};

impl Parser<'_> {
    pub fn primary(&mut self) -> Parsed<Expr> {
        let base = self.base()?;
        self.accesses(base)
    }

    /// `[i]`, `.field`, `::type`, `COLLATE c` behind an operand.
    fn accesses(&mut self, mut base: Expr) -> Parsed<Expr> {
        loop {
            if self.eat_symbol("[") {
                let index = self.value_expr()?;
                self.expect_symbol("]", Follow::Other)?;
                base = access(base, AccessExpr::Subscript(Subscript::Index { index }));
            } else if self.is_symbol(".") && self.ident_of(self.peek_at(1)).is_some() {
                self.at += 1;
                let field = self.ident()?;
                base = access(base, AccessExpr::Dot(Expr::Identifier(field)));
            } else if self.eat_symbol("::") {
                let data_type = self.data_type()?;
                base = cast(CastKind::DoubleColon, base, data_type);
            } else if self.is("COLLATE") && self.ident_of(self.peek_at(1)).is_some() {
                self.at += 1;
                let collation = self.parts()?.into();
                base = Expr::Collate {
                    expr: Box::new(base),
                    collation,
                };
            } else {
                return Ok(base);
            }
        }
    }

    fn base(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Text => {
                let text = self.string()?;
                Ok(crate::literal::string(text, self.span_of(&token)))
            }
            Kind::Integer | Kind::Number => self.number(false),
            Kind::Symbol => self.symbol(&token),
            Kind::Quoted => self.column_or_call(),
            Kind::Word => self.word(&token),
            Kind::Unknown | Kind::OpenComment | Kind::End => self.fail(),
        }
    }

    fn symbol(&mut self, token: &Token) -> Parsed<Expr> {
        match token.value.as_str() {
            "-" => {
                self.at += 1;
                self.number(true)
            }
            "(" => self.parentheses(),
            "?" | ":" => match self.parameter() {
                Some(parameter) => Ok(parameter),
                None => {
                    self.at += 1;
                    self.fail()
                }
            },
            _ => self.fail(),
        }
    }

    /// A number as written, with its suffix; L moves to the literal's flag. The sign belongs to it, as in Spark.
    fn number(&mut self, negative: bool) -> Parsed<Expr> {
        let token = self.next();
        let (digits, suffix) = crate::literal::split_suffix(&token.value);
        let long = suffix == "L";
        let text = if long { digits } else { &token.value };
        let text = if negative {
            format!("-{text}")
        } else {
            text.to_owned()
        };
        self.check_range(&token, digits, suffix, negative);
        Ok(Expr::Value(ValueWithSpan {
            value: Value::Number(text, long),
            span: self.span_of(&token),
        }))
    }

    /// A literal with a suffix must fit its type: Spark says so while parsing.
    fn check_range(&mut self, token: &Token, digits: &str, suffix: &str, negative: bool) {
        let (name, limit): (_, i128) = match suffix {
            "Y" => ("tinyint", 1 << 7),
            "S" => ("smallint", 1 << 15),
            "L" => ("bigint", 1 << 63),
            _ => return,
        };
        let fits = digits.parse::<i128>().is_ok_and(|value| {
            if negative {
                value <= limit
            } else {
                value < limit
            }
        });
        if !fits {
            let sign = if negative { "-" } else { "" };
            let error = DeltaError::new("INVALID_NUMERIC_LITERAL_RANGE")
                .param("rawStrippedQualifier", format!("{sign}{digits}"))
                .param("minValue", -limit)
                .param("maxValue", limit - 1)
                .param("typeName", name)
                .with_context(self.place(token));
            self.late(error);
        }
    }

    /// `:name` or `?`.
    pub fn parameter(&mut self) -> Option<Expr> {
        let token = self.peek().clone();
        let text = if token.is_symbol("?") {
            self.at += 1;
            "?".to_owned()
        } else if token.is_symbol(":") {
            let name = self.ident_of(self.peek_at(1))?;
            self.at += 2;
            format!(":{}", name.value)
        } else {
            return None;
        };
        let mut span = self.span_of(&token);
        span.end.column = span.start.column + text.chars().count() as u64;
        Some(Expr::Value(ValueWithSpan {
            value: Value::Placeholder(text),
            span,
        }))
    }

    fn word(&mut self, token: &Token) -> Parsed<Expr> {
        let upper = token.value.to_ascii_uppercase();
        let after = self.peek_at(1);
        let called = after.is_symbol("(");
        let value = |value| {
            Ok(Expr::Value(ValueWithSpan {
                value,
                span: self.span_of(token),
            }))
        };
        match upper.as_str() {
            "NULL" | "TRUE" | "FALSE" if !called && !after.is_symbol(".") => {
                let literal = value(match upper.as_str() {
                    "NULL" => Value::Null,
                    other => Value::Boolean(other == "TRUE"),
                });
                self.at += 1;
                literal
            }
            "CASE" if self.case_begins() => self.case(),
            "CAST" | "TRY_CAST" if called => {
                self.at += 2;
                let expr = self.expr()?;
                self.expect("AS", Follow::Name)?;
                let data_type = self.data_type()?;
                self.expect_symbol(")", Follow::Other)?;
                let kind = if upper == "CAST" {
                    CastKind::Cast
                } else {
                    CastKind::TryCast
                };
                Ok(cast(kind, expr, data_type))
            }
            "EXISTS" if called && self.query_begins_at(2) => {
                self.at += 2;
                let subquery = Box::new(self.query()?);
                self.expect_symbol(")", Follow::Other)?;
                Ok(Expr::Exists {
                    subquery,
                    negated: false,
                })
            }
            "INTERVAL" if self.interval_begins() => self.interval(),
            _ if after.kind == Kind::Text => self.typed_literal(&upper),
            _ if after.is_symbol("->") => self.lambda(),
            _ => self.column_or_call(),
        }
    }

    /// `DATE '…'`, `TIMESTAMP '…'`, `X'…'`.
    fn typed_literal(&mut self, word: &str) -> Parsed<Expr> {
        let start = self.at;
        self.at += 1;
        let token = self.peek().clone();
        let text = self.string()?;
        let span = self.span_of(&token);
        let data_type = match word {
            "X" => {
                return Ok(Expr::Value(ValueWithSpan {
                    value: Value::HexStringLiteral(text),
                    span,
                }));
            }
            "DATE" => DataType::Date,
            "TIMESTAMP" => DataType::Timestamp(None, TimezoneInfo::None),
            "TIMESTAMP_LTZ" => DataType::Timestamp(None, TimezoneInfo::WithTimeZone),
            "TIMESTAMP_NTZ" => DataType::TimestampNtz(None),
            other => {
                let error = DeltaError::new("UNSUPPORTED_TYPED_LITERAL")
                    .param("unsupportedType", format!("\"{other}\""))
                    .param("supportedTypes", "\"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\", \"TIME\"");
                let error = error.with_context(self.fragment(start));
                self.late(error);
                DataType::Unspecified
            }
        };
        let value = ValueWithSpan {
            value: Value::SingleQuotedString(text),
            span,
        };
        Ok(Expr::TypedString(TypedString {
            data_type,
            value,
            uses_odbc_syntax: false,
        }))
    }

    /// `a.b.c`, or a function where `(` follows.
    fn column_or_call(&mut self) -> Parsed<Expr> {
        if self.is("IDENTIFIER") && self.peek_at(1).is_symbol("(") {
            let name = self.object_name()?;
            if self.is_symbol("(") {
                return self.call(name);
            }
            return Ok(super::function::bare(name));
        }
        if let Some(special) = self.special_call()? {
            return Ok(special);
        }
        let mut parts = vec![self.ident()?];
        while self.is_symbol(".") && self.ident_of(self.peek_at(1)).is_some() {
            self.at += 1;
            parts.push(self.ident()?);
        }
        if self.is_symbol("(") {
            return self.call(parts.into());
        }
        if self.is_symbol(".") {
            self.at += 1;
            return self.fail();
        }
        let mut parts = parts;
        match (parts.len(), parts.pop()) {
            (1, Some(only)) => Ok(Self::column_ref(only)),
            (_, Some(last)) => {
                parts.push(last);
                Ok(Expr::CompoundIdentifier(parts))
            }
            (_, None) => self.fail(),
        }
    }

    /// A column, or one of the functions that are written without parentheses.
    fn column_ref(ident: Ident) -> Expr {
        const BARE: [&str; 6] = [
            "CURRENT_DATE",
            "CURRENT_TIMESTAMP",
            "CURRENT_USER",
            "USER",
            "SESSION_USER",
            "CURRENT_TIME",
        ];
        let bare = ident.quote_style.is_none()
            && BARE
                .iter()
                .any(|word| ident.value.eq_ignore_ascii_case(word));
        if bare {
            super::function::bare(ident.into())
        } else {
            Expr::Identifier(ident)
        }
    }

    fn parentheses(&mut self) -> Parsed<Expr> {
        if self.lambda_begins() {
            return self.lambda();
        }
        if self.query_begins_at(1) {
            return self.either(Self::subquery, Self::tuple);
        }
        self.tuple()
    }

    fn subquery(&mut self) -> Parsed<Expr> {
        self.expect_symbol("(", Follow::Other)?;
        let query = self.query()?;
        self.expect_symbol(")", Follow::Other)?;
        Ok(Expr::Subquery(Box::new(query)))
    }

    /// `(a)` or `(a, b AS c)`.
    fn tuple(&mut self) -> Parsed<Expr> {
        self.expect_symbol("(", Follow::Other)?;
        let first = self.expr()?;
        if self.eat_symbol(")") {
            return Ok(Expr::Nested(Box::new(first)));
        }
        let mut fields = vec![self.named(first)?];
        if !self.is_symbol(",") {
            self.expect_symbol(")", Follow::Other)?;
        }
        while self.eat_symbol(",") {
            let field = self.expr()?;
            fields.push(self.named(field)?);
        }
        self.expect_symbol(")", Follow::Other)?;
        Ok(Expr::Tuple(fields))
    }

    /// `expr [AS] name` inside STRUCT(…) and row constructors.
    pub fn named(&mut self, expr: Expr) -> Parsed<Expr> {
        if self.eat("AS") || self.ident_of(self.peek()).is_some() {
            let name = self.ident()?;
            return Ok(Expr::Named {
                expr: Box::new(expr),
                name,
            });
        }
        Ok(expr)
    }

    fn lambda_begins(&self) -> bool {
        let mut ahead = 1;
        while self.ident_of(self.peek_at(ahead)).is_some() {
            let separator = self.peek_at(ahead + 1);
            if separator.is_symbol(")") {
                return self.peek_at(ahead + 2).is_symbol("->");
            }
            if !separator.is_symbol(",") {
                return false;
            }
            ahead += 2;
        }
        false
    }

    fn lambda(&mut self) -> Parsed<Expr> {
        let parameter = |p: &mut Self| {
            Ok(LambdaFunctionParameter {
                name: p.ident()?,
                data_type: None,
            })
        };
        let params = if self.is_symbol("(") {
            OneOrManyWithParens::Many(self.parenthesized(parameter)?)
        } else {
            OneOrManyWithParens::One(parameter(self)?)
        };
        self.expect_symbol("->", Follow::Other)?;
        let body = Box::new(self.expr()?);
        Ok(Expr::Lambda(LambdaFunction {
            params,
            body,
            syntax: LambdaSyntax::Arrow,
        }))
    }

    fn case_begins(&self) -> bool {
        let after = self.peek_at(1);
        after.is("WHEN")
            || !self.ends_at(1)
                && !after.is_symbol(".")
                && !after.is_symbol("(")
                && self.case_has_when()
    }

    /// CASE with a value: a WHEN comes somewhere before the text ends.
    fn case_has_when(&self) -> bool {
        self.tokens
            .iter()
            .skip(self.at)
            .any(|token| token.is("WHEN"))
    }

    fn case(&mut self) -> Parsed<Expr> {
        let case_token = self.attached();
        self.at += 1;
        let operand = if self.is("WHEN") {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        let mut conditions = Vec::new();
        self.expect("WHEN", Follow::Other)?;
        loop {
            let condition = self.expr()?;
            self.expect("THEN", Follow::Expression)?;
            let result = self.expr()?;
            conditions.push(CaseWhen { condition, result });
            if !self.eat("WHEN") {
                break;
            }
        }
        let else_result = if self.eat("ELSE") {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        let end_token = self.attached();
        self.expect("END", Follow::Other)?;
        Ok(Expr::Case {
            case_token,
            end_token,
            operand,
            conditions,
            else_result,
        })
    }

    /// The next token with its place, for the AST nodes that keep one.
    pub fn attached(&self) -> AttachedToken {
        let token = self.peek();
        let word = sqlparser::tokenizer::Token::make_keyword(&token.value);
        AttachedToken(TokenWithSpan {
            token: word,
            span: self.span_of(token),
        })
    }
}

pub(super) fn cast(kind: CastKind, expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind,
        expr: Box::new(expr),
        data_type,
        array: false,
        format: None,
    }
}

fn access(base: Expr, step: AccessExpr) -> Expr {
    match base {
        Expr::CompoundFieldAccess {
            root,
            mut access_chain,
        } => {
            access_chain.push(step);
            Expr::CompoundFieldAccess { root, access_chain }
        }
        root => Expr::CompoundFieldAccess {
            root: Box::new(root),
            access_chain: vec![step],
        },
    }
}

/// A span that covers nothing.
pub(super) fn nowhere() -> Span {
    Span::empty()
}
