//! Spark's tokens: text to a list with positions. Comments vanish, hints stay. What is a keyword is decided by the parser,
//! since almost every word of Spark SQL may also be a name.

mod escape;
#[cfg(test)]
mod tests;

use escape::unescape;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, digits and `_`: a name or a keyword.
    Word,
    /// A name in backticks; the value has none.
    Quoted,
    /// A string literal in single or double quotes; the value is unescaped.
    Text,
    /// Digits alone.
    Integer,
    /// Any other number, with its exponent and suffix.
    Number,
    /// An operator or punctuation.
    Symbol,
    /// A character that starts no token, or a quote that nothing closes.
    Unknown,
    /// `/*` that nothing closes.
    OpenComment,
    End,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub kind: Kind,
    /// Names and strings without their quotes, else the text itself.
    pub value: String,
    /// Bytes in the text.
    pub start: usize,
    pub end: usize,
    /// From 1.
    pub line: usize,
    /// Characters from 0.
    pub column: usize,
}

impl Token {
    /// A word equal to `keyword`, whatever the case.
    pub fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.value.eq_ignore_ascii_case(keyword)
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.value == symbol
    }
}

/// Symbols, the longest first.
const SYMBOLS: [&str; 46] = [
    "<=>", ">>>", "/*+", "<>", "!=", "<=", "!>", ">=", "!<", "==", "<<", ">>", "||", "|>", "->",
    "=>", "::", "*/", "<", ">", "=", "+", "-", "*", "/", "%", "~", "&", "|", "^", "!", "(", ")",
    "[", "]", "{", "}", ",", ".", ":", ";", "?", "@", "#", "$", "\\",
];

/// Symbols that Spark's lexer does not know: they end up as errors, except where this parser gives them a sense (`t@v3`).
const UNKNOWN: [&str; 4] = ["@", "#", "$", "\\"];

/// The tokens of `text`, the last of kind [`Kind::End`].
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
        line_start: 0,
        column: 0,
        column_at: 0,
        hint: false,
    };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next();
        let end = token.kind == Kind::End;
        tokens.push(token);
        if end {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
    column: usize,
    column_at: usize,
    hint: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Token {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(is_blank).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("--") {
                self.skip_line_comment();
            } else if rest.starts_with("/*") && !rest.starts_with("/*+") {
                let start = self.at;
                if !self.skip_comment() {
                    return self.token(Kind::OpenComment, start);
                }
            } else {
                break;
            }
        }
        let start = self.at;
        let Some(c) = self.char() else {
            return self.token(Kind::End, start);
        };
        match c {
            '\'' | '"' => self.string(start, c),
            'r' | 'R' if matches!(self.rest().as_bytes().get(1), Some(b'\'' | b'"')) => {
                self.raw_string(start)
            }
            '`' => self.backticks(start),
            '0'..='9' => self.number(start),
            '.' if self
                .rest()
                .as_bytes()
                .get(1)
                .is_some_and(u8::is_ascii_digit) =>
            {
                self.number(start)
            }
            c if c == '_' || c.is_alphanumeric() => self.word(start),
            _ => self.symbol(start, c),
        }
    }

    /// Makes the token from `start` to here.
    fn token(&mut self, kind: Kind, start: usize) -> Token {
        let value = self.text.get(start..self.at).unwrap_or_default().to_owned();
        self.token_with(kind, start, value)
    }

    fn token_with(&mut self, kind: Kind, start: usize, value: String) -> Token {
        // Positions are asked for in order, so the count goes on from the last one.
        let between = self.text.get(self.column_at..start).unwrap_or_default();
        if let Some(newline) = between.rfind('\n') {
            self.line += between.matches('\n').count();
            self.line_start = self.column_at + newline + 1;
            self.column = self
                .text
                .get(self.line_start..start)
                .unwrap_or_default()
                .chars()
                .count();
        } else {
            self.column += between.chars().count();
        }
        self.column_at = start;
        Token {
            kind,
            value,
            start,
            end: self.at,
            line: self.line,
            column: self.column,
        }
    }

    fn skip_line_comment(&mut self) {
        let rest = self.rest();
        let mut end = rest.len();
        let mut from = 0;
        while let Some(found) = rest.get(from..).and_then(|r| r.find(['\n', '\r'])) {
            let newline = from + found;
            // A backslash before the line's end carries the comment on.
            if rest[newline..].starts_with('\n') && rest[..newline].ends_with('\\') {
                from = newline + 1;
            } else {
                end = newline;
                break;
            }
        }
        self.at += end;
    }

    /// Skips a comment and those inside it; `false` where it has no end.
    fn skip_comment(&mut self) -> bool {
        let mut depth = 0usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") && !(depth > 0 && rest.starts_with("/*+")) {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                depth = depth.saturating_sub(1);
                self.at += 2;
                if depth == 0 {
                    return true;
                }
            } else if let Some(c) = rest.chars().next() {
                self.at += c.len_utf8();
            } else {
                return false;
            }
        }
    }

    fn string(&mut self, start: usize, quote: char) -> Token {
        let mut chars = self.rest().char_indices().skip(1).peekable();
        let mut end = None;
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next();
            } else if c == quote {
                if chars.peek().is_some_and(|(_, next)| *next == quote) {
                    chars.next();
                } else {
                    end = Some(at + 1);
                    break;
                }
            }
        }
        let Some(length) = end else {
            self.at += 1;
            return self.token(Kind::Unknown, start);
        };
        self.at += length;
        let inner = self.text.get(start + 1..self.at - 1).unwrap_or_default();
        let value = unescape(inner, quote);
        self.token_with(Kind::Text, start, value)
    }

    /// `r'…'`: no escapes, and no way to write the quote itself.
    fn raw_string(&mut self, start: usize) -> Token {
        let rest = self.rest();
        let quote = rest.chars().nth(1).unwrap_or('\'');
        match rest.get(2..).and_then(|inner| inner.find(quote)) {
            Some(length) => {
                let value = rest.get(2..2 + length).unwrap_or_default().to_owned();
                self.at += length + 3;
                self.token_with(Kind::Text, start, value)
            }
            None => self.word(start),
        }
    }

    fn backticks(&mut self, start: usize) -> Token {
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != '`' {
                value.push(c);
            } else if chars.peek().is_some_and(|(_, next)| *next == '`') {
                chars.next();
                value.push('`');
            } else {
                self.at += at + 1;
                return self.token_with(Kind::Quoted, start, value);
            }
        }
        self.at += 1;
        self.token(Kind::Unknown, start)
    }

    fn digits(&self, mut at: usize) -> usize {
        while self.text.as_bytes().get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    }

    /// Numbers and names that begin with a digit; the longer reading wins, as in Spark.
    fn number(&mut self, start: usize) -> Token {
        let bytes = self.text.as_bytes();
        let whole = self.digits(start);
        let mut end = whole;
        let mut fraction = false;
        if bytes.get(end) == Some(&b'.') {
            let after = self.digits(end + 1);
            // `1.` is a number unless a name follows, as in `t1.c`.
            if !self.word_at(after)
                || self.exponent(after).is_some()
                || self.suffix(after).is_some()
            {
                fraction = true;
                end = after;
            }
        }
        let mut kind = if fraction {
            Kind::Number
        } else {
            Kind::Integer
        };
        if let Some(after) = self.exponent(end) {
            end = after;
            kind = Kind::Number;
        }
        if let Some(after) = self.suffix(end) {
            end = after;
            kind = Kind::Number;
        }
        if end == start {
            // `.5a` is a dot and a name.
            return self.symbol(start, '.');
        }
        if !fraction && self.word_at(end) || kind == Kind::Integer && self.word_at(end) {
            return self.word(start);
        }
        self.at = end;
        self.token(kind, start)
    }

    fn word_at(&self, at: usize) -> bool {
        self.text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .is_some_and(is_word)
    }

    /// The end of an exponent that begins at `at`.
    fn exponent(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if !matches!(bytes.get(at), Some(b'e' | b'E')) {
            return None;
        }
        let signed = if matches!(bytes.get(at + 1), Some(b'+' | b'-')) {
            at + 2
        } else {
            at + 1
        };
        let end = self.digits(signed);
        (end > signed).then_some(end)
    }

    /// The end of a suffix `L S Y F D BD` that begins at `at`.
    fn suffix(&self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let end = match bytes.get(at).map(u8::to_ascii_uppercase) {
            Some(b'B') if bytes.get(at + 1).map(u8::to_ascii_uppercase) == Some(b'D') => at + 2,
            Some(b'L' | b'S' | b'Y' | b'F' | b'D') => at + 1,
            _ => return None,
        };
        (!self.word_at(end)).then_some(end)
    }

    fn word(&mut self, start: usize) -> Token {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_word).len();
        self.token(Kind::Word, start)
    }

    fn symbol(&mut self, start: usize, c: char) -> Token {
        let rest = self.rest();
        // `*/` ends a hint and nothing else.
        let found = SYMBOLS
            .iter()
            .find(|symbol| (**symbol != "*/" || self.hint) && rest.starts_with(**symbol));
        match found {
            Some(symbol) => {
                self.at += symbol.len();
                match *symbol {
                    "/*+" => self.hint = true,
                    "*/" => self.hint = false,
                    _ => {}
                }
                let kind = if UNKNOWN.contains(symbol) {
                    Kind::Unknown
                } else {
                    Kind::Symbol
                };
                self.token(kind, start)
            }
            None => {
                self.at += c.len_utf8();
                self.token(Kind::Unknown, start)
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
