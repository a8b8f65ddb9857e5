//! SET and RESET: Spark takes the text behind the key as it stands, so these read text more than tokens.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::Expr;

use super::{Follow, Parsed, Parser};
use crate::ast::{Reset, Set, Statement, Use};
use crate::lexer::Kind;

impl Parser<'_> {
    pub fn set(&mut self) -> Parsed<Statement> {
        let start = self.at;
        self.at += 1;
        if self.is("CATALOG") && !self.ends_at(1) && !self.peek_at(1).is_symbol("=") {
            self.at += 1;
            return Ok(Statement::Use(Use::Catalog(self.name_or_path()?)));
        }
        if self.is_seq(&["TIME", "ZONE"]) {
            self.at += 2;
            return self.time_zone();
        }
        let variable = self.is_any(&["VARIABLE", "VAR"]) && !self.peek_at(1).is_symbol("=");
        if variable && !self.ends_at(1) {
            self.at += 1;
            return self.variables();
        }
        let quoted =
            self.peek().kind == Kind::Quoted && (self.peek_at(1).is_symbol("=") || self.ends_at(1));
        if quoted || self.value_is_quoted() {
            return self.quoted_setting();
        }
        self.raw_setting(start)
    }

    /// ``key = `value` `` with nothing behind.
    fn value_is_quoted(&self) -> bool {
        let equals = (0..)
            .take_while(|ahead| self.peek_at(*ahead).kind != Kind::End)
            .find(|ahead| self.peek_at(*ahead).is_symbol("="));
        equals.is_some_and(|at| {
            self.peek_at(at + 1).kind == Kind::Quoted && self.peek_at(at + 2).kind == Kind::End
        })
    }

    /// ``SET `key` [= value]``, ``SET key = `value` ``.
    fn quoted_setting(&mut self) -> Parsed<Statement> {
        let key = if self.peek().kind == Kind::Quoted {
            self.next().value
        } else {
            self.key_text()?
        };
        if !self.eat_symbol("=") {
            return Ok(Statement::Set(Set::Get { key }));
        }
        if self.peek().kind == Kind::Quoted && self.peek_at(1).kind == Kind::End {
            return Ok(Statement::Set(Set::Value {
                key,
                value: self.next().value,
            }));
        }
        let from = self.token(self.at - 1).end;
        let value = self
            .text
            .get(from..)
            .unwrap_or_default()
            .trim()
            .trim_end_matches(';')
            .trim()
            .to_owned();
        self.skip_all();
        if value.contains(';') {
            self.invalid_set();
        }
        Ok(Statement::Set(Set::Value { key, value }))
    }

    /// The tokens up to `=`, joined.
    fn key_text(&mut self) -> Parsed<String> {
        let from = self.at;
        while !self.is_symbol("=") && self.peek().kind != Kind::End {
            self.at += 1;
        }
        Ok(self.text_from(from).to_owned())
    }

    /// `SET`, `SET -v`, `SET key`, `SET key=value`, by the text behind SET.
    fn raw_setting(&mut self, start: usize) -> Parsed<Statement> {
        let rest = self
            .text
            .get(self.token(start).end..)
            .unwrap_or_default()
            .trim();
        self.skip_all();
        let bare = rest.trim_end_matches(';').trim_end();
        if bare.is_empty() {
            return Ok(Statement::Set(Set::All));
        }
        if bare == "-v" {
            return Ok(Statement::Set(Set::Verbose));
        }
        if let Some((key, value)) = bare.split_once('=') {
            let key = key.trim_end();
            if is_key(key) && !value.contains(';') {
                return Ok(Statement::Set(Set::Value {
                    key: key.to_owned(),
                    value: value.trim().to_owned(),
                }));
            }
        } else if is_key(bare) {
            return Ok(Statement::Set(Set::Get {
                key: bare.to_owned(),
            }));
        }
        self.invalid_set();
        Ok(Statement::Set(Set::All))
    }

    fn invalid_set(&mut self) {
        let error = DeltaError::new("INVALID_SET_SYNTAX");
        self.late(error);
    }

    /// To the end of the text.
    fn skip_all(&mut self) {
        self.at = self.tokens.len() - 1;
    }

    fn time_zone(&mut self) -> Parsed<Statement> {
        if self.eat("LOCAL") {
            return Ok(Statement::Set(Set::TimeZoneLocal));
        }
        if self.is("INTERVAL") && self.interval_begins() {
            let interval: Expr = self.interval()?;
            return Ok(Statement::Set(Set::TimeZoneInterval(interval)));
        }
        if self.peek().kind == Kind::Text {
            return Ok(Statement::Set(Set::TimeZone(self.string()?)));
        }
        self.skip_all();
        let error = DeltaError::new("_LEGACY_ERROR_TEMP_0045");
        self.late(error);
        Ok(Statement::Set(Set::TimeZoneLocal))
    }

    fn variables(&mut self) -> Parsed<Statement> {
        let assignments = self.comma_separated(|p| {
            let name = p.parts()?;
            p.expect_symbol("=", Follow::Expression)?;
            Ok((name, p.expr()?))
        })?;
        Ok(Statement::Set(Set::Variables { assignments }))
    }

    pub fn reset(&mut self) -> Parsed<Statement> {
        let start = self.at;
        self.at += 1;
        if self.peek().kind == Kind::Quoted && self.ends_at(1) {
            return Ok(Statement::Reset(Reset {
                key: Some(self.next().value),
            }));
        }
        let rest = self
            .text
            .get(self.token(start).end..)
            .unwrap_or_default()
            .trim()
            .trim_end_matches(';')
            .trim_end();
        self.skip_all();
        if rest.is_empty() {
            return Ok(Statement::Reset(Reset { key: None }));
        }
        if !is_key(rest) {
            let error = DeltaError::new("_LEGACY_ERROR_TEMP_0043");
            self.late(error);
        }
        Ok(Statement::Reset(Reset {
            key: Some(rest.to_owned()),
        }))
    }
}

/// A key that needs no backticks.
fn is_key(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.:\\".contains(c))
}
