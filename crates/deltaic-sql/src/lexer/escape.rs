//! Escapes inside string literals: `\n`, `\u00e4`, `\'`, `''` and their kin, as Spark reads them.

/// The text that a literal between `quote`s stands for.
pub(super) fn unescape(inner: &str, quote: char) -> String {
    if !inner.contains(['\\', quote]) {
        return inner.to_owned();
    }
    let chars: Vec<char> = inner.chars().collect();
    let mut out = String::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        if c == quote {
            // A doubled quote: the lexer lets a single one through nowhere.
            at += 1;
            out.push(c);
        } else if c == '\\' {
            at += escape(&chars[at..], &mut out);
        } else {
            out.push(c);
        }
    }
    out
}

/// Reads what follows a backslash; returns how many characters that took.
fn escape(rest: &[char], out: &mut String) -> usize {
    let Some(&c) = rest.first() else {
        out.push('\\');
        return 0;
    };
    if c == 'u' || c == 'U' {
        let digits = if c == 'u' { 4 } else { 8 };
        if let Some(decoded) = number(rest.get(1..=digits), 16).and_then(char::from_u32) {
            out.push(decoded);
            return digits + 1;
        }
        if let Some((decoded, taken)) = surrogates(rest) {
            out.push(decoded);
            return taken;
        }
    }
    if matches!(c, '0' | '1')
        && let Some(decoded) = number(rest.get(..3), 8).and_then(char::from_u32)
    {
        out.push(decoded);
        return 3;
    }
    match c {
        '0' => out.push('\0'),
        'b' => out.push('\u{8}'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'Z' => out.push('\u{1a}'),
        // Kept for LIKE.
        '%' | '_' => out.extend(['\\', c]),
        other => out.push(other),
    }
    1
}

/// `\ud83d\ude00`: two escapes that make one character; `rest` begins after the first backslash.
fn surrogates(rest: &[char]) -> Option<(char, usize)> {
    let high = number(rest.get(1..5), 16)?;
    let low = match rest.get(5..7)? {
        ['\\', 'u'] => number(rest.get(7..11), 16)?,
        _ => return None,
    };
    let units = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    let decoded = char::decode_utf16(units).next()?.ok()?;
    Some((decoded, 11))
}

fn number(digits: Option<&[char]>, radix: u32) -> Option<u32> {
    digits?.iter().try_fold(0u32, |sum, digit| {
        sum.checked_mul(radix)?.checked_add(digit.to_digit(radix)?)
    })
}
