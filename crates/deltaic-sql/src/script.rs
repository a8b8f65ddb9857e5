//! Scripts: several statements, each ended by `;`, with the comments before each.

/// One statement of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStatement {
    /// From its first word to the one before the `;`.
    pub text: String,
    /// The comments before it, without their markers, trimmed.
    pub comments: Vec<String>,
    /// Line of its first word, from 1.
    pub line: usize,
    /// A `;` ends it. The last one may lack it; at a prompt it goes on then.
    pub terminated: bool,
}

/// The statements of a script. Quotes, backticks and comments are respected; empty statements are dropped.
pub fn split(script: &str) -> Vec<ScriptStatement> {
    let mut splitter = Splitter {
        script,
        at: 0,
        start: None,
        end: 0,
        comments: Vec::new(),
        out: Vec::new(),
    };
    splitter.run();
    splitter.out
}

struct Splitter<'a> {
    script: &'a str,
    at: usize,
    start: Option<usize>,
    /// Behind the last character that is no blank and no comment.
    end: usize,
    comments: Vec<String>,
    out: Vec<ScriptStatement>,
}

impl Splitter<'_> {
    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let rest = self.rest();
            if rest.starts_with("--") {
                let length = rest.find('\n').unwrap_or(rest.len());
                self.comment(length, rest.get(2..length).unwrap_or_default().to_owned());
            } else if rest.starts_with("/*") && !rest.starts_with("/*+") {
                let length = comment_length(rest);
                let inner = rest
                    .get(2..length.saturating_sub(2))
                    .unwrap_or_default()
                    .to_owned();
                self.comment(length, inner);
            } else if c == ';' {
                self.finish(true);
                self.at += 1;
            } else if c.is_whitespace() || c == '\u{feff}' {
                self.at += c.len_utf8();
            } else {
                let length = match c {
                    '\'' | '"' | '`' => self.quoted_length(c),
                    _ => c.len_utf8(),
                };
                self.start.get_or_insert(self.at);
                self.at += length;
                self.end = self.at;
            }
        }
        self.finish(false);
    }

    fn rest(&self) -> &str {
        self.script.get(self.at..).unwrap_or_default()
    }

    /// A comment inside a statement stays part of its text.
    fn comment(&mut self, length: usize, text: String) {
        self.at += length;
        if self.start.is_none() {
            self.comments.push(text.trim().to_owned());
        }
    }

    fn finish(&mut self, terminated: bool) {
        if let Some(start) = self.start.take() {
            let text = self
                .script
                .get(start..self.end)
                .unwrap_or_default()
                .to_owned();
            let line = self
                .script
                .get(..start)
                .unwrap_or_default()
                .matches('\n')
                .count()
                + 1;
            self.out.push(ScriptStatement {
                text,
                comments: std::mem::take(&mut self.comments),
                line,
                terminated,
            });
        }
    }

    /// Bytes of the quoted text at the cursor; to the end where nothing closes it.
    fn quoted_length(&self, quote: char) -> usize {
        let raw = quote != '`' && self.raw_prefix();
        let rest = self.rest();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == '\\' && quote != '`' && !raw {
                chars.next();
            } else if c == quote {
                // A doubled quote ends one text and begins the next, which comes to the same.
                return at + 1;
            }
        }
        rest.len()
    }

    /// `r` alone stands before the quote.
    fn raw_prefix(&self) -> bool {
        let mut before = self.script.get(..self.at).unwrap_or_default().chars().rev();
        let r = matches!(before.next(), Some('r' | 'R'));
        r && !before
            .next()
            .is_some_and(|c| c.is_alphanumeric() || c == '_')
    }
}

/// Bytes of the comment at the start of `text`, with those inside it.
fn comment_length(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn statements_end_at_semicolons_outside_quotes_and_comments() {
        let script = "-- first\n/* and\n second */ SELECT ';', \"a\\\";\", `b;c`, r'\\' -- ; no\n, 1;\n;;\n-- expect error: X\nSELECT /* ; */ 2";
        let found = split(script);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].comments, ["first", "and\n second"]);
        assert_eq!(
            found[0].text,
            "SELECT ';', \"a\\\";\", `b;c`, r'\\' -- ; no\n, 1"
        );
        assert_eq!((found[0].line, found[0].terminated), (3, true));
        assert_eq!(found[1].comments, ["expect error: X"]);
        assert_eq!(
            (found[1].text.as_str(), found[1].line, found[1].terminated),
            ("SELECT /* ; */ 2", 7, false)
        );
    }

    #[test]
    fn an_open_quote_takes_the_rest() {
        let found = split("SELECT 'a; b");
        assert_eq!(found.len(), 1);
        assert!(!found[0].terminated);
        assert!(split(" -- only\n ; /* x */").is_empty());
    }
}
