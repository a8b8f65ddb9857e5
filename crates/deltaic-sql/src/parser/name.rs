//! Names: identifiers, dotted names, `IDENTIFIER(…)`, path literals, and string and whole-number literals.

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, ObjectNamePart, ObjectNamePartFunction,
};

use super::{Follow, Parsed, Parser};
use crate::ast::{ColumnPath, Name, Travel};
use crate::lexer::{Kind, Token};

/// Words that join relations: no alias of a table may be one.
const JOIN_WORDS: [&str; 14] = [
    "ANTI",
    "CROSS",
    "EXCEPT",
    "FULL",
    "INNER",
    "INTERSECT",
    "JOIN",
    "LATERAL",
    "LEFT",
    "NATURAL",
    "ON",
    "RIGHT",
    "SEMI",
    "UNION",
];
const MORE_JOIN_WORDS: [&str; 3] = ["SETMINUS", "MINUS", "USING"];

impl Parser<'_> {
    /// The token as an identifier; only words and backticks are.
    pub fn ident_of(&self, token: &Token) -> Option<Ident> {
        let quote_style = match token.kind {
            Kind::Word => None,
            Kind::Quoted => Some('`'),
            _ => return None,
        };
        Some(Ident {
            value: token.value.clone(),
            quote_style,
            span: self.span_of(token),
        })
    }

    /// Any word, also a keyword: Spark reserves none.
    pub fn ident(&mut self) -> Parsed<Ident> {
        match self.ident_of(self.peek()) {
            Some(ident) => {
                self.at += 1;
                Ok(ident)
            }
            None => self.fail(),
        }
    }

    /// A word that does not join relations.
    pub fn strict_ident(&mut self) -> Parsed<Ident> {
        if self.is_any(&JOIN_WORDS) || self.is_any(&MORE_JOIN_WORDS) {
            return self.fail();
        }
        self.ident()
    }

    /// `a.b.c`
    pub fn parts(&mut self) -> Parsed<Vec<Ident>> {
        let mut parts = vec![self.ident()?];
        while self.is_symbol(".") {
            self.at += 1;
            parts.push(self.ident()?);
        }
        Ok(parts)
    }

    pub fn column_path(&mut self) -> Parsed<ColumnPath> {
        self.parts()
    }

    /// `a.b.c` or `IDENTIFIER(expr)`.
    pub fn name(&mut self) -> Parsed<Name> {
        if self.is("IDENTIFIER") && self.peek_at(1).is_symbol("(") {
            self.at += 2;
            let expr = self.expr()?;
            self.expect_symbol(")", Follow::Other)?;
            return Ok(Name::Identifier(Box::new(expr)));
        }
        Ok(Name::Parts(self.parts()?))
    }

    /// A name or, as Delta's commands allow, a path in quotes.
    pub fn name_or_path(&mut self) -> Parsed<Name> {
        if self.peek().kind == Kind::Text {
            return Ok(Name::Path(self.string()?));
        }
        self.name()
    }

    /// A name as sqlparser writes it; `IDENTIFIER(expr)` becomes a function part.
    pub fn object_name(&mut self) -> Parsed<ObjectName> {
        let token = self.peek().clone();
        Ok(match self.name()? {
            Name::Identifier(expr) => {
                let name = Ident {
                    value: "IDENTIFIER".into(),
                    quote_style: None,
                    span: self.span_of(&token),
                };
                let args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(*expr))];
                ObjectName(vec![ObjectNamePart::Function(ObjectNamePartFunction {
                    name,
                    args,
                })])
            }
            Name::Parts(parts) => parts.into(),
            Name::Path(path) => Ident::with_quote('`', path).into(),
        })
    }

    /// `@v3` or `@yyyyMMddHHmmssSSS`, directly behind a name.
    pub fn at_suffix(&mut self) -> Option<Travel> {
        let at = self.peek();
        let adjacent = at.kind == Kind::Unknown
            && at.value == "@"
            && self.token(self.at.checked_sub(1)?).end == at.start;
        let suffix = self.peek_at(1);
        if !adjacent || suffix.start != at.end {
            return None;
        }
        let travel = crate::travel::parse_suffix(&suffix.value, self.span_of(suffix))?;
        self.at += 2;
        Some(travel)
    }

    /// One or several adjacent string literals.
    pub fn string(&mut self) -> Parsed<String> {
        if self.peek().kind != Kind::Text {
            return self.fail();
        }
        let mut value = self.next().value;
        while self.peek().kind == Kind::Text {
            value.push_str(&self.next().value);
        }
        Ok(value)
    }

    /// A string literal or a parameter, as an expression.
    pub fn string_or_parameter(&mut self) -> Parsed<Expr> {
        if let Some(parameter) = self.parameter() {
            return Ok(parameter);
        }
        let token = self.peek().clone();
        let text = self.string()?;
        Ok(crate::literal::string(text, self.span_of(&token)))
    }

    /// A whole number without sign or suffix.
    pub fn integer(&mut self) -> Parsed<i64> {
        let token = self.peek();
        match (token.kind, token.value.parse()) {
            (Kind::Integer, Ok(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => self.fail(),
        }
    }
}
