//! The operands of expressions: literals, columns, parameters, parentheses, CASE, CAST, lambdas, and the accesses behind them.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    AccessExpr, CaseWhen, CastKind, DataType, Expr, Ident, LambdaFunction, LambdaFunctionParameter,
    LambdaSyntax, OneOrManyWithParens, Subscript, Value, ValueWithSpan,
};
use sqlparser::tokenizer::TokenWithSpan;

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
                let collation = self.collation()?.into();
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
