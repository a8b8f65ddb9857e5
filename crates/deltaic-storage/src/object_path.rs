//! An exact mapping between absolute decoded paths and `object_store` paths.
//!
//! `object_store` paths carry every character except ASCII controls. Those are written as U+F8FF and two hexadecimal
//! digits, and U+F8FF itself as U+F8FF and `ff`, so the mapping can be undone for every name. Nothing is percent-encoded.

use object_store::path::Path;

const ESCAPE: char = '\u{F8FF}';

/// The object path of an absolute decoded path.
pub fn to_object_path(absolute: &str) -> Path {
    let trimmed = absolute.trim_matches('/');
    let text = if trimmed.chars().any(|c| c == ESCAPE || c.is_ascii_control()) {
        let mut out = String::with_capacity(trimmed.len() + 8);
        for c in trimmed.chars() {
            if c == ESCAPE {
                out.push(ESCAPE);
                out.push_str("ff");
            } else if c.is_ascii_control() {
                out.push(ESCAPE);
                out.push_str(&format!("{:02x}", u32::from(c)));
            } else {
                out.push(c);
            }
        }
        out
    } else {
        trimmed.to_string()
    };
    // Only `.`/`..`/empty segments are left to refuse; roots and data paths are normalised, so this is not reached for them.
    Path::parse(&text).unwrap_or_else(|_| Path::from(text))
}

/// The absolute decoded path of an object path.
pub fn from_object_path(path: &Path) -> String {
    let text = path.as_ref();
    let mut out = String::with_capacity(text.len() + 1);
    out.push('/');
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        out.push_str(&rest[..at]);
        let code = &rest[at + ESCAPE.len_utf8()..];
        match code
            .get(..2)
            .map(|digits| (digits, u8::from_str_radix(digits, 16)))
        {
            Some(("ff", _)) => out.push(ESCAPE),
            Some((_, Ok(byte))) => out.push(char::from(byte)),
            _ => {
                out.push(ESCAPE);
                rest = code;
                continue;
            }
        }
        rest = &code[2..];
    }
    out.push_str(rest);
    out
}
