//! Errors of the parser: the token at which the text stopped making sense, or what Spark refuses after reading it whole.

use deltaic_protocol::error::{DeltaError, SqlContext};

use super::{Parser, Stop};
use crate::lexer::{Kind, Token};

impl Parser<'_> {
    pub fn syntax_error(&self, stop: &Stop) -> DeltaError {
        let token = self.token(stop.at);
        if self.text.trim().is_empty() {
            return DeltaError::new("PARSE_EMPTY_STATEMENT").with_context(self.place(token));
        }
        let error = match token.kind {
            Kind::End => "end of input".to_owned(),
            _ => format!("'{}'", self.raw(token)),
        };
        DeltaError::new("PARSE_SYNTAX_ERROR")
            .param("error", error)
            .param("hint", &stop.hint)
            .with_context(self.place(token))
    }

    /// The position of a token as Spark's parser prints it.
    pub fn place(&self, token: &Token) -> SqlContext {
        SqlContext::Parse {
            line: token.line,
            pos: token.column,
            sql: self.text.to_owned(),
        }
    }

    /// An error of `class` with the position of the token at `index`.
    pub fn error_at(&self, class: &'static str, index: usize) -> DeltaError {
        DeltaError::new(class).with_context(self.place(self.token(index)))
    }

    /// The text from the token at `from` to the one before the cursor, as the place of a late error.
    pub fn fragment(&self, from: usize) -> SqlContext {
        let first = self.token(from);
        let len = self.text_from(from).chars().count();
        SqlContext::Fragment {
            line: first.line,
            pos: first.column,
            sql: self.text.to_owned(),
            len,
        }
    }

    /// Keeps an error that Spark raises after reading the whole text: a syntax error further on comes first.
    pub fn late(&mut self, error: DeltaError) {
        self.late.get_or_insert(error);
    }

    /// `Operation not allowed: …`
    pub fn not_allowed(&mut self, message: impl Into<String>) {
        self.late(DeltaError::new("_LEGACY_ERROR_TEMP_0035").param("message", message.into()));
    }

    /// A late error of the parser that has no place of its own is shown under the whole statement.
    pub fn placed(&self, late: DeltaError) -> DeltaError {
        if late.context().is_some() || !late.java_class().ends_with(".ParseException") {
            return late;
        }
        let ends = |token: &Token| token.kind == Kind::End || token.is_symbol(";");
        let last = self
            .tokens
            .iter()
            .rev()
            .find(|token| !ends(token))
            .unwrap_or(self.peek());
        let first = self.token(0);
        let len = self
            .text
            .get(first.start..last.end)
            .unwrap_or_default()
            .chars()
            .count();
        late.with_context(SqlContext::Fragment {
            line: first.line,
            pos: first.column,
            sql: self.text.to_owned(),
            len,
        })
    }
}
