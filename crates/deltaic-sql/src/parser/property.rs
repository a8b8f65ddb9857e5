//! Property lists, comments, locations, partition specifications: the small clauses that many statements share.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::{Expr, Value, ValueWithSpan};

use super::{Follow, Parsed, Parser};
use crate::ast::{PartitionSpec, Property};
use crate::lexer::Kind;

impl Parser<'_> {
    /// `('k' = 'v', a.b = 1)`, every key with a value.
    pub fn properties(&mut self) -> Parsed<Vec<Property>> {
        let found = self.parenthesized(Self::property)?;
        let missing: Vec<&str> = found
            .iter()
            .filter(|(_, value)| value.is_none())
            .map(|(key, _)| key.as_str())
            .collect();
        if !missing.is_empty() {
            let message = format!("Values must be specified for key(s): {}", list(&missing));
            self.not_allowed(message);
        }
        let doubled = found
            .iter()
            .enumerate()
            .find(|(at, (key, _))| found[..*at].iter().any(|(other, _)| other == key));
        if let Some((_, (key, _))) = doubled {
            let error = DeltaError::new("DUPLICATE_KEY").param("keyColumn", format!("`{key}`"));
            self.late(error);
        }
        Ok(found
            .into_iter()
            .filter_map(|(key, value)| Some(Property { key, value: value? }))
            .collect())
    }

    /// `('k', a.b)`, no key with a value.
    pub fn property_keys(&mut self) -> Parsed<Vec<String>> {
        let found = self.parenthesized(Self::property)?;
        let valued: Vec<&str> = found
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(key, _)| key.as_str())
            .collect();
        if !valued.is_empty() {
            let message = format!(
                "Values should not be specified for key(s): {}",
                list(&valued)
            );
            self.not_allowed(message);
        }
        Ok(found.into_iter().map(|(key, _)| key).collect())
    }

    fn property(&mut self) -> Parsed<(String, Option<Expr>)> {
        let key = self.property_key()?;
        let equals = self.eat_symbol("=") || self.eat_symbol("==");
        let ends = self.is_symbol(",") || self.is_symbol(")");
        let value = if equals || !ends {
            Some(self.property_value()?)
        } else {
            None
        };
        Ok((key, value))
    }

    pub fn property_key(&mut self) -> Parsed<String> {
        if self.peek().kind == Kind::Text {
            return self.string();
        }
        let parts = self.parts()?;
        Ok(parts
            .into_iter()
            .map(|part| part.value)
            .collect::<Vec<_>>()
            .join("."))
    }

    fn property_value(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        let numeric = |kind| matches!(kind, Kind::Integer | Kind::Number);
        let negative = self.is_symbol("-") && numeric(self.peek_at(1).kind);
        if negative || numeric(token.kind) {
            return self.primary();
        }
        if self.is("TRUE") || self.is("FALSE") {
            let value = Value::Boolean(self.next().is("TRUE"));
            return Ok(Expr::Value(ValueWithSpan {
                value,
                span: self.span_of(&token),
            }));
        }
        self.string_or_parameter()
    }

    /// `COMMENT 'text'`, if it comes.
    pub fn comment(&mut self) -> Parsed<Option<String>> {
        if self.eat("COMMENT") {
            return Ok(Some(self.string()?));
        }
        Ok(None)
    }

    /// `PARTITION (p = 3, q)`, if it comes.
    pub fn partition_spec(&mut self) -> Parsed<Option<PartitionSpec>> {
        if !(self.is("PARTITION") && self.peek_at(1).is_symbol("(")) {
            return Ok(None);
        }
        let start = self.at;
        self.at += 1;
        let mut keys = Vec::new();
        let mut twice = None;
        let spec = self.parenthesized(|p| {
            let key = p.ident()?;
            let name = key.value.to_lowercase();
            if keys.contains(&name) {
                twice.get_or_insert_with(|| key.value.clone());
            }
            keys.push(name);
            let value = if p.eat_symbol("=") || p.eat_symbol("==") {
                Some(p.value_expr()?)
            } else {
                None
            };
            Ok((key, value))
        })?;
        if let Some(key) = twice {
            let error = self.error_at("DUPLICATE_KEY", start);
            self.late(error.param("keyColumn", format!("`{}`", key.replace('`', "``"))));
        }
        Ok(Some(spec))
    }

    /// `IF NOT EXISTS`
    pub fn if_not_exists(&mut self) -> Parsed<bool> {
        if !(self.is("IF") && self.peek_at(1).is("NOT")) {
            return Ok(false);
        }
        self.at += 2;
        self.expect("EXISTS", Follow::Name)?;
        Ok(true)
    }

    /// `IF EXISTS`
    pub fn if_exists(&mut self) -> bool {
        self.eat_seq(&["IF", "EXISTS"])
    }

    /// `[LIKE] 'pattern'`
    pub fn like_pattern(&mut self) -> Parsed<Option<String>> {
        if self.eat("LIKE") || self.peek().kind == Kind::Text {
            return Ok(Some(self.string()?));
        }
        Ok(None)
    }
}

fn list(keys: &[&str]) -> String {
    format!("[{}]", keys.join(","))
}
