//! A text of several statements cut into them, as a script or a prompt needs it: at each `;` that is no part of a string,
//! of a name in backticks, or of a comment.

use crate::lexer::{Kind, tokens};

/// The statements of a text, without their semicolons and without the comments around them. The slices are parts of
/// `text`, so a caller finds the comments between two of them by position.
pub fn split(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = None;
    let mut end = 0;
    for token in tokens(text) {
        if token.kind == Kind::End || token.is_symbol(";") {
            found.extend(begin.take().and_then(|from: usize| text.get(from..end)));
        } else {
            begin.get_or_insert(token.start);
            end = token.end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn semicolons_in_strings_names_and_comments_end_nothing() {
        let text = "SELECT ';', `a;b` -- c; d\n, \"x;\" /* ; */ FROM t;\n\nSELECT 2";
        assert_eq!(split(text), ["SELECT ';', `a;b` -- c; d\n, \"x;\" /* ; */ FROM t", "SELECT 2"]);
    }

    #[test]
    fn comments_and_lone_semicolons_are_no_statement() {
        assert_eq!(split("-- nothing\n;; /* still */ ;"), Vec::<&str>::new());
        assert_eq!(split("-- before\nSELECT 1 -- after\n;"), ["SELECT 1"]);
    }

    #[test]
    fn a_quote_that_nothing_closes_stays_in_the_last_statement() {
        assert_eq!(split("SELECT 1; SELECT 'open; SELECT 2").first(), Some(&"SELECT 1"));
    }
}
