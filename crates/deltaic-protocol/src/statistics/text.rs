//! Strings in statistics are cut: a minimum may be lower and a maximum higher than any value, never the other way round.

/// Characters that are kept where neither table nor session say otherwise.
pub const DEFAULT_STRING_PREFIX: usize = 32;

/// A prefix of at most `limit` UTF-16 units, never half a character.
pub fn cut_minimum(text: &str, limit: usize) -> &str {
    let end = prefix_end(text, limit);
    text.get(..end).unwrap_or(text)
}

/// An upper bound for every text that begins as this one does. A short text is its own bound; a longer one is cut and ends with a
/// character above the one that followed: U+007F above plain ASCII, U+10FFFF above the rest. None if there is no such character
/// within twice the limit.
pub fn cut_maximum(text: &str, limit: usize) -> Option<String> {
    let mut end = prefix_end(text, limit);
    if end == text.len() {
        return Some(text.to_owned());
    }
    let last = prefix_end(text, limit.saturating_mul(2));
    loop {
        let (head, tail) = text.split_at_checked(end)?;
        let next = tail.chars().next()?;
        let above = match next {
            '\0'..'\u{7f}' => '\u{7f}',
            '\u{7f}'..='\u{10fffe}' => '\u{10ffff}',
            _ => {
                end += next.len_utf8();
                if end > last || end == text.len() {
                    return None;
                }
                continue;
            }
        };
        return Some(format!("{head}{above}"));
    }
}

fn prefix_end(text: &str, limit: usize) -> usize {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > limit {
            return at;
        }
    }
    text.len()
}
