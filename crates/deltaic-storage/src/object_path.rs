//! An exact mapping between absolute decoded paths and `object_store` paths.
//!
//! `object_store` paths carry every character except ASCII controls. Those are written as the two characters U+F8FF U+F8FD, which
//! mean nothing to anybody and stand in no name that people give, and two hexadecimal digits; where the two do stand in a name, the
//! first of them is written as both and `ff`. So the mapping can be undone for every name, and every other name is the key in an
//! object store that all engines know it by. Nothing is percent-encoded.

use object_store::path::Path;

const ESCAPE: &str = "\u{F8FF}\u{F8FD}";
/// What `ff` behind it stands for.
const FIRST: char = '\u{F8FF}';

/// The object path of an absolute decoded path.
pub fn to_object_path(absolute: &str) -> Path {
    let trimmed = absolute.trim_matches('/');
    let is_plain =
        |text: &str| !text.contains(ESCAPE) && !text.bytes().any(|b| b.is_ascii_control());
    let text = if !is_plain(trimmed) {
        let mut out = String::with_capacity(trimmed.len() + 8);
        for (at, c) in trimmed.char_indices() {
            if trimmed[at..].starts_with(ESCAPE) {
                out.push_str(ESCAPE);
                out.push_str("ff");
            } else if c.is_ascii_control() {
                out.push_str(ESCAPE);
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
        let code = &rest[at + ESCAPE.len()..];
        match code
            .get(..2)
            .map(|digits| (digits, u8::from_str_radix(digits, 16)))
        {
            Some(("ff", _)) => out.push(FIRST),
            Some((_, Ok(byte))) if byte.is_ascii_control() => out.push(char::from(byte)),
            _ => {
                out.push_str(ESCAPE);
                rest = code;
                continue;
            }
        }
        rest = &code[2..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_people_name_is_the_key() {
        for name in [
            "/brand \u{f8ff}",
            "/x\u{f8ff}41",
            "/\u{f8ff}12 iPhone",
            "/\u{f8ff}ff",
            "/\u{f8fd}0a",
            "/100%/a b",
        ] {
            assert_eq!(to_object_path(name).as_ref(), &name[1..]);
            assert_eq!(from_object_path(&to_object_path(name)), name);
        }
    }

    #[test]
    fn a_key_that_only_looks_written_stands_for_itself() {
        let key = Path::parse("t/\u{f8ff}\u{f8fd}41").unwrap();
        assert_eq!(from_object_path(&key), "/t/\u{f8ff}\u{f8fd}41");
        assert_ne!(to_object_path(&from_object_path(&key)), key);
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in "[\u{f8ff}\u{f8fd}a-f0-9\n\t %]{1,12}") {
            let path = format!("/t/{name}");
            let name = from_object_path(&to_object_path(&path));
            prop_assert_eq!(name, path);
        }
    }
}
