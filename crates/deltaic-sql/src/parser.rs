//! The cursor over the tokens, and what a syntax error says. Spark's parser is generated from a grammar and reports the token
//! at which no reading goes on; where exactly one keyword could stand there it adds what is too much or missing. The
//! functions here keep that rule, so the grammar files beside read like the grammar.

mod alter;
mod column;
mod constant;
mod create;
mod delta;
mod describe;
mod dml;
mod expr;
mod from;
mod function;
mod interval;
mod merge;
mod name;
mod predicate;
mod primary;
mod property;
mod query;
mod select;
mod set;
mod show;
mod statement;
#[cfg(test)]
mod tests;
mod trouble;
mod types;
mod window;

use deltaic_protocol::error::DeltaError;
use sqlparser::tokenizer::{Location, Span};

use crate::lexer::{Kind, Token, tokens};

/// Result of a rule of the grammar.
pub(crate) type Parsed<T> = Result<T, Stop>;

/// Why a rule did not match.
#[derive(Debug)]
pub(crate) struct Stop {
    /// Index of the token that no reading takes.
    pub at: usize,
    /// `: extra input 'x'` or `: missing 'X'`.
    pub hint: String,
}

/// What may stand after a keyword that is missing, to tell "missing" from "wrong".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// A name.
    Name,
    /// An expression.
    Expression,
    /// A symbol.
    Symbol(&'static str),
    /// A string literal.
    Text,
    /// The key of a property.
    Key,
    /// Nothing that would make the hint likely.
    Other,
}

/// Nested expressions and queries up to this depth; deeper ones are refused before the stack ends.
const MAX_DEPTH: usize = 120;

/// Operators of one kind in a row, each of which makes the tree deeper to the left.
const MAX_CHAIN: usize = 2_000;

pub(crate) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    pub at: usize,
    depth: usize,
    /// The first error that Spark finds only after the whole text was read.
    late: Option<DeltaError>,
    /// The text is nested deeper than [`MAX_DEPTH`].
    too_deep: bool,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            tokens: tokens(text),
            at: 0,
            depth: 0,
            late: None,
            too_deep: false,
        }
    }

    /// Runs a rule over the whole text; a trailing `;` is allowed.
    pub fn whole<T>(mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Result<T, DeltaError> {
        if let Some(open) = self
            .tokens
            .iter()
            .find(|token| token.kind == Kind::OpenComment)
        {
            let end = self.tokens.last().unwrap_or(open);
            return Err(DeltaError::new("UNCLOSED_BRACKETED_COMMENT").with_context(self.place(end)));
        }
        let result = rule(&mut self).and_then(|value| {
            self.expect_end()?;
            Ok(value)
        });
        match (result, self.late.take()) {
            _ if self.too_deep => Err(self.error_at("FAILED_TO_PARSE_TOO_COMPLEX", self.at)),
            (Err(stop), _) => Err(self.syntax_error(&stop)),
            (Ok(_), Some(late)) => Err(self.placed(late)),
            (Ok(value), None) => Ok(value),
        }
    }

    fn expect_end(&mut self) -> Parsed<()> {
        while self.eat_symbol(";") {}
        if self.peek().kind == Kind::End {
            return Ok(());
        }
        let next = self.peek_at(1);
        let lonely = next.kind == Kind::End || next.is_symbol(";");
        Err(if lonely { self.extra() } else { self.stop() })
    }

    pub fn token(&self, index: usize) -> &Token {
        // The list always ends with an `End`.
        &self.tokens[index.min(self.tokens.len() - 1)]
    }

    pub fn peek(&self) -> &Token {
        self.token(self.at)
    }

    pub fn peek_at(&self, ahead: usize) -> &Token {
        self.token(self.at + ahead)
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    /// The token's text as written.
    pub fn raw(&self, token: &Token) -> &'a str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// The text from the token at `from` up to the one before the cursor.
    pub fn text_from(&self, from: usize) -> &'a str {
        if self.at <= from {
            return "";
        }
        self.text
            .get(self.token(from).start..self.token(self.at - 1).end)
            .unwrap_or_default()
    }

    /// The tokens from `from` up to the cursor, joined by single blanks.
    pub fn joined_from(&self, from: usize) -> String {
        let raw: Vec<&str> = (from..self.at)
            .map(|index| self.raw(self.token(index)))
            .collect();
        raw.join(" ")
    }

    pub fn span_of(&self, token: &Token) -> Span {
        let start = Location::new(token.line as u64, token.column as u64 + 1);
        let width = self.raw(token).chars().count() as u64;
        Span::new(start, Location::new(start.line, start.column + width))
    }

    /// A failure at the cursor.
    pub fn stop(&self) -> Stop {
        self.stop_at(self.at)
    }

    pub fn stop_at(&self, at: usize) -> Stop {
        Stop {
            at,
            hint: String::new(),
        }
    }

    fn extra(&self) -> Stop {
        Stop {
            at: self.at,
            hint: format!(": extra input '{}'", self.raw(self.peek())),
        }
    }

    fn missing(&self, what: &str) -> Stop {
        Stop {
            at: self.at,
            hint: format!(": missing '{what}'"),
        }
    }

    pub fn fail<T>(&self) -> Parsed<T> {
        Err(self.stop())
    }

    pub fn is(&self, keyword: &str) -> bool {
        self.peek().is(keyword)
    }

    pub fn is_any(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.is(keyword))
    }

    /// The next words are these.
    pub fn is_seq(&self, keywords: &[&str]) -> bool {
        keywords
            .iter()
            .enumerate()
            .all(|(ahead, keyword)| self.peek_at(ahead).is(keyword))
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.peek().is_symbol(symbol)
    }

    pub fn eat(&mut self, keyword: &str) -> bool {
        let found = self.is(keyword);
        self.at += usize::from(found);
        found
    }

    pub fn eat_any(&mut self, keywords: &[&'static str]) -> Option<&'static str> {
        keywords.iter().find(|keyword| self.eat(keyword)).copied()
    }

    pub fn eat_seq(&mut self, keywords: &[&str]) -> bool {
        let found = self.is_seq(keywords);
        self.at += if found { keywords.len() } else { 0 };
        found
    }

    pub fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    /// A keyword, the only thing that can stand here.
    pub fn expect(&mut self, keyword: &'static str, follow: Follow) -> Parsed<()> {
        if self.eat(keyword) {
            return Ok(());
        }
        Err(
            if self.peek_at(1).is(keyword) && self.peek().kind != Kind::End {
                self.extra()
            } else if self.follows(follow) {
                self.missing(keyword)
            } else {
                self.stop()
            },
        )
    }

    pub fn expect_seq(&mut self, keywords: &[&'static str], follow: Follow) -> Parsed<()> {
        for (index, keyword) in keywords.iter().enumerate() {
            let last = index + 1 == keywords.len();
            self.expect(keyword, if last { follow } else { Follow::Other })?;
        }
        Ok(())
    }

    /// One of several keywords.
    pub fn expect_any(&mut self, keywords: &[&'static str]) -> Parsed<&'static str> {
        match self.eat_any(keywords) {
            Some(keyword) => Ok(keyword),
            None => self.fail(),
        }
    }

    /// A symbol, the only thing that can stand here.
    pub fn expect_symbol(&mut self, symbol: &'static str, follow: Follow) -> Parsed<()> {
        if self.eat_symbol(symbol) {
            return Ok(());
        }
        Err(
            if self.peek_at(1).is_symbol(symbol) && self.peek().kind != Kind::End {
                self.extra()
            } else if self.follows(follow) {
                self.missing(symbol)
            } else {
                self.stop()
            },
        )
    }

    fn follows(&self, follow: Follow) -> bool {
        let token = self.peek();
        match follow {
            Follow::Name => matches!(token.kind, Kind::Word | Kind::Quoted),
            Follow::Expression => {
                matches!(
                    token.kind,
                    Kind::Word | Kind::Quoted | Kind::Text | Kind::Integer | Kind::Number
                )
            }
            Follow::Symbol(symbol) => token.is_symbol(symbol),
            Follow::Text => token.kind == Kind::Text,
            Follow::Key => matches!(token.kind, Kind::Word | Kind::Quoted | Kind::Text),
            Follow::Other => false,
        }
    }

    /// One deeper level of nesting.
    pub fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return self.fail();
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Refuses a chain that is longer than [`MAX_CHAIN`].
    pub fn check_length(&mut self, length: usize) -> Parsed<()> {
        if length <= MAX_CHAIN {
            return Ok(());
        }
        self.too_deep = true;
        self.fail()
    }

    /// `rule`, or the cursor back where it was.
    pub fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let (at, late) = (self.at, self.late.is_some());
        let result = rule(self);
        if result.is_err() {
            self.at = at;
            if !late {
                self.late = None;
            }
        }
        result
    }

    /// Two readings; where both fail, the one that came further says why.
    pub fn either<T>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Parsed<T>,
        second: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let one = match self.attempt(first) {
            Ok(value) => return Ok(value),
            Err(stop) => stop,
        };
        self.attempt(second)
            .map_err(|two| if two.at >= one.at { two } else { one })
    }

    /// `rule`s separated by commas.
    pub fn comma_separated<T>(
        &mut self,
        mut rule: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut out = vec![rule(self)?];
        while self.eat_symbol(",") {
            out.push(rule(self)?);
        }
        Ok(out)
    }

    /// `(rule, …)`.
    pub fn parenthesized<T>(&mut self, rule: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_symbol("(", Follow::Key)?;
        let out = self.comma_separated(rule)?;
        self.expect_symbol(")", Follow::Other)?;
        Ok(out)
    }
}
