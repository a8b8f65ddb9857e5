//! What the lexer makes of Spark's literals, names and comments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn values(text: &str) -> Vec<(Kind, String)> {
    let mut out: Vec<_> = tokens(text)
        .into_iter()
        .map(|t| (t.kind, t.value))
        .collect();
    assert_eq!(out.pop().map(|t| t.0), Some(Kind::End));
    out
}

fn one(text: &str) -> (Kind, String) {
    let found = values(text);
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap()
}

#[test]
fn strings_lose_quotes_and_escapes() {
    for (text, value) in [
        (r"'a''b'", "a'b"),
        (r"'a\'b'", "a'b"),
        (r#""a""b""#, "a\"b"),
        (r#""it's""#, "it's"),
        (r"'a\nb\tc\\d'", "a\nb\tc\\d"),
        (r"'\u00e4\U0001F600'", "ä😀"),
        (r"'\ud83d\ude00'", "😀"),
        (r"'\101\0'", "A\0"),
        (r"'50\%\_x\y'", "50\\%\\_xy"),
        (r"r'a\nb'", r"a\nb"),
        (r#"R"it's \""#, r"it's \"),
    ] {
        assert_eq!(one(text), (Kind::Text, value.to_owned()), "{text}");
    }
}

#[test]
fn numbers_keep_their_suffixes_and_names_may_begin_with_digits() {
    for text in [
        "1L", "2s", "3Y", "1.5", ".5", "1e3", "1.5e-3", "2F", "1.5BD", "3d", "1.",
    ] {
        assert_eq!(one(text), (Kind::Number, text.to_owned()), "{text}");
    }
    assert_eq!(
        one("20260103000000000"),
        (Kind::Integer, "20260103000000000".to_owned())
    );
    for text in ["1abc", "2026_x", "1e", "3Lx"] {
        assert_eq!(one(text), (Kind::Word, text.to_owned()), "{text}");
    }
    assert_eq!(values("t1.c").len(), 3);
    assert_eq!(values(".5a").len(), 2);
}

#[test]
fn comments_vanish_and_hints_stay() {
    assert_eq!(values("a -- b\n c").len(), 2);
    assert_eq!(values("a /* x /* y */ z */ b").len(), 2);
    let hint: Vec<_> = values("/*+ COALESCE(1) */ *")
        .into_iter()
        .map(|t| t.1)
        .collect();
    assert_eq!(hint, ["/*+", "COALESCE", "(", "1", ")", "*/", "*"]);
    let product: Vec<_> = values("a*/b").into_iter().map(|t| t.1).collect();
    assert_eq!(product, ["a", "*", "/", "b"]);
    assert_eq!(values("a /* b").last().unwrap().0, Kind::OpenComment);
}

#[test]
fn positions_count_lines_from_one_and_characters_from_zero() {
    let found = tokens("ä `b c`\n  d");
    let places: Vec<_> = found.iter().map(|t| (t.line, t.column)).collect();
    assert_eq!(places, [(1, 0), (1, 2), (2, 2), (2, 3)]);
    assert_eq!(found[1].value, "b c");
}

#[test]
fn a_quote_that_nothing_closes_is_a_token_of_its_own() {
    assert_eq!(values("'abc")[0], (Kind::Unknown, "'".to_owned()));
    assert_eq!(values("`abc")[0], (Kind::Unknown, "`".to_owned()));
}
