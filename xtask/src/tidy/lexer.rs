//! Just enough of Rust's lexical grammar: words and signs with their lines, without comments, strings and characters,
//! and without what only tests see.

/// A word or a sign, and the line it stands on (from 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// All tokens of a file outside `#[cfg(test)]` items.
pub fn tokens_outside_tests(source: &str) -> Vec<Token> {
    without_tests(tokens(source))
}

/// Names of the modules that a file declares for tests only, in files of their own.
pub fn test_modules(source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some(after) = test_attribute(&tokens, at) else {
            continue;
        };
        let item: Vec<&str> = tokens[after..]
            .iter()
            .map(|t| t.text.as_str())
            .take_while(|t| !matches!(*t, ";" | "{"))
            .collect();
        let own_file = tokens
            .get(after + item.len())
            .is_some_and(|t| t.text == ";");
        if let [.., "mod", name] = item.as_slice()
            && own_file
        {
            found.push((*name).to_owned());
        }
    }
    found
}

fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let c = chars[at];
        let start = at;
        if c == '/' && chars.get(at + 1) == Some(&'/') {
            at = skip_while(&chars, at, |c| c != '\n');
        } else if c == '/' && chars.get(at + 1) == Some(&'*') {
            at = block_comment(&chars, at);
        } else if let Some(end) = string(&chars, at) {
            out.push(Token {
                text: "\"\"".into(),
                line,
            });
            at = end;
        } else if c == '\'' {
            at = character_or_lifetime(&chars, at);
        } else if c.is_alphanumeric() || c == '_' {
            at = skip_while(&chars, at, |c| c.is_alphanumeric() || c == '_');
            out.push(Token {
                text: chars[start..at].iter().collect(),
                line,
            });
        } else if c == ':' && chars.get(at + 1) == Some(&':') {
            out.push(Token {
                text: "::".into(),
                line,
            });
            at += 2;
        } else {
            if !c.is_whitespace() {
                out.push(Token {
                    text: c.to_string(),
                    line,
                });
            }
            at += 1;
        }
        line += chars[start..at].iter().filter(|c| **c == '\n').count();
    }
    out
}

fn skip_while(chars: &[char], mut at: usize, keep: impl Fn(char) -> bool) -> usize {
    while chars.get(at).is_some_and(|c| keep(*c)) {
        at += 1;
    }
    at
}

fn block_comment(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth.saturating_sub(1), at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The end of a string literal that begins at `at`, with any of the prefixes b, c, r, br, cr.
fn string(chars: &[char], at: usize) -> Option<usize> {
    let mut open = at;
    while open < at + 2
        && chars
            .get(open)
            .is_some_and(|c| matches!(c, 'b' | 'c' | 'r'))
    {
        open += 1;
    }
    let raw = open > at && chars[open - 1] == 'r';
    let hashes = if raw {
        skip_while(chars, open, |c| c == '#') - open
    } else {
        0
    };
    let quote = open + hashes;
    if chars.get(quote) != Some(&'"') || (at > 0 && open > at && is_word(chars[at - 1])) {
        return None;
    }
    let mut end = quote + 1;
    while end < chars.len() {
        match chars[end] {
            '\\' if !raw => end += 2,
            '"' if (1..=hashes).all(|n| chars.get(end + n) == Some(&'#')) => {
                return Some(end + 1 + hashes);
            }
            _ => end += 1,
        }
    }
    Some(chars.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn character_or_lifetime(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => skip_while(chars, at + 3, |c| c != '\'') + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => skip_while(chars, at + 1, is_word),
    }
}

/// Leave out each item that follows `#[cfg(test)]`, `#[test]` or a similar attribute naming `test`.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if let Some(after) = test_attribute(&tokens, at) {
            at = end_of_item(&tokens, after);
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

fn test_attribute(tokens: &[Token], at: usize) -> Option<usize> {
    if tokens.get(at)?.text != "#" || tokens.get(at + 1)?.text != "[" {
        return None;
    }
    let end = closing(tokens, at + 1)?;
    let body: Vec<&str> = tokens[at + 2..end]
        .iter()
        .map(|t| t.text.as_str())
        .collect();
    let test = body.contains(&"test") && !body.contains(&"not");
    test.then_some(end + 1)
}

fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (n, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "[" | "(" | "{" => depth += 1,
            "]" | ")" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(n);
        }
    }
    None
}

fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            ";" => return at + 1,
            "{" => return closing(tokens, at).map_or(tokens.len(), |end| end + 1),
            "(" | "[" => at = closing(tokens, at).map_or(tokens.len(), |end| end + 1),
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::tokens_outside_tests;

    fn check(source: &str, expected: &str) {
        let words: Vec<String> = tokens_outside_tests(source)
            .into_iter()
            .map(|t| t.text)
            .collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn comments_strings_and_characters_are_left_out() {
        check("a // b\n/* c /* d */ e */ f", "a f");
        check(
            r##"x("unwrap()", r#"a "quoted" b"#, 'c', '\'', b"z")"##,
            "x ( \"\" , \"\" , , , \"\" )",
        );
        check("fn f<'a>(x: &'a str)", "fn f < > ( x : & str )");
    }

    #[test]
    fn items_of_tests_are_left_out() {
        check(
            "fn a() {} #[cfg(test)] mod tests { fn b() {} } fn c() {}",
            "fn a ( ) { } fn c ( ) { }",
        );
        check("#[tokio::test] async fn t() { x } use y;", "use y ;");
        check(
            "#[cfg(not(test))] fn a() {}",
            "# [ cfg ( not ( test ) ) ] fn a ( ) { }",
        );
    }
}
